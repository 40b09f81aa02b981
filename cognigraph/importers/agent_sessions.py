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
from cognigraph.importers.json_records import lines, mapping, mappings, objects
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


def _claude_code_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in lines(file):
        if isinstance(item.value, Bad):
            yield Record(item.position, item.value)
        elif (made := _claude_code_message(item.value, item.position, file, options)) is not None:
            yield made


def _claude_code_message(
    line: Mapping[str, Any], position: Position, file: Input, options: ReadOptions
) -> Record | None:
    """What was said on a line; ``None`` for the events of the program, and for sub-agents."""
    message = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(message, Mapping):
        return None
    if line.get("isMeta") or line.get("isSidechain") or line.get("isCompactSummary"):
        return None
    text, blocks = _content(message.get("content"))
    results = [block for block in blocks if block.get("type") == "tool_result"]
    is_plain = all(block.get("type") == "text" for block in blocks)
    role = "tool" if results else line["type"]
    if role == "user" and text.startswith(_WRITTEN_BY_PROGRAM):
        role = "system"
    if not text.strip() and is_plain:
        return None
    made = {
        "text": text,
        "role": role,
        "session": options.session or line.get("sessionId") or file.stem,
        "at": line.get("timestamp"),
        "id": line.get("uuid"),
        "metadata": _claude_code_metadata(line, message),
    }
    if not is_plain:
        made["raw"] = {"role": line["type"], "content": blocks}
    return Record(position, made)


def _content(content: object) -> tuple[str, list[Mapping[str, Any]]]:
    """The text of a content, and its blocks without what the model thought."""
    if isinstance(content, str):
        return content, []
    blocks = mappings(content)
    said = [block for block in blocks if str(block.get("type")) not in _CLAUDE_CODE_THOUGHT]
    return "\n".join(filter(None, map(_claude_code_text, said))), said


def _claude_code_text(block: Mapping[str, Any]) -> str:
    inner = block.get("content") if block.get("type") == "tool_result" else block.get("text")
    if isinstance(inner, list):
        return "\n".join(filter(None, map(_claude_code_text, mappings(inner))))
    return inner if isinstance(inner, str) else ""


def _claude_code_metadata(line: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, str]:
    values = {
        "folder": line.get("cwd"),
        "branch": line.get("gitBranch"),
        "model": message.get("model"),
    }
    return {name: value for name, value in values.items() if isinstance(value, str) and value}


CLAUDE_CODE = Reader(
    "claude-code",
    "sessions of Claude Code: a JSONL file, or the folder ~/.claude/projects",
    _claude_code_sniff,
    _claude_code_read,
    (".jsonl",),
)


def _opencode_sniff(head: Head) -> bool:
    return head.is_json and not head.lines and {"info", "messages"} <= head.keys


def _opencode_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file):
        value = item.value
        if isinstance(value, Bad):
            yield Record(item.position, value)
            continue
        info = mapping(value.get("info"))
        if info.get("parentID"):
            continue  # of a sub-agent
        session = options.session or info.get("id") or file.stem
        for index, message in enumerate(mappings(value.get("messages")), 1):
            for id, said in _opencode_texts(message):
                of_message = mapping(message.get("info"))
                yield Record(
                    item.position.inside(index),
                    {
                        "text": said,
                        "role": of_message.get("role"),
                        "session": session,
                        "at": iso(mapping(of_message.get("time")).get("created")),
                        "id": id,
                        "metadata": {"folder": str(info.get("directory", ""))},
                    },
                )


def _opencode_texts(message: Mapping[str, Any]) -> Iterator[tuple[object, str]]:
    """What was said, with the ids that the hook gives it: of a user in one, of an agent in parts.

    Outputs of tools, thoughts, and what the program adds are left out.
    """
    parts = [
        part
        for part in mappings(message.get("parts"))
        if part.get("type") == "text" and not part.get("synthetic")
        and str(part.get("text", "")).strip()
    ]  # fmt: skip
    info = mapping(message.get("info"))
    if info.get("role") == "user" and parts:
        yield info.get("id"), "\n".join(str(part["text"]) for part in parts)
    elif info.get("role") == "assistant":
        yield from ((part.get("id"), str(part["text"])) for part in parts)


OPENCODE = Reader(
    "opencode",
    "a session of OpenCode 1, written by `opencode export SESSION`",
    _opencode_sniff,
    _opencode_read,
    (".json",),
)


