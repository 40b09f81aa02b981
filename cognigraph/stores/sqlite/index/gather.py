"""Gather the candidates of a search from the index of a space, and what a filter lets through.

The sources run side by side: chunks, triples and themes by vector, chunks and triples by words,
triples by the entities that the question names. What they find brings neighbours, evidence and
sessions with it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, SharedTasks, Vector, products, sorted_unique
from cognigraph.model import Exclusion
from cognigraph.model.filters import Filter
from cognigraph.stores.candidates import (
    NONE,
    OUTSIDE,
    CandidateQuery,
    Candidates,
    ChunkCandidates,
    Evidence,
    SessionCandidates,
    StoredTexts,
    TripleCandidates,
)
from cognigraph.stores.sqlite.index.index_cache import evidence_pairs
from cognigraph.stores.sqlite.index.index_words import best_by_words
from cognigraph.stores.sqlite.index.layer import NOBODY, Hashes, Lookup, Table, gather, term_hashes
from cognigraph.stores.sqlite.index.nearest import Scan
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.rows import (
    ROLE_OF_NUMBER,
    RowIds,
    VectorFormat,
    data_conditions,
    select_in,
)
from cognigraph.text.word_book import Lexicon, NumberedTexts, idf
from cognigraph.times import to_micros

_TRIPLE_TEXTS = """
SELECT t.id, t.subject || ' ' || t.relation || ' ' || t.object
FROM json_each(?) one CROSS JOIN triple t ON t.id = one.value"""
_CHUNK_TEXTS = "SELECT c.id, c.text FROM json_each(?) one CROSS JOIN chunk c ON c.id = one.value"


def gather_candidates(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    space_id: int,
    query: CandidateQuery,
    connect: Connect,
    row_ids: RowIds,
) -> Candidates:
    """Run all candidate sources of a query. The caller holds the index's lock and its snapshot.

    ``connect`` gives a connection that reads texts, also after the snapshot has ended. The ids of
    the candidates are remembered in ``row_ids``.
    """
    until = to_micros(query.as_of) if query.as_of else None
    visible = allowed_chunks(connection, index, space_id, query.where, until)
    sought = visible
    if query.without:
        out = left_out(connection, index, space_id, query.without)
        sought = ~out if visible is None else visible & ~out
    triples = TripleSources(connection, index, space_id, query, until)
    found = _run_sources(index, query, sought, triples)
    evidence = evidence_of(connection, index, triples.found.all(), until, visible)
    reached = sorted_unique(found.chunks.all(), evidence.chunks)
    rows = Positions(index.chunks, _neighbourhood(index, reached, query.radius, visible))
    session_ids = sorted_unique(index.chunks["session"][rows.rows], found.near_sessions)
    session_candidates, sessions = _session_candidates(
        connection, index, session_ids, found.themes, found.hashes, query
    )
    chunks = _chunk_candidates(index, rows, found, sessions, query, connect)
    triple_rows = Positions(index.triples, sorted_unique(evidence.triples))
    triple_candidates = triples.candidates(triple_rows, evidence, rows, chunks, connect)
    row_ids.remember(chunks.uids, index.chunks["id"][rows.rows])
    row_ids.remember(triple_candidates.uids, index.triples["id"][triple_rows.rows])
    return Candidates(
        lexicon=found.lexicon,
        chunks=chunks,
        triples=triple_candidates,
        sessions=session_candidates,
        anchors=triples.anchors,
    )


@dataclass(frozen=True)
class _ChunkSources:
    """The rows that the sources found, except triples; and what they have looked up on the way."""

    chunks: FoundRows
    near_sessions: Ints
    scan: Scan
    themes: Scan
    hashes: Hashes
    words: Sequence[Lookup]
    lexicon: Lexicon


def _run_sources(
    index: SpaceIndex, query: CandidateQuery, sought: Mask | None, triples: TripleSources
) -> _ChunkSources:
    """Run the sources side by side; those of triples fill ``triples.found``."""
    scan, themes = index.chunks.scan(query.vector), index.themes.scan(query.vector)
    owners = index.themes["owner"]
    nearest = [
        triples.compared,
        scan.nearest(query.chunks_by_vector, sought),
        themes.nearest(query.sessions_by_vector, owners != NOBODY),
    ]
    with SharedTasks([task for search in nearest for task in search.tasks]) as comparisons:
        hashes = term_hashes(query.terms)
        words = index.chunks.words.under_all(hashes)
        lexicon = index.lexicon_of(query.terms, words)
        weights, mean = idf(lexicon, query.terms), lexicon.mean_length
        triples.look_up(hashes)
        comparisons.finish()
    by_words = partial(
        best_by_words, index.chunks, words, weights, mean, query.chunks_by_terms, sought
    )
    rest: list[Callable[[], Ints]] = [
        *(search.rest for search in nearest),
        by_words,
        partial(triples.by_words, weights, lexicon),
    ]
    # More threads would wait for the interpreter lock.
    with SharedTasks(rest, others=int(triples.compared.is_long)) as shared:
        around = triples.nearest_of_each()
        near_facts, near_chunks, near_themes, chunks_by_words, facts_by_words = shared.finish()
    triples.found = FoundRows(near_facts, facts_by_words, around)
    return _ChunkSources(
        FoundRows(near_chunks, chunks_by_words), owners[near_themes], scan, themes, hashes, words,
        lexicon,
    )  # fmt: skip


def _neighbourhood(index: SpaceIndex, rows: Ints, radius: int, visible: Mask | None) -> Ints:
    """The rows and up to ``radius`` neighbours of each along NEXT, in both directions."""
    reached = [rows]
    for column in ("previous", "following"):
        links, step = index.chunks[column], rows
        for _ in range(radius):
            step = links[step].astype(np.int64)
            step = step[step >= 0]
            reached.append(step)
    return passing(sorted_unique(*reached), visible)


# Chunks and sessions


@dataclass
class _Sessions:
    """The row ids of candidate sessions, ascending, and the position of each."""

    ids: Ints
    position: Ints

    def positions(self, ids: Ints) -> Ints:
        """The positions (k,) of sessions by their row ids."""
        return self.position[np.searchsorted(self.ids, ids)]


def _chunk_candidates(
    index: SpaceIndex,
    positions: Positions,
    found: _ChunkSources,
    sessions: _Sessions,
    query: CandidateQuery,
    connect: Connect,
) -> ChunkCandidates:
    table, rows = index.chunks, positions.rows
    links = np.stack([table["previous"][rows], table["following"][rows]])
    previous, following = _linked(positions, links)
    return ChunkCandidates(
        uids=positions.uids,
        cosine=found.scan.cosines(positions.ascending)[positions.order],
        matches=gather(found.words, positions.ascending)[positions.order],
        length=table["length"][rows].astype(float),
        session=sessions.positions(table["session"][rows]),
        at=table["at"][rows] / 1e6,
        question=table["question"][rows],
        previous=previous,
        following=following,
        by_vector=are_among(rows, found.chunks.vector),
        by_terms=are_among(rows, found.chunks.terms),
        speakers=tuple(map(index.speakers.__getitem__, table["speaker"][rows].tolist())),
        roles=tuple(map(ROLE_OF_NUMBER.__getitem__, table["role"][rows].tolist())),
        texts=_texts(index, rows, connect) if query.texts else (),
    )


def _texts(index: SpaceIndex, rows: Ints, connect: Connect) -> StoredTexts:
    words, names = index.words.of_chunks(rows), index.words.names_of(rows)
    return read_later(connect, _CHUNK_TEXTS, index.chunks["id"][rows], words, names)


def _linked(positions: Positions, links: npt.NDArray[np.int32]) -> Ints:
    """The positions of neighbours among the candidates; a link of -1 leads nowhere."""
    at = positions.at(links)
    return np.where(links < 0, NONE, np.where(at < 0, OUTSIDE, at))


def _session_candidates(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    ids: Ints,
    scan: Scan,
    hashes: Hashes,
    query: CandidateQuery,
) -> tuple[SessionCandidates, _Sessions]:
    known = index.sessions.names(connection, ids.tolist())
    count, themes = len(known), index.themes
    uids, names = zip(*known.values(), strict=True) if known else ((), ())
    order = sorted(range(count), key=uids.__getitem__)
    sessions = _Sessions(np.array([*known], np.int64), np.empty(count, np.int64))
    sessions.position[order] = np.arange(count)
    rows = themes.rows_of(known)
    owners = sessions.positions(themes["owner"][rows])
    theme, length = np.full(count, np.nan), np.zeros(count)
    matches = np.zeros((count, len(query.terms)))
    np.fmax.at(theme, owners, scan.cosines(rows))
    np.add.at(length, owners, themes["length"][rows])
    np.add.at(matches, owners, gather(themes.words.under_all(hashes), rows))
    keys = np.full((count, len(query.entity_vectors)), np.nan)
    if query.entity_vectors:
        _key_cosines(connection, index.vectors, sessions.ids[order], query.entity_vectors, keys)
    candidates = SessionCandidates(
        uids=tuple(map(uids.__getitem__, order)),
        ids=tuple(map(names.__getitem__, order)),
        theme=theme,
        keys=keys,
        matches=matches,
        length=length,
    )
    return candidates, sessions


def _key_cosines(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    sessions: Ints,
    entities: tuple[Vector, ...],
    keys: Floats,
) -> None:
    rows = select_in(
        connection,
        "SELECT session_id, vector FROM session_key JOIN key ON key.id = key_id "
        "WHERE session_id IN ({})",
        sessions.tolist(),
    )
    if rows:
        position = {id: number for number, id in enumerate(sessions.tolist())}
        cosines = products(vectors.unpack([row[1] for row in rows]), np.stack(entities))
        np.fmax.at(keys, np.array([position[row[0]] for row in rows]), cosines)


class TripleSources:
    """The candidate sources of triples: vectors, words and the entities of the question."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        index: SpaceIndex,
        space_id: int,
        query: CandidateQuery,
        until: int | None,
    ) -> None:
        self._connection = connection
        self._index = index
        self._space_id = space_id
        self._query = query
        self._visible = None if until is None else index.triples["first"] <= until
        self.scan: Scan = index.triples.scan(query.vector)
        self.compared = self.scan.nearest(query.triples_by_vector, self._visible)
        self.words: Sequence[Lookup] = ()
        self._entities: Sequence[Ints] = ()
        self.found = FoundRows()
        self.anchors: tuple[str, ...] = ()

    def look_up(self, terms: Hashes) -> None:
        """Find the words of the question, and its entities with the triples around them."""
        self.words = self._index.triples.words.under_all(terms)
        if self._query.triples_per_anchor:
            self._entities = self._around_anchors()

    def by_words(self, weights: Floats, lexicon: Lexicon) -> Ints:
        """The triples with the best words."""
        query, table = self._query, self._index.triples
        # There are seldom as many triples as chunks, unless there are none of either.
        mean = lexicon.mean_length if table.rows == lexicon.chunks else table.mean_length
        return best_by_words(
            table, self.words, weights, mean, query.triples_by_terms, self._visible
        )

    def _around_anchors(self) -> list[Ints]:
        """The triples of each entity that the question names; also fills ``anchors``."""
        found = {
            entity: (name, passing(self._index.around(entity), self._visible))
            for entity, name in _anchors(self._connection, self._space_id, self._query)
        }
        named = [(name, rows) for name, rows in found.values() if len(rows)]
        self.anchors = tuple(dict.fromkeys(name for name, _ in named))
        return [rows for _, rows in named]

    def nearest_of_each(self) -> Ints:
        """Of the many triples of an entity, those nearest to the question; of equals the newest."""
        chosen = [np.empty(0, np.int64)]
        limit, last = self._query.triples_per_anchor, self._index.triples["last"]
        for around in self._entities:
            near = self.scan.narrowed(around, limit)
            # Rounded, because the last bits of a product depend on the rows beside it.
            order = np.lexsort((-last[near], -self.scan.cosines(near).round(6)))
            chosen.append(near[order[:limit]])
        return sorted_unique(*chosen)

    def candidates(
        self,
        positions: Positions,
        found: FoundEvidence,
        chunk_rows: Positions,
        chunks: ChunkCandidates,
        connect: Connect,
    ) -> TripleCandidates:
        """The triples that have evidence; ``chunk_rows`` are those of ``chunks``."""
        table, query, rows = self._index.triples, self._query, positions.rows
        cited = chunk_rows.at(found.chunks)
        inside = cited >= 0
        evidence = Evidence.pairs(positions.at(found.triples)[inside], cited[inside], len(rows))
        newest = evidence.newest(chunks.at)
        return TripleCandidates(
            uids=positions.uids,
            cosine=self.scan.cosines(positions.ascending)[positions.order],
            matches=gather(self.words, positions.ascending)[positions.order],
            length=table["length"][rows].astype(float),
            at=np.append(chunks.at, np.nan)[newest],
            session=np.append(chunks.session, -1)[newest],
            evidence=evidence,
            by_vector=are_among(rows, self.found.vector),
            by_terms=are_among(rows, self.found.terms),
            by_anchor=are_among(rows, self.found.anchor),
            texts=self._texts(rows, connect) if query.texts else (),
        )

    def _texts(self, rows: Ints, connect: Connect) -> StoredTexts:
        words = self._index.words.of_triples(rows)
        return read_later(connect, _TRIPLE_TEXTS, self._index.triples["id"][rows], words)


