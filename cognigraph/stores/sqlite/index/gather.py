"""Gathers the candidates of a search from the in-memory index of a space."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector
from cognigraph.stores.candidates import (
    NONE,
    OUTSIDE,
    CandidateQuery,
    Candidates,
    ChunkCandidates,
    SessionCandidates,
    TripleCandidates,
)
from cognigraph.stores.sqlite.canonical import HIDDEN
from cognigraph.stores.sqlite.index.allowed import Mask, allowed_chunks, left_out
from cognigraph.stores.sqlite.index.postings import Postings, gather
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.index.table import Table
from cognigraph.stores.sqlite.index.themes import NOBODY
from cognigraph.stores.sqlite.index.top import top_rows
from cognigraph.stores.sqlite.message_data import ROLE_OF_NUMBER
from cognigraph.stores.sqlite.vector_format import VectorFormat
from cognigraph.text.bm25 import Lexicon, bm25, idf
from cognigraph.times import to_micros

_FOREVER = HIDDEN - 1


@dataclass
class _Found:
    """The rows that each candidate source found."""

    vector: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    terms: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    anchor: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def all(self) -> Ints:
        return np.unique(np.concatenate([self.vector, self.terms, self.anchor]))


def gather_candidates(
    connection: sqlite3.Connection, index: SpaceIndex, space_id: int, query: CandidateQuery
) -> Candidates:
    """Run all candidate sources of a query. The caller holds the index's lock and its snapshot."""
    until = to_micros(query.as_of) if query.as_of else _FOREVER
    lexicon = index.lexicon(query.terms)
    weights = idf(lexicon, query.terms)

    cosine = index.chunks["vector"] @ query.vector
    visible = allowed_chunks(connection, index, space_id, query.where)
    visible &= index.chunks["at"] <= until
    sought = visible
    if query.without:
        sought = visible & ~left_out(connection, index, space_id, query.without)
    chunks = _Found(
        vector=top_rows(cosine, sought, query.chunks_by_vector),
        terms=_top_by_terms(
            index.chunk_words, index.chunks, query, weights, lexicon, sought, query.chunks_by_terms
        ),
    )
    triples, triple_cosine, anchors = _triple_sources(
        connection, index, space_id, query, weights, lexicon, until
    )
    triple_rows = triples.all()
    evidence = _evidence(connection, index, triple_rows, until, visible)
    triple_rows = np.array([row for row in triple_rows if evidence.get(int(row))], np.int64)
    evidence_rows = np.array([r for row in triple_rows for r in evidence[int(row)]], np.int64)

    rows = _neighbourhood(index, np.union1d(chunks.all(), evidence_rows), query.radius, visible)
    rows = rows[_uid_order(index.chunks["uid"][rows])]
    triple_rows = triple_rows[_uid_order(index.triples["uid"][triple_rows])]
    owners = index.themes["owner"]
    theme_cosine = np.asarray(index.themes["vector"] @ query.vector, float)
    near = top_rows(theme_cosine, owners != NOBODY, query.sessions_by_vector)
    session_ids = np.union1d(index.chunks["session"][rows], owners[near])
    sessions = _session_candidates(connection, index, session_ids, theme_cosine, query)
    chunk_candidates = _chunk_candidates(
        connection, index, rows, session_ids, sessions, cosine, chunks, query
    )
    return Candidates(
        lexicon=lexicon,
        chunks=chunk_candidates,
        triples=_triple_candidates(
            connection,
            index,
            triple_rows,
            rows,
            evidence,
            chunk_candidates,
            triple_cosine,
            triples,
            query,
        ),
        sessions=sessions.candidates,
        anchors=anchors,
    )


def _top_by_terms(
    words: Postings,
    table: Table,
    query: CandidateQuery,
    weights: Floats,
    lexicon: Lexicon,
    allowed: npt.NDArray[np.bool_],
    limit: int,
) -> Ints:
    if not limit or not table.rows:
        return np.empty(0, np.int64)
    scores = np.zeros(table.rows)
    length = table["length"]
    mean = lexicon.mean_length if table.rows == lexicon.chunks else float(length.mean())
    for term, weight in zip(query.terms, weights, strict=True):
        rows, counts = words.lookup(term)
        if len(rows):
            scores[rows] += bm25(
                counts[:, None].astype(float), length[rows], np.array([weight]), mean
            )
    return top_rows(scores, allowed, limit)