_SESSION_IN_NAME = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""The id of a session at the end of the name of its file."""


def _codex_sniff(head: Head) -> bool:
    # The first line has the instructions of the model, and may be longer than the head.
    return head.text.startswith('{"timestamp"') and '"session_meta"' in head.text[:200]


def _codex_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    """What the user and Codex said.

    It is in the events that Codex shows again when a session is resumed; what a model gets beside
    it, such as instructions and the folder, is not among them. A file that is read from the middle
    on has its session in its name.
    """
    in_name = _SESSION_IN_NAME.search(file.stem)
    whose = in_name[0] if in_name else file.stem
    folder = None
    has_begun = False
    for item in lines(file):
        if isinstance(item.value, Bad):
            yield Record(item.position, item.value)
            continue
        payload = mapping(item.value.get("payload"))
        kind = item.value.get("type")
        if kind == "session_meta" and not has_begun:  # a later one is of the session it forks
            if "subagent" in (mapping(payload.get("source")) or payload.get("thread_source") or ()):
                return
            has_begun = True
            if in_name is None:
                whose = _text_or_none(payload.get("id")) or whose
        if kind in ("session_meta", "turn_context"):
            folder = _text_or_none(payload.get("cwd")) or folder
        if kind == "event_msg" and (said := _codex_said(payload)) is not None:
            role, text, id = said
            at = _text_or_none(item.value.get("timestamp"))
            yield Record(
                item.position,
                {
                    "text": text,
                    "role": role,
                    "session": options.session or whose,
                    "at": at,
                    "id": id or _hash("codex", whose, at, role, text),
                    "metadata": {"folder": folder} if folder else {},
                },
            )


def _codex_said(payload: Mapping[str, Any]) -> tuple[str, str, str | None] | None:
    """Role, text, and the id if it has one, of an event; ``None`` if nobody says anything in it.

    Since 2026 a session may be written with items, which have ids that forks keep. That of an
    answer comes from the server of the model, of which some give the same id each time.
    """
    kind = payload.get("type")
    role = {"user_message": "user", "agent_message": "assistant"}.get(str(kind))
    text: object = payload.get("message")
    id = None
    if kind == "item_completed":
        item = mapping(payload.get("item"))
        role = {"UserMessage": "user", "AgentMessage": "assistant"}.get(str(item.get("type")))
        text = "".join(_texts(item.get("content")))
        id = _text_or_none(item.get("id"))
        id = _hash("codex", id, text) if role == "assistant" else id
    elif payload.get("kind") in ("user_instructions", "environment_context"):
        return None  # in 2025 the program's own messages were events of the user
    if role is None or not isinstance(text, str) or not text.strip():
        return None
    return role, text, id


def _texts(content: object) -> list[str]:
    """The texts of a content: a text, or a list with texts and with parts that have a ``text``."""
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else [content]
    texts = (part if isinstance(part, str) else mapping(part).get("text") for part in parts)
    return [text for text in texts if isinstance(text, str)]


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _hash(agent: str, *parts: str | None) -> str:
    """An id for a message that has none, the same each time."""
    digest = blake2b(json.dumps(parts).encode(), digest_size=12)
    return f"{agent}-{digest.hexdigest()}"


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


def _gemini_sniff(head: Head) -> bool:
    return head.is_json and {"sessionId", "projectHash"} <= head.keys


def _gemini_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    """What was said in a chat: in lines, or in one object with ``messages`` as until 2026.

    A message is written again when its tools have run, with the same id. Checkpoints (``$set``) and
    rewinds repeat or take back what is there already, and what a summary says nobody has said.
    """
    session = options.session
    known: set[str] = set()
    for item in objects(file):
        value = item.value
        if isinstance(value, Bad):
            yield Record(item.position, value)
        elif "sessionId" in value:
            if value.get("kind") == "subagent":
                return
            session = session or _text_or_none(value["sessionId"])
            for index, message in enumerate(mappings(value.get("messages")), 1):
                position = item.position.inside(index)
                yield from _gemini_message(message, position, session or file.stem, known)
        else:
            yield from _gemini_message(value, item.position, session or file.stem, known)


def _gemini_message(
    message: Mapping[str, Any], position: Position, session: str, known: set[str]
) -> Iterator[Record]:
    id, role = message.get("id"), _GEMINI_ROLES.get(str(message.get("type")))
    if role is None or not isinstance(id, str) or id in known:
        return
    # What is shown of a message of the user has no contents of the files that it names.
    content = message.get("displayContent") or message.get("content")
    said = [part for part in content if not _is_thought(part)] if isinstance(content, list) else (
        content
    )  # fmt: skip
    text = without_hook_context("".join(_texts(said)))
    if not text.strip() or (role == "user" and text.lstrip().startswith(_GEMINI_PROGRAM)):
        return
    known.add(id)
    model = _text_or_none(message.get("model"))
    yield Record(
        position,
        {
            "text": text,
            "role": role,
            "session": session,
            "at": _text_or_none(message.get("timestamp")),
            "id": id,
            "metadata": {"model": model} if model else {},
        },
    )


def _is_thought(part: object) -> bool:
    return bool(mapping(part).get("thought"))


GEMINI = Reader(
    "gemini",
    "chats of Gemini CLI: a session-*.jsonl or .json, or the folder ~/.gemini/tmp",
    _gemini_sniff,
    _gemini_read,
)