def _anchors(
    connection: sqlite3.Connection, space_id: int, query: CandidateQuery
) -> list[tuple[int, str]]:
    if not query.anchors:
        return []
    marks = ",".join("?" * len(query.anchors))
    return connection.execute(
        f"""SELECT id, name FROM entity WHERE id IN (
              SELECT coalesce(shown_id, id) FROM entity WHERE space_id = ? AND key IN ({marks})
              UNION SELECT coalesce(e.shown_id, e.id) FROM alias a
                    JOIN entity e ON e.id = a.entity_id
                    WHERE a.space_id = ? AND a.key IN ({marks}))
            ORDER BY uid""",
        (space_id, *query.anchors, space_id, *query.anchors),
    ).fetchall()


def evidence_of(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    rows: Ints,
    until: int | None,
    visible: Mask | None,
) -> FoundEvidence:
    """The visible evidence of some triples that was observed by ``until``."""
    of_known, sizes, known = index.evidence.lists_of(rows)
    known &= ~index.triples["restated"][rows]
    if until is not None:
        known[:] = False
    of_known = of_known[np.repeat(known, sizes)]
    pairs = evidence_pairs(connection, index.triples["id"][rows[~known]].tolist(), until)
    triples = np.concatenate([np.repeat(rows, sizes * known), index.triples.find(pairs[:, 0])])
    chunks = index.chunks.find(np.concatenate([of_known, pairs[:, 1]]))
    inside = chunks >= 0
    if visible is not None:
        inside[inside] = visible[chunks[inside]]
    return FoundEvidence(triples[inside], chunks[inside])


