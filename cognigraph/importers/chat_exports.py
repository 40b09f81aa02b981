"""Exports of conversations with ChatGPT and Claude.

A conversation is a tree, because answers can be regenerated; its current branch is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cognigraph.importers.fields import iso
from cognigraph.importers.json_records import Numbered, from_conversations, mapping, mappings, texts
from cognigraph.importers.record import Bad, Reader, ReadOptions
from cognigraph.importers.source import Input


def branch(parents: Mapping[str, Any], leaf: object) -> list[str]:
    """The ids from the root to ``leaf``. It begins where a parent is missing or repeats."""
    path: dict[str, None] = {}
    node = leaf
    while isinstance(node, str) and node in parents and node not in path:
        path[node] = None
        node = parents[node]
    return list(path)[::-1]


def last_leaf(parents: Mapping[str, Any]) -> str | None:
    """The last id in the order given that is nobody's parent."""
    inner = {parent for parent in parents.values() if isinstance(parent, str)}
    return next((node for node in reversed(list(parents)) if node not in inner), None)


_CHATGPT_THOUGHT = frozenset({"thoughts", "reasoning_recap", "model_editable_context"})
"""What the model wrote for itself; it was not said."""
_CHATGPT_ROLES = frozenset({"user", "assistant", "system", "tool"})
_INSTRUCTIONS = "user_editable_context"
"""What users say of themselves in the settings. It is hidden, and they have said it."""


def _chatgpt_messages(
    conversation: Mapping[str, Any], file: Input, options: ReadOptions
) -> Numbered:
    if not isinstance(conversation.get("mapping"), Mapping):
        yield None, Bad("is no conversation: it has no 'mapping'")
        return
    session = conversation.get("conversation_id") or conversation.get("id")
    if not isinstance(session, str) or not session.strip():
        yield None, Bad("is a conversation without an id")
        return
    tree = conversation["mapping"]
    nodes = {id: node for id, node in tree.items() if isinstance(node, Mapping)}
    parents = {id: node.get("parent") for id, node in nodes.items()}
    leaf = str(conversation.get("current_node"))
    at = iso(conversation.get("create_time"))
    path = branch(parents, leaf if leaf in nodes else last_leaf(parents))
    for number, id in enumerate(path, 1):
        message = mapping(nodes[id].get("message"))
        at = iso(message.get("create_time")) or at
        if (said := _chatgpt_message(message)) is not None:
            model = mapping(message.get("metadata")).get("model_slug")
            about = texts(title=conversation.get("title"), model=model)
            place = {"id": message.get("id") or id, "session": session, "at": at, "metadata": about}
            yield number, said | place


def _chatgpt_message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """Text, role and payload; ``None`` for what was not said: hidden or empty messages."""
    content, author = message.get("content"), message.get("author")
    if not isinstance(content, Mapping) or not isinstance(author, Mapping):
        return None
    kind, role = str(content.get("content_type")), str(author.get("role"))
    is_hidden = mapping(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if kind in _CHATGPT_THOUGHT or role not in _CHATGPT_ROLES:
        return None
    if is_hidden and kind != _INSTRUCTIONS:
        return None
    text, is_whole = _chatgpt_text(content)
    if role == "assistant" and message.get("recipient") not in (None, "all"):
        text, is_whole = "", False  # the call of a tool
    if is_whole and not text.strip():
        return None
    kept = ("author", "recipient", "content")
    return {
        "text": text,
        "role": "system" if is_hidden else role,
        "speaker": author.get("name") or None,
        "raw": None if is_whole else {name: message[name] for name in kept if name in message},
    }


def _chatgpt_text(content: Mapping[str, Any]) -> tuple[str, bool]:
    """The text of a content, and whether that is all of it."""
    if content.get("content_type") == _INSTRUCTIONS:
        own = [content.get("user_profile"), content.get("user_instructions")]
        return "\n".join(part for part in own if isinstance(part, str)), True
    parts = content.get("parts")
    if isinstance(parts, list):
        shown = [part if isinstance(part, str) else mapping(part).get("text") for part in parts]
        text = "\n".join(part for part in shown if isinstance(part, str) and part)
        return text, all(isinstance(part, str) for part in parts)
    for name in ("text", "result"):
        if isinstance(content.get(name), str):
            return content[name], content.keys() <= {"content_type", name, "language"}
    return "", False


CHATGPT = Reader(
    "chatgpt",
    "ChatGPT's export, zipped or its conversations.json",
    lambda head: head.is_json and "mapping" in head.keys,
    from_conversations(_chatgpt_messages),
)


_CLAUDE_ROLES = {"human": "user", "user": "user", "assistant": "assistant", "system": "system"}
_CLAUDE_THOUGHT = frozenset({"thinking", "redacted_thinking", "token_budget"})


def _claude_messages(
    conversation: Mapping[str, Any], file: Input, options: ReadOptions
) -> Numbered:
    if not isinstance(conversation.get("chat_messages"), list):
        yield None, Bad("is no conversation: it has no 'chat_messages'")
    elif not isinstance(conversation.get("uuid"), str):
        yield None, Bad("is a conversation without a uuid")
    else:
        current = _current_branch(conversation)
        for number, message in enumerate(conversation["chat_messages"], 1):
            if not isinstance(message, Mapping):
                yield number, Bad("is not a JSON object")
            elif current is None or str(message.get("uuid")) in current:
                yield number, _claude_message(message, conversation)


def _current_branch(conversation: Mapping[str, Any]) -> set[str] | None:
    """The messages of the current branch, if the export says which that is."""
    leaf = str(conversation.get("current_leaf_message_uuid"))
    parents = {
        message["uuid"]: message.get("parent_message_uuid")
        for message in mappings(conversation["chat_messages"])
        if isinstance(message.get("uuid"), str)
    }
    return set(branch(parents, leaf)) if leaf in parents else None


def _claude_message(
    message: Mapping[str, Any], conversation: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The fields of a message; ``None`` if it is empty."""
    blocks = mappings(message.get("content"))
    said = [block for block in blocks if str(block.get("type")) not in _CLAUDE_THOUGHT]
    of_blocks = [block.get("text") for block in said if block.get("type") == "text"]
    shown = [text for text in of_blocks if isinstance(text, str) and text]
    text = "\n".join(shown) if shown else message.get("text") or ""
    raw = {name: message[name] for name in ("attachments", "files") if message.get(name)}
    if any(block.get("type") != "text" for block in said):
        raw["content"] = said
    if not isinstance(text, str) or not (text.strip() or raw):
        return None
    sender = message.get("sender")
    return {
        "text": text,
        "role": _CLAUDE_ROLES.get(str(sender), sender),
        "id": message.get("uuid") or None,
        "session": conversation["uuid"],
        "at": message.get("created_at") or conversation.get("created_at"),
        "metadata": {"title": conversation["name"]} if conversation.get("name") else {},
        "raw": raw or None,
    }


CLAUDE = Reader(
    "claude",
    "Claude's export, zipped or its conversations.json",
    lambda head: head.is_json and "chat_messages" in head.keys,
    from_conversations(_claude_messages),
)
