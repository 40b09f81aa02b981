"""Gathers the candidates of a search: one statement finds them and reads what ranking needs.

It is sent twice, for chunks and for triples with themes: the server works on one while this process
decodes the other. If a filter hides too many of what the indexes returned, it is sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import repeat
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.errors import StoreError, StoreUnavailableError
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
from cognigraph.stores.neo4j.index.few_chunks import few_chunks
from cognigraph.stores.neo4j.index.packed import columns, unpacked_properties
from cognigraph.stores.neo4j.index.sources import (
    NO_WORDS,
    OF_MARKED,
    OFF,
    ByVector,
    ByWords,
    by_vector,
    looking_further,
    most_marked,
)
from cognigraph.stores.neo4j.index.vectors import Layer, OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import Lexicons, SpaceView
from cognigraph.stores.neo4j.statements import shortened
from cognigraph.stores.neo4j.tokens import anchor_hash, filter_for_sources, having_marks
from cognigraph.stores.neo4j.values import cosine, vector
from cognigraph.text.word_book import idf

_HUB = 100
"""The triples of an entity with more triples than this are left to the vector index, if any."""
_NO_LIMIT = 1 << 62
_FEW_SENT, _MOST_SENT = 100, 5000
"""In a space with more chunks than the first number, layers without an index are compared here, if
they have no more nodes than the second one."""
_BY_VECTOR, _BY_WORDS, _BY_ANCHOR = 1, 2, 4
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

    Both send the same statement, each without the sources of the other. Values are fetched in
    columns, which are decoded faster than rows.
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
        self._indexes = indexes
        self._space = space
        self._query = query
        self._view = view
        self._where = filter_for_sources(query.where, query.without)
        weights = dict(zip(query.terms, idf(view.lexicon, query.terms).tolist(), strict=True))
        self._weights = weights
        # Triples take longer, so they start first.
        self._triples = connection.start(self._with_indexes, self._of_triples)
        self._chunks = connection.start(self._with_indexes, self._of_chunks)

    def candidates(self) -> Candidates:
        """What both threads have found and read."""
        read = self._chunks.result().together(self._triples.result())
        sessions = read.sessions.candidates()
        session_row = {uid: row for row, uid in enumerate(sessions.uids)}
        table, row_of = read.chunks.candidates()
        previous, following = read.links.neighbours(row_of, len(table.uids))
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
            by_vector=_flags(row_of, read.by_vector, len(table.uids)),
            by_terms=_flags(row_of, read.by_words, len(table.uids)),
            speakers=tuple(table.speakers),
            roles=tuple(table.roles),
            texts=tuple(table.texts) if self._query.texts else (),
        )
        return Candidates(
            lexicon=self._view.lexicon,
            chunks=chunks,
            triples=self._triple_candidates(read.triples, chunks, row_of),
            sessions=sessions,
            anchors=tuple(dict.fromkeys(read.anchors)),
        )

    def _triple_candidates(
        self, table: TripleTable, chunks: ChunkCandidates, row_of: dict[str, int]
    ) -> TripleCandidates:
        """The triples that have evidence observed by ``as_of``."""
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
            by_vector=(table.sources & _BY_VECTOR) != 0,
            by_terms=(table.sources & _BY_WORDS) != 0,
            by_anchor=(table.sources & _BY_ANCHOR) != 0,
            texts=tuple(table.texts) if self._query.texts else (),
        )

    def _with_indexes(self, work: Callable[[], ReadCandidates]) -> ReadCandidates:
        try:
            return work()
        except StoreUnavailableError:
            raise
        except StoreError:
            # An administrator may have dropped an index: look again which there are.
            self._indexes.forget_all(self._space)
            return work()

    def _of_chunks(self) -> ReadCandidates:
        query, view = self._query, self._view
        known = {term: w for term, w in self._weights.items() if view.lexicon.frequencies.get(term)}
        most = min(sum(view.lexicon.frequencies.values()), view.chunks)
        marks = self._where["marks"]
        words = ByWords.best(
            self._space, known, view.mean_length, query.chunks_by_terms, most, marks
        )
        vector = self._by_vector("Chunk", query.chunks_by_vector, view.chunk_indexed, view.covered)
        if vector.is_off and words is None:
            return ReadCandidates.nothing(query)
        if view.chunk_indexed and query.where.is_narrow:
            limit = most_marked(vector.limit, view.chunks)
            few = few_chunks(self._connection, self._space, view.chunks, query, self._where, limit)
            if few.is_complete:
                near = [] if vector.is_off else few.nearest(vector.limit)
                best = [] if words is None else few.best(words)
                found = self._read("triples", seeds=sorted({*near, *best}))[0]
                return found.found_by(near, best)
            vector = vector.with_share(few.share)
        while True:
            found, counts, _ = self._read("triples", chunk=vector, chunk_words=words)
            further = looking_further(vector, words, counts, view.chunks)
            if further is None:
                return found
            vector, words = further

    def _of_triples(self) -> ReadCandidates:
        query, view = self._query, self._view
        words = ByWords.best(
            self._space,
            self._weights,
            view.mean_triple_length,
            query.triples_by_terms,
            view.triples,
        )
        vector = self._by_vector("Triple", query.triples_by_vector, view.triple_indexed)
        themes = self._by_vector("Theme", query.sessions_by_vector, view.theme_indexed)
        anchors = query.anchors if query.triples_per_anchor else ()
        if words is None and vector.is_off and themes.is_off and not anchors:
            return ReadCandidates.nothing(query)
        while True:
            found, _, counts = self._read(
                "chunks", triple=vector, triple_words=words, theme=themes, anchors=anchors
            )
            further = looking_further(vector, words, counts, 0)
            if further is None:
                return found
            vector, words = further

    def _by_vector(
        self, layer: Layer, limit: int, indexed: bool, covered: int | None = None
    ) -> ByVector:
        query = self._query
        return by_vector(
            self._indexes, self._space, layer, limit, query.vector, indexed, covered,
            is_filtered=query.where.is_narrow,
        )  # fmt: skip

    def _compared(self, *sources: ByVector) -> list[ByVector]:
        """Sources of chunks, triples and themes; what has no index has been compared here.

        The server takes six times as long for that. It is left to it if there are so few nodes that
        another statement takes longer, if there are too many to send, and with a filter.
        """
        view, query = self._view, self._query
        sizes = (view.chunks, view.triples, 0)
        here = [
            source.compares_all and nodes <= _MOST_SENT
            for source, nodes in zip(sources, sizes, strict=True)
        ]
        if not any(here) or view.chunks <= _FEW_SENT or not is_unfiltered(query):
            return [*sources]
        after = [
            source.after if is_here else None for source, is_here in zip(sources, here, strict=True)
        ]
        row = self._connection.row(
            "search/nodes",
            space=self._space,
            most=_MOST_SENT + 1,
            unpacked=unpacked_properties(self._connection.embedding),
            **dict(zip(("chunk", "triple", "theme"), after, strict=True)),
        )
        assert row is not None
        return [
            self._with_nearest(source, nodes, roles) if is_here else source
            for source, nodes, is_here, roles in zip(
                sources, row, here, (query.where.roles, (), ()), strict=True
            )
        ]

    def _with_nearest(
        self, source: ByVector, values: Sequence[bytes | Row], roles: Iterable[str]
    ) -> ByVector:
        """The source with its nearest nodes; with ``roles``, those with another role are none."""
        if len(values) > _MOST_SENT:
            return source
        nodes = columns(values, len(self._query.vector))
        passes = nodes.are_of(self._space)
        if roles:
            passes &= nodes.have_role(roles)
        if not passes.all():
            nodes = nodes.rows(np.flatnonzero(passes).tolist())
        return source.with_nearest(nodes, self._query.vector)

    def _read(
        self,
        without: str,
        *,
        chunk: ByVector = OFF,
        triple: ByVector = OFF,
        theme: ByVector = OFF,
        chunk_words: ByWords | None = None,
        triple_words: ByWords | None = None,
        anchors: Sequence[str] = (),
        seeds: Sequence[str] = (),
    ) -> tuple[ReadCandidates, Row, Row]:
        """Run the statement with the sources of one layer; also how much those of both found."""
        query, name = self._query, "search/candidates"
        chunk, triple, theme = self._compared(chunk, triple, theme)
        entities = [vector(entity) for entity in query.entity_vectors]
        marks = self._where["marks"]
        of_marked = marks and chunk.compares_all and self._view.chunk_indexed
        row = self._connection.row(
            name,
            *shortened(
                name,
                self._connection.embedding,
                filters=not is_unfiltered(query),
                keys=bool(query.entity_vectors),
                without=without,
            ),
            *_radius(query.radius),
            *((OF_MARKED,) if of_marked else ()),
            space=self._space,
            vector=vector(query.vector),
            until=query.as_of,
            where=self._where,
            having=having_marks(self._space, marks),
            texts=query.texts,
            unpacked=unpacked_properties(self._connection.embedding),
            # A zero vector has no direction, and is compared with nothing.
            entities=[item for item in entities if item is not None],
            chunk=chunk.parameters,
            triple=triple.parameters,
            theme=theme.parameters,
            chunk_words=NO_WORDS if chunk_words is None else chunk_words.parameters,
            triple_words=NO_WORDS if triple_words is None else triple_words.parameters,
            seeds=seeds,
            anchors=[anchor_hash(self._space, key) for key in anchors],
            names=list(anchors),
            limit=query.triples_per_anchor,
            most=_HUB if triple.index else _NO_LIMIT,
        )
        assert row is not None
        return ReadCandidates.from_row(row[2:], self._space, query), row[0], row[1]


def is_unfiltered(query: CandidateQuery) -> bool:
    """Whether only roles are a condition."""
    return query.as_of is None and not query.where.is_narrow and not query.without


def _radius(radius: int) -> Iterable[tuple[str, str]]:
    """What to replace for another number of neighbours."""
    if radius == _DEFAULT_RADIUS:
        return ()
    return ("distance <= 2", f"distance <= {radius}"), ("NEXT*1..3", f"NEXT*1..{radius + 1}")


def _flags(row_of: dict[str, int], found: Sequence[str], count: int) -> Flags:
    """Which of ``count`` rows were found, by their element ids."""
    flags = np.zeros(count, bool)
    flags[[row_of[id] for id in found if id in row_of]] = True
    return flags


@dataclass(frozen=True)
class _Table:
    """Columns of the same length, as lists and arrays; the first of them are the uids."""

    uids: list[str]

    def with_rows_of(self, other: Self) -> Self:
        """The rows of both."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        both = {name: _one_after_the_other(own[name], getattr(other, name)) for name in own}
        return replace(self, **both)

    def at(self, rows: Sequence[int]) -> Self:
        """A table of the rows with these numbers, in this order."""
        taken = {field.name: _taken(getattr(self, field.name), rows) for field in fields(self)}
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
    """Triples, with the element ids of the chunks that are evidence, and what found them."""

    cosine: Floats
    matches: Floats
    length: Floats
    evidence: list[list[str]]
    texts: list[str]
    sources: Ints

    @classmethod
    def from_rows(cls, row: Row, space: str, query: CandidateQuery) -> TripleTable:
        """Of the columns that the statement returns for triples, in the order of their uids."""
        values, evidence, texts, sources = row
        nodes = columns(values, len(query.vector))
        table = cls(
            uids=nodes.uids,
            cosine=nodes.cosine(query.vector),
            matches=nodes.matches(space, query.terms),
            length=nodes.length,
            evidence=evidence,
            texts=texts,
            sources=np.array(sources, np.int64),
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
        themes = columns([item for row in rows for item in row[2]], len(query.vector))
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
    anchors: list[str]
    by_vector: list[str]
    """Element ids of chunks."""
    by_words: list[str]

    @classmethod
    def from_row(cls, row: Row, space: str, query: CandidateQuery) -> ReadCandidates:
        """Of the row that the statement returns."""
        triples, anchors, (*chunks, befores, afters), by_vector, by_words, sessions = row
        return cls(
            TripleTable.from_rows(triples, space, query),
            ChunkTable.from_rows(chunks, space, query),
            Links(befores, afters),
            SessionTable.from_rows(sessions, space, query),
            anchors,
            by_vector,
            by_words,
        )

    @classmethod
    def nothing(cls, query: CandidateQuery) -> ReadCandidates:
        """As if the statement had been run with nothing to read."""
        return cls.from_row([[[]] * 4, [], [[]] * 5, [], [], []], "", query)

    def found_by(self, vector: Sequence[str], words: Sequence[str]) -> ReadCandidates:
        """The same, of which other statements have found the chunks with these uids."""
        ids = dict(zip(self.chunks.uids, self.chunks.ids, strict=True))
        return replace(
            self,
            by_vector=[ids[uid] for uid in vector if uid in ids],
            by_words=[ids[uid] for uid in words if uid in ids],
        )

    def together(self, other: ReadCandidates) -> ReadCandidates:
        """What two runs have read; both may have read the same chunks and sessions."""
        return ReadCandidates(
            self.triples.with_rows_of(other.triples),
            self.chunks.with_rows_of(other.chunks),
            Links(self.links.befores + other.links.befores, self.links.afters + other.links.afters),
            self.sessions.with_rows_of(other.sessions),
            self.anchors + other.anchors,
            self.by_vector + other.by_vector,
            self.by_words + other.by_words,
        )
