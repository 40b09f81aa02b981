"""``Neo4jSearch``: candidates from the indexes of Neo4j, records from its nodes."""

from __future__ import annotations

from collections.abc import Sequence

from cognigraph.arrays import Vector
from cognigraph.ids import session_uid
from cognigraph.model import (
    Session,
    Triple,
)
from cognigraph.stores.candidates import (
    CandidateQuery,
    Candidates,
    ChunkRecord,
    EpisodeCandidate,
    NewestSources,
)
from cognigraph.stores.neo4j import values
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.stores.neo4j.episodes import candidate_of
from cognigraph.stores.neo4j.index.candidate_sources import CandidateSources
from cognigraph.stores.neo4j.index.gather import gather_candidates
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import Lexicons
from cognigraph.stores.neo4j.result_records import result_records, triples_with_newest
from cognigraph.stores.neo4j.row_values import chunk_of, sessions_of, triple_of
from cognigraph.stores.result_records import ResultQuery, ResultRecords


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

    def episodes(
        self, space: str, vector: Vector, chunks: Sequence[str], limit: int
    ) -> list[EpisodeCandidate]:
        """The episodes nearest to a vector, and those that cover one of some chunks."""
        with within(self._timeout):
            view = self._lexicons.view(space, ())
            if view is None:
                return []
            query = CandidateQuery(vector=vector, sessions_by_vector=limit)
            sources = CandidateSources(self._connection, self._indexes, space, query, view)
            near = sources.triples_and_themes()
            rows = self._connection.rows(
                "search/episodes",
                space=space,
                themes=list(near.themes.uids),
                chunks=list(chunks),
                vector=values.vector(vector),
            )
        return [candidate_of(row) for row in rows]

    def result(self, space: str, query: ResultQuery) -> ResultRecords:
        """The records of a result, with one statement."""
        return result_records(self._connection, space, query)

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

    def sessions_by_id(self, space: str, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by the caller's id."""
        if not ids:
            return {}
        uids = [session_uid(space, id) for id in dict.fromkeys(ids)]
        rows = self._connection.rows("read/sessions_by_uid", uids=uids)
        return {session.id: session for session in sessions_of(rows)}
