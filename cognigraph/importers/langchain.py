"""LangChain's messages: ``messages_to_dict``, ``dumpd`` or ``model_dump``, as an array or lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cognigraph.importers.json_records import objects
from cognigraph.importers.record import Bad, Reader, ReadOptions, Record
from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input
from cognigraph.model.chat import text_of
from cognigraph.model.roles import as_role

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


def _sniff(head: Head) -> bool:
    if not head.is_json or "role" in head.keys:
        return False
    keys = head.keys
    return {"type", "data"} <= keys or {"lc", "kwargs"} <= keys or {"type", "content"} <= keys


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for found in objects(file, {"messages"}):
        if isinstance(found.value, Bad):
            yield Record(found.position, found.value)
        else:
            made = message_of(found.value)
            if isinstance(made, dict):
                made["session"] = options.session or file.stem
            yield Record(found.position, made)


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


READER = Reader(
    "langchain", "LangChain messages, as messages_to_dict or dumpd write them", _sniff, _read
)
