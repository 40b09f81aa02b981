"""``SQLiteSearch``, and reading what it and listings show: facts with their sources, sessions.

A source in one of the messages that are read anyway needs no row of its own.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from heapq import nlargest
from typing import Any, NamedTuple

import numpy as np

from cognigraph.arrays import Vector
from cognigraph.ids import normalise
from cognigraph.model import (
    Session,
    Theme,
    Triple,
)
from cognigraph.model.filters import TripleQuery
from cognigraph.model.graph import Source
from cognigraph.stores import model_rows
from cognigraph.stores.candidates import (
    CandidateQuery,
    Candidates,
    ChunkRecord,
    ConsecutiveChunks,
    EpisodeCandidate,
    NewestSources,
    ResultQuery,
    ResultRecords,
    no_candidates,
    source_of,
)
from cognigraph.stores.model_rows import chunk_of, session_of
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.index.gather import gather_candidates
from cognigraph.stores.sqlite.index.index_cache import FreshIndex, SpaceIndexes
from cognigraph.stores.sqlite.rows import (
    JOIN_DATA,
    Condition,
    RowIds,
    all_of,
    escape_like,
    periods,
    select_in,
    source_conditions,
    tags_of,
)
from cognigraph.stores.sqlite.summaries import episode_candidates
from cognigraph.times import from_micros, micros, to_micros

_CHUNK = f"""
SELECT c.id, c.uid, c.message_id, s.name, s.uid, c.speaker, c.at, c.text, c.part, c.parts, c.role,
       c.heading, d.metadata, d.tags, d.facts IS NOT NULL
