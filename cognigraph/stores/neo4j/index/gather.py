"""Gathers the candidates of a search: runs the candidate sources, then fetches their values."""

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
    Evidence,
    SessionCandidates,
    TripleCandidates,
)
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index.allowed import allowed
from cognigraph.stores.neo4j.index.candidate_sources import CandidateSources, Sources
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import Lexicons
from cognigraph.stores.neo4j.index.word_source import match_counts
from cognigraph.stores.neo4j.values import cosine, vector
from cognigraph.stores.no_candidates import no_candidates

_DEFAULT_RADIUS = 2
_CHUNK_COLUMNS = 12
_TRIPLE_COLUMNS = 6


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
    found = CandidateSources(connection, indexes, space, query, view).run()
    by_anchor = [uid for anchor in found.anchors for uid in anchor.triples]
    triples, rows, sessions = _Gather(connection, space, query).all_of(found, by_anchor)
    chunks = rows.candidates(
        {uid: position for position, uid in enumerate(sessions.uids)},
        by_vector=found.chunks.uids,
        by_terms=found.chunks_by_terms,
    )
    return Candidates(
        lexicon=view.lexicon,
        chunks=chunks,
        triples=triples.candidates(chunks),
        sessions=sessions,
        anchors=tuple(dict.fromkeys(anchor.name for anchor in found.anchors)),
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
        evidence = Evidence.of(
            [[position[uid] for uid in uids if uid in position] for uids in self.evidence]
        )
        newest = evidence.newest(chunks.at)
        return TripleCandidates(
            uids=tuple(self.uids),
            cosine=self.cosine,
            matches=self.matches,
            length=self.length,
            at=np.append(chunks.at, np.nan)[newest],
            session=np.append(chunks.session, -1)[newest],
            evidence=evidence,
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
    """Fetches candidates in columns, which are decoded faster than rows.

    The chunks that were found and the triples with their evidence are read by the same statement,
    which runs for both at once: on a server with several processors this takes half the time.
    """

    def __init__(self, connection: Connection, space: str, query: CandidateQuery) -> None:
        self._connection = connection
        self._space = space
        self._query = query

    def all_of(
        self, found: Sources, by_anchor: Sequence[str]
    ) -> tuple[_Triples, _Chunks, SessionCandidates]:
        """What was found, with the evidence of triples, neighbours of chunks, and sessions."""
        chunks = sorted({*found.chunks.uids, *found.chunks_by_terms})
        triples = sorted({*found.triples.uids, *found.triples_by_terms, *by_anchor})
        sessions = sorted(set(found.themes.sessions))
        beside = None
        if triples and (chunks or sessions):
            beside = self._connection.start(self._row, [], triples, [])
        row: Row = [*([] for _ in range(_TRIPLE_COLUMNS)), [[]] * _CHUNK_COLUMNS, []]
        if chunks or sessions:
            row = self._row(chunks, [], sessions)
        elif triples:
            row = self._row([], triples, [])
        if beside is not None:
            row = _together(row, beside.result())
        *triple_columns, chunk_columns, session_rows = row
        return (
            self._triples(triple_columns, found, by_anchor),
            self._chunks(chunk_columns),
            self._sessions(session_rows),
        )

    def _row(self, chunks: list[str], triples: list[str], sessions: list[str]) -> Row:
        query = self._query
        entities = [vector(entity) for entity in query.entity_vectors]
        replace = (("NEXT*0..2", f"NEXT*0..{query.radius}"),)
        row = self._connection.row(
            "search/gather",
            *(replace if query.radius != _DEFAULT_RADIUS else ()),
            space=self._space,
            chunks=chunks,
            triples=triples,
            sessions=sessions,
            vector=vector(query.vector),
            terms=list(query.terms),
            # A zero vector has no direction, and is compared with nothing.
            entities=[one for one in entities if one is not None] if entities else None,
            until=query.as_of,
            where=allowed(query.where),
            texts=query.texts,
        )
        assert row is not None
        return row

    def _triples(self, row: Row, found: Sources, by_anchor: Sequence[str]) -> _Triples:
        """The triples of all candidate sources that have evidence observed by ``as_of``."""
        columns = _sorted(row, range(len(row[0])))
        uids, scores, lengths, words, evidence, texts = columns
        return _Triples(
            uids=uids,
            cosine=cosine(np.array(scores, float)),
            length=np.array(lengths, float),
            matches=match_counts(words, self._query.terms),
            evidence=evidence,
            by_vector=found.triples.uids,
            by_terms=found.triples_by_terms,
            by_anchor=by_anchor,
            texts=texts if self._query.texts else (),
        )

    def _chunks(self, row: Row) -> _Chunks:
        """The chunks that were found or are evidence, and their neighbours."""
        uids, scores, lengths, words, times, *rest = _sorted(row, range(len(row[0])))
        sessions, questions, speakers, following, has_previous, texts, roles = rest
        return _Chunks(
            uids=uids,
            cosine=cosine(np.array(scores, float)),
            length=np.array(lengths, float),
            matches=match_counts(words, self._query.terms),
            at=np.array(times, float) / 1e6,
            sessions=sessions,
            question=questions,
            speakers=speakers,
            following=following,
            has_previous=has_previous,
            texts=texts if self._query.texts else (),
            roles=[role or None for role in roles],
        )

    def _sessions(self, rows: list[Row]) -> SessionCandidates:
        """The sessions of the candidates, sorted by uid."""
        query, entities = self._query, self._query.entity_vectors
        known = [position for position, entity in enumerate(entities) if entity.any()]
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


def _together(one: Row, other: Row) -> Row:
    """The values of two calls. Chunks and sessions that both have read are taken from the first."""
    *_, chunks, sessions = one
    *triples, more_chunks, more_sessions = other
    known = set(chunks[0])
    new = [row for row, uid in enumerate(more_chunks[0]) if uid not in known]
    known_sessions = {row[0] for row in sessions}
    return [
        *triples,
        [
            column + [more[row] for row in new]
            for column, more in zip(chunks, more_chunks, strict=True)
        ],
        sessions + [row for row in more_sessions if row[0] not in known_sessions],
    ]


def _sorted(columns: Row, rows: Iterable[int]) -> list[list]:  # type: ignore[type-arg]
    """Some rows of the columns, sorted by the first column."""
    order = sorted(rows, key=columns[0].__getitem__)
    return [[column[row] for row in order] for column in columns]