# Which rows of an index a filter lets through, and their places among the candidates.

Mask = npt.NDArray[np.bool_]

_MOST_OF_FILE = 4
"""A space with a quarter of the messages of the file counts as most of it."""


def allowed_chunks(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    space_id: int,
    where: Filter,
    until: int | None = None,
) -> Mask | None:
    """Whether each chunk (n,) passes the filter and was said by ``until``; None if all do.

    Tags and metadata are looked up in the file.
    """
    masks = [*_masks(connection, index, space_id, where)]
    if until is not None:
        masks.append(index.chunks["at"] <= until)
    return np.logical_and.reduce(masks) if masks else None


def _masks(
    connection: sqlite3.Connection, index: SpaceIndex, space_id: int, where: Filter
) -> Iterator[Mask]:
    chunks = index.chunks
    passes: Mask = np.array([(role or "person") in where.roles for role in ROLE_OF_NUMBER])
    if any(not passes[number] for number in index.roles):
        yield passes[chunks["role"]]
    if where.sessions:
        query = "SELECT id FROM session WHERE space_id = ? AND name IN ({})"
        ids = [id for (id,) in select_in(connection, query, where.sessions, space_id)]
        yield np.isin(chunks["session"], ids)
    if where.speakers:
        codes = [code for code, name in enumerate(index.speakers) if name in where.speakers]
        yield np.isin(chunks["speaker"], codes)
    if isinstance(where.since, datetime):
        yield chunks["at"] >= to_micros(where.since)
    if where.latest is not None:
        yield chunks["at"] <= to_micros(where.latest)
    if where.tags or where.metadata:
        yield _marked(index, _with_data(connection, space_id, where, chunks.rows))


