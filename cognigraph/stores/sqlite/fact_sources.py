"""SQL that reads the sources of facts: all of them, or the newest with a count of the others."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cognigraph.model.graph import Source
from cognigraph.stores.candidates import NewestSources
from cognigraph.stores.sqlite.in_list import select_in
from cognigraph.stores.sqlite.message_data import JOIN
from cognigraph.stores.state_rows import source_of
from cognigraph.times import to_micros

_ALL = """
SELECT triple_id, chunk_id, observed_at, coalesce(said_by, ''), 0 FROM evidence
WHERE triple_id IN ({})"""
_OF_CHUNKS = """
SELECT triple_id, chunk_id, observed_at, coalesce(said_by, ''), 0 FROM evidence
WHERE chunk_id IN ({})"""
_NEWEST = """
SELECT e.triple_id, e.chunk_id, e.observed_at, coalesce(e.said_by, ''), r.total
FROM (SELECT triple_id, chunk_id,
        row_number() OVER (PARTITION BY triple_id ORDER BY at DESC, chunk_id DESC) AS position,
        count(*) OVER (PARTITION BY triple_id) AS total
      FROM (SELECT triple_id, chunk_id, max(observed_at) AS at FROM evidence
            WHERE triple_id IN (SELECT value FROM json_each(:ids))
              AND (:until IS NULL OR observed_at <= :until)
            GROUP BY triple_id, chunk_id)) r
JOIN evidence e ON e.triple_id = r.triple_id AND e.chunk_id = r.chunk_id
WHERE r.position <= :count
   OR r.chunk_id IN (SELECT id FROM chunk WHERE uid IN (SELECT value FROM json_each(:chunks)))"""
# Positions and totals are read from the index of the evidence alone; only the chosen are joined.

_COUNT = "SELECT triple_id, count(*) FROM evidence WHERE triple_id IN ({}) GROUP BY triple_id"
_SAID = f"""
SELECT c.id, c.message_id, s.name, d.facts IS NOT NULL
FROM chunk c JOIN session s ON s.id = c.session_id
{JOIN} WHERE c.id IN ({{}})"""

Said = tuple[str, str, int]
"""Of a chunk: the message, the session, and whether an application stated facts with it."""

_Row = tuple[int, int, int, str, int]
"""Of a source: the fact, the chunk, when and who said it, and how many chunks say it, if known."""


class FactSources(NamedTuple):
    """Sources of a fact, newest first, and how many were left out.

    ``is_cut`` says that it has more than the newest that were asked for.
    """

    listed: tuple[Source, ...]
    older: int
    is_cut: bool


NO_SOURCES = FactSources((), 0, False)


@dataclass(frozen=True, slots=True)
class KnownSources:
    """What was read of sources before: rows by the ids of facts, and chunks by their ids.

    The rows are all of those that some chunks are evidence for.
    """

    rows: Mapping[int, list[_Row]] = field(default_factory=dict)
    said: Mapping[int, Said] = field(default_factory=dict)

    @classmethod
    def of_chunks(
        cls, connection: sqlite3.Connection, ids: Sequence[int], said: Mapping[int, Said]
    ) -> KnownSources:
        """Read the facts for which chunks are evidence."""
        rows: dict[int, list[_Row]] = {}
        for row in select_in(connection, _OF_CHUNKS, ids):
            rows.setdefault(row[0], []).append(row)
        return cls(rows, said)


def sources_of(
    connection: sqlite3.Connection,
    ids: Sequence[int],
    newest: NewestSources | None,
    known: KnownSources | None = None,
) -> Mapping[int, FactSources]:
    """The sources of facts by their row ids."""
    known = known or KnownSources()
    found = _rows(connection, ids, newest, known.rows)
    said = dict(known.said)
    unknown = {row[1] for rows in found.values() for row in rows if row[1] not in said}
    said.update((row[0], row[1:]) for row in select_in(connection, _SAID, [*unknown]))
    most = 0 if newest is None else newest.count
    return {triple: _sources(rows, said, most) for triple, rows in found.items()}


def _sources(rows: list[_Row], said: Mapping[int, Said], most: int) -> FactSources:
    total = rows[0][-1]
    if len(rows) == 1:  # as of most facts
        _, chunk, at, said_by, _ = rows[0]
        id, session, stated = said[chunk]
        source = source_of(at, id, session, said_by, bool(stated))
        return FactSources((source,), max(0, total - 1), total > most)
    chunks = {row[1] for row in rows}
    different = set()
    for _, chunk, at, said_by, _ in rows:
        id, session, stated = said[chunk]
        different.add((at, id, session, said_by, bool(stated)))
    listed = tuple(source_of(*one) for one in sorted(different, reverse=True))
    return FactSources(listed, max(0, total - len(chunks)), total > most)


def _rows(
    connection: sqlite3.Connection,
    ids: Sequence[int],
    newest: NewestSources | None,
    known: Mapping[int, list[_Row]],
) -> dict[int, list[_Row]]:
    """All rows of facts with few sources, and the newest of the others, by the ids of the facts."""
    found: dict[int, list[_Row]] = {}
    few: Sequence[int] = ids
    many: Sequence[int] = ()
    if newest is not None:
        few, many = (), ids
        if newest.until is None:
            counts = dict(select_in(connection, _COUNT, ids))
            many = [id for id in ids if counts.get(id, 0) > newest.count]
            few = [id for id in ids if 0 < counts.get(id, 0) <= newest.count]
            found = {id: known[id] for id in few if len(known.get(id, ())) == counts[id]}
            few = [id for id in few if id not in found]
    rows: list[_Row] = select_in(connection, _ALL, few)
    if newest is not None and many:
        values = {
            "ids": json.dumps([*many]),
            "count": newest.count,
            "chunks": json.dumps([*newest.chunks]),
            "until": None if newest.until is None else to_micros(newest.until),
        }
        rows += connection.execute(_NEWEST, values).fetchall()
    for row in rows:
        found.setdefault(row[0], []).append(row)
    return found
