"""Gathers the candidates of a search: runs the candidate sources, then fetches their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cognigraph.arrays import Floats
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
from cognigraph.stores.neo4j.index.packed import Columns, columns, unpacked
from cognigraph.stores.neo4j.index.unfiltered import is_unfiltered, without_filter
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import Lexicons
from cognigraph.stores.neo4j.values import cosine, vector
from cognigraph.stores.no_candidates import no_candidates

_DEFAULT_RADIUS = 2
_CHUNK_COLUMNS = 4
_TRIPLE_COLUMNS = 3


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
        query,
        space,
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
    """Candidate chunks, sorted by uid."""

    nodes: Columns
    uids: list[str]
    following: list[str | None]
    """The uid of the next chunk, '' at the end of the session, None for one that is not read."""
    has_previous: list[bool]
    texts: Sequence[str]

    def candidates(
        self,
        query: CandidateQuery,
        space: str,
        session_position: dict[str, int],
        *,
        by_vector: Sequence[str],
        by_terms: Sequence[str],
    ) -> ChunkCandidates:
        nodes = self.nodes
        position: dict[str | None, int] = {uid: row for row, uid in enumerate(self.uids)}
        position[""] = NONE
        following = np.array([position.get(uid, OUTSIDE) for uid in self.following], np.int64)
        previous = np.where(np.array(self.has_previous, bool), OUTSIDE, NONE).astype(np.int64)
        linked = np.flatnonzero(following >= 0)
        previous[following[linked]] = linked
        return ChunkCandidates(
            uids=tuple(self.uids),
            cosine=nodes.cosine(query.vector),
            matches=nodes.matches(space, query.terms),
            length=nodes.length,
            session=np.array([session_position[uid] for uid in nodes.sessions], np.int64),
            at=nodes.at,
            question=nodes.question,
            previous=previous,
            following=following,
            by_vector=_flags(self.uids, by_vector),
            by_terms=_flags(self.uids, by_terms),
            speakers=tuple(nodes.speakers),
            roles=tuple(nodes.roles),
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
        row: Row = [[[]] * _TRIPLE_COLUMNS, [[]] * _CHUNK_COLUMNS, []]
        if chunks or sessions:
            row = self._row(chunks, [], sessions)
        elif triples:
            row = self._row([], triples, [])
        if beside is not None:
            row = _together(row, beside.result())
        triple_columns, chunk_columns, session_rows = row
        uid_of, read = self._chunks(chunk_columns)
        return (
            self._triples(triple_columns, uid_of, found, by_anchor),
            read,
            self._sessions(session_rows),
        )

    def _row(self, chunks: list[str], triples: list[str], sessions: list[str]) -> Row:
        query = self._query
        entities = [vector(entity) for entity in query.entity_vectors]
        radius = (("NEXT*0..2", f"NEXT*0..{query.radius}"),)
        row = self._connection.row(
            "search/gather",
            *(radius if query.radius != _DEFAULT_RADIUS else ()),
            *(without_filter("search/gather") if is_unfiltered(query) else ()),
            space=self._space,
            chunks=chunks,
            triples=triples,
            sessions=sessions,
            # A zero vector has no direction, and is compared with nothing.
            entities=[one for one in entities if one is not None] if entities else None,
            until=query.as_of,
            where=allowed(query.where),
            texts=query.texts,
            unpacked=unpacked(self._connection.embedding),
        )
        assert row is not None
        return row

    def _triples(
        self,
        row: Row,
        chunk_of: dict[str, str],
        found: Sources,
        by_anchor: Sequence[str],
    ) -> _Triples:
        """The triples of all candidate sources that have evidence observed by ``as_of``."""
        values, evidence, texts = row
        read = columns(values, len(self._query.vector))
        uids = read.uids
        order = sorted(range(len(uids)), key=uids.__getitem__)
        nodes = read.rows(order)
        return _Triples(
            uids=[uids[row] for row in order],
            cosine=nodes.cosine(self._query.vector),
            length=nodes.length,
            matches=nodes.matches(self._space, self._query.terms),
            evidence=[[chunk_of[id] for id in evidence[row] if id in chunk_of] for row in order],
            by_vector=found.triples.uids,
            by_terms=found.triples_by_terms,
            by_anchor=by_anchor,
            texts=[texts[row] for row in order] if self._query.texts else (),
        )

    def _chunks(self, row: Row) -> tuple[dict[str, str], _Chunks]:
        """The chunks that were found or are evidence, and their neighbours.

        Also the uids of all that were read, by their element ids.
        """
        values, ids, links, texts = row
        read = columns(values, len(self._query.vector))
        uids = read.uids
        uid_of = dict(zip(ids, uids, strict=True))
        passes = read.have_role(self._query.where.roles) & read.are_of(self._space)
        # Both calls may have read the same chunk.
        first = {uid: row for row, uid in reversed(list(enumerate(uids)))}
        order = [row for _, row in sorted(first.items()) if passes[row]]
        own_links = [links[row] for row in order]
        return uid_of, _Chunks(
            nodes=read.rows(order),
            uids=[uids[row] for row in order],
            following=[_following(own, uid_of) for own in own_links],
            has_previous=[None in own for own in own_links],
            texts=[texts[row] for row in order] if self._query.texts else (),
        )

    def _sessions(self, rows: list[Row]) -> SessionCandidates:
        """The sessions of the candidates, sorted by uid."""
        query, entities = self._query, self._query.entity_vectors
        known = [position for position, entity in enumerate(entities) if entity.any()]
        rows = sorted(rows, key=lambda row: str(row[0]))
        keys = np.full((len(rows), len(entities)), np.nan)
        for position, (_, _, _, count, nearest) in enumerate(rows):
            if count:
                keys[position] = 0.0  # a zero vector has nothing in common with any key
                keys[position, known] = cosine(np.array(nearest, float))
        themes = columns([one for row in rows for one in row[2]], len(query.vector))
        owner = np.repeat(np.arange(len(rows)), [len(row[2]) for row in rows])
        best = np.full(len(rows), -np.inf)
        np.maximum.at(best, owner, themes.cosine(query.vector))
        matches = np.zeros((len(rows), len(query.terms)))
        np.add.at(matches, owner, themes.matches(self._space, query.terms))
        return SessionCandidates(
            uids=tuple(row[0] for row in rows),
            ids=tuple(row[1] for row in rows),
            theme=np.where(np.isfinite(best), best, np.nan),
            keys=keys,
            matches=matches,
            length=np.bincount(owner, themes.length, len(rows)).astype(float),
        )


def _following(links: list[str | None], uid_of: dict[str, str]) -> str | None:
    """The uid of the next chunk of ``gather``'s links; '' if there is none, None if not read."""
    following = next((id for id in links if id is not None), None)
    return "" if following is None else uid_of.get(following)


def _together(one: Row, other: Row) -> Row:
    """The values of two calls. Sessions that both have read are taken from the first."""
    _, chunks, sessions = one
    triples, more_chunks, more_sessions = other
    known_sessions = {row[0] for row in sessions}
    return [
        triples,
        [column + more for column, more in zip(chunks, more_chunks, strict=True)],
        sessions + [row for row in more_sessions if row[0] not in known_sessions],
    ]
