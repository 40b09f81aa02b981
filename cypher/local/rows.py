"""Result rows of a query: group and order them by Cypher's rules and convert them to plain values.

Both stores return the same kinds of values: nodes and relationships are dicts of their documented
properties, without a store's internal ones, and times are aware ``datetime`` objects in UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cmp_to_key
from typing import Any

from cognigraph.cypher.deadline import check_clock
from cognigraph.cypher.local.literals import Moment
from cognigraph.cypher.local.translate import Column, Order, Stage

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
Row = dict[str, Any]


def finish(stage: Stage, found: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Compute the rows of a stage from the values found for its patterns."""
    if stage.groups:
        rows = _group(stage.columns, found)
    else:
        rows = [{**{c.name: row[c.key] for c in stage.columns}, **row} for row in found]
    names = [column.name for column in stage.columns]
    if stage.distinct:
        unique = {tuple(identity(row[name]) for name in names): row for row in reversed(rows)}
        rows = list(reversed(unique.values()))
    for order in reversed(stage.order):
        rows = sorted(rows, key=_by(order), reverse=order.descending)
    end = None if stage.limit is None else stage.skip + stage.limit
    return [{name: row[name] for name in names} for row in rows[stage.skip : end]]


def _by(order: Order) -> Callable[[Row], Any]:
    def value(row: Row) -> Any:
        found = row[order.key]
        if order.property:
            found = found.get(order.property) if isinstance(found, Mapping) else None
        return _rank(found)

    return value


def _order_of(value: Any) -> int:
    """Rank a value's type in Cypher's sort order, null last."""
    kinds: tuple[tuple[type, int], ...] = (
        (Mapping, 0), (list, 3), (Moment, 5), (str, 6), (bool, 7), (int, 8), (float, 8),
    )  # fmt: skip
    return next((rank for kind, rank in kinds if isinstance(value, kind)), 9)


def _compare(left: Any, right: Any) -> int:
    check_clock()
    ranks = _order_of(left), _order_of(right)
    if ranks[0] != ranks[1]:
        return -1 if ranks[0] < ranks[1] else 1
    if ranks[0] == 3:
        for one, other in zip(left, right, strict=False):
            if difference := _compare(one, other):
                return difference
        return int(len(left) > len(right)) - int(len(left) < len(right))
    if ranks[0] in (0, 9):
        left, right = str(identity(left)), str(identity(right))
    return int(left > right) - int(left < right)


_rank = cmp_to_key(_compare)


def _group(columns: Sequence[Column], found: Sequence[Mapping[str, Any]]) -> list[Row]:
    keys = [column for column in columns if not column.aggregate]
    groups: dict[Hashable, list[Mapping[str, Any]]] = {} if keys else {(): []}
    for row in found:
        check_clock()
        groups.setdefault(tuple(identity(row[c.key]) for c in keys), []).append(row)
    return [
        {c.name: _aggregate(c, group) if c.aggregate else group[0][c.key] for c in columns}
        for group in groups.values()
    ]


def _aggregate(column: Column, group: Sequence[Mapping[str, Any]]) -> Any:
    if not column.key:
        return len(group)
    values = [row[column.key] for row in group if row[column.key] is not None]
    if column.distinct:
        values = list({identity(value): value for value in reversed(values)}.values())[::-1]
    return _AGGREGATES[column.aggregate](values)


_AGGREGATES: Mapping[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "collect": list,
    "sum": sum,
    "avg": lambda values: sum(values) / len(values) if values else None,
    "min": lambda values: min(values, key=_rank, default=None),
    "max": lambda values: max(values, key=_rank, default=None),
}


def identity(value: Any) -> Hashable:
    """Return a key that is equal for values that DISTINCT considers equal.

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
    if isinstance(value, Moment):
        return value.value
    if isinstance(value, Mapping):
        return properties(value, value.get("__labels__", ()))
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC)
    return value


def properties(given: Mapping[str, Any], labels: Iterable[str] = ()) -> Row:
    """Return the documented properties of a node, or of a relationship if there are no labels."""
    shown = next((SHOWN[label] for label in labels if label in SHOWN), None)
    return {
        name: plain(value)
        for name, value in sorted(given.items())
        if value is not None
        and not (name in HIDDEN or name.startswith("__"))
        and (shown is None or name in shown)
    }
