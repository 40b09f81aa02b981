"""Sessions of coding agents: Claude Code, OpenCode, Codex and Gemini CLI.

What was said is read. Of Claude Code, what tools returned is read too; the others leave it out, as
their hooks do. Sources: for Codex ``codex-rs/protocol`` (``protocol.rs``, ``items.rs``) and
``codex-rs/rollout/src/policy.rs`` of `openai/codex <https://github.com/openai/codex>`_; for Gemini
CLI ``chatRecordingService.ts`` and ``sessionUtils.ts`` in ``packages/core/src`` of
`google-gemini/gemini-cli <https://github.com/google-gemini/gemini-cli>`_.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from cognigraph.importers.fields import iso
from cognigraph.importers.json_records import (
    Numbered,
    first_text,
    from_conversations,
    from_messages,
    lines,
    mapping,
    mappings,
    objects,
    texts,
)
from cognigraph.importers.record import Bad, Head, Position, Reader, ReadOptions, Record
from cognigraph.importers.source import Input
from cognigraph.text.hook_context import without_hook_context

_EVENTS = frozenset({"summary", "file-history-snapshot", "queue-operation"})
_CLAUDE_CODE_THOUGHT = frozenset({"thinking", "redacted_thinking"})
_WRITTEN_BY_PROGRAM = ("<command-", "<local-command-", "<system-reminder>", "<bash-")
"""How messages begin that carry the user's role but were written by the program."""


def _claude_code_sniff(head: Head) -> bool:
    if "sessionId" in head.keys and not {"type", "uuid", "message"}.isdisjoint(head.keys):
        return bool(head.lines)
    return any(str(line.get("type")) in _EVENTS for line in head.lines)


def _claude_code_message(
    line: Mapping[str, Any], file: Input, options: ReadOptions
) -> dict[str, Any] | None:
    """What was said on a line; ``None`` for the events of the program, and for sub-agents."""
    message = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(message, Mapping):
        return None
    if line.get("isMeta") or line.get("isSidechain") or line.get("isCompactSummary"):
        return None
    content = message.get("content")
    blocks = [
        block for block in mappings(content) if str(block.get("type")) not in _CLAUDE_CODE_THOUGHT
    ]
    text = content if isinstance(content, str) else _claude_code_text(blocks)
    is_plain = all(block.get("type") == "text" for block in blocks)
    if not text.strip() and is_plain:
        return None
    role = line["type"]
    if any(block.get("type") == "tool_result" for block in blocks):
        role = "tool"
    elif role == "user" and text.startswith(_WRITTEN_BY_PROGRAM):
        role = "system"
    return {
        "text": text,
        "role": role,
        "session": line.get("sessionId") or file.stem,
        "at": line.get("timestamp"),
        "id": line.get("uuid"),
        "metadata": texts(
            folder=line.get("cwd"), branch=line.get("gitBranch"), model=message.get("model")
        ),
        "raw": None if is_plain else {"role": line["type"], "content": blocks},
    }


def _claude_code_text(blocks: list[Mapping[str, Any]]) -> str:
    """The texts of blocks, and of the blocks in the results of tools."""
    parts = []
    for block in blocks:
        inner = block.get("content") if block.get("type") == "tool_result" else block.get("text")
        parts.append(_claude_code_text(mappings(inner)) if isinstance(inner, list) else inner)
    return "\n".join(part for part in parts if isinstance(part, str) and part)


CLAUDE_CODE = Reader(
    "claude-code",
    "sessions of Claude Code: a JSONL file, or the folder ~/.claude/projects",
    _claude_code_sniff,
    from_messages(_claude_code_message, lines),
    (".jsonl",),
)


def _opencode_messages(session: Mapping[str, Any], file: Input, options: ReadOptions) -> Numbered:
    info = mapping(session.get("info"))
    if info.get("parentID"):
        return  # of a sub-agent
    for number, message in enumerate(mappings(session.get("messages")), 1):
        about = mapping(message.get("info"))
        for id, text in _opencode_texts(message, about):
            value = {
                "text": text,
                "role": about.get("role"),
                "session": info.get("id") or file.stem,
                "at": iso(mapping(about.get("time")).get("created")),
                "id": id,
                "metadata": {"folder": str(info.get("directory", ""))},
            }
            yield number, value


def _opencode_texts(
    message: Mapping[str, Any], about: Mapping[str, Any]
) -> Iterator[tuple[object, str]]:
    """What was said, with the ids that the hook gives it: of a user in one, of an agent in parts.

    Outputs of tools, thoughts, and what the program adds are left out.
    """
    parts = [
        part
        for part in mappings(message.get("parts"))
        if part.get("type") == "text" and not part.get("synthetic")
        and str(part.get("text", "")).strip()
    ]  # fmt: skip
    if about.get("role") == "user" and parts:
        yield about.get("id"), "\n".join(str(part["text"]) for part in parts)
    elif about.get("role") == "assistant":
        yield from ((part.get("id"), str(part["text"])) for part in parts)


OPENCODE = Reader(
    "opencode",
    "a session of OpenCode 1, written by `opencode export SESSION`",
    lambda head: head.is_json and not head.lines and {"info", "messages"} <= head.keys,
    from_conversations(_opencode_messages),
    (".json",),
)


