"""Graphiti's episodes: as ``model_dump`` writes them, or as Neo4j's JSON export of the graph.

Only the episodes, which are what was said, are messages. Entities and facts that were read out of
them are left out: this memory reads them itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from cognigraph.importers.json_records import objects
from cognigraph.importers.moments import iso
from cognigraph.importers.record import Bad, Reader, ReadOptions, Record
from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input

_LISTS = frozenset({"episodes", "nodes", "edges", "facts", "entities"})
_EPISODE = {"content", "source_description"}
_KEPT = ("name", "source", "source_description", "group_id")


def _sniff(head: Head) -> bool:
    if not head.is_json:
        return False
    exported = {"labels", "properties"} <= head.keys
    return exported or any(keys >= _EPISODE for keys in (head.keys, head.inner_keys))


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for found in objects(file, _LISTS):
        value = found.value
        if isinstance(value, Bad):
            yield Record(found.position, value)
            continue
        episode = _episode(value)
        if episode is not None:
            yield Record(found.position, _message(episode, options))


def _episode(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The fields of an episode; ``None`` for all other nodes and relationships."""
    inner = value.get("properties")
    if isinstance(inner, Mapping):
        labels = value.get("labels")
        return inner if isinstance(labels, list) and "Episodic" in labels else None
    return value if "content" in value and "fact" not in value else None


def _message(given: Mapping[str, Any], options: ReadOptions) -> dict[str, Any] | Bad:
    text = given.get("content")
    if not isinstance(text, str):
        return Bad("is an episode whose content is no text")
    metadata = {name: given[name] for name in _KEPT if given.get(name)}
    made: dict[str, Any] = {"session": options.session or given.get("group_id") or "graphiti"}
    made |= {"text": text, "metadata": metadata}
    at = iso(given.get("valid_at") or given.get("created_at"), options.zone or UTC)
    made |= {name: value for name, value in (("at", at), ("id", given.get("uuid"))) if value}
    if given.get("source") == "message":
        made |= _speaker(text)
    elif given.get("source") == "json":
        made |= _payload(text)
    return made


def _speaker(text: str) -> dict[str, Any]:
    """The speaker of an episode such as ``Ann: I moved``, if it has one line."""
    name, colon, said = text.partition(": ")
    if not colon or "\n" in text or len(name.split()) > 4:
        return {}
    return {"speaker": name.strip(), "text": said}


def _payload(text: str) -> dict[str, Any]:
    try:
        return {"raw": json.loads(text)}
    except (ValueError, RecursionError):
        return {}


READER = Reader("graphiti", "Graphiti's episodes, or Neo4j's JSON export of them", _sniff, _read)
