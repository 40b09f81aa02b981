"""Claude's data export: ``conversations.json``, with the ``chat_messages`` of each conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cognigraph.importers.json_records import objects
from cognigraph.importers.record import Bad, Position, Reader, ReadOptions, Record
from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input
from cognigraph.importers.trees import branch

_ROLES = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}
_THOUGHT = frozenset({"thinking", "redacted_thinking", "token_budget"})


def _sniff(head: Head) -> bool:
    return head.is_json and "chat_messages" in head.keys


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for found in objects(file):
        value = found.value
        if isinstance(value, Bad):
            yield Record(found.position, value)
        elif not isinstance(value.get("chat_messages"), list):
            yield Record(found.position, Bad("is no conversation: it has no 'chat_messages'"))
        elif not isinstance(value.get("uuid"), str):
            yield Record(found.position, Bad("is a conversation without a uuid"))
        else:
            yield from _conversation(value, found.position, options)


def _conversation(
    given: Mapping[str, Any], position: Position, options: ReadOptions
) -> Iterator[Record]:
    current = _current(given)
    title = {"title": given["name"]} if given.get("name") else {}
    for index, message in enumerate(given["chat_messages"], 1):
        if not isinstance(message, Mapping):
            yield Record(position.inside(index), Bad("is not a JSON object"))
        elif current is None or str(message.get("uuid")) in current:
            made = _message(message)
            if made is not None:
                fields = {
                    "session": options.session or given["uuid"],
                    "at": message.get("created_at") or given.get("created_at"),
                    "metadata": title,
                }
                yield Record(position.inside(index), made | fields)


def _current(given: Mapping[str, Any]) -> set[str] | None:
    """The messages of the current branch, if the export says which that is."""
    leaf = str(given.get("current_leaf_message_uuid"))
    messages = [one for one in given["chat_messages"] if isinstance(one, Mapping)]
    parents = {
        one["uuid"]: one.get("parent_message_uuid")
        for one in messages
        if isinstance(one.get("uuid"), str)
    }
    return set(branch(parents, leaf)) if leaf in parents else None


def _message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a message; ``None`` if it is empty."""
    content = message.get("content")
    blocks = (
        [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
    )
    said = [one for one in blocks if str(one.get("type")) not in _THOUGHT]
    found = [one.get("text") for one in said if one.get("type") == "text"]
    texts = [text for text in found if isinstance(text, str) and text]
    text = "\n".join(texts) if texts else message.get("text") or ""
    raw = {name: message[name] for name in ("attachments", "files") if message.get(name)}
    if any(one.get("type") != "text" for one in said):
        raw["content"] = said
    if not isinstance(text, str) or not (text.strip() or raw):
        return None
    sender = message.get("sender")
    made: dict[str, Any] = {"text": text, "role": _ROLES.get(str(sender), sender)}
    made |= {"id": message["uuid"]} if message.get("uuid") else {}
    return made | ({"raw": raw} if raw else {})


READER = Reader("claude", "Claude's export, zipped or its conversations.json", _sniff, _read)
