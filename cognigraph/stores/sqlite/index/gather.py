"""Gathers the candidates of a search from the in-memory index of a space."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector, products
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
from cognigraph.stores.sqlite.index.postings import gather
from cognigraph.stores.sqlite.index.scan import Scan
from cognigraph.stores.sqlite.index.shared_work import Begun, run_all
from cognigraph.stores.sqlite.index.sources import (
    Found,
    are_among,
    hexadecimal,
    passing,
)
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.index.themes import NOBODY
from cognigraph.stores.sqlite.message_data import ROLE_OF_NUMBER
from cognigraph.stores.sqlite.row_ids import RowIds
from cognigraph.stores.sqlite.vector_format import VectorFormat
from cognigraph.text.bm25 import idf
from cognigraph.times import to_micros

_TEXTS = "SELECT c.id, c.text FROM json_each(?) one CROSS JOIN chunk c ON c.id = one.value"
ReadTexts = Callable[[Sequence[int]], Mapping[int, str]]


def texts_of_chunks(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    """The texts of chunks by their row ids."""
    return dict(connection.execute(_TEXTS, (json.dumps([*ids]),)).fetchall())


def gather_candidates(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    space_id: int,
    query: CandidateQuery,
    texts: ReadTexts,
    row_ids: RowIds,
) -> Candidates:
    """Run all candidate sources of a query. The caller holds the index's lock and its snapshot.

    ``texts`` reads texts of chunks by their ids, after the snapshot has ended too. The ids of the
    candidates are remembered in ``row_ids``.
    """
    until = to_micros(query.as_of) if query.as_of else None
    lexicon = index.lexicon(query.terms)
    weights = idf(lexicon, query.terms)
    scan, themes = index.chunks.scan(query.vector), index.themes.scan(query.vector)
    triples = TripleSources(connection, index, space_id, query, until)

    visible = allowed_chunks(connection, index, space_id, query.where, until)
    sought = visible
    if query.without:
        out = left_out(connection, index, space_id, query.without)
        sought = ~out if visible is None else visible & ~out
    owners = index.themes["owner"]
    by_vector = scan.nearest(query.chunks_by_vector, sought)
    by_theme = themes.nearest(query.sessions_by_vector, owners != NOBODY)
    run_all([*triples.by_vector.tasks, *by_vector.tasks, *by_theme.tasks])
    with Begun(triples.by_vector.rest, triples.by_vector.is_long) as near_triples:
        chunks = Found(
            vector=by_vector.rest(),
            terms=best_by_words(
                index.chunks, query.terms, weights, lexicon.mean_length, query.chunks_by_terms,
                sought,
            ),
        )  # fmt: skip
        near = by_theme.rest()
        triples.search(weights, lexicon, near_triples)
    triple_rows = triples.found.all()
    evidence = evidence_of(connection, index, triple_rows, until, visible)
    triple_rows = np.array([row for row in triple_rows.tolist() if evidence.get(row)], np.int64)
    evidence_rows = np.array([r for row in triple_rows.tolist() for r in evidence[row]], np.int64)

    rows = _neighbourhood(index, np.union1d(chunks.all(), evidence_rows), query.radius, visible)
    rows = rows[_uid_order(index.chunks["uid"][rows])]
    triple_rows = triple_rows[_uid_order(index.triples["uid"][triple_rows])]
    session_ids = np.union1d(index.chunks["session"][rows], owners[near])
    sessions = _session_candidates(connection, index, session_ids, themes, query)
    chunk_candidates = _chunk_candidates(index, rows, sessions, scan, chunks, query, texts)
    triple_candidates = triples.candidates(triple_rows, rows, evidence, chunk_candidates)
    row_ids.remember(chunk_candidates.uids, index.chunks["id"][rows].tolist())
    row_ids.remember(triple_candidates.uids, index.triples["id"][triple_rows].tolist())
    return Candidates(
        lexicon=lexicon,
        chunks=chunk_candidates,
        triples=triple_candidates,
        sessions=sessions.candidates,
        anchors=triples.anchors,
    )


def _uid_order(uids: npt.NDArray[np.uint8]) -> Ints:
    return np.lexsort(uids.T[::-1]) if len(uids) else np.empty(0, np.int64)


def _neighbourhood(index: SpaceIndex, rows: Ints, radius: int, visible: Mask | None) -> Ints:
    """The rows and up to ``radius`` neighbours of each along NEXT, in both directions."""
    reached = [rows]
    for column in ("previous", "following"):
        links, step = index.chunks[column], rows
        for _ in range(radius):
            step = links[step].astype(np.int64)
            step = step[step >= 0]
            reached.append(step)
    return passing(np.unique(np.concatenate(reached)), visible)


# Chunks and sessions


@dataclass
class _Sessions:
    candidates: SessionCandidates
    position: dict[int, int]

    def positions(self, ids: Ints) -> Ints:
        """The positions (k,) of sessions by their row ids."""
        some, which = np.unique(ids, return_inverse=True)
        return np.array([self.position[id] for id in some.tolist()], np.int64)[which]


def _chunk_candidates(
    index: SpaceIndex,
    rows: Ints,
    sessions: _Sessions,
    scan: Scan,
    found: Found,
    query: CandidateQuery,
    texts: ReadTexts,
) -> ChunkCandidates:
    table = index.chunks
    return ChunkCandidates(
        uids=hexadecimal(table["uid"][rows]),
        cosine=scan.of(rows),
        matches=gather([table.words.lookup(term) for term in query.terms], rows),
        length=table["length"][rows].astype(float),
        session=sessions.positions(table["session"][rows]),
        at=table["at"][rows] / 1e6,
        question=table["question"][rows],
        previous=_positions(rows, table["previous"][rows]),
        following=_positions(rows, table["following"][rows]),
        by_vector=are_among(rows, found.vector),
        by_terms=are_among(rows, found.terms),
        speakers=tuple(map(index.speakers.__getitem__, table["speaker"][rows].tolist())),
        roles=tuple(map(ROLE_OF_NUMBER.__getitem__, table["role"][rows].tolist())),
        texts=StoredTexts(table["id"][rows].tolist(), texts) if query.texts else (),
    )


def _positions(rows: Ints, links: npt.NDArray[np.int32]) -> Ints:
    """The positions of linked rows among the candidates; a link of -1 leads nowhere."""
    if not len(rows):
        return np.empty(0, np.int64)
    order = np.argsort(rows)
    at = np.minimum(np.searchsorted(rows, links, sorter=order), len(rows) - 1)
    inside = np.where(rows[order[at]] == links, order[at], OUTSIDE)
    return np.where(links < 0, NONE, inside)


def _session_candidates(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    ids: Ints,
    scan: Scan,
    query: CandidateQuery,
) -> _Sessions:
    names = index.sessions.of(connection, ids.tolist())
    position = {id: i for i, id in enumerate(sorted(names, key=names.__getitem__))}
    count, themes = len(names), index.themes
    rows = themes.rows_of(ids.tolist())
    owners = np.array([position[id] for id in themes["owner"][rows].tolist()], np.int64)
    theme, length = np.full(count, np.nan), np.zeros(count)
    matches = np.zeros((count, len(query.terms)))
    np.fmax.at(theme, owners, scan.of(rows))
    np.add.at(length, owners, themes["length"][rows])
    found = [themes.words.lookup(term) for term in query.terms]
    np.add.at(matches, owners, gather(found, rows))
    keys = np.full((count, len(query.entity_vectors)), np.nan)
    if query.entity_vectors:
        _key_cosines(connection, index.vectors, position, query.entity_vectors, keys)
    candidates = SessionCandidates(
        uids=tuple(names[id][0] for id in position),
        ids=tuple(names[id][1] for id in position),
        theme=theme,
        keys=keys,
        matches=matches,
        length=length,
    )
    return _Sessions(candidates, position)


def _key_cosines(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    position: dict[int, int],
    entities: tuple[Vector, ...],
    keys: Floats,
) -> None:
    rows = select_in(
        connection,
        "SELECT session_id, vector FROM session_key JOIN key ON key.id = key_id "
        "WHERE session_id IN ({})",
        list(position),
    )
    if rows:
        cosines = products(vectors.unpack([row[1] for row in rows]), np.stack(entities))
        np.fmax.at(keys, np.array([position[row[0]] for row in rows]), cosines)
