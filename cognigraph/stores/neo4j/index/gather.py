"""Gathers the candidates of a search: runs the candidate sources, then fetches their values.

Chunks are found and read in one thread, triples with themes in another: the server works on one
while this process decodes the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future

import numpy as np

from cognigraph.stores.candidates import (
    CandidateQuery,
    Candidates,
    ChunkCandidates,
    Evidence,
    TripleCandidates,
)
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.index.allowed import allowed
from cognigraph.stores.neo4j.index.candidate_sources import (
    CandidateSources,
    ChunkSources,
    TripleSources,
)
from cognigraph.stores.neo4j.index.packed import unpacked
from cognigraph.stores.neo4j.index.read_candidates import Flags, ReadCandidates
from cognigraph.stores.neo4j.index.unfiltered import is_unfiltered, without_filter, without_keys
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import Lexicons, SpaceView
from cognigraph.stores.neo4j.values import vector
from cognigraph.stores.no_candidates import no_candidates

_DEFAULT_RADIUS = 2


def gather_candidates(
    connection: Connection,
    lexicons: Lexicons,
    indexes: OwnIndexes,
    space: str,
    query: CandidateQuery,
) -> Candidates:
    """Run all candidate sources of a query and collect the values of their candidates.

    If the space has been quiet, the sources start while its statistics are read again. They start
    anew in the rare case that something was written meanwhile.
    """
    expected = lexicons.expected(space, query.terms)
    gather = None if expected is None else _Gather(connection, indexes, space, query, expected)
    view = lexicons.view(space, query.terms)
    if view is None:
        return no_candidates(query)
    if gather is None or view != expected:
        gather = _Gather(connection, indexes, space, query, view)
    return gather.candidates()


class _Gather:
    """Finds and reads chunks in one thread, and triples with themes in another; both start at once.

    Values are fetched in columns, which are decoded faster than rows.
    """

    def __init__(
        self,
        connection: Connection,
        indexes: OwnIndexes,
        space: str,
        query: CandidateQuery,
        view: SpaceView,
    ) -> None:
        self._connection = connection
        self._space = space
        self._query = query
        self._view = view
        self._sources = CandidateSources(connection, indexes, space, query, view)
        # Triples take longer, so they start first.
        self._triples: Future[tuple[TripleSources, ReadCandidates]] = connection.start(
            self._of_triples
        )
        self._chunks: Future[tuple[ChunkSources, ReadCandidates]] = connection.start(
            self._of_chunks
        )

    def candidates(self) -> Candidates:
        """What both threads have found and read."""
        by_chunk, read = self._chunks.result()
        by_triple, also_read = self._triples.result()
        both = read.together(also_read)
        sessions = both.sessions.candidates()
        session_row = {uid: row for row, uid in enumerate(sessions.uids)}
        table, row_of = both.chunks.candidates()
        previous, following = both.links.neighbours(row_of, len(table.uids))
        chunks = ChunkCandidates(
            uids=tuple(table.uids),
            cosine=table.cosine,
            matches=table.matches,
            length=table.length,
            session=np.array([session_row[uid] for uid in table.sessions], np.int64),
            at=table.at_seconds,
            question=table.question,
            previous=previous,
            following=following,
            by_vector=_flags(table.uids, by_chunk.nearest.uids),
            by_terms=_flags(table.uids, by_chunk.by_terms),
            speakers=tuple(table.speakers),
            roles=tuple(table.roles),
            texts=tuple(table.texts) if self._query.texts else (),
        )
        return Candidates(
            lexicon=self._view.lexicon,
            chunks=chunks,
            triples=self._triple_candidates(by_triple, both, chunks, row_of),
            sessions=sessions,
            anchors=tuple(dict.fromkeys(anchor.name for anchor in by_triple.anchors)),
        )

    def _triple_candidates(
        self,
        found: TripleSources,
        read: ReadCandidates,
        chunks: ChunkCandidates,
        row_of: dict[str, int],
    ) -> TripleCandidates:
        """The triples that have evidence observed by ``as_of``."""
        table = read.triples
        evidence = Evidence.of(
            [[row_of[id] for id in ids if id in row_of] for ids in table.evidence]
        )
        newest = evidence.newest(chunks.at)
        return TripleCandidates(
            uids=tuple(table.uids),
            cosine=table.cosine,
            matches=table.matches,
            length=table.length,
            at=np.append(chunks.at, np.nan)[newest],
            session=np.append(chunks.session, -1)[newest],
            evidence=evidence,
            by_vector=_flags(table.uids, found.nearest.uids),
            by_terms=_flags(table.uids, found.by_terms),
            by_anchor=_flags(table.uids, found.by_anchor),
            texts=tuple(table.texts) if self._query.texts else (),
        )

    def _of_chunks(self) -> tuple[ChunkSources, ReadCandidates]:
        found = self._sources.chunks()
        return found, self._read(chunks={*found.nearest.uids, *found.by_terms})

    def _of_triples(self) -> tuple[TripleSources, ReadCandidates]:
        found = self._sources.triples_and_themes()
        triples = {*found.nearest.uids, *found.by_terms, *found.by_anchor}
        return found, self._read(triples=triples, sessions=set(found.themes.sessions))

    def _read(
        self,
        chunks: Collection[str] = (),
        triples: Collection[str] = (),
        sessions: Collection[str] = (),
    ) -> ReadCandidates:
        """What was found, with the evidence of triples, neighbours of chunks, and sessions."""
        query, embedding = self._query, self._connection.embedding
        if not (chunks or triples or sessions):
            return ReadCandidates.nothing(query)
        entities = [vector(entity) for entity in query.entity_vectors]
        # A zero vector has no direction, and is compared with nothing.
        entities = [one for one in entities if one is not None]
        row = self._connection.row(
            "search/gather",
            *_radius(query.radius),
            *(without_filter("search/gather") if is_unfiltered(query) else ()),
            *(() if query.entity_vectors else without_keys("search/gather", embedding)),
            space=self._space,
            chunks=sorted(chunks),
            triples=sorted(triples),
            sessions=sorted(sessions),
            entities=entities,
            until=query.as_of,
            where=allowed(query.where),
            texts=query.texts,
            unpacked=unpacked(embedding),
        )
        assert row is not None
        return ReadCandidates.of(row, self._space, query)


def _radius(radius: int) -> Iterable[tuple[str, str]]:
    """What to replace for another number of neighbours."""
    if radius == _DEFAULT_RADIUS:
        return ()
    return ("NEXT*0..2", f"NEXT*0..{radius}"), ("NEXT*1..3", f"NEXT*1..{radius + 1}")


def _flags(uids: Sequence[str], found: Sequence[str]) -> Flags:
    members = frozenset(found)
    return np.array([uid in members for uid in uids], bool)
