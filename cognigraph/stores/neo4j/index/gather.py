"""Gathers the candidates of a search: runs the candidate sources in parallel, fetches values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.model import Role
from cognigraph.stores.candidates import (
    NONE,
    OUTSIDE,
    CandidateQuery,
    Candidates,
    ChunkCandidates,
    SessionCandidates,
    TripleCandidates,
)
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index.allowed import allowed
from cognigraph.stores.neo4j.index.candidate_sources import CandidateSources, match_counts
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import Lexicons
from cognigraph.stores.neo4j.values import cosine, vector
from cognigraph.stores.no_candidates import no_candidates

_DEFAULT_RADIUS = 2
_CHUNK_COLUMNS = 12
_SESSION_COLUMN = 5


def gather_candidates(
    connection: Connection,
    lexicons: Lexicons,
    indexes: OwnIndexes,
    space: str,
    query: CandidateQuery,
) -> Candidates:
    """Run all candidate sources of a query and collect the values of their candidates."""
    view = lexicons.view(space, query.terms)
    if view is None:
        return no_candidates(query)
    sources = CandidateSources(connection, indexes, space, query)
    start = connection.start
    by_vector = start(
        sources.nearest, "Chunk", query.chunks_by_vector, view.chunk_indexed, view.covered
    )
    triples_by_vector = start(
        sources.nearest, "Triple", query.triples_by_vector, view.triple_indexed
    )
    by_terms = start(sources.by_terms, "Chunk", query.chunks_by_terms, view)
    triples_by_terms = start(sources.by_terms, "Triple", query.triples_by_terms, view)
    near = start(sources.nearest, "Theme", query.sessions_by_vector, view.theme_indexed)
    anchors = sources.with_hubs(sources.anchors(view), triples_by_vector.result())

    gather = _Gather(connection, space, query)
    found = {*by_vector.result().uids, *by_terms.result()}
    around = start(gather.around, found)
    triples = gather.triples(
        by_vector=triples_by_vector.result().uids,
        by_terms=triples_by_terms.result(),
        by_anchor=[uid for anchor in anchors for uid in anchor.triples],
    )
    evidence = {uid for uids in triples.evidence for uid in uids}
    around_evidence = start(gather.around, evidence - found)
    # Most sessions are known before the last chunks have been read.
    known = {*around.result()[_SESSION_COLUMN], *near.result().sessions}
    session_rows = start(gather.session_rows, known)
    rows = gather.chunks(around_evidence.result(), around.result())
    more = gather.session_rows(set(rows.sessions) - known)
    sessions = gather.sessions(session_rows.result() + more)
    chunks = rows.candidates(
        {uid: position for position, uid in enumerate(sessions.uids)},
        by_vector=by_vector.result().uids,
        by_terms=by_terms.result(),
    )
    return Candidates(
        lexicon=view.lexicon,
        chunks=chunks,
        triples=triples.candidates(chunks),
        sessions=sessions,
        anchors=tuple(dict.fromkeys(anchor.name for anchor in anchors)),
    )


def _flags(uids: Sequence[str], found: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    members = frozenset(found)
    return np.array([uid in members for uid in uids], bool)


@dataclass
class _Triples:
    """Candidate triples, sorted by uid; their evidence is still uids and not rows."""

    uids: list[str]
    cosine: Floats
    length: Floats
    matches: Floats
    evidence: list[list[str]]
    by_vector: Sequence[str]
    by_terms: Sequence[str]
    by_anchor: Sequence[str]
    texts: Sequence[str]

    def candidates(self, chunks: ChunkCandidates) -> TripleCandidates:
        position = {uid: row for row, uid in enumerate(chunks.uids)}
        sources = tuple(
            tuple(sorted(position[uid] for uid in uids if uid in position))
            for uids in self.evidence
        )
        newest = [max(own, key=lambda i: (chunks.at[i], i)) if own else -1 for own in sources]
        return TripleCandidates(
            uids=tuple(self.uids),
            cosine=self.cosine,
            matches=self.matches,
            length=self.length,
            at=np.array([chunks.at[i] if i >= 0 else np.nan for i in newest], float),
            session=np.array([chunks.session[i] if i >= 0 else -1 for i in newest], np.int64),
            evidence=sources,
            by_vector=_flags(self.uids, self.by_vector),
            by_terms=_flags(self.uids, self.by_terms),
            by_anchor=_flags(self.uids, self.by_anchor),
            texts=tuple(self.texts),
        )


@dataclass
class _Chunks:
    """Candidate chunks, sorted by uid; their sessions are still uids and not rows."""

    uids: list[str]
    cosine: Floats
    length: Floats
    matches: Floats
    at: Floats
    sessions: list[str]
    question: list[bool]
    speakers: list[str]
    following: list[str]
    has_previous: list[bool]
    texts: Sequence[str]
    roles: Sequence[Role | None]

    def candidates(
        self, session_position: dict[str, int], *, by_vector: Sequence[str], by_terms: Sequence[str]
    ) -> ChunkCandidates:
        position = {uid: row for row, uid in enumerate(self.uids)}
        following = np.array(
            [position.get(uid, OUTSIDE) if uid else NONE for uid in self.following], np.int64
        )
        previous = np.where(np.array(self.has_previous, bool), OUTSIDE, NONE).astype(np.int64)
        linked = np.flatnonzero(following >= 0)
        previous[following[linked]] = linked
        return ChunkCandidates(
            uids=tuple(self.uids),
            cosine=self.cosine,
            matches=self.matches,
            length=self.length,
            session=np.array([session_position[uid] for uid in self.sessions], np.int64),
            at=self.at,
            question=np.array(self.question, bool),
            previous=previous,
            following=following,
            by_vector=_flags(self.uids, by_vector),
            by_terms=_flags(self.uids, by_terms),
            speakers=tuple(speaker or None for speaker in self.speakers),
            roles=tuple(self.roles),
            texts=tuple(self.texts),
        )


class _Gather:
    """Fetches candidates by uid; a statement returns one row of lists, which decodes faster."""

    def __init__(self, connection: Connection, space: str, query: CandidateQuery) -> None:
        self._connection = connection
        self._query = query
        self._entities = [vector(entity) for entity in query.entity_vectors]
        self._parameters = {
            "space": space,
            "vector": vector(query.vector),
            "terms": list(query.terms),
            "until": query.as_of,
            "where": allowed(query.where),
        }
        self._texts = query.texts

    def triples(
        self, *, by_vector: Sequence[str], by_terms: Sequence[str], by_anchor: Sequence[str]
    ) -> _Triples:
        """The triples of all candidate sources that have evidence observed by ``as_of``."""
        wanted = sorted({*by_vector, *by_terms, *by_anchor})
        row: Row | None = [[] for _ in range(6)]
        if wanted:
            row = self._connection.row(
                "search/triples", triples=wanted, texts=self._texts, **self._parameters
            )
        assert row is not None
        kept = [i for i, chunks in enumerate(row[4]) if chunks]
        uids, scores, lengths, found, evidence, texts = _sorted(row, kept)
        return _Triples(
            uids=uids,
            cosine=cosine(np.array(scores, float)),
            length=np.array(lengths, float),
            matches=match_counts(found, self._query.terms),
            evidence=evidence,
            by_vector=by_vector,
            by_terms=by_terms,
            by_anchor=by_anchor,
            texts=texts if self._texts else (),
        )

    def around(self, seeds: Iterable[str]) -> Row:
        """Columns of some chunks and their neighbours, unordered."""
        wanted = list(seeds)
        if not wanted:
            return [[] for _ in range(_CHUNK_COLUMNS)]
        radius = self._query.radius
        replace = () if radius == _DEFAULT_RADIUS else (("NEXT*0..2", f"NEXT*0..{radius}"),)
        row = self._connection.row(
            "search/chunks", *replace, chunks=wanted, texts=self._texts, **self._parameters
        )
        assert row is not None
        return row

    def chunks(self, one: Row, other: Row) -> _Chunks:
        """The chunks of two neighbourhoods, each once."""
        columns = [first + second for first, second in zip(one, other, strict=True)]
        positions = {uid: position for position, uid in enumerate(columns[0])}
        uids, scores, lengths, found, times, *rest = _sorted(columns, positions.values())
        sessions, questions, speakers, following, has_previous, texts, roles = rest
        return _Chunks(
            uids=uids,
            cosine=cosine(np.array(scores, float)),
            length=np.array(lengths, float),
            matches=match_counts(found, self._query.terms),
            at=np.array(times, float) / 1e6,
            sessions=sessions,
            question=questions,
            speakers=speakers,
            following=following,
            has_previous=has_previous,
            texts=texts if self._texts else (),
            roles=[role or None for role in roles],
        )

    def session_rows(self, uids: Iterable[str]) -> list[Row]:
        """Sessions with their themes and, if the query names entities, their keys."""
        wanted = sorted(uids)
        if not wanted:
            return []
        known = [entity for entity in self._entities if entity is not None]
        name = "search/sessions_keys" if self._entities else "search/sessions"
        return self._connection.rows(name, sessions=wanted, entities=known, **self._parameters)

    def sessions(self, rows: list[Row]) -> SessionCandidates:
        """The sessions of the candidates, sorted by uid."""
        query, entities = self._query, self._entities
        known = [position for position, entity in enumerate(entities) if entity is not None]
        rows = sorted(rows, key=lambda row: str(row[0]))
        keys = np.full((len(rows), len(entities)), np.nan)
        theme = np.full(len(rows), np.nan)
        for position, (_, _, best, _, _, count, nearest) in enumerate(rows):
            if best is not None:
                theme[position] = 2.0 * best - 1.0
            if count:
                keys[position] = 0.0  # a zero vector has nothing in common with any key
                keys[position, known] = cosine(np.array(nearest, float))
        return SessionCandidates(
            uids=tuple(row[0] for row in rows),
            ids=tuple(row[1] for row in rows),
            theme=theme,
            keys=keys,
            matches=match_counts(
                [[word for words in row[4] for word in words] for row in rows], query.terms
            ),
            length=np.array([row[3] for row in rows], float),
        )


def _sorted(columns: Row, rows: Iterable[int]) -> list[list]:  # type: ignore[type-arg]
    """Some rows of the columns, sorted by the first column."""
    order = sorted(rows, key=columns[0].__getitem__)
    return [[column[row] for row in order] for column in columns]
