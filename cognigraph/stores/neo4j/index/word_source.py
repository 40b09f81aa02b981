"""Candidates by words: the full-text index finds them, BM25 ranks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats
from cognigraph.stores.neo4j import tokens
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index.packed import columns, unpacked_properties
from cognigraph.stores.neo4j.index.vectors import Layer
from cognigraph.stores.neo4j.statements import without_filter
from cognigraph.text.word_book import bm25

_MOST_WORDS_HIDDEN = 4000
_MOST_TIED = 4000
"""So many nodes with the same terms are looked at, for the newest, where others tie with them."""
_TIE = 1e-5


def match_counts(found: Sequence[Sequence[str]], terms: Sequence[str]) -> Floats:
    """Term frequencies (len(found), len(terms)) from the query terms found in each text."""
    matches = np.zeros((len(found), len(terms)))
    column = {term: position for position, term in enumerate(terms)}
    for row, words in enumerate(found):
        for word in words:
            matches[row, column[word]] += 1.0
    return matches


@dataclass(frozen=True, slots=True)
class _Found:
    """Nodes that contain terms of the query: term frequencies, scores, and which are visible."""

    uids: list[str]
    lengths: Floats
    matches: Floats
    scores: Floats = field(default_factory=lambda: np.zeros(0))
    visible: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))

    def only(self, keep: npt.NDArray[np.bool_]) -> _Found:
        """The nodes that a mask keeps, without their scores."""
        rows = np.flatnonzero(keep)
        return _Found([self.uids[row] for row in rows], self.lengths[rows], self.matches[rows])

    def with_more(self, other: _Found) -> _Found:
        """These nodes and those of the others that are not among them."""
        known = set(self.uids)
        new = other.only(np.array([uid not in known for uid in other.uids], bool))
        return _Found(
            self.uids + new.uids,
            np.concatenate([self.lengths, new.lengths]),
            np.concatenate([self.matches, new.matches]),
        )


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
        *,
        dimension: int,
        unfiltered: bool,
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
        self._dimension = dimension
        self._unfiltered = unfiltered

    @property
    def parameters(self) -> dict[str, Any]:
        """What to ask the full-text index for."""
        return {
            "index": f"{self._layer.lower()}_lexemes",
            "query": tokens.weighted_query(self._space, self._weights, self._marks),
            "limit": self._first,
        }

    def best(self, row: Row) -> list[str]:
        """The uids of the best nodes, of the first row that the index returned."""
        limit, fetch = self._limit, self._first
        found = self._found(row)
        visible = int(found.visible.sum())
        if visible < len(found.uids) and len(found.uids) >= fetch and visible < limit:
            # Hidden rows took the place of visible ones: fetch more, once.
            fetch = max(fetch, _MOST_WORDS_HIDDEN)
            found = self._found(self._fetch(fetch))
        keep = found.visible
        if len(found.uids) < fetch:
            return self._ranked(found.only(keep))
        # Which rows of the lowest score were fetched depends on the segments of the index, and
        # so on other spaces: leave out all rows of that score.
        keep = keep & (found.scores > found.scores[-1] * (1 + _TIE))
        best = found.only(keep)
        if len(best.uids) < limit:
            tied = [term for term, n in zip(self.terms, found.matches[-1], strict=True) if n]
            best = best.with_more(self._newest(sorted(tied)))
        return self._ranked(best)

    def best_of(self, uids: list[str], lengths: list[int], found: list[list[str]]) -> list[str]:
        """The uids of the best of all nodes that contain a term and are visible."""
        matches = match_counts(found, self.terms)
        return self._ranked(_Found(uids, np.array(lengths, float), matches))

    def _fetch(self, limit: int) -> Row:
        row = self._connection.row(
            "search/by_terms",
            **{**self.parameters, "limit": limit},
            **self._visible,
            unpacked=unpacked_properties(self._connection.embedding),
        )
        assert row is not None
        return row

    def _found(self, row: Row) -> _Found:
        values, scores, passes = row
        nodes = columns(values, self._dimension)
        visible = np.array(passes, bool) & nodes.are_of(self._space)
        if self._visible["where"] is not None:
            visible &= nodes.have_role(self._visible["where"]["roles"])
        matches = nodes.matches(self._space, self.terms)
        return _Found(nodes.uids, nodes.length, matches, np.array(scores, float), visible)

    def _newest(self, tied: list[str]) -> _Found:
        """The newest rows of the score that was left out, which depend on this space alone."""
        of_layer = () if self._layer == "Chunk" else ((":Chunk", f":{self._layer}"),)
        common = {
            "space": self._space,
            "limit": self._limit,
            **self._visible,
            "unpacked": unpacked_properties(self._connection.embedding),
        }
        name = "search/newest_of_few"
        row = self._connection.row(
            name,
            *(without_filter(name) if self._unfiltered else ()),
            index=self.parameters["index"],
            query=tokens.having_terms(self._space, tied),
            most=_MOST_TIED,
            **common,
        )
        assert row is not None
        if not row[0]:
            # Many nodes have these terms, so the newest of them are found soon.
            row = self._connection.row("search/newest_with_terms", *of_layer, all=tied, **common)
            assert row is not None
        nodes = columns(row[-1], self._dimension)
        return _Found(nodes.uids, nodes.length, nodes.matches(self._space, self.terms))

    def _ranked(self, found: _Found) -> list[str]:
        uids, limit = found.uids, self._limit
        if len(uids) <= limit:
            return uids
        weights = np.array(list(self._weights.values()))
        scores = bm25(found.matches, found.lengths, weights, self._mean_length)
        order = sorted(range(len(uids)), key=lambda row: (-scores[row], uids[row]))
        return [uids[row] for row in order[:limit]]
