"""SQL that lists facts by what is asked of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from cognigraph.model import Triple
from cognigraph.model.filters import Filter
from cognigraph.model.listing import TripleQuery
from cognigraph.stores.sqlite.index.allowed import data_conditions
from cognigraph.stores.sqlite.read import TRIPLE, entities_called, escape_like, to_triples
from cognigraph.times import to_micros

Condition = tuple[str, tuple[Any, ...]]
"""SQL, and the values of its parameters."""

_SLOT = "replace(ltrim(t.slot, '<'), '|', ' ')"
_TRUE_AT = """t.status != 'retracted' AND (
  coalesce(t.valid_from, t.first_observed) <= ? AND (t.valid_to IS NULL OR ? < t.valid_to)
  OR EXISTS (SELECT 1 FROM json_each(t.earlier) p
             WHERE p.value ->> 0 <= ? AND ? < p.value ->> 1))"""


def triples(connection: sqlite3.Connection, space: int, query: TripleQuery) -> list[Triple]:
    """Facts that meet all conditions, newest observation first."""
    conditions = [
        ("t.space_id = ? AND t.folded_into IS NULL", (space,)),
        *_of_facts(connection, space, query),
        *_of_sources(query),
    ]
    where = " AND ".join(f"({text})" for text, _ in conditions)
    values = [value for _, given in conditions for value in given]
    rows = connection.execute(
        f"{TRIPLE} WHERE {where} ORDER BY t.last_observed DESC, t.uid LIMIT ? OFFSET ?",
        (*values, query.limit, query.offset),
    ).fetchall()
    return to_triples(connection, rows)


def _of_facts(
    connection: sqlite3.Connection, space: int, query: TripleQuery
) -> Iterator[Condition]:
    if query.as_of is not None:
        yield "t.first_observed <= ?", (to_micros(query.as_of),)
    if query.entity is not None:
        ids = tuple(entities_called(connection, space, query.entity))
        marks = ",".join("?" * len(ids))
        yield f"t.subject_id IN ({marks}) OR t.object_id IN ({marks})", ids + ids
    if query.status is not None:
        yield "t.status = ?", (query.status,)
    if query.slot is not None:
        pattern = f"{escape_like(query.slot)} %"
        yield f"{_SLOT} = ? OR {_SLOT} LIKE ? ESCAPE '\\'", (query.slot, pattern)
    if query.text is not None:
        said = "s.normalised || ' ' || lower(t.relation) || ' ' || o.normalised"
        yield f"{said} LIKE ? ESCAPE '\\'", (f"%{escape_like(query.text)}%",)
    if query.valid_at is not None:
        yield _TRUE_AT, (to_micros(query.valid_at),) * 4


def _of_sources(query: TripleQuery) -> Iterator[Condition]:
    """The condition that one source passes the filter."""
    if query.where is None:
        return
    conditions = list(of_source(query.where))
    if query.as_of is not None:
        conditions.append(("e.observed_at <= ?", (to_micros(query.as_of),)))
    where = " AND ".join(f"({text})" for text, _ in conditions)
    yield (
        f"""EXISTS (SELECT 1 FROM evidence e JOIN chunk c ON c.id = e.chunk_id
            JOIN session n ON n.id = c.session_id
            LEFT JOIN message_data d ON d.chunk_id = c.id - c.part
            WHERE e.triple_id = t.id AND {where})""",
        tuple(value for _, given in conditions for value in given),
    )


def of_source(where: Filter) -> Iterator[Condition]:
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