def _uid_order(uids: npt.NDArray[np.uint8]) -> Ints:
    return np.lexsort(uids.T[::-1]) if len(uids) else np.empty(0, np.int64)


def _hexadecimal(uids: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    """Uids as hexadecimal text."""
    width, text = 2 * uids.shape[1], uids.tobytes().hex()
    return tuple(text[start : start + width] for start in range(0, len(text), width))


def _neighbourhood(
    index: SpaceIndex, rows: Ints, radius: int, visible: npt.NDArray[np.bool_]
) -> Ints:
    """The rows and up to ``radius`` neighbours of each along NEXT, in both directions."""
    reached = [rows]
    for column in ("previous", "following"):
        links, step = index.chunks[column], rows
        for _ in range(radius):
            step = links[step].astype(np.int64)
            step = step[step >= 0]
            reached.append(step)
    found = np.unique(np.concatenate(reached))
    return found[visible[found]]


# Triples


def _triple_sources(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    space_id: int,
    query: CandidateQuery,
    weights: Floats,
    lexicon: Lexicon,
    until: int,
) -> tuple[_Found, Floats, tuple[str, ...]]:
    if not (query.triples_by_vector or query.triples_by_terms or query.triples_per_anchor):
        return _Found(), np.empty(0), ()
    table = index.triples
    cosine = np.asarray(table["vector"] @ query.vector, float)
    visible = table["first"] <= until
    found = _Found(
        vector=top_rows(cosine, visible, query.triples_by_vector),
        terms=_top_by_terms(
            index.triple_words, table, query, weights, lexicon, visible, query.triples_by_terms
        ),
    )
    names: list[str] = []
    by_anchor: list[Ints] = []
    entities = _anchors(connection, space_id, query) if query.triples_per_anchor else []
    for entity, name in entities:
        around = np.flatnonzero(
            visible & ((table["subject"] == entity) | (table["object"] == entity))
        )
        if len(around):
            names.append(name)
            # Of many triples, those nearest to the question are kept; of equals, the newest.
            order = np.lexsort((-table["last"][around], -cosine[around]))
            by_anchor.append(around[order[: query.triples_per_anchor]])
    if by_anchor:
        found.anchor = np.unique(np.concatenate(by_anchor))
    return found, cosine, tuple(dict.fromkeys(names))


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


def _evidence(
    connection: sqlite3.Connection, index: SpaceIndex, rows: Ints, until: int, visible: Mask
) -> dict[int, list[int]]:
    """The rows of the visible evidence chunks of each triple row, if observed by ``until``."""
    evidence: dict[int, list[int]] = {}
    ids = index.triples["id"][rows]
    pairs = _select_in(
        connection,
        "SELECT DISTINCT triple_id, chunk_id, observed_at FROM evidence WHERE triple_id IN ({})",
        ids.tolist(),
    )
    pairs = [pair for pair in pairs if pair[2] <= until]
    triples = index.triples.find(np.array([p[0] for p in pairs], np.int64))
    chunks = index.chunks.find(np.array([p[1] for p in pairs], np.int64))
    for triple, chunk in zip(triples.tolist(), chunks.tolist(), strict=True):
        if chunk >= 0 and visible[chunk]:
            evidence.setdefault(triple, []).append(chunk)
    return evidence


def _select_in(
    connection: sqlite3.Connection, statement: str, values: Sequence[int]
) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(values), 500):
        part = values[start : start + 500]
        rows += connection.execute(statement.format(",".join("?" * len(part))), part).fetchall()
    return rows


def _triple_candidates(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    rows: Ints,
    chunk_rows: Ints,
    evidence: dict[int, list[int]],
    chunks: ChunkCandidates,
    cosine: Floats,
    found: _Found,
    query: CandidateQuery,
) -> TripleCandidates:
    table = index.triples
    position = {int(row): i for i, row in enumerate(chunk_rows)}
    sources = tuple(
        tuple(sorted(position[chunk] for chunk in evidence[int(row)] if chunk in position))
        for row in rows
    )
    newest = [max(own, key=lambda i: (chunks.at[i], i)) if own else -1 for own in sources]
    return TripleCandidates(
        uids=_hexadecimal(table["uid"][rows]),
        cosine=cosine[rows].astype(float) if len(rows) else np.empty(0),
        matches=gather([index.triple_words.lookup(t) for t in query.terms], rows, table.rows),
        length=table["length"][rows].astype(float),
        at=np.array([chunks.at[i] if i >= 0 else np.nan for i in newest], float),
        session=np.array([chunks.session[i] if i >= 0 else -1 for i in newest], np.int64),
        evidence=sources,
        by_vector=np.isin(rows, found.vector),
        by_terms=np.isin(rows, found.terms),
        by_anchor=np.isin(rows, found.anchor),
        texts=_texts(connection, _TRIPLE_TEXTS, table["id"][rows]) if query.texts else (),
    )


