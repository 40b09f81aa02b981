"""SQL conditions for the filters of searches and listings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from cognigraph.model.filters import Filter, Scalar
from cognigraph.times import to_micros

Condition = tuple[str, tuple[Any, ...]]
"""SQL, and the values of its parameters."""


def source_conditions(where: Filter) -> Iterator[Condition]:
    """Conditions on a chunk ``c``, its session ``n`` and the data ``d`` of its message."""
    yield f"coalesce(c.role, 'person') IN ({_marks(where.roles)})", tuple(where.roles)
    if where.sessions:
        yield f"n.name IN ({_marks(where.sessions)})", where.sessions
    if where.speakers:
        yield f"c.speaker IN ({_marks(where.speakers)})", where.speakers
    if isinstance(where.since, datetime):
        yield "c.at >= ?", (to_micros(where.since),)
    if where.latest is not None:
        yield "c.at <= ?", (to_micros(where.latest),)
    yield from data_conditions(where)


def _marks(values: Any) -> str:
    return ",".join("?" * len(tuple(values)))


def data_conditions(where: Filter) -> Iterator[tuple[str, tuple[object, ...]]]:
    """SQL conditions on the tags and metadata of a row ``d`` of ``message_data``.

    Most rows are ruled out by a search for the text, which is faster than reading their JSON.
    """
    for tag in where.tags:
        yield from _containing("d.tags", tag)
        yield "EXISTS (SELECT 1 FROM json_each(d.tags) WHERE value = ?)", (tag,)
    for name, value in where.metadata.items():
        yield from _containing("d.metadata", name)
        if isinstance(value, str):
            yield from _containing("d.metadata", value)
        yield _field(name, value)


def _containing(column: str, text: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    if _is_plain(text):
        yield f"instr({column}, ?)", (f'"{text}"',)


def _is_plain(text: str) -> bool:
    """Whether a text stands in JSON as it is, however the JSON was written."""
    return text.isascii() and json.dumps(text) == f'"{text}"'


def _field(name: str, value: Scalar) -> tuple[str, tuple[object, ...]]:
    """A condition on a field of a JSON object. 1 equals 1.0, but not true."""
    types = _types(value)
    marks = ",".join("?" * len(types))
    equal = () if value is None or isinstance(value, bool) else (value,)
    if not _is_plain(name):
        also = " AND value = ?" * len(equal)
        return (
            "EXISTS (SELECT 1 FROM json_each(d.metadata)"
            f" WHERE key = ? AND type IN ({marks}){also})",
            (name, *types, *equal),
        )
    path = f'$."{name}"'
    first = "json_extract(d.metadata, ?) = ? AND " * len(equal)
    paths = (path, *equal) if equal else ()
    return f"({first}json_type(d.metadata, ?) IN ({marks}))", (*paths, path, *types)


def _types(value: Scalar) -> tuple[str, ...]:
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("true",) if value else ("false",)
    return ("text",) if isinstance(value, str) else ("integer", "real")
