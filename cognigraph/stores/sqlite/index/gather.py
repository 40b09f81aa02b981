"""Gathers the candidates of a search from the in-memory index of a space."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector, each_once, products
from cognigraph.stores.candidates import (
    NONE,
    OUTSIDE,
    CandidateQuery,
    Candidates,
    ChunkCandidates,
    SessionCandidates,
    StoredTexts,
)
from cognigraph.stores.sqlite.in_list import select_in
from cognigraph.stores.sqlite.index.allowed import Mask, allowed_chunks, left_out
from cognigraph.stores.sqlite.index.by_words import best_by_words
from cognigraph.stores.sqlite.index.gather_triples import TripleSources, evidence_of
from cognigraph.stores.sqlite.index.postings import Hashes, Lookup, gather, term_hashes
from cognigraph.stores.sqlite.index.scan import Scan
from cognigraph.stores.sqlite.index.shared_work import Later, Together
from cognigraph.stores.sqlite.index.sources import (
    Connect,
    Found,
    Positions,
    are_among,
    passing,
    read_later,
)
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.index.themes import NOBODY
from cognigraph.stores.sqlite.message_data import ROLE_OF_NUMBER
from cognigraph.stores.sqlite.row_ids import RowIds
from cognigraph.stores.sqlite.vector_format import VectorFormat
from cognigraph.text.bm25 import Lexicon, idf
from cognigraph.times import to_micros

_TEXTS = "SELECT c.id, c.text FROM json_each(?) one CROSS JOIN chunk c ON c.id = one.value"


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
    found = _found(index, query, sought, triples)
    evidence = evidence_of(connection, index, triples.found.all(), until, visible)
    reached = each_once(found.chunks.all(), evidence.chunks)
    rows = Positions(index.chunks, _neighbourhood(index, reached, query.radius, visible))
    session_ids = each_once(index.chunks["session"][rows.rows], found.near_sessions)
    session_candidates, sessions = _session_candidates(
        connection, index, session_ids, found.themes, found.hashes, query
    )
    chunks = _chunk_candidates(index, rows, found, sessions, query, connect)
    triple_rows = Positions(index.triples, each_once(evidence.triples))
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
class _Found:
    """The rows that the sources found, except triples; and what they have looked up on the way."""

    chunks: Found
    near_sessions: Ints
    scan: Scan
    themes: Scan
    hashes: Hashes
    words: Sequence[Lookup]
    lexicon: Lexicon


def _found(
    index: SpaceIndex, query: CandidateQuery, sought: Mask | None, triples: TripleSources
) -> _Found:
    """Run the sources side by side; those of triples fill ``triples.found``."""
    scan, themes = index.chunks.scan(query.vector), index.themes.scan(query.vector)
    owners = index.themes["owner"]
    nearest = [
        triples.compared,
        scan.nearest(query.chunks_by_vector, sought),
        themes.nearest(query.sessions_by_vector, owners != NOBODY),
    ]
    with Together([task for one in nearest for task in one.tasks]) as comparisons:
        hashes = term_hashes(query.terms)
        words = index.chunks.words.under_all(hashes)
        lexicon = index.lexicon_of(query.terms, words)
        weights, mean = idf(lexicon, query.terms), lexicon.mean_length
        triples.look_up(hashes)
        comparisons.finish()
    best = [Later(one.rest) for one in nearest]
    by_words = Later(
        partial(best_by_words, index.chunks, words, weights, mean, query.chunks_by_terms, sought)
    )
    facts_by_words = Later(partial(triples.by_words, weights, lexicon))
    # More threads would wait for the interpreter lock.
    with Together([*best, by_words, facts_by_words], others=int(triples.compared.is_long)) as rest:
        around = triples.nearest_of_each()
        rest.finish()
    triples.found = Found(best[0].value, facts_by_words.value, around)
    chunks, near = Found(best[1].value, by_words.value), owners[best[2].value]
    return _Found(chunks, near, scan, themes, hashes, words, lexicon)


def _neighbourhood(index: SpaceIndex, rows: Ints, radius: int, visible: Mask | None) -> Ints:
    """The rows and up to ``radius`` neighbours of each along NEXT, in both directions."""
    reached = [rows]
    for column in ("previous", "following"):
        links, step = index.chunks[column], rows
        for _ in range(radius):
            step = links[step].astype(np.int64)
            step = step[step >= 0]
            reached.append(step)
    return passing(each_once(*reached), visible)


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
    found: _Found,
    sessions: _Sessions,
    query: CandidateQuery,
    connect: Connect,
) -> ChunkCandidates:
    table, rows = index.chunks, positions.rows
    links = np.stack([table["previous"][rows], table["following"][rows]])
    previous, following = _linked(positions, links)
    return ChunkCandidates(
        uids=positions.uids,
        cosine=found.scan.of(positions.ascending)[positions.order],
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
    return read_later(connect, _TEXTS, index.chunks["id"][rows], words, names)


def _linked(positions: Positions, links: npt.NDArray[np.int32]) -> Ints:
    """The positions of neighbours among the candidates; a link of -1 leads nowhere."""
    at = positions.of(links)
    return np.where(links < 0, NONE, np.where(at < 0, OUTSIDE, at))


def _session_candidates(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    ids: Ints,
    scan: Scan,
    hashes: Hashes,
    query: CandidateQuery,
) -> tuple[SessionCandidates, _Sessions]:
    known = index.sessions.of(connection, ids.tolist())
    count, themes = len(known), index.themes
    uids, names = zip(*known.values(), strict=True) if known else ((), ())
    order = sorted(range(count), key=uids.__getitem__)
    sessions = _Sessions(np.array([*known], np.int64), np.empty(count, np.int64))
    sessions.position[order] = np.arange(count)
    rows = themes.rows_of(known)
    owners = sessions.positions(themes["owner"][rows])
    theme, length = np.full(count, np.nan), np.zeros(count)
    matches = np.zeros((count, len(query.terms)))
    np.fmax.at(theme, owners, scan.of(rows))
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
