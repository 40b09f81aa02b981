"""The rows of a layer with the best BM25 scores, without a pass over all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.stores.sqlite.index.code_arrays import Mask
from cognigraph.stores.sqlite.index.layer import Layer
from cognigraph.stores.sqlite.index.postings import Counts, Rows, restricted
from cognigraph.stores.sqlite.index.top import highest, top_rows
from cognigraph.text.bm25 import K1, bm25

_LONG = 4096
"""Posting lists longer than this are only read if they can lead to further rows."""


class _Scores:
    """The scores of the rows that have one; ``terms`` are added from the rarest on."""

    def __init__(self, layer: Layer, mean: float) -> None:
        self._length, self._mean = layer["length"], mean
        self._all = layer.zeros()
        self.lists: list[Rows] = []

    def add(self, rows: Rows, counts: Counts, weight: float) -> None:
        matches = counts.astype(float)[:, None]
        self.lists.append(rows)
        self._all[rows] += bm25(matches, self._length[rows], np.array([weight]), self._mean)

    def clear(self) -> None:
        """Leave the array of the layer as it was."""
        for rows in self.lists:
            self._all[rows] = 0.0

    def of(self, rows: Ints | Rows) -> Floats:
        return self._all[rows]


def best_by_words(
    layer: Layer,
    terms: Sequence[str],
    weights: Floats,
    mean: float,
    limit: int,
    allowed: Mask | None = None,
) -> Ints:
    """The allowed rows with the ``limit`` highest scores, unordered; ``weights`` are idf.

    Rare terms come first. Once the best rows score more than all terms that are left could add up
    to, no further row can join them, and the long posting lists of common words are only looked up
    for the rows that were found.
    """
    if not limit or not layer.rows:
        return np.empty(0, np.int64)
    scores = _Scores(layer, mean)
    try:
        _add_all(scores, layer, terms, weights, limit, allowed)
        # A row among the best is also among the best of each posting list that it is in.
        best = [rows[top_rows(scores.of(rows), None, limit)] for rows in scores.lists]
        union = np.unique(np.concatenate(best)) if best else np.empty(0, np.int64)
        return np.asarray(union[top_rows(scores.of(union), None, limit)], np.int64)
    finally:
        scores.clear()


def _add_all(
    scores: _Scores,
    layer: Layer,
    terms: Sequence[str],
    weights: Floats,
    limit: int,
    allowed: Mask | None,
) -> None:
    left = float(weights.sum()) * (K1 + 1)  # the most that the terms can add to a score
    for number in np.argsort(-weights, kind="stable").tolist():
        found = rows, counts = layer.words.lookup(terms[number])
        if len(rows) > _LONG and scores.lists:
            known = np.unique(np.concatenate(scores.lists))
            best = highest(scores.of(known), limit)
            if len(best) == limit and best.min() > left:
                rows, counts = restricted(found, known)
        if allowed is not None:
            passing = allowed[rows]
            rows, counts = rows[passing], counts[passing]
        scores.add(rows, counts, float(weights[number]))
        left -= float(weights[number]) * (K1 + 1)
