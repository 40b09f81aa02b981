"""How values compare, group and sort in Cypher, and how they are returned.

Both stores return the same kinds of values: nodes and relationships are dicts of their documented
properties, without a store's internal ones, and times are aware ``datetime`` objects in UTC.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cmp_to_key
from typing import Any

from cognigraph.cypher.deadline import check_clock

HIDDEN = frozenset({"embedding", "embedding_b", "vector", "terms", "lexemes"})
"""Properties never returned, whatever the label: they are internal to the engine, and large."""

SHOWN: Mapping[str, frozenset[str]] = {
    label: frozenset((*names.split(), "uid", "space"))
    for label, names in {
        "Session": "id started_at ended_at messages chunks version",
        "Key": "name",
        "Theme": "title summary",
        "Triple": "subject relation object when valid_from valid_to negated first_observed "
        "last_observed status",
        "Entity": "name type",
        "Alias": "name type",
        "TripleVariant": "subject relation object when negated",
        "Chunk": "message_id session speaker role at text part parts heading tags metadata state",
    }.items()
}
"""Documented properties of a node, by label; see :mod:`cognigraph.stores.protocols`."""

EDGE = "__edge__"
"""The number of a relationship, among its properties."""
LABELS = "__labels__"
"""The labels of a node, or the type of a relationship, among its properties."""
Row = dict[str, Any]

_KINDS: tuple[tuple[type, int], ...] = (
    (Mapping, 0), (list, 3), (datetime, 5), (str, 6), (bool, 7), (int, 8), (float, 8),
)  # fmt: skip


def kind_of(value: Any) -> int:
    """The rank of a value's type in Cypher's sort order, null last."""
    return next((rank for kind, rank in _KINDS if isinstance(value, kind)), 9)


def compare(left: Any, right: Any) -> int:
    """Below, at or above 0 as the left value sorts before, with or behind the right one."""
    check_clock()
    kinds = kind_of(left), kind_of(right)
    if kinds[0] != kinds[1]:
        return -1 if kinds[0] < kinds[1] else 1
    if kinds[0] == 3:
        for one, other in zip(left, right, strict=False):
            if difference := compare(one, other):
                return difference
        return int(len(left) > len(right)) - int(len(left) < len(right))
    if kinds[0] in (0, 9):
        left, right = str(identity(left)), str(identity(right))
    return int(left > right) - int(left < right)


rank = cmp_to_key(compare)
"""The key by which values are sorted."""


def identity(value: Any) -> Hashable:
    """A key that is equal for values that DISTINCT considers equal.

    Nodes are identified by uid, relationships by their number in the graph.
    """
    if isinstance(value, Mapping):
        if EDGE in value:
            return ("relationship", value[EDGE])
        if "uid" in value:
            return ("node", value["uid"])
        return ("map", tuple(sorted((name, identity(item)) for name, item in value.items())))
    if isinstance(value, (list, tuple)):
        return ("list", tuple(map(identity, value)))
    if isinstance(value, bool):
        return ("boolean", value)
    return value if isinstance(value, Hashable) else repr(value)


def plain(value: Any) -> Any:
    """Convert a value to the form returned to the caller."""
    if isinstance(value, Mapping):
        return properties(value, value.get(LABELS, ()))
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC)
    return value


def properties(given: Mapping[str, Any], labels: Iterable[str] = ()) -> Row:
    """The documented properties of a node, or of a relationship if there are no labels."""
    shown = next((SHOWN[label] for label in labels if label in SHOWN), None)
    return {
        name: plain(value)
        for name, value in sorted(given.items())
        if value is not None
        and not (name in HIDDEN or name.startswith("__"))
        and (shown is None or name in shown)
    }
