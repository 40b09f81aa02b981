"""ChatGPT's data export: ``conversations.json``, in which each conversation is a tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cognigraph.importers.json_records import objects
from cognigraph.importers.moments import iso
from cognigraph.importers.record import Bad, Position, Reader, ReadOptions, Record
from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input
from cognigraph.importers.trees import branch, last_leaf

_THOUGHT = frozenset({"thoughts", "reasoning_recap", "model_editable_context"})
"""What the model wrote for itself; it was not said."""
_ROLES = frozenset({"user", "assistant", "system", "tool"})
_EVERYONE = (None, "all")


def _sniff(head: Head) -> bool:
    return head.is_json and "mapping" in head.keys


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for found in objects(file):
        value = found.value
        if isinstance(value, Bad):
            yield Record(found.position, value)
        elif not isinstance(value.get("mapping"), Mapping):
            yield Record(found.position, Bad("is no conversation: it has no 'mapping'"))
        else:
            yield from _conversation(value, found.position, options)


def _conversation(
    given: Mapping[str, Any], position: Position, options: ReadOptions
) -> Iterator[Record]:
    nodes = {id: node for id, node in given["mapping"].items() if isinstance(node, Mapping)}
    parents = {id: node.get("parent") for id, node in nodes.items()}
    leaf = str(given.get("current_node"))
    session = given.get("conversation_id") or given.get("id")
    if not isinstance(session, str) or not session.strip():
        yield Record(position, Bad("is a conversation without an id"))
        return
    at = iso(given.get("create_time"))
    for index, id in enumerate(branch(parents, leaf if leaf in nodes else last_leaf(parents)), 1):
        message = nodes[id].get("message")
        if not isinstance(message, Mapping):
            continue
        at = iso(message.get("create_time")) or at
        made = _message(message)
        if made is not None:
            yield Record(
                position.inside(index),
                made
                | {
                    "id": message.get("id") or id,
                    "session": options.session or session,
                    "at": at,
                    "metadata": _metadata(given, message),
                },
            )


def _message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Text, role and payload; ``None`` for what was not said: hidden or empty messages."""
    content = message.get("content")
    author = message.get("author")
    if not isinstance(content, Mapping) or not isinstance(author, Mapping):
        return None
    kind, role = str(content.get("content_type")), str(author.get("role"))
    hidden = _mapping(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if kind in _THOUGHT or role not in _ROLES:
        return None
    text, is_whole = _text(content)
    is_call = role == "assistant" and message.get("recipient") not in _EVERYONE
    if is_call:
        text = ""
    if hidden and kind != "user_editable_context":
        return None
    if is_whole and not is_call and not text.strip():
        return None
    made: dict[str, Any] = {"text": text, "role": "system" if hidden else role}
    if author.get("name"):
        made["speaker"] = author["name"]
    if is_call or not is_whole:
        made["raw"] = {
            name: message[name] for name in ("author", "recipient", "content") if name in message
        }
    return made


def _text(content: Mapping[str, Any]) -> tuple[str, bool]:
    """The text of a content, and whether that is all of it."""
    if content.get("content_type") == "user_editable_context":
        own = [content.get("user_profile"), content.get("user_instructions")]
        return "\n".join(part for part in own if isinstance(part, str)), True
    parts = content.get("parts")
    if isinstance(parts, list):
        texts = [part if isinstance(part, str) else _mapping(part).get("text") for part in parts]
        text = "\n".join(part for part in texts if isinstance(part, str) and part)
        return text, all(isinstance(part, str) for part in parts)
    for name in ("text", "result"):
        if isinstance(content.get(name), str):
            return content[name], content.keys() <= {"content_type", name, "language"}
    return "", False


def _metadata(given: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "title": given.get("title"),
        "model": _mapping(message.get("metadata")).get("model_slug"),
    }
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


READER = Reader("chatgpt", "ChatGPT's export, zipped or its conversations.json", _sniff, _read)
