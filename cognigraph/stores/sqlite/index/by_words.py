"""The rows of a layer with the best BM25 scores, without a pass over all rows.

The posting lists are joined from the shortest on. As soon as the best rows score more than all
lists that are left could add up to, no further row can join them (the MaxScore algorithm: Turtle
and Flood, "Query evaluation: strategies and optimizations", 1995). The long lists of common words
are then only looked up for rows that were found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.stores.sqlite.index.codes import Mask
from cognigraph.stores.sqlite.index.layer import Array, Layer
from cognigraph.stores.sqlite.index.postings import Counts, Lookup, Rows, frequencies
from cognigraph.text.word_book import bm25

_LONG = 4096
"""Posting lists longer than this are only read if they can lead to further rows."""
_ROUNDING = 1 - 1e-9


class _Scored(NamedTuple):
    """Ascending rows and a score of each."""

    rows: Rows
    scores: Floats


class _Word(NamedTuple):
    """The posting list of a term, and its idf."""

    rows: Rows
    counts: Counts
    weight: float


class _Scoring:
    """BM25 in a layer; ``mean`` is the mean length of a text in terms."""

    def __init__(self, layer: Layer, mean: float) -> None:
        self._lengths, self._mean = layer["length"], mean
        self._shortest = np.array([layer.shortest], np.int32)

    def most(self, word: _Word) -> float:
        """The most that a word can add to a score: by its highest count, in the shortest text."""
        most = self._scores(word.counts.max(keepdims=True), self._shortest, word.weight)
        return float(most[0])

    def added(self, word: _Word, allowed: Mask | None) -> _Scored:
        """What a word adds to the scores of the allowed rows in its list."""
        rows, counts = word.rows, word.counts
        if allowed is not None:
            passing = allowed[rows]
            rows, counts = rows[passing], counts[passing]
        return _Scored(rows, self._scores(counts, self._lengths[rows], word.weight))

    def completed(self, found: _Scored, words: Sequence[_Word]) -> Floats:
        """The scores with what some further words add to them."""
        scores, lengths = found.scores.copy(), self._lengths[found.rows]
        for word in words:
            counts = frequencies((word.rows, word.counts), found.rows)
            scores += self._scores(counts, lengths, word.weight)
        return scores

    def _scores(self, counts: Counts, lengths: Array, weight: float) -> Floats:
        return bm25(counts.astype(float)[:, None], lengths, np.array([weight]), self._mean)


def best_by_words(
    layer: Layer,
    lookups: Sequence[Lookup],
    weights: Floats,
    mean: float,
    limit: int,
    allowed: Mask | None = None,
) -> Ints:
    """The allowed rows with the ``limit`` highest scores, unordered; of equal ones the newest.

    ``lookups`` are those of the terms of the question, ``weights`` their idf.
    """
    if not limit or not layer.rows:
        return np.empty(0, np.int64)
    scoring = _Scoring(layer, mean)
    words = [_Word(*found, weight) for found, weight in zip(lookups, weights.tolist(), strict=True)]
    words.sort(key=lambda word: len(word.rows))
    short = [word for word in words if len(word.rows) <= _LONG]
    found, left = _joined([scoring.added(word, allowed) for word in short]), words[len(short) :]
    mosts = [scoring.most(word) for word in left]
    while left:
        bound = _least_of_best(scoring, found, left, limit)
        most = sum(mosts)
        if bound * _ROUNDING > most:
            hopeful = found.scores + most >= bound * _ROUNDING
            found = _Scored(found.rows[hopeful], found.scores[hopeful])
            break
        found = _joined([found, scoring.added(left[0], allowed)])
        left, mosts = left[1:], mosts[1:]
    return _best(_Scored(found.rows, scoring.completed(found, left)), limit)


def _best(found: _Scored, limit: int) -> Ints:
    """The rows with the ``limit`` highest positive scores; of equal ones the newest."""
    rows = np.flatnonzero(found.scores > 0)
    cut = len(rows) - limit
    if cut > 0:
        scores = found.scores[rows]
        least = np.partition(scores, cut)[cut]
        higher = rows[scores > least]
        rows = np.concatenate([higher, rows[scores == least][len(higher) - limit :]])
    return found.rows[rows].astype(np.int64)


def _least_of_best(scoring: _Scoring, found: _Scored, left: Sequence[_Word], limit: int) -> float:
    """A score that ``limit`` of the found rows reach; 0 if fewer rows were found."""
    cut = len(found.rows) - limit
    if cut < 0:
        return 0.0
    best = np.sort(np.argpartition(found.scores, cut)[cut:]) if cut else np.arange(limit)
    some = _Scored(found.rows[best], found.scores[best])
    return float(scoring.completed(some, left).min())


def _joined(parts: Sequence[_Scored]) -> _Scored:
    """Each row of the parts once, with the sum of its scores."""
    if not parts:
        return _Scored(np.empty(0, np.int32), np.empty(0))
    rows = np.concatenate([part.rows for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    if len(parts) == 1 or not len(rows):
        return _Scored(rows, scores)
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    is_first = np.ones(len(rows), bool)
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    return _Scored(rows[first], np.add.reduceat(scores[order], first))
