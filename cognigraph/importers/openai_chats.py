"""Conversations as lists of OpenAI messages: an array, ``{"messages": [...]}``, fine-tune lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from cognigraph.importers.json_records import Found, objects
from cognigraph.importers.record import Bad, Position, Reader, ReadOptions, Record
from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input

_NAMES = ("session", "session_id", "conversation_id", "thread_id", "id", "custom_id")
_TIMES = ("at", "timestamp", "created_at", "created", "time")


def _sniff(head: Head) -> bool:
    if not head.is_json:
        return False
    return "messages" in head.keys or (not head.lines and {"role", "content"} <= head.keys)


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for found in objects(file):
        yield from _records(found, file, options)


def _records(found: Found, file: Input, options: ReadOptions) -> Iterator[Record]:
    value = found.value
    if isinstance(value, Bad):
        yield Record(found.position, value)
    elif "messages" in value or isinstance(value.get("input"), Mapping):
        yield from conversation(value, found.position, options)
    else:
        yield Record(found.position, {"session": options.session or file.stem} | value)


def conversation(
    given: Mapping[str, Any], position: Position, options: ReadOptions
) -> Iterator[Record]:
    """The messages of an object with a list of ``messages``, as also fine-tuning takes it."""
    messages = _messages(given)
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


def _messages(given: Mapping[str, Any]) -> Any:
    """The messages; of a line for preference tuning, with the output that was preferred."""
    if "messages" in given:
        return given["messages"]
    asked = given["input"].get("messages")
    chosen = given.get("preferred_output")
    return [*asked, *chosen] if isinstance(asked, list) and isinstance(chosen, list) else asked


def _session(given: Mapping[str, Any], messages: list[Any]) -> str:
    """The conversation's id; without one a hash of its messages, the same wherever it stands."""
    for name in _NAMES:
        if isinstance(given.get(name), str) and given[name].strip():
            return str(given[name])
    digest = hashlib.blake2b(json.dumps(messages, sort_keys=True).encode(), digest_size=6)
    return f"chat-{digest.hexdigest()}"


READER = Reader(
    "openai",
    "OpenAI messages: a JSON array of them, an object with messages, or fine-tuning lines",
    _sniff,
    _read,
)
