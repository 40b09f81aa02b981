"""Reading facts: by what is asked of them, with their sources, by the slots of an entity."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cognigraph.ids import normalise
from cognigraph.model import Triple
from cognigraph.model.filters import TripleQuery
from cognigraph.model.graph import Source
from cognigraph.stores.candidates import NewestSources
from cognigraph.stores.sqlite.columns import periods
from cognigraph.stores.sqlite.filters import Condition, source_conditions
from cognigraph.stores.sqlite.rows import JOIN_DATA, escape_like, select_in
from cognigraph.stores.state_rows import source_of
from cognigraph.times import from_micros, parse_when, to_micros

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
{JOIN_DATA} WHERE c.id IN ({{}})"""

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


TRIPLE = """
SELECT t.id, t.uid,
       CASE WHEN s.shown_id IS NULL OR s.id = o.id THEN t.subject ELSE s.name END, s.type,
       t.relation,
       CASE WHEN o.shown_id IS NULL OR s.id = o.id THEN t.object ELSE o.name END, o.type,
       t.when_text, t.negated,
       t.first_observed, t.last_observed,
       t.status, t.valid_from, t.valid_to, t.superseded_by, t.superseded_at, t.reason, t.earlier
FROM triple t JOIN entity s ON s.id = t.subject_id JOIN entity o ON o.id = t.object_id"""


def triple_of(row: tuple[Any, ...], sources: FactSources) -> Triple:
    """The fact of a row of ``TRIPLE``."""
    _, uid, subject, subject_type, relation, object, object_type, when, negated, *rest = row
    first, last, status, valid_from, valid_to, superseded_by, superseded_at, reason, earlier = rest
    return Triple(
        uid, subject, subject_type, relation, object, object_type, parse_when(when), bool(negated),
        from_micros(first), from_micros(last), sources.listed, None, status,
        None if valid_from is None else from_micros(valid_from),
        None if valid_to is None else from_micros(valid_to),
        superseded_by,
        None if superseded_at is None else from_micros(superseded_at),
        reason, periods(earlier), sources.older,
    )  # fmt: skip


def to_triples(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[Triple]:
    """Rows of ``TRIPLE`` with all their sources."""
    sources = sources_of(connection, [row[0] for row in rows], None)
    return [triple_of(row, sources.get(row[0], NO_SOURCES)) for row in rows]


def entities_called(connection: sqlite3.Connection, space: int, name: str) -> list[int]:
    """Ids of the canonical entities that a name or alias stands for."""
    normalised = normalise(name)
    rows = connection.execute(
        "SELECT coalesce(shown_id, id) FROM entity WHERE space_id = ? AND normalised = ? "
        "UNION SELECT coalesce(e.shown_id, e.id) FROM alias a JOIN entity e ON e.id = a.entity_id "
        "WHERE a.space_id = ? AND a.normalised = ?",
        (space, normalised, space, normalised),
    )
    return [row[0] for row in rows]


def slot_facts(connection: sqlite3.Connection, space: int, entity: str) -> list[Triple]:
    """Facts about slots of an entity, and others that a user ruled on."""
    ids = json.dumps(entities_called(connection, space, entity))
    rows = connection.execute(
        f"""{TRIPLE} WHERE t.folded_into IS NULL AND (
              t.subject_id IN (SELECT value FROM json_each(:ids))
                AND (t.slot IS NOT NULL OR t.decided_by IS NOT NULL)
              OR t.object_id IN (SELECT value FROM json_each(:ids)) AND t.slot >= '<'
                AND t.slot < '=')
            ORDER BY t.first_observed, t.uid""",
        {"ids": ids},
    ).fetchall()
    return to_triples(connection, rows)


def contested_facts(connection: sqlite3.Connection, space: int, limit: int) -> list[list[Triple]]:
    """Current facts that share a slot of one value with others, by slot."""
    slots = connection.execute(
        """SELECT group_concat(id) FROM triple
           WHERE space_id = ? AND slot IS NOT NULL AND instr(slot, '|') = 0
             AND status = 'current' AND folded_into IS NULL
           GROUP BY CASE WHEN slot >= '<' AND slot < '=' THEN object_id ELSE subject_id END,
             ltrim(slot, '<')
           HAVING count(*) > 1 ORDER BY max(last_observed) DESC, slot LIMIT ?""",
        (space, limit),
    ).fetchall()
    groups = [[int(id) for id in row[0].split(",")] for row in slots]
    rows = select_in(
        connection, f"{TRIPLE} WHERE t.id IN ({{}})", [id for ids in groups for id in ids]
    )
    found = {row[0]: triple for row, triple in zip(rows, to_triples(connection, rows), strict=True)}
    return [[found[id] for id in sorted(ids)] for ids in groups]


_SLOT = "replace(ltrim(t.slot, '<'), '|', ' ')"

_TRUE_AT = """t.status != 'retracted' AND (
  coalesce(t.valid_from, t.first_observed) <= ? AND (t.valid_to IS NULL OR ? < t.valid_to)
  OR EXISTS (SELECT 1 FROM json_each(t.earlier) p
             WHERE p.value ->> 0 <= ? AND ? < p.value ->> 1))"""


def list_facts(connection: sqlite3.Connection, space: int, query: TripleQuery) -> list[Triple]:
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
    conditions = list(source_conditions(query.where))
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
