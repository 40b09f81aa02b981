"""Sessions of Claude Code: JSON lines under ``~/.claude/projects``, one session in each file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cognigraph.importers.json_records import lines
from cognigraph.importers.record import Bad, Position, Reader, ReadOptions, Record
from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input

_EVENTS = frozenset({"summary", "file-history-snapshot", "queue-operation"})
_THOUGHT = frozenset({"thinking", "redacted_thinking"})
_WRITTEN_BY_PROGRAM = ("<command-", "<local-command-", "<system-reminder>", "<bash-")
"""How messages begin that carry the user's role but were written by the program."""


def _sniff(head: Head) -> bool:
    if "sessionId" in head.keys and not {"type", "uuid", "message"}.isdisjoint(head.keys):
        return bool(head.lines)
    return any(str(line.get("type")) in _EVENTS for line in head.lines)


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for found in lines(file):
        if isinstance(found.value, Bad):
            yield Record(found.position, found.value)
        elif (made := _message(found.value, found.position, file, options)) is not None:
            yield made


def _message(
    line: Mapping[str, Any], position: Position, file: Input, options: ReadOptions
) -> Record | None:
    """What was said on a line; ``None`` for the events of the program, and for sub-agents."""
    message = line.get("message")
    if line.get("type") not in ("user", "assistant") or not isinstance(message, Mapping):
        return None
    if line.get("isMeta") or line.get("isSidechain") or line.get("isCompactSummary"):
        return None
    text, blocks = _content(message.get("content"))
    results = [one for one in blocks if one.get("type") == "tool_result"]
    is_plain = all(one.get("type") == "text" for one in blocks)
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
        "metadata": _metadata(line, message),
    }
    if not is_plain:
        made["raw"] = {"role": line["type"], "content": blocks}
    return Record(position, made)


def _content(content: object) -> tuple[str, list[Mapping[str, Any]]]:
    """The text of a content, and its blocks without what the model thought."""
    if isinstance(content, str):
        return content, []
    blocks = content if isinstance(content, list) else []
    blocks = [one for one in blocks if isinstance(one, Mapping)]
    said = [one for one in blocks if str(one.get("type")) not in _THOUGHT]
    return "\n".join(filter(None, map(_text, said))), said


def _text(block: Mapping[str, Any]) -> str:
    inner = block.get("content") if block.get("type") == "tool_result" else block.get("text")
    if isinstance(inner, list):
        return "\n".join(filter(None, (_text(one) for one in inner if isinstance(one, Mapping))))
    return inner if isinstance(inner, str) else ""


def _metadata(line: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, str]:
    found = {
        "folder": line.get("cwd"),
        "branch": line.get("gitBranch"),
        "model": message.get("model"),
    }
    return {name: value for name, value in found.items() if isinstance(value, str) and value}


READER = Reader(
    "claude-code",
    "sessions of Claude Code: a JSONL file, or the folder ~/.claude/projects",
    _sniff,
    _read,
    (".jsonl",),
)
