"""Gathers the triples that a search asks for, with the chunks that are evidence of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np

from cognigraph.arrays import Floats, Ints, each_once
from cognigraph.stores.candidates import (
    CandidateQuery,
    ChunkCandidates,
    Evidence,
    StoredTexts,
    TripleCandidates,
)
from cognigraph.stores.sqlite.index.by_words import best_by_words
from cognigraph.stores.sqlite.index.code_arrays import Mask
from cognigraph.stores.sqlite.index.evidence_reader import pairs_of
from cognigraph.stores.sqlite.index.postings import Hashes, Lookup, gather
from cognigraph.stores.sqlite.index.scan import Scan
from cognigraph.stores.sqlite.index.sources import (
    Connect,
    Found,
    FoundEvidence,
    Positions,
    are_among,
    passing,
    read_later,
)
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.text.bm25 import Lexicon

_TEXTS = """
SELECT t.id, t.subject || ' ' || t.relation || ' ' || t.object
FROM json_each(?) one CROSS JOIN triple t ON t.id = one.value"""


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
        self.found = Found()
        self.anchors: tuple[str, ...] = ()

    def look_up(self, terms: Hashes) -> None:
        """Find the words of the question, and its entities with the triples around them."""
        self.words = self._index.triples.words.under_all(terms)
        if self._query.triples_per_anchor:
            self._entities = self._around_anchors()

    def by_words(self, weights: Floats, lexicon: Lexicon) -> Ints:
        """The triples with the best words."""
        query, table = self._query, self._index.triples
        # As many triples as chunks are rare, except when there are none of either.
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
            order = np.lexsort((-last[near], -self.scan.of(near).round(6)))
            chosen.append(near[order[:limit]])
        return each_once(*chosen)

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
        cited = chunk_rows.of(found.chunks)
        inside = cited >= 0
        evidence = Evidence.pairs(positions.of(found.triples)[inside], cited[inside], len(rows))
        newest = evidence.newest(chunks.at)
        return TripleCandidates(
            uids=positions.uids,
            cosine=self.scan.of(positions.ascending)[positions.order],
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
        return read_later(connect, _TEXTS, self._index.triples["id"][rows], words)


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
    of_known, sizes, known = index.evidence.of(rows)
    known &= ~index.triples["restated"][rows]
    if until is not None:
        known[:] = False
    of_known = of_known[np.repeat(known, sizes)]
    pairs = pairs_of(connection, index.triples["id"][rows[~known]].tolist(), until)
    triples = np.concatenate([np.repeat(rows, sizes * known), index.triples.find(pairs[:, 0])])
    chunks = index.chunks.find(np.concatenate([of_known, pairs[:, 1]]))
    inside = chunks >= 0
    if visible is not None:
        inside[inside] = visible[chunks[inside]]
    return FoundEvidence(triples[inside], chunks[inside])
