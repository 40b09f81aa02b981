"""``Neo4jSearch``: candidates from the indexes of Neo4j, records from its nodes.

One statement reads the records of a result. It lists the sources of facts that have few; those of
the others are read by a second one. A source in one of the messages that are read anyway is sent
without what is known of the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cognigraph.arrays import Vector
from cognigraph.ids import session_uid
from cognigraph.model import Triple
from cognigraph.stores.candidates import (
    CandidateQuery,
    Candidates,
    ChunkRecord,
    ConsecutiveChunks,
    EpisodeCandidate,
    NewestSources,
    ResultQuery,
    ResultRecords,
)
from cognigraph.stores.neo4j import values
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.stores.neo4j.index.gather import gather_candidates
from cognigraph.stores.neo4j.index.packed import columns, dimension_of, unpacked_properties
from cognigraph.stores.neo4j.index.sources import by_vector
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import Lexicons
from cognigraph.stores.neo4j.summaries import episode_candidate
from cognigraph.stores.neo4j.values import chunk_of, sessions_of, triple_of
from cognigraph.times import to_micros


class Neo4jSearch:
    """See :class:`cognigraph.stores.protocols.SearchIndex`."""

    def __init__(
        self, connection: Connection, lexicons: Lexicons, indexes: OwnIndexes, timeout: float
    ) -> None:
        self._connection = connection
        self._timeout = timeout
        self._lexicons = lexicons
        self._indexes = indexes

    def warm(self, space: str) -> None:
        """Do nothing: the server keeps its indexes ready."""

    def candidates(self, space: str, query: CandidateQuery) -> Candidates:
        """Gather candidates with the indexes and the word statistics of the space."""
        with within(self._timeout):
            return gather_candidates(self._connection, self._lexicons, self._indexes, space, query)

    def consecutive(self, space: str, limit: int) -> ConsecutiveChunks:
        """The vectors and sessions of the newest chunks."""
        row = self._connection.row(
            "search/newest",
            space=space,
            limit=limit,
            unpacked=unpacked_properties(self._connection.embedding),
        )
        assert row is not None
        if not row[0]:
            return ConsecutiveChunks(np.empty((0, 0), np.float32), np.empty(0, np.int64))
        nodes = columns(row[0][::-1], dimension_of(row[0][0]))
        _, sessions = np.unique(nodes.sessions, return_inverse=True)
        return ConsecutiveChunks(nodes.codes.astype(np.float32), sessions.astype(np.int64))

    def episodes(
        self, space: str, vector: Vector, chunks: Sequence[str], limit: int
    ) -> list[EpisodeCandidate]:
        """The episodes nearest to a vector, and those that cover one of some chunks."""
        with within(self._timeout):
            view = self._lexicons.view(space, ())
            if view is None:
                return []
            theme = by_vector(self._indexes, space, "Theme", limit, vector, view.theme_indexed)
            rows = self._connection.rows(
                "search/episodes",
                space=space,
                theme=theme.parameters,
                chunks=list(chunks),
                vector=values.vector(vector),
            )
        return [episode_candidate(row) for row in rows]

    def result(self, space: str, query: ResultQuery) -> ResultRecords:
        """The records of a result, with one statement."""
        return read_result(self._connection, space, query)

    def chunks(self, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:
        """Chunks by uid."""
        if not uids:
            return {}
        rows = self._connection.rows("read/chunks", space=space, uids=list(uids))
        return {row[0]: chunk_of(row) for row in rows}

    def triples_by_uid(
        self, space: str, uids: Sequence[str], newest: NewestSources | None = None
    ) -> dict[str, Triple]:
        """Triples by uid."""
        if not uids:
            return {}
        if newest is None:
            rows = self._connection.rows("read/triples_by_uid", space=space, uids=list(uids))
            return {row[0]: triple_of(row) for row in rows}
        return triples_with_newest(self._connection, space, uids, newest)


def read_result(connection: Connection, space: str, query: ResultQuery) -> ResultRecords:
    """All records of a query."""
    row = connection.row(
        "read/result",
        space=space,
        chunks=list(dict.fromkeys((*query.chunks, *query.stating))),
        stating=list(dict.fromkeys(query.stating)),
        triples=list(query.triples),
        sessions=[session_uid(space, id) for id in dict.fromkeys(query.sessions)],
        count=query.newest.count,
    )
    assert row is not None
    chunks, facts, sessions = row
    often = frozenset(fact[0] for fact in facts if fact[-1] > query.newest.count)
    triples = _triples([fact for fact in facts if fact[0] not in often], chunks, query.newest)
    if often:
        triples |= triples_with_newest(connection, space, sorted(often), query.newest)
    wanted = set(query.chunks)
    return ResultRecords(
        chunks={chunk[0]: chunk_of(chunk[:-1]) for chunk in chunks if chunk[0] in wanted},
        stated=_stated(facts),
        triples=triples,
        often=often,
        sessions={session.id: session for session in sessions_of(sessions)},
    )


def triples_with_newest(
    connection: Connection, space: str, uids: Sequence[str], newest: NewestSources
) -> dict[str, Triple]:
    """Facts by uid with their newest sources, however many they have."""
    rows = connection.rows(
        "read/triples_with_newest_sources",
        space=space,
        uids=list(uids),
        count=newest.count,
        chunks=list(newest.chunks),
        until=newest.until,
    )
    return {row[0]: replace(triple_of(row[:-1]), older_sources=row[-1]) for row in rows}


def _triples(
    facts: Iterable[Row], chunks: Iterable[Row], newest: NewestSources
) -> dict[str, Triple]:
    """The facts of which all sources were read, without those later than ``until``."""
    said = {chunk[0]: (chunk[1], chunk[2], chunk[-1]) for chunk in chunks}
    until = None if newest.until is None else to_micros(newest.until)
    found = {}
    for *fact, stating, _ in facts:
        sources = fact[10]
        if sources is None:
            sources = [_source(item, said) for item in stating]
        fact[10] = [source for source in sources if until is None or source[0] <= until]
        fact[14] = min(fact[14] or (), default=None)
        found[fact[0]] = triple_of(fact)
    return found


def _source(stating: Row, said: Mapping[str, tuple[str, str, bool]]) -> Row:
    """A source as in other rows of facts, of one that names a chunk."""
    uid, at, by = stating
    id, session, stated = said[uid]
    return [at, id, session, by, stated]


def _stated(facts: Iterable[Row]) -> dict[str, tuple[str, ...]]:
    """The uids of the facts for which each chunk is evidence."""
    found: dict[str, set[str]] = {}
    for fact in facts:
        for chunk, *_ in fact[-2]:
            found.setdefault(chunk, set()).add(fact[0])
    return {chunk: tuple(sorted(uids)) for chunk, uids in found.items()}