_SESSION_IN_NAME = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""The id of a session at the end of the name of its file."""


def _codex_sniff(head: Head) -> bool:
    # The first line has the instructions of the model, and may be longer than the head.
    return head.text.startswith('{"timestamp"') and '"session_meta"' in head.text[:200]


def _codex_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    """What the user and Codex said.

    Only the events are read that Codex shows again when a session is resumed. What else the model
    gets, such as instructions, is in other lines. Hooks read a file from the middle on, without the
    line that names the session; its name does, too.
    """
    in_name = _SESSION_IN_NAME.search(file.stem)
    session = in_name[0] if in_name else file.stem
    folder = None
    has_begun = False
    for item in lines(file):
        if isinstance(item.value, Bad):
            yield item
            continue
        payload = mapping(item.value.get("payload"))
        kind = item.value.get("type")
        if kind == "session_meta" and not has_begun:  # a later one is of the session it forks
            if "subagent" in (mapping(payload.get("source")) or payload.get("thread_source") or ()):
                return
            has_begun = True
            if in_name is None:
                session = first_text(payload, ("id",)) or session
        if kind in ("session_meta", "turn_context"):
            folder = first_text(payload, ("cwd",)) or folder
        if kind == "event_msg" and (message := _codex_message(payload)) is not None:
            at = first_text(item.value, ("timestamp",))
            id = message["id"] or _codex_id(session, at, message["role"], message["text"])
            about = {"session": session, "at": at, "id": id, "metadata": texts(folder=folder)}
            yield Record(item.position, message | about)


def _codex_message(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """Role, text and id (if it has one) of an event; ``None`` if nobody says anything in it.

    Since 2026 an event may have an item with an id, which a fork of the session keeps. The id of an
    answer comes from the model's server, and some servers give the same one each time.
    """
    kind = payload.get("type")
    role = {"user_message": "user", "agent_message": "assistant"}.get(str(kind))
    text: object = payload.get("message")
    id = None
    if kind == "item_completed":
        item = mapping(payload.get("item"))
        role = {"UserMessage": "user", "AgentMessage": "assistant"}.get(str(item.get("type")))
        text = "".join(_texts_of(item.get("content")))
        id = first_text(item, ("id",))
        id = _codex_id(id, text) if role == "assistant" else id
    elif payload.get("kind") in ("user_instructions", "environment_context"):
        return None  # in 2025 the program's own messages were events of the user
    if role is None or not isinstance(text, str) or not text.strip():
        return None
    return {"role": role, "text": text, "id": id}


def _codex_id(*parts: str | None) -> str:
    """An id for a message that has none of its own, the same each time."""
    return f"codex-{blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()}"


def _texts_of(content: object) -> list[str]:
    """The texts of a content: a text, or a list with texts and with parts that have a ``text``."""
    parts = content if isinstance(content, list) else [content]
    shown = (part if isinstance(part, str) else mapping(part).get("text") for part in parts)
    return [text for text in shown if isinstance(text, str)]


CODEX = Reader(
    "codex",
    "sessions of Codex: a rollout-*.jsonl, or the folder ~/.codex/sessions",
    _codex_sniff,
    _codex_read,
    (".jsonl",),
)


_GEMINI_ROLES = {"user": "user", "gemini": "assistant"}
_GEMINI_PROGRAM = ("/", "?", "<session_context>")
"""How a message of the user begins that Gemini CLI does not resume: a command, or its own text."""


def _gemini_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    """What was said in a chat: in lines, or in one object with ``messages`` as until 2026.

    A message is written again, with the same id, when its tools have run. Checkpoints (``$set``)
    and rewinds only repeat or take back earlier messages, and nobody has said what a summary says.
    """
    session = None
    known: set[str] = set()
    for item in objects(file):
        if isinstance(item.value, Bad):
            yield item
            continue
        messages: list[tuple[Position, Mapping[str, Any]]] = [(item.position, item.value)]
        if "sessionId" in item.value:
            if item.value.get("kind") == "subagent":
                return
            session = session or first_text(item.value, ("sessionId",))
            numbered = enumerate(mappings(item.value.get("messages")), 1)
            messages = [(item.position.inside(number), message) for number, message in numbered]
        for position, message in messages:
            if (value := _gemini_message(message)) is not None and value["id"] not in known:
                known.add(value["id"])
                yield Record(position, value | {"session": session or file.stem})


def _gemini_message(message: Mapping[str, Any]) -> dict[str, Any] | None:
    """The fields of a message; ``None`` for what the program wrote, and for what has no text."""
    role, id = _GEMINI_ROLES.get(str(message.get("type"))), message.get("id")
    if role is None or not isinstance(id, str):
        return None
    # What is shown of a message of the user has no contents of the files that it names.
    content = message.get("displayContent") or message.get("content")
    parts = content if isinstance(content, list) else [content]
    said = [part for part in parts if not mapping(part).get("thought")]
    text = without_hook_context("".join(_texts_of(said)))
    if not text.strip() or (role == "user" and text.lstrip().startswith(_GEMINI_PROGRAM)):
        return None
    return {
        "text": text,
        "role": role,
        "at": first_text(message, ("timestamp",)),
        "id": id,
        "metadata": texts(model=first_text(message, ("model",))),
    }


GEMINI = Reader(
    "gemini",
    "chats of Gemini CLI: a session-*.jsonl or .json, or the folder ~/.gemini/tmp",
    lambda head: head.is_json and {"sessionId", "projectHash"} <= head.keys,
    _gemini_read,
)