FROM chunk c JOIN session s ON s.id = c.session_id {JOIN_DATA} WHERE"""
_Row = tuple[Any, ...]


class SQLiteSearch:
    """See :class:`cognigraph.stores.protocols.SearchIndex`."""

    def __init__(self, file: MemoryFile, indexes: SpaceIndexes) -> None:
        self._file = file
        self._indexes = indexes
        self._row_ids = RowIds()

    def warm(self, space: str) -> None:
        """Start to load the index of a space that was not searched yet, in another thread."""
        self._indexes.load(space, self._file.vectors, self._file.read_vectors)

    def candidates(self, space: str, query: CandidateQuery) -> Candidates:
        """Gather candidates from the in-memory index, after refreshing it."""
        with self._fresh(space) as fresh:
            if fresh is None:
                return no_candidates(query)
            connection, index, space_id = fresh
            return gather_candidates(
                connection, index, space_id, query, self._file.read, self._row_ids
            )

    def consecutive(self, space: str, limit: int) -> ConsecutiveChunks:
        found = self._file.select(
            space,
            "SELECT session_id, vector FROM chunk_index WHERE space_id = ? "
            "ORDER BY changed DESC, chunk_id DESC LIMIT ?",
            limit,
        )[::-1]
        return ConsecutiveChunks(
            self._file.vectors.unpack([vector for _, vector in found]),
            np.array([session for session, _ in found], np.int64),
        )

    def episodes(
        self, space: str, vector: Vector, chunks: Sequence[str], limit: int
    ) -> list[EpisodeCandidate]:
        with self._fresh(space) as fresh:
            if fresh is None:
                return []
            connection, index, space_id = fresh
            cosines = index.themes.cosines(vector)
            near = nlargest(limit, cosines.items(), key=lambda item: (item[1], item[0]))
            positive = [slot for slot, cosine in near if cosine > 0]
            return episode_candidates(connection, space_id, positive, chunks, cosines)

    def result(self, space: str, query: ResultQuery) -> ResultRecords:

        def work(connection: sqlite3.Connection, space_id: int) -> ResultRecords:
            rows = self._row_ids.select(connection, _CHUNK, "c", query.chunks, space_id)
            stating = self._ids_of(connection, space_id, query.stating, rows)
            said = {row[0]: (row[2], row[3], row[-1]) for row in rows}
            known = KnownSources.of_chunks(connection, [*stating], said)
            triples, often = self._triples(connection, space_id, query.triples, query.newest, known)
            return ResultRecords(
                chunks={row[1]: _chunk(row) for row in rows},
                stated=_stated(stating, triples, known),
                triples={triple.uid: triple for triple in triples.values()},
                often=often,
                sessions=sessions_by_id(connection, space_id, query.sessions),
            )

        return self._file.query(space, ResultRecords(), work)

    def chunks(self, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:

        def work(connection: sqlite3.Connection, space_id: int) -> dict[str, ChunkRecord]:
            rows = self._row_ids.select(connection, _CHUNK, "c", uids, space_id)
            return {row[1]: _chunk(row) for row in rows}

        return self._file.query(space, {}, work)

    def triples_by_uid(
        self, space: str, uids: Sequence[str], newest: NewestSources | None = None
    ) -> dict[str, Triple]:

        def work(connection: sqlite3.Connection, space_id: int) -> dict[str, Triple]:
            triples, _ = self._triples(connection, space_id, uids, newest)
            return {triple.uid: triple for triple in triples.values()}

        return self._file.query(space, {}, work)

    def _fresh(self, space: str) -> AbstractContextManager[FreshIndex | None]:
        return self._indexes.fresh(space, self._file.vectors, self._file.read_vectors)

    def _ids_of(
        self, connection: sqlite3.Connection, space: int, uids: Sequence[str], rows: Iterable[_Row]
    ) -> dict[int, str]:
        """The uids of chunks by their ids; ``rows`` are those of chunks that were read."""
        wanted = set(uids)
        ids = {row[0]: row[1] for row in rows if row[1] in wanted}
        if missing := sorted(wanted.difference(ids.values())):
            query = "SELECT c.id, c.uid FROM chunk c WHERE"
            ids.update(self._row_ids.select(connection, query, "c", missing, space))
        return ids

    def _triples(
        self,
        connection: sqlite3.Connection,
        space: int,
        uids: Sequence[str],
        newest: NewestSources | None,
        known: KnownSources | None = None,
    ) -> tuple[dict[int, Triple], frozenset[str]]:
        """Facts by row id, of uids and of known sources; the uids of those with many sources."""
        query = f"{TRIPLE} WHERE t.folded_into IS NULL AND"
        ids = known.rows if known else ()
        rows = self._row_ids.select(connection, query, "t", uids, space, ids)
        sources = sources_of(connection, [row[0] for row in rows], newest, known)
        triples = {row[0]: triple_of(row, sources.get(row[0], NO_SOURCES)) for row in rows}
        often = frozenset(triples[id].uid for id, listed in sources.items() if listed.is_cut)
        return triples, often


def _chunk(row: _Row) -> ChunkRecord:
    *shown, tags, _ = row[1:]
    return chunk_of(shown, tags_of(tags))


def _stated(
    chunks: Mapping[int, str], triples: Mapping[int, Triple], known: KnownSources
) -> dict[str, tuple[str, ...]]:
    """The uids of the facts for which each chunk is evidence."""
    stated: dict[str, set[str]] = {}
    for id, sources in known.rows.items():
        if id in triples:
            for source in sources:
                stated.setdefault(chunks[source[1]], set()).add(triples[id].uid)
    return {chunk: tuple(sorted(uids)) for chunk, uids in stated.items()}


# Reading facts: by what is asked of them, with their sources, by the slots of an entity.

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

ChunkOrigin = tuple[str, str, int]
"""Of a chunk: the message, the session, and whether an application stated facts with it."""

_FactRow = tuple[int, int, int, str, int]
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

    rows: Mapping[int, list[_FactRow]] = field(default_factory=dict)
    said: Mapping[int, ChunkOrigin] = field(default_factory=dict)

    @classmethod
    def of_chunks(
        cls, connection: sqlite3.Connection, ids: Sequence[int], said: Mapping[int, ChunkOrigin]
    ) -> KnownSources:
        """Read the facts for which chunks are evidence."""
        rows: dict[int, list[_FactRow]] = {}
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


def _sources(rows: list[_FactRow], said: Mapping[int, ChunkOrigin], most: int) -> FactSources:
    total = rows[0][-1]
    if len(rows) == 1:  # most facts have one source
        _, chunk, at, said_by, _ = rows[0]
        id, session, stated = said[chunk]
        source = source_of(at, id, session, said_by, bool(stated))
        return FactSources((source,), max(0, total - 1), total > most)
    chunks = {row[1] for row in rows}
    different = set()
    for _, chunk, at, said_by, _ in rows:
        id, session, stated = said[chunk]
        different.add((at, id, session, said_by, bool(stated)))
    listed = tuple(source_of(*item) for item in sorted(different, reverse=True))
    return FactSources(listed, max(0, total - len(chunks)), total > most)


def _rows(
    connection: sqlite3.Connection,
    ids: Sequence[int],
    newest: NewestSources | None,
    known: Mapping[int, list[_FactRow]],
) -> dict[int, list[_FactRow]]:
    """All rows of facts with few sources, and the newest of the others, by the ids of the facts."""
    found: dict[int, list[_FactRow]] = {}
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
    rows: list[_FactRow] = select_in(connection, _ALL, few)
    if newest is not None and many:
        values = {
            "ids": json.dumps([*many]),
            "count": newest.count,
            "chunks": json.dumps([*newest.chunks]),
            "until": micros(newest.until),
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
    return model_rows.triple_of(row[1:-1], periods(row[-1]), sources.listed, sources.older)


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
    own = "t.space_id = ? AND t.folded_into IS NULL", (space,)
    where, values = all_of([own, *_of_facts(connection, space, query), *_of_sources(query)])
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
    where, values = all_of(conditions)
    yield (
        f"""EXISTS (SELECT 1 FROM evidence e JOIN chunk c ON c.id = e.chunk_id
            JOIN session n ON n.id = c.session_id
            LEFT JOIN message_data d ON d.chunk_id = c.id - c.part
            WHERE e.triple_id = t.id AND {where})""",
        values,
    )


_SESSION = "SELECT id, name, started_at, ended_at, messages, chunks, version FROM session"
_REVISION_AT = """
SELECT version, keys, themes FROM revision WHERE session_id = ? AND at <= ?
ORDER BY version DESC LIMIT 1"""


def sessions_by_id(
    connection: sqlite3.Connection, space: int, ids: Sequence[str]
) -> dict[str, Session]:
    """Sessions by the caller's id."""
    rows = select_in(connection, f"{_SESSION} WHERE space_id = ? AND name IN ({{}})", ids, space)
    return {session.id: session for session in sessions_of_rows(connection, rows)}


