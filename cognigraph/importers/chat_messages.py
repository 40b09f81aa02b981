"""Lists of chat messages: JSON lines, OpenAI's messages, LangChain's messages."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from cognigraph.importers.json_records import (
    Numbered,
    from_conversations,
    from_messages,
    lines,
    objects,
)
from cognigraph.importers.record import Bad, Head, Reader, ReadOptions
from cognigraph.importers.source import Input
from cognigraph.model.chat import text_of
from cognigraph.model.messages import as_role

_MESSAGE = frozenset({"text", "content", "role", "raw"})


def _lines_sniff(head: Head) -> bool:
    if head.lines:
        return not _MESSAGE.isdisjoint(head.keys)
    return head.suffix in LINES.suffixes


def _lines_message(given: dict[str, Any], file: Input, options: ReadOptions) -> dict[str, Any]:
    return given if options.session is None else {"session": options.session} | given


LINES = Reader(
    "jsonl",
    "one message on each line, with text or content, and optionally session, speaker, at, id, role",
    _lines_sniff,
    from_messages(_lines_message, lines),
    (".jsonl", ".ndjson"),
    names_session=True,
)


_NAMES = ("session", "session_id", "conversation_id", "thread_id", "id", "custom_id")
_TIMES = ("at", "timestamp", "created_at", "created", "time")


def _openai_sniff(head: Head) -> bool:
    if not head.is_json:
        return False
    return "messages" in head.keys or (not head.lines and {"role", "content"} <= head.keys)


def _openai_messages(given: Mapping[str, Any], file: Input, options: ReadOptions) -> Numbered:
    """A message that stands alone, or those of a list of ``messages``, as in fine-tuning."""
    if "messages" not in given:
        yield None, {"session": options.session or file.stem} | dict(given)
        return
    messages = given["messages"]
    if not isinstance(messages, list):
        yield None, Bad("has no list of messages")
        return
    session = options.session or _openai_session(given, messages)
    time = next((given[name] for name in _TIMES if given.get(name) is not None), None)
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            yield number, Bad("is not a JSON object")
            continue
        fields = {"session": session} | {n: v for n, v in message.items() if n != "weight"}
        if not any(fields.get(name) is not None for name in _TIMES):
            fields["at"] = time
        yield number, fields


def _openai_session(given: Mapping[str, Any], messages: list[Any]) -> str:
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
    from_conversations(_openai_messages),
    names_session=True,
)


_ROLES = {
    "human": "user",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
_EMPTY: tuple[Any, ...] = ("", None, [], {})
_TEXT_ONLY = frozenset({"content", "type", "name", "id", "example", "role"})
"""Fields of a message that are in its text, role, speaker and id, or say nothing."""


def _langchain_sniff(head: Head) -> bool:
    forms = ({"type", "data"}, {"lc", "kwargs"}, {"type", "content"})
    return head.is_json and "role" not in head.keys and any(form <= head.keys for form in forms)


def _langchain_message(
    given: Mapping[str, Any], file: Input, options: ReadOptions
) -> dict[str, Any] | Bad:
    value = message_of(given)
    return value if isinstance(value, Bad) else value | {"session": file.stem}


def message_of(given: Mapping[str, Any]) -> dict[str, Any] | Bad:
    """The fields of one message of LangChain, or what is wrong with it."""
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
    payload = {"type": kind, "content": content} | extra
    return {
        "text": text,
        "role": role,
        "speaker": data.get("name") or (None if role else own_role),
        "id": data.get("id") or None,
        "raw": payload if extra or not is_whole else None,
    }


def _kind_and_data(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Type and fields, from ``messages_to_dict``, ``dumpd`` or ``model_dump``."""
    if isinstance(given.get("data"), Mapping):
        return str(given.get("type")).lower(), given["data"]
    if isinstance(given.get("kwargs"), Mapping):
        path = given.get("id")  # such as ["langchain", "schema", "messages", "HumanMessage"]
        name = str(path[-1]) if isinstance(path, list) and path else ""
        data = given["kwargs"]
        return str(data.get("type") or name.removesuffix("Message")).lower(), data
    return str(given.get("type")).lower(), given


LANGCHAIN = Reader(
    "langchain",
    "LangChain messages, as messages_to_dict or dumpd write them",
    _langchain_sniff,
    from_messages(_langchain_message, partial(objects, lists={"messages"})),
)
