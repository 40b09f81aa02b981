"""Gathers the candidates of a search: runs the candidate sources, then fetches their values.

Chunks are found and read in one thread, triples with themes in another: the server works on one
while this process decodes the other. The values of both come from the same statement, as tables
that are then joined.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields, replace
from itertools import repeat
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
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
    no_candidates,
)
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index.candidate_sources import (
    CandidateSources,
    ChunkSources,
    TripleSources,
    is_unfiltered,
)
from cognigraph.stores.neo4j.index.packed import columns, unpacked_properties
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import Lexicons, SpaceView
from cognigraph.stores.neo4j.statements import without_filter, without_keys
from cognigraph.stores.neo4j.tokens import filter_values
from cognigraph.stores.neo4j.values import cosine, vector

Flags = npt.NDArray[np.bool_]
_NO_ROW = -3
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
            where=filter_values(query.where),
            texts=query.texts,
            unpacked=unpacked_properties(embedding),
        )
        assert row is not None
        return ReadCandidates.from_rows(row, self._space, query)


def _radius(radius: int) -> Iterable[tuple[str, str]]:
    """What to replace for another number of neighbours."""
    if radius == _DEFAULT_RADIUS:
        return ()
    return ("NEXT*0..2", f"NEXT*0..{radius}"), ("NEXT*1..3", f"NEXT*1..{radius + 1}")


def _flags(uids: Sequence[str], found: Sequence[str]) -> Flags:
    members = frozenset(found)
    return np.array([uid in members for uid in uids], bool)


@dataclass(frozen=True)
class _Table:
    """Columns of the same length, as lists and arrays; the first of them are the uids."""

    uids: list[str]

    def with_rows_of(self, other: Self) -> Self:
        """The rows of both."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        both = {name: _one_after_the_other(own[name], getattr(other, name)) for name in own}
        return replace(self, **both)

    def at(self, rows: Sequence[int]) -> Self:
        """A table of the rows with these numbers, in this order."""
        taken = {one.name: _taken(getattr(self, one.name), rows) for one in fields(self)}
        return replace(self, **taken)

    def first_of_each(self) -> list[int]:
        """The first row of each uid, in the order of the uids."""
        count = len(self.uids)
        first = dict(zip(reversed(self.uids), range(count - 1, -1, -1), strict=True))
        return list(map(first.__getitem__, sorted(first)))


def _one_after_the_other(one: Any, other: Any) -> Any:
    return one + other if isinstance(one, list) else np.concatenate([one, other])


def _taken(column: Any, rows: Sequence[int]) -> Any:
    if isinstance(column, list):
        return list(map(column.__getitem__, rows))
    return column[np.asarray(rows, np.int64)]


@dataclass(frozen=True)
class ChunkTable(_Table):
    """Chunks with the same values as :class:`ChunkCandidates`, and their element ids."""

    ids: list[str]
    sessions: list[str]
    cosine: Floats
    matches: Floats
    length: Floats
    at_seconds: Floats
    question: Flags
    speakers: list[str | None]
    roles: list[Role | None]
    texts: list[str]
    passes: Flags

    @classmethod
    def from_rows(cls, row: Row, space: str, query: CandidateQuery) -> ChunkTable:
        """Of the first columns that the statement returns for chunks."""
        values, ids, texts = row
        nodes = columns(values, len(query.vector))
        return cls(
            uids=nodes.uids,
            ids=ids,
            sessions=nodes.sessions,
            cosine=nodes.cosine(query.vector),
            matches=nodes.matches(space, query.terms),
            length=nodes.length,
            at_seconds=nodes.at,
            question=nodes.question,
            speakers=nodes.speakers,
            roles=nodes.roles,
            texts=texts,
            passes=nodes.have_role(query.where.roles) & nodes.are_of(space),
        )

    def candidates(self) -> tuple[ChunkTable, dict[str, int]]:
        """Those that pass, each once and in the order of their uids, and the row of each id."""
        rows = [row for row in self.first_of_each() if self.passes[row]]
        chosen = self.at(rows)
        position = {uid: row for row, uid in enumerate(chosen.uids)}
        found = zip(self.ids, map(position.get, self.uids), strict=True)
        row_of = {id: row for id, row in found if row is not None}
        return chosen, row_of


@dataclass(frozen=True)
class TripleTable(_Table):
    """Triples, with the element ids of the chunks that are evidence."""

    cosine: Floats
    matches: Floats
    length: Floats
    evidence: list[list[str]]
    texts: list[str]

    @classmethod
    def from_rows(cls, row: Row, space: str, query: CandidateQuery) -> TripleTable:
        """Of the columns that the statement returns for triples, in the order of their uids."""
        values, evidence, texts = row
        nodes = columns(values, len(query.vector))
        table = cls(
            uids=nodes.uids,
            cosine=nodes.cosine(query.vector),
            matches=nodes.matches(space, query.terms),
            length=nodes.length,
            evidence=evidence,
            texts=texts,
        )
        own = nodes.are_of(space)
        return table.at([row for row in table.first_of_each() if own[row]])


