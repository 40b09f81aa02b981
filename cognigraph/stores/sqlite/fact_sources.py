"""SQL that reads the sources of facts: all of them, or the newest with a count of the others."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class _Found:
    rows: set[tuple[int, str, str, str, bool]] = field(default_factory=set)
    chunks: set[int] = field(default_factory=set)
    total: int = 0

    def sources(self) -> tuple[tuple[Source, ...], int]:
        ordered = sorted(self.rows, reverse=True)
        return tuple(source_of(*row) for row in ordered), max(0, self.total - len(self.chunks))


def sources_of(
    connection: sqlite3.Connection, ids: Sequence[int], newest: NewestSources | None
) -> Mapping[int, tuple[tuple[Source, ...], int]]:
    """The sources of facts by their row ids, newest first, and how many were left out."""
    found: dict[int, _Found] = {}
    for triple, chunk, *source, total in _rows(connection, ids, newest):
        one = found.setdefault(triple, _Found(total=total))
        one.rows.add(tuple(source))
        one.chunks.add(chunk)
    return {triple: one.sources() for triple, one in found.items()}


def _rows(
    connection: sqlite3.Connection, ids: Sequence[int], newest: NewestSources | None
) -> sqlite3.Cursor:
    if newest is None:
        return connection.execute(_ALL, {"ids": json.dumps([*ids])})
    values = {
        "ids": json.dumps([*ids]),
        "count": newest.count,
        "chunks": json.dumps([*newest.chunks]),
        "until": None if newest.until is None else to_micros(newest.until),
    }
    return connection.execute(_NEWEST, values)