def left_out(
    connection: sqlite3.Connection, index: SpaceIndex, space_id: int, without: Exclusion
) -> Mask:
    """Whether each chunk (n,) belongs to a message that is left out."""
    found = select_in(
        connection,
        "SELECT c.id, s.name, c.message_id FROM chunk c JOIN session s ON s.id = c.session_id "
        "WHERE c.space_id = ? AND c.message_id IN ({})",
        sorted(without.message_ids),
        space_id,
    )
    ids = [id for id, session, message in found if without.has_message(session, message)]
    return _marked(index, np.array(ids, np.int64))


def _marked(index: SpaceIndex, ids: Ints) -> Mask:
    """Whether each chunk (n,) has one of some ids."""
    rows = index.chunks.find(ids)
    marked = np.zeros(index.chunks.rows, bool)
    marked[rows[rows >= 0]] = True
    return marked


def _with_data(connection: sqlite3.Connection, space_id: int, where: Filter, chunks: int) -> Ints:
    """The ids of all chunks of the messages with these tags and fields, in a space of some size."""
    (last,) = connection.execute("SELECT max(chunk_id) FROM message_data").fetchone()
    # Without the index (the plus) a space that is most of the file is read in order.
    conditions = ["+d.space_id = ?" if _MOST_OF_FILE * chunks > (last or 0) else "d.space_id = ?"]
    parameters: list[object] = [space_id]
    for condition, values in data_conditions(where):
        conditions.append(condition)
        parameters.extend(values)
    # One row of text: fetching a row for each of many messages takes longer than finding them.
    found = connection.execute(
        "SELECT group_concat(d.chunk_id), group_concat(d.parts) FROM message_data d "
        f"WHERE {' AND '.join(conditions)}",
        parameters,
    ).fetchone()
    firsts, counts = (np.fromstring(text or "", np.int64, sep=",") for text in found)
    # The ids of a message's chunks follow each other.
    part = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    ids: Ints = np.repeat(firsts, counts) + part
    return ids


Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Gives a connection that reads."""


@dataclass(frozen=True)
class FoundRows:
    """The rows that each candidate source found."""

    vector: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    terms: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    anchor: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def all(self) -> Ints:
        """The rows that one of them found, ascending."""
        return sorted_unique(self.vector, self.terms, self.anchor)


@dataclass(frozen=True)
class FoundEvidence:
    """Pairs of a triple and a chunk that is evidence of it, by their rows in the index."""

    triples: Ints
    chunks: Ints


class Positions:
    """The positions of rows of a table among candidates, which are sorted by uid."""

    def __init__(self, table: Table, rows: Ints) -> None:
        """``rows`` ascend, and each is there once."""
        uids = table["uid"][rows]
        self.ascending = rows
        halves = uids.view(">u8").T[::-1]
        self.order = np.lexsort(halves) if len(rows) else np.empty(0, np.int64)
        """The indices in ``ascending`` of the rows sorted by uid."""
        self.rows = rows[self.order]
        self.uids = _hexadecimal(uids[self.order])
        """The uids of ``rows``."""
        self._position = np.empty(len(rows), np.int64)
        self._position[self.order] = np.arange(len(rows))

    def at(self, rows: npt.NDArray[np.integer]) -> Ints:
        """The positions of rows, in an array of the same shape; -1 for rows of no candidates."""
        if not len(self.ascending):
            return np.full(rows.shape, -1, np.int64)
        at = np.minimum(np.searchsorted(self.ascending, rows), len(self.ascending) - 1)
        return np.where(self.ascending[at] == rows, self._position[at], -1)


def passing(rows: Ints, mask: Mask | None) -> Ints:
    """The rows that a mask lets through; all without one."""
    return rows if mask is None else rows[mask[rows]]


def are_among(rows: Ints, found: Ints) -> Mask:
    """Whether each of the rows (k,) is among others, which are unique."""
    if not len(found):
        return np.zeros(len(rows), bool)
    ascending = np.sort(found)
    at = np.minimum(np.searchsorted(ascending, rows), len(ascending) - 1)
    return np.asarray(ascending[at] == rows)


def _hexadecimal(uids: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    """Uids as hexadecimal text."""
    return tuple(uids.tobytes().hex(" ", uids.shape[1]).split())


def read_later(
    connect: Connect,
    statement: str,
    ids: Ints,
    words: NumberedTexts | None = None,
    names: NumberedTexts | None = None,
) -> StoredTexts:
    """Texts that are read when they are needed, if their ``words`` and ``names`` are not enough.

    The statement gives an id and a text for each id in a JSON array.
    """

    def read(wanted: Sequence[int]) -> dict[int, str]:
        with connect() as connection:
            return dict(connection.execute(statement, (json.dumps([*wanted]),)).fetchall())

    return StoredTexts(ids, read, words, names)
