"""SQL that reads the sources of facts: all of them, or the newest with a count of the others."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from cognigraph.model.graph import Source
from cognigraph.stores.candidates import NewestSources
from cognigraph.stores.state_rows import source_of
from cognigraph.times import to_micros

_COLUMNS = """
SELECT e.triple_id, c.id, e.observed_at, c.message_id, s.name, coalesce(e.said_by, ''),
       d.facts IS NOT NULL"""
_JOIN = """
JOIN chunk c ON c.id = e.chunk_id JOIN session s ON s.id = c.session_id
LEFT JOIN message_data d ON d.chunk_id = c.id"""
_ALL = f"""{_COLUMNS}, 0 FROM evidence e {_JOIN}
WHERE e.triple_id IN (SELECT value FROM json_each(:ids))"""
_NEWEST = f"""{_COLUMNS}, r.total
FROM (SELECT triple_id, chunk_id,
        row_number() OVER (PARTITION BY triple_id ORDER BY at DESC, chunk_id DESC) AS position,
        count(*) OVER (PARTITION BY triple_id) AS total
      FROM (SELECT triple_id, chunk_id, max(observed_at) AS at FROM evidence
            WHERE triple_id IN (SELECT value FROM json_each(:ids))
              AND (:until IS NULL OR observed_at <= :until)
            GROUP BY triple_id, chunk_id)) r
JOIN evidence e ON e.triple_id = r.triple_id AND e.chunk_id = r.chunk_id {_JOIN}
WHERE r.position <= :count
   OR r.chunk_id IN (SELECT id FROM chunk WHERE uid IN (SELECT value FROM json_each(:chunks)))"""
# Positions and totals are read from the index of the evidence alone; only the chosen are joined.


_COUNT = """
SELECT triple_id, count(DISTINCT chunk_id) FROM evidence
WHERE triple_id IN (SELECT value FROM json_each(?)) GROUP BY triple_id"""

Sources = tuple[tuple[Source, ...], int]
"""Sources of a fact, newest first, and how many were left out."""


def sources_of(
    connection: sqlite3.Connection, ids: Sequence[int], newest: NewestSources | None
) -> Mapping[int, Sources]:
    """The sources of facts by their row ids."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in _rows(connection, ids, newest):
        found.setdefault(row[0], []).append(row[1:])
    return {triple: _sources(rows) for triple, rows in found.items()}


def _sources(rows: Sequence[tuple[Any, ...]]) -> Sources:
    """Sources of rows of one fact: a chunk, what says when and who, and the number of chunks."""
    if len(rows) == 1:  # as of most facts
        _, *one, total = rows[0]
        return (source_of(*one),), max(0, total - 1)
    different = sorted({row[1:-1] for row in rows}, reverse=True)
    left_out = rows[0][-1] - len({row[0] for row in rows})
    return tuple(source_of(*one) for one in different), max(0, left_out)


def _rows(
    connection: sqlite3.Connection, ids: Sequence[int], newest: NewestSources | None
) -> list[tuple[Any, ...]]:
    """All rows of facts with few sources, and the newest of the others."""
    if newest is None:
        return connection.execute(_ALL, {"ids": json.dumps([*ids])}).fetchall()
    few, many = [], list(ids)
    if newest.until is None:
        counts = dict(connection.execute(_COUNT, (json.dumps(many),)))
        few = [id for id in ids if counts.get(id, 0) <= newest.count]
        many = [id for id in ids if counts.get(id, 0) > newest.count]
    rows = connection.execute(_ALL, {"ids": json.dumps(few)}).fetchall() if few else []
    if many:
        values = {
            "ids": json.dumps(many),
            "count": newest.count,
            "chunks": json.dumps([*newest.chunks]),
            "until": None if newest.until is None else to_micros(newest.until),
        }
        rows += connection.execute(_NEWEST, values).fetchall()
    return rows
