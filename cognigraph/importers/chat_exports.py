"""Exports of conversations with ChatGPT and Claude.

A conversation is a tree, because answers can be regenerated; its current branch is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cognigraph.importers.fields import iso
from cognigraph.importers.json_records import mapping, mappings, objects
from cognigraph.importers.record import Bad, Head, Position, Reader, ReadOptions, Record
from cognigraph.importers.source import Input


def branch(parents: Mapping[str, Any], leaf: object) -> list[str]:
    """The ids from the root to ``leaf``. It begins where a parent is missing or repeats."""
    path: list[str] = []
    met: set[str] = set()
    node = leaf
    while isinstance(node, str) and node in parents and node not in met:
        met.add(node)
        path.append(node)
        node = parents[node]
    return path[::-1]


def last_leaf(parents: Mapping[str, Any]) -> str | None:
    """The last id in the order given that is nobody's parent."""
    inner = {parent for parent in parents.values() if isinstance(parent, str)}
    return next((node for node in reversed(list(parents)) if node not in inner), None)


_CHATGPT_THOUGHT = frozenset({"thoughts", "reasoning_recap", "model_editable_context"})
"""What the model wrote for itself; it was not said."""
_CHATGPT_ROLES = frozenset({"user", "assistant", "system", "tool"})
_EVERYONE = (None, "all")


def _chatgpt_sniff(head: Head) -> bool:
    return head.is_json and "mapping" in head.keys


def _chatgpt_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file):
        value = item.value
        if isinstance(value, Bad):
            yield Record(item.position, value)
        elif not isinstance(value.get("mapping"), Mapping):
            yield Record(item.position, Bad("is no conversation: it has no 'mapping'"))
        else:
            yield from _chatgpt_conversation(value, item.position, options)


def _chatgpt_conversation(
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
        made = _chatgpt_message(message)
        if made is not None:
            yield Record(
                position.inside(index),
                made
                | {
                    "id": message.get("id") or id,
                    "session": options.session or session,
                    "at": at,
                    "metadata": _chatgpt_metadata(given, message),
                },
            )


def _chatgpt_message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Text, role and payload; ``None`` for what was not said: hidden or empty messages."""
    content = message.get("content")
    author = message.get("author")
    if not isinstance(content, Mapping) or not isinstance(author, Mapping):
        return None
    kind, role = str(content.get("content_type")), str(author.get("role"))
    hidden = mapping(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if kind in _CHATGPT_THOUGHT or role not in _CHATGPT_ROLES:
        return None
    text, is_whole = _chatgpt_text(content)
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


def _chatgpt_text(content: Mapping[str, Any]) -> tuple[str, bool]:
    """The text of a content, and whether that is all of it."""
    if content.get("content_type") == "user_editable_context":
        own = [content.get("user_profile"), content.get("user_instructions")]
        return "\n".join(part for part in own if isinstance(part, str)), True
    parts = content.get("parts")
    if isinstance(parts, list):
        texts = [part if isinstance(part, str) else mapping(part).get("text") for part in parts]
        text = "\n".join(part for part in texts if isinstance(part, str) and part)
        return text, all(isinstance(part, str) for part in parts)
    for name in ("text", "result"):
        if isinstance(content.get(name), str):
            return content[name], content.keys() <= {"content_type", name, "language"}
    return "", False


def _chatgpt_metadata(given: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    values = {
        "title": given.get("title"),
        "model": mapping(message.get("metadata")).get("model_slug"),
    }
    return {name: value for name, value in values.items() if isinstance(value, str) and value}


CHATGPT = Reader(
    "chatgpt", "ChatGPT's export, zipped or its conversations.json", _chatgpt_sniff, _chatgpt_read
)


_CLAUDE_ROLES = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}
_CLAUDE_THOUGHT = frozenset({"thinking", "redacted_thinking", "token_budget"})


def _claude_sniff(head: Head) -> bool:
    return head.is_json and "chat_messages" in head.keys


def _claude_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file):
        value = item.value
        if isinstance(value, Bad):
            yield Record(item.position, value)
        elif not isinstance(value.get("chat_messages"), list):
            yield Record(item.position, Bad("is no conversation: it has no 'chat_messages'"))
        elif not isinstance(value.get("uuid"), str):
            yield Record(item.position, Bad("is a conversation without a uuid"))
        else:
            yield from _claude_conversation(value, item.position, options)


def _claude_conversation(
    given: Mapping[str, Any], position: Position, options: ReadOptions
) -> Iterator[Record]:
    current = _current(given)
    title = {"title": given["name"]} if given.get("name") else {}
    for index, message in enumerate(given["chat_messages"], 1):
        if not isinstance(message, Mapping):
            yield Record(position.inside(index), Bad("is not a JSON object"))
        elif current is None or str(message.get("uuid")) in current:
            made = _claude_message(message)
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
    messages = mappings(given["chat_messages"])
    parents = {
        message["uuid"]: message.get("parent_message_uuid")
        for message in messages
        if isinstance(message.get("uuid"), str)
    }
    return set(branch(parents, leaf)) if leaf in parents else None


def _claude_message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a message; ``None`` if it is empty."""
    content = message.get("content")
    blocks = mappings(content)
    said = [block for block in blocks if str(block.get("type")) not in _CLAUDE_THOUGHT]
    given = [block.get("text") for block in said if block.get("type") == "text"]
    texts = [text for text in given if isinstance(text, str) and text]
    text = "\n".join(texts) if texts else message.get("text") or ""
    raw = {name: message[name] for name in ("attachments", "files") if message.get(name)}
    if any(block.get("type") != "text" for block in said):
        raw["content"] = said
    if not isinstance(text, str) or not (text.strip() or raw):
        return None
    sender = message.get("sender")
    made: dict[str, Any] = {"text": text, "role": _CLAUDE_ROLES.get(str(sender), sender)}
    made |= {"id": message["uuid"]} if message.get("uuid") else {}
    return made | ({"raw": raw} if raw else {})


CLAUDE = Reader(
    "claude", "Claude's export, zipped or its conversations.json", _claude_sniff, _claude_read
)
