"""Lists of chat messages: JSON lines, OpenAI's messages, LangChain's messages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from cognigraph.importers.json_records import JsonItem, lines, objects
from cognigraph.importers.record import Bad, Head, Position, Reader, ReadOptions, Record
from cognigraph.importers.source import Input
from cognigraph.model.chat import text_of
from cognigraph.model.messages import as_role

_MESSAGE = {"text", "content", "role", "raw"}


def _lines_sniff(head: Head) -> bool:
    if head.lines:
        return not _MESSAGE.isdisjoint(head.keys)
    return head.suffix in LINES.suffixes


def _lines_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    session = {} if options.session is None else {"session": options.session}
    for item in lines(file):
        value = item.value
        yield Record(item.position, session | value if isinstance(value, dict) else value)


LINES = Reader(
    "jsonl",
    "one message on each line, with text or content, and optionally session, speaker, at, id, role",
    _lines_sniff,
    _lines_read,
    (".jsonl", ".ndjson"),
)


_NAMES = ("session", "session_id", "conversation_id", "thread_id", "id", "custom_id")
_TIMES = ("at", "timestamp", "created_at", "created", "time")


def _openai_sniff(head: Head) -> bool:
    if not head.is_json:
        return False
    return "messages" in head.keys or (not head.lines and {"role", "content"} <= head.keys)


def _openai_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file):
        yield from _records(item, file, options)


def _records(item: JsonItem, file: Input, options: ReadOptions) -> Iterator[Record]:
    value = item.value
    if isinstance(value, Bad):
        yield Record(item.position, value)
    elif "messages" in value:
        yield from conversation(value, item.position, options)
    else:
        yield Record(item.position, {"session": options.session or file.stem} | value)


def conversation(
    given: Mapping[str, Any], position: Position, options: ReadOptions
) -> Iterator[Record]:
    """The messages of an object with a list of ``messages``, as also fine-tuning takes it."""
    messages = given["messages"]
    if not isinstance(messages, list):
        yield Record(position, Bad("has no list of messages"))
        return
    session = options.session or _session(given, messages)
    time = next((given[name] for name in _TIMES if given.get(name) is not None), None)
    for index, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            yield Record(position.inside(index), Bad("is not a JSON object"))
            continue
        made = {"session": session} | {n: v for n, v in message.items() if n != "weight"}
        if time is not None and not any(made.get(name) is not None for name in _TIMES):
            made["at"] = time
        yield Record(position.inside(index), made)


def _session(given: Mapping[str, Any], messages: list[Any]) -> str:
    """The conversation's id; without one a hash of its messages, the same wherever it stands."""
    for name in _NAMES:
        if isinstance(given.get(name), str) and given[name].strip():
            return str(given[name])
    digest = hashlib.blake2b(json.dumps(messages, sort_keys=True).encode(), digest_size=6)
    return f"chat-{digest.hexdigest()}"


OPENAI = Reader(
    "openai",
    "OpenAI messages: a JSON array of them, an object with messages, or fine-tuning lines",
    _openai_sniff,
    _openai_read,
)


_ROLES = {
    "human": "user",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
_CONSTRUCTED = "Message"
_EMPTY: tuple[Any, ...] = ("", None, [], {})
_TEXT_ONLY = frozenset({"content", "type", "name", "id", "example", "role"})


def _langchain_sniff(head: Head) -> bool:
    if not head.is_json or "role" in head.keys:
        return False
    keys = head.keys
    return {"type", "data"} <= keys or {"lc", "kwargs"} <= keys or {"type", "content"} <= keys


def _langchain_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file, {"messages"}):
        if isinstance(item.value, Bad):
            yield Record(item.position, item.value)
        else:
            made = message_of(item.value)
            if isinstance(made, dict):
                made["session"] = options.session or file.stem
            yield Record(item.position, made)


def message_of(given: Mapping[str, Any]) -> dict[str, Any] | Bad:
    """The fields of one message, or what is wrong with it."""
    kind, data = _kind_and_data(given)
    own_role = str(data.get("role", "")) if kind == "chat" else ""
    role = as_role(own_role) or _ROLES.get(kind)
    if role is None and not own_role:
        return Bad(f"is no LangChain message: its type is {kind!r}")
    content = data.get("content")
    if not isinstance(content, str | list | Mapping | None):
        return Bad("has a content that is neither a text nor a list of parts")
    text, is_whole = text_of(content or "", 0)
    extra = {
        name: value
        for name, value in data.items()
        if name not in _TEXT_ONLY and value not in _EMPTY
    }
    made: dict[str, Any] = {"text": text, "role": role} if role else {"text": text}
    if not role:
        made["speaker"] = own_role
    for ours, name in (("speaker", "name"), ("id", "id")):
        if data.get(name):
            made[ours] = data[name]
    if extra or not is_whole:
        made["raw"] = {"type": kind, "content": content} | extra
    return made


def _kind_and_data(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    if isinstance(given.get("data"), Mapping):
        return str(given.get("type")).lower(), given["data"]
    if isinstance(given.get("kwargs"), Mapping):
        path = given.get("id")
        name = str(path[-1]) if isinstance(path, list) and path else ""
        data = given["kwargs"]
        return str(data.get("type") or name.removesuffix(_CONSTRUCTED)).lower(), data
    return str(given.get("type")).lower(), given


LANGCHAIN = Reader(
    "langchain",
    "LangChain messages, as messages_to_dict or dumpd write them",
    _langchain_sniff,
    _langchain_read,
)
