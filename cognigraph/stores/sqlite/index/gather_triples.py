"""Gathers the triples that a search asks for, with the chunks that are evidence of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.stores.candidates import CandidateQuery, ChunkCandidates, TripleCandidates
from cognigraph.stores.sqlite.in_list import select_in
from cognigraph.stores.sqlite.index.by_words import best_by_words
from cognigraph.stores.sqlite.index.code_arrays import Mask
from cognigraph.stores.sqlite.index.postings import gather
from cognigraph.stores.sqlite.index.scan import Scan
from cognigraph.stores.sqlite.index.shared_work import Begun
from cognigraph.stores.sqlite.index.sources import (
    Found,
    are_among,
    hexadecimal,
    passing,
    texts_of,
)
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.text.bm25 import Lexicon

_TEXTS = "SELECT id, subject || ' ' || relation || ' ' || object FROM triple WHERE id IN ({})"

Evidence = Mapping[int, Sequence[int]]
"""The rows of the chunks that are evidence of a triple, by its row."""


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
        self.by_vector = self.scan.nearest(query.triples_by_vector, self._visible)
        self.found = Found()
        self.anchors: tuple[str, ...] = ()

    def search(self, weights: Floats, lexicon: Lexicon, by_vector: Begun[Ints]) -> None:
        """Fill ``found`` and ``anchors``; ``by_vector`` was begun with our own."""
        query, table = self._query, self._index.triples
        # As many triples as chunks are rare, except when there are none of either.
        mean = lexicon.mean_length if table.rows == lexicon.chunks else table.mean_length
        terms = best_by_words(
            table, query.terms, weights, mean, query.triples_by_terms, self._visible
        )
        entities = self._around_anchors() if query.triples_per_anchor else []
        self.found = Found(
            vector=by_vector.result(),
            terms=terms,
            anchor=self._nearest_of_each(entities),
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

    def _nearest_of_each(self, entities: Sequence[Ints]) -> Ints:
        """Of the many triples of an entity, those nearest to the question; of equals the newest."""
        chosen = [np.empty(0, np.int64)]
        limit, last = self._query.triples_per_anchor, self._index.triples["last"]
        for around in entities:
            near = self.scan.narrowed(around, limit)
            # Rounded, because the last bits of a product depend on the rows beside it.
            order = np.lexsort((-last[near], -self.scan.of(near).round(6)))
            chosen.append(near[order[:limit]])
        return np.unique(np.concatenate(chosen))

    def candidates(
        self, rows: Ints, chunk_rows: Ints, evidence: Evidence, chunks: ChunkCandidates
    ) -> TripleCandidates:
        """The triples in ``rows``; ``chunk_rows`` are those of ``chunks``."""
        table, query = self._index.triples, self._query
        cited = np.array([chunk for row in rows.tolist() for chunk in evidence[row]], np.int64)
        order = np.argsort(chunk_rows)
        at = np.minimum(np.searchsorted(chunk_rows, cited, sorter=order), len(chunk_rows) - 1)
        inside = chunk_rows[order[at]] == cited
        position = dict(zip(cited[inside].tolist(), order[at][inside].tolist(), strict=True))
        sources = tuple(
            tuple(sorted(position[chunk] for chunk in evidence[row] if chunk in position))
            for row in rows.tolist()
        )
        newest = [max(own, key=lambda i: (chunks.at[i], i)) if own else -1 for own in sources]
        return TripleCandidates(
            uids=hexadecimal(table["uid"][rows]),
            cosine=self.scan.of(rows) if len(rows) else np.empty(0),
            matches=gather([table.words.lookup(term) for term in query.terms], rows),
            length=table["length"][rows].astype(float),
            at=np.array([chunks.at[i] if i >= 0 else np.nan for i in newest], float),
            session=np.array([chunks.session[i] if i >= 0 else -1 for i in newest], np.int64),
            evidence=sources,
            by_vector=are_among(rows, self.found.vector),
            by_terms=are_among(rows, self.found.terms),
            by_anchor=are_among(rows, self.found.anchor),
            texts=texts_of(self._connection, _TEXTS, table["id"][rows]) if query.texts else (),
        )


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
) -> dict[int, list[int]]:
    """The rows of the visible evidence chunks of each triple row, if observed by ``until``."""
    evidence: dict[int, list[int]] = {}
    pairs = select_in(
        connection,
        "SELECT DISTINCT triple_id, chunk_id, observed_at FROM evidence WHERE triple_id IN ({})",
        index.triples["id"][rows].tolist(),
    )
    if until is not None:
        pairs = [pair for pair in pairs if pair[2] <= until]
    triples = index.triples.find(np.array([p[0] for p in pairs], np.int64))
    chunks = index.chunks.find(np.array([p[1] for p in pairs], np.int64))
    for triple, chunk in zip(triples.tolist(), chunks.tolist(), strict=True):
        if chunk >= 0 and (visible is None or visible[chunk]):
            evidence.setdefault(triple, []).append(chunk)
    return evidence
