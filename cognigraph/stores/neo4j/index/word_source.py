"""Candidates by words: the full-text index finds them, BM25 ranks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index import fulltext
from cognigraph.stores.neo4j.index.vectors import Layer
from cognigraph.text.bm25 import bm25

_MOST_WORDS_HIDDEN = 4000
_TIE = 1e-5


def match_counts(found: Sequence[Sequence[str]], terms: Sequence[str]) -> Floats:
    """Term frequencies (len(found), len(terms)) from the query terms found in each text."""
    matches = np.zeros((len(found), len(terms)))
    column = {term: position for position, term in enumerate(terms)}
    for row, words in enumerate(found):
        for word in words:
            matches[row, column[word]] += 1.0
    return matches


class WordSource:
    """The search by words of one layer of a space."""

    def __init__(
        self,
        connection: Connection,
        space: str,
        layer: Layer,
        weights: dict[str, float],
        mean_length: float,
        visible: dict[str, Any],
        limit: int,
        fetch: int,
        marks: Sequence[str] = (),
    ) -> None:
        self._connection = connection
        self._space = space
        self._layer = layer
        self._visible = visible
        self._limit = limit
        self._first = fetch
        self.terms = list(weights)
        self._weights = weights
        self._mean_length = mean_length
        self._marks = marks

    @property
    def parameters(self) -> dict[str, Any]:
        """What to ask the full-text index for."""
        return {
            "index": f"{self._layer.lower()}_lexemes",
            "query": fulltext.query(self._space, self._weights, self._marks),
            "limit": self._first,
        }

    def best(self, row: Row) -> list[str]:
        """The uids of the best nodes, of the first row that the index returned."""
        limit, fetch = self._limit, self._first
        uids, scores, lengths, found, visible, fetched = row
        if not all(visible) and fetched >= fetch and sum(visible) < limit:
            # Hidden rows took the place of visible ones: fetch more, once.
            fetch = max(fetch, _MOST_WORDS_HIDDEN)
            uids, scores, lengths, found, visible, fetched = self._fetch(fetch)
        keep = len(uids)
        tied: list[str] | None = None
        if fetched >= fetch:
            # Which rows of the lowest score were fetched depends on the segments of the index, and
            # so on other spaces: leave out all rows of that score.
            floor = scores[-1] * (1 + _TIE)
            keep = int(np.searchsorted(-np.asarray(scores), -floor, side="left"))
            tied = sorted(set(found[-1]))
        rows = [row for row in range(keep) if visible[row]]
        uids, lengths, found = ([column[row] for row in rows] for column in (uids, lengths, found))
        if tied is not None and len(uids) < limit:
            self._fill(uids, lengths, found, tied, limit)
        return self._ranked(uids, lengths, found, limit)

    def best_of(self, uids: list[str], lengths: list[int], found: list[list[str]]) -> list[str]:
        """The uids of the best of all nodes that contain a term and are visible."""
        return self._ranked(uids, lengths, found, self._limit)

    def _fetch(self, limit: int) -> Row:
        row = self._connection.row(
            "search/by_terms",
            **{**self.parameters, "limit": limit},
            space=self._space,
            terms=self.terms,
            **self._visible,
        )
        assert row is not None
        return row

    def _fill(
        self,
        uids: list[str],
        lengths: list[int],
        found: list[list[str]],
        tied: list[str],
        limit: int,
    ) -> None:
        """Add the newest rows of the score that was left out, which depend on this space alone."""
        of_layer = () if self._layer == "Chunk" else ((":Chunk", f":{self._layer}"),)
        row = self._connection.row(
            "search/newest_with_terms",
            *of_layer,
            space=self._space,
            all=tied,
            terms=self.terms,
            limit=limit,
            **self._visible,
        )
        assert row is not None
        known = set(uids)
        for uid, length, words in zip(*row, strict=True):
            if uid not in known:
                uids.append(uid)
                lengths.append(length)
                found.append(words)

    def _ranked(
        self, uids: list[str], lengths: list[int], found: list[list[str]], limit: int
    ) -> list[str]:
        if len(uids) <= limit:
            return uids
        scores = bm25(
            match_counts(found, self.terms),
            np.asarray(lengths, float),
            np.array(list(self._weights.values())),
            self._mean_length,
        )
        order = sorted(range(len(uids)), key=lambda row: (-scores[row], uids[row]))
        return [uids[row] for row in order[:limit]]