def sessions_of_rows(
    connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]
) -> list[Session]:
    """Sessions of rows with the columns of ``_SESSION``, with their keys and themes."""
    rows = list(rows)
    ids = [row[0] for row in rows]
    keys: dict[int, list[str]] = {}
    for session, name, _ in select_in(
        connection,
        "SELECT session_id, name, weight FROM session_key JOIN key ON key.id = key_id "
        "WHERE session_id IN ({}) ORDER BY weight DESC, name",
        ids,
    ):
        keys.setdefault(session, []).append(name)
    themes: dict[int, list[tuple[str, ...]]] = {}
    for session, *theme in select_in(
        connection,
        "SELECT session_id, title, summary, uid FROM theme WHERE session_id IN ({}) ORDER BY place",
        ids,
    ):
        themes.setdefault(session, []).append(tuple(theme))
    return [session_of((*row[1:], keys.get(row[0], ()), themes.get(row[0], ()))) for row in rows]


def session_at(
    connection: sqlite3.Connection, session: Session, row: tuple[Any, ...], until: int
) -> Session:
    """A session with what had been said in it by a time."""
    last, messages, chunks, id, ended = row
    if ended <= until:
        return session
    cut = replace(
        session, ended_at=from_micros(last), messages=messages, chunks=chunks,
        keys=(), themes=(), version=0,
    )  # fmt: skip
    revision = connection.execute(_REVISION_AT, (id, until)).fetchone()
    if revision is None:
        return cut
    version, keys, themes = revision
    summary = tuple(Theme(*theme) for theme in json.loads(themes))
    return replace(cut, keys=tuple(json.loads(keys)), themes=summary, version=version)
