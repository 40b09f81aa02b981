"""Dumps of other memories: mem0's memories, and Graphiti's episodes. Each owner has a space."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from cognigraph.importers.fields import iso
from cognigraph.importers.json_records import objects
from cognigraph.importers.record import Bad, Head, Reader, ReadOptions, Record
from cognigraph.importers.source import Input

_MEM0_LISTS = frozenset({"results", "memories"})
_TEXTS = ("memory", "data", "text", "content")
OWNERS = ("user_id", "agent_id", "run_id")
"""Whose a memory of mem0 may be; the first that is given has the space."""
_MEM0_KEPT = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "categories", "hash", "score")


def space_of_owner(given: Mapping[str, Any]) -> str | None:
    """The space of the user, agent or run that a memory belongs to, such as ``user_id:alice``."""
    named = (f"{name}:{given[name]}" for name in OWNERS if given.get(name) is not None)
    return next(named, None)


def _mem0_sniff(head: Head) -> bool:
    if not head.is_json:
        return False
    return any(
        "memory" in keys and not {"id", "hash", "user_id"}.isdisjoint(keys)
        for keys in (head.keys, head.inner_keys)
    )


def _mem0_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file, _MEM0_LISTS):
        if isinstance(item.value, Bad):
            yield Record(item.position, item.value)
        else:
            given = _unwrapped(item.value)
            yield Record(item.position, _mem0_message(given, options), space_of_owner(given))


def _unwrapped(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a memory; those of a point, as Qdrant keeps memories, are in its payload."""
    payload = given.get("payload")
    return payload | {"id": given.get("id")} if isinstance(payload, dict) else given


def _mem0_message(given: Mapping[str, Any], options: ReadOptions) -> dict[str, Any] | Bad:
    text = next((given[name] for name in _TEXTS if isinstance(given.get(name), str)), None)
    if text is None:
        return Bad("has no 'memory'")
    own = given.get("metadata")
    metadata = dict(own) if isinstance(own, Mapping) else {}
    metadata |= {name: given[name] for name in _MEM0_KEPT if given.get(name)}
    for name in ("created_at", "updated_at"):
        if given.get(name):
            metadata[name] = given[name]
    session = options.session or given.get("run_id") or given.get("user_id") or "mem0"
    made: dict[str, Any] = {"text": text, "session": session, "metadata": metadata}
    for ours, value in (
        ("id", given.get("id")),
        ("speaker", given.get("actor_id") or given.get("user_id") or given.get("agent_id")),
        ("expires", iso(given.get("expiration_date"), options.zone or UTC)),
        ("at", iso(given.get("updated_at") or given.get("created_at"), options.zone or UTC)),
    ):
        if value:
            made[ours] = value
    return made


MEM0 = Reader("mem0", "mem0's memories, as get_all returns them", _mem0_sniff, _mem0_read)


_GRAPHITI_LISTS = frozenset({"episodes", "nodes", "edges", "facts", "entities"})
_EPISODE = {"content", "source_description"}
_GRAPHITI_KEPT = ("name", "source", "source_description", "group_id")


def _graphiti_sniff(head: Head) -> bool:
    if not head.is_json:
        return False
    exported = {"labels", "properties"} <= head.keys
    return exported or any(keys >= _EPISODE for keys in (head.keys, head.inner_keys))


def _graphiti_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file, _GRAPHITI_LISTS):
        value = item.value
        if isinstance(value, Bad):
            yield Record(item.position, value)
            continue
        episode = _episode(value)
        if episode is not None:
            made = _graphiti_message(episode, options)
            yield Record(item.position, made, str(episode.get("group_id") or "") or None)


def _episode(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The fields of an episode; ``None`` for all other nodes and relationships."""
    inner = value.get("properties")
    if isinstance(inner, Mapping):
        labels = value.get("labels")
        return inner if isinstance(labels, list) and "Episodic" in labels else None
    return value if "content" in value and "fact" not in value else None


def _graphiti_message(given: Mapping[str, Any], options: ReadOptions) -> dict[str, Any] | Bad:
    text = given.get("content")
    if not isinstance(text, str):
        return Bad("is an episode whose content is no text")
    metadata = {name: given[name] for name in _GRAPHITI_KEPT if given.get(name)}
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


GRAPHITI = Reader(
    "graphiti",
    "Graphiti's episodes, or Neo4j's JSON export of them",
    _graphiti_sniff,
    _graphiti_read,
)
