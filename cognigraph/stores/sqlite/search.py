"""``SQLiteSearch``: candidates from the in-memory index, records from the rows of the file.

A source in one of the messages that are read anyway needs no row of its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from heapq import nlargest
from typing import Any

import numpy as np

from cognigraph.arrays import Vector
from cognigraph.model import Session, Triple
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
)
from cognigraph.stores.sqlite.columns import metadata_of, tags_of
from cognigraph.stores.sqlite.facts import NO_SOURCES, TRIPLE, KnownSources, sources_of, triple_of
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.graph import sessions_by_id
from cognigraph.stores.sqlite.index.gather import gather_candidates
from cognigraph.stores.sqlite.index.index_cache import FreshIndex, SpaceIndexes
from cognigraph.stores.sqlite.rows import JOIN_DATA, RowIds
from cognigraph.stores.sqlite.summaries import episode_candidates
from cognigraph.times import from_micros

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
        """The vectors and sessions of the newest chunks."""
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
        """The episodes nearest to a vector, and those that cover one of some chunks."""
        with self._fresh(space) as fresh:
            if fresh is None:
                return []
            connection, index, space_id = fresh
            cosines = index.themes.cosines(vector)
            near = nlargest(limit, cosines.items(), key=lambda item: (item[1], item[0]))
            positive = [slot for slot, cosine in near if cosine > 0]
            return episode_candidates(connection, space_id, positive, chunks, cosines)

    def result(self, space: str, query: ResultQuery) -> ResultRecords:
        """The messages, facts and sessions of a result, from one snapshot."""

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
        """Chunks by uid."""

        def work(connection: sqlite3.Connection, space_id: int) -> dict[str, ChunkRecord]:
            rows = self._row_ids.select(connection, _CHUNK, "c", uids, space_id)
            return {row[1]: _chunk(row) for row in rows}

        return self._file.query(space, {}, work)

    def triples_by_uid(
        self, space: str, uids: Sequence[str], newest: NewestSources | None = None
    ) -> dict[str, Triple]:
        """Triples by uid, with all their sources or those that ``newest`` names."""

        def work(connection: sqlite3.Connection, space_id: int) -> dict[str, Triple]:
            triples, _ = self._triples(connection, space_id, uids, newest)
            return {triple.uid: triple for triple in triples.values()}

        return self._file.query(space, {}, work)

    def sessions_by_id(self, space: str, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by the caller's id."""
        return self._file.query(space, {}, lambda c, s: sessions_by_id(c, s, ids))

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
    _, uid, message_id, session, session_uid, speaker, at, text, *rest = row
    part, parts, role, heading, metadata, tags, _ = rest
    return ChunkRecord(
        uid, message_id, session, session_uid, speaker, from_micros(at), text, part, parts, role,
        heading, metadata_of(metadata), tags_of(tags),
    )  # fmt: skip


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
