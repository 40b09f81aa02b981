"""What mem0's ``get_all`` returns or its export holds: memories, each a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any

from cognigraph.importers.json_records import objects
from cognigraph.importers.moments import iso
from cognigraph.importers.record import Bad, Reader, ReadOptions, Record
from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input

_LISTS = frozenset({"results", "memories"})
_TEXTS = ("memory", "data", "text", "content")
_KEPT = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "categories", "hash", "score")


def _sniff(head: Head) -> bool:
    if not head.is_json:
        return False
    return any(
        "memory" in keys and not {"id", "hash", "user_id"}.isdisjoint(keys)
        for keys in (head.keys, head.inner_keys)
    )


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for found in objects(file, _LISTS):
        value = found.value
        made = value if isinstance(value, Bad) else _message(value, options)
        yield Record(found.position, made)


def _message(given: Mapping[str, Any], options: ReadOptions) -> dict[str, Any] | Bad:
    text = next((given[name] for name in _TEXTS if isinstance(given.get(name), str)), None)
    if text is None:
        return Bad("has no 'memory'")
    own = given.get("metadata")
    metadata = dict(own) if isinstance(own, Mapping) else {}
    metadata |= {name: given[name] for name in _KEPT if given.get(name)}
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


READER = Reader("mem0", "mem0's memories, as get_all returns them", _sniff, _read)