@dataclass(frozen=True)
class SessionTable(_Table):
    """Sessions with the same values as :class:`SessionCandidates`."""

    ids: list[str]
    theme: Floats
    keys: Floats
    matches: Floats
    length: Floats

    @classmethod
    def from_rows(cls, rows: Sequence[Row], space: str, query: CandidateQuery) -> SessionTable:
        """Of the rows that the statement returns for sessions."""
        themes = columns([one for row in rows for one in row[2]], len(query.vector))
        owner = np.repeat(np.arange(len(rows)), [len(row[2]) for row in rows])
        best = np.full(len(rows), -np.inf)
        np.maximum.at(best, owner, themes.cosine(query.vector))
        matches = np.zeros((len(rows), len(query.terms)))
        np.add.at(matches, owner, themes.matches(space, query.terms))
        return cls(
            uids=[row[0] for row in rows],
            ids=[row[1] for row in rows],
            theme=np.where(np.isfinite(best), best, np.nan),
            keys=_keys(rows, query),
            matches=matches,
            length=np.bincount(owner, themes.length, len(rows)).astype(float),
        )

    def candidates(self) -> SessionCandidates:
        """Each session once, sorted by uid."""
        chosen = self.at(self.first_of_each())
        return SessionCandidates(
            uids=tuple(chosen.uids),
            ids=tuple(chosen.ids),
            theme=chosen.theme,
            keys=chosen.keys,
            matches=chosen.matches,
            length=chosen.length,
        )


def _keys(rows: Sequence[Row], query: CandidateQuery) -> Floats:
    """The best cosine (sessions, entities) of a key of each session, NaN without keys."""
    entities = query.entity_vectors
    known = [position for position, entity in enumerate(entities) if entity.any()]
    keys = np.full((len(rows), len(entities)), np.nan)
    for position, row in enumerate(rows if entities else ()):
        count, nearest = row[3:]
        if count:
            keys[position] = 0.0  # a zero vector has nothing in common with any key
            keys[position, known] = cosine(np.array(nearest, float))
    return keys


@dataclass(frozen=True)
class Links:
    """Which chunk follows which in its session: element ids, in any order."""

    befores: list[str]
    afters: list[str]

    def neighbours(self, row_of: dict[str, int], count: int) -> tuple[Ints, Ints]:
        """The rows of the chunks before and after each of ``count`` candidates."""
        before = _rows(self.befores, row_of)
        after = _rows(self.afters, row_of)
        previous, following = np.full(count, NONE, np.int64), np.full(count, NONE, np.int64)
        has_row = before != _NO_ROW
        following[before[has_row]] = np.where(after == _NO_ROW, OUTSIDE, after)[has_row]
        has_row = after != _NO_ROW
        previous[after[has_row]] = np.where(before == _NO_ROW, OUTSIDE, before)[has_row]
        return previous, following


def _rows(ids: Sequence[str], row_of: dict[str, int]) -> Ints:
    return np.fromiter(map(row_of.get, ids, repeat(_NO_ROW)), np.int64, len(ids))


@dataclass(frozen=True)
class ReadCandidates:
    """What one run of the statement has read."""

    triples: TripleTable
    chunks: ChunkTable
    links: Links
    sessions: SessionTable

    @classmethod
    def from_rows(cls, row: Row, space: str, query: CandidateQuery) -> ReadCandidates:
        """Of the row that the statement returns."""
        triples, (*chunks, befores, afters), sessions = row
        return cls(
            TripleTable.from_rows(triples, space, query),
            ChunkTable.from_rows(chunks, space, query),
            Links(befores, afters),
            SessionTable.from_rows(sessions, space, query),
        )

    @classmethod
    def nothing(cls, query: CandidateQuery) -> ReadCandidates:
        """As if the statement had been run with nothing to read."""
        return cls.from_rows([[[]] * 3, [[]] * 5, []], "", query)

    def together(self, other: ReadCandidates) -> ReadCandidates:
        """What two runs have read; both may have read the same chunks and sessions."""
        return ReadCandidates(
            self.triples.with_rows_of(other.triples),
            self.chunks.with_rows_of(other.chunks),
            Links(self.links.befores + other.links.befores, self.links.afters + other.links.afters),
            self.sessions.with_rows_of(other.sessions),
        )