_TRIPLE_TEXTS = (
    "SELECT id, subject || ' ' || relation || ' ' || object FROM triple WHERE id IN ({})"
)
_CHUNK_TEXTS = "SELECT id, text FROM chunk WHERE id IN ({})"


def _texts(connection: sqlite3.Connection, statement: str, ids: Ints) -> tuple[str, ...]:
    wanted = ids.tolist()
    found = dict(_select_in(connection, statement, wanted))
    return tuple(found[id] for id in wanted)


# Chunks and sessions


@dataclass
class _Sessions:
    candidates: SessionCandidates
    position: dict[int, int]


def _chunk_candidates(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    rows: Ints,
    session_ids: Ints,
    sessions: _Sessions,
    cosine: npt.NDArray[np.floating],
    found: _Found,
    query: CandidateQuery,
) -> ChunkCandidates:
    table = index.chunks
    position = np.full(table.rows + 1, OUTSIDE, np.int64)
    position[rows] = np.arange(len(rows))
    position[-1] = NONE  # the target of a link of -1, which means no neighbour
    return ChunkCandidates(
        uids=_hexadecimal(table["uid"][rows]),
        cosine=cosine[rows].astype(float),
        matches=gather([index.chunk_words.lookup(t) for t in query.terms], rows, table.rows),
        length=table["length"][rows].astype(float),
        session=np.array([sessions.position[s] for s in table["session"][rows].tolist()], np.int64),
        at=table["at"][rows] / 1e6,
        question=table["question"][rows],
        previous=position[table["previous"][rows]],
        following=position[table["following"][rows]],
        by_vector=np.isin(rows, found.vector),
        by_terms=np.isin(rows, found.terms),
        speakers=tuple(index.speakers[code] for code in table["speaker"][rows].tolist()),
        roles=tuple(ROLE_OF_NUMBER[number] for number in table["role"][rows].tolist()),
        texts=_texts(connection, _CHUNK_TEXTS, table["id"][rows]) if query.texts else (),
    )


def _session_candidates(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    ids: Ints,
    theme_cosine: Floats,
    query: CandidateQuery,
) -> _Sessions:
    statement = "SELECT uid, name, id FROM session WHERE id IN ({})"
    names = _select_in(connection, statement, ids.tolist())
    names.sort()
    position = {row[2]: i for i, row in enumerate(names)}
    count, themes = len(names), index.themes
    rows = np.flatnonzero(np.isin(themes["owner"], ids))
    owners = np.array([position[id] for id in themes["owner"][rows].tolist()], np.int64)
    theme, length = np.full(count, np.nan), np.zeros(count)
    matches = np.zeros((count, len(query.terms)))
    np.fmax.at(theme, owners, theme_cosine[rows])
    np.add.at(length, owners, themes["length"][rows])
    found = [themes.words.lookup(term) for term in query.terms]
    np.add.at(matches, owners, gather(found, rows, len(themes)))
    keys = np.full((count, len(query.entity_vectors)), np.nan)
    if query.entity_vectors:
        _key_cosines(connection, index.vectors, position, query.entity_vectors, keys)
    candidates = SessionCandidates(
        uids=tuple(str(row[0]) for row in names),
        ids=tuple(str(row[1]) for row in names),
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
    rows = _select_in(
        connection,
        "SELECT session_id, vector FROM session_key JOIN key ON key.id = key_id "
        "WHERE session_id IN ({})",
        list(position),
    )
    if rows:
        cosines = vectors.unpack([row[1] for row in rows]) @ np.stack(entities).T
        np.fmax.at(keys, np.array([position[row[0]] for row in rows]), cosines)
