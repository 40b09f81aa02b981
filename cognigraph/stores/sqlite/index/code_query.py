"""The search for the rows nearest to one vector, by their codes."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cognigraph.arrays import Floats, Ints, Vector
from cognigraph.stores.sqlite.index.code_arrays import Matrix
from cognigraph.stores.sqlite.index.codes import Codes, Differing

_SHARE_ONE_BY_ONE = 16
"""The signs of rows that are at most one of this many of all are gathered."""
_BY_SIGNS, _SHARE_BY_SIGNS = 8192, 200
"""The second step leaves this many rows, and one of this many."""
_BY_WEIGHTS, _SHARE_BY_WEIGHTS = 1024, 4
_PER_RESULT, _FEWEST = 2, 32
"""The last step leaves this many rows for each that is asked for."""
_SAMPLED = 64


class CodeQuery:
    """The search for the rows nearest to one vector, by their codes."""

    def __init__(self, codes: Codes, vector: Vector) -> None:
        self._codes = codes
        self._vector = vector

    @cached_property
    def _differing(self) -> Differing:
        return self._codes.differing(self._vector)

    def nearest(self, count: int, among: Ints | None = None) -> Ints:
        """Rows, ascending, that contain the ``count`` nearest ones with high probability.

        ``among`` (k,) restricts the search to some rows.
        """
        left = max(_PER_RESULT * count, _FEWEST)
        rows = self._by_signs(among)
        if len(rows) > left:
            kept = max(_BY_WEIGHTS, len(rows) // _SHARE_BY_WEIGHTS, left)
            if len(rows) > kept:
                rows = rows[_highest(self._codes.weighted(self._vector, rows), kept)]
            rows = rows[_highest(self._codes.cosines(self._vector, rows), left)]
        return np.sort(rows)

    def _by_signs(self, among: Ints | None) -> Ints:
        """The rows with the fewest differing signs, with all that differ as little."""
        total = self._codes.rows if among is None else len(among)
        count = _BY_SIGNS + total // _SHARE_BY_SIGNS
        if total <= count:
            return np.arange(total) if among is None else among
        if among is None:
            return np.flatnonzero(self._differing <= _least(self._differing, count))
        if total * _SHARE_ONE_BY_ONE <= self._codes.rows:
            differing = self._codes.differing(self._vector, among)
        else:
            differing = self._differing[among]
        return among[differing <= _least(differing, count)]


def _least(values: Differing, count: int) -> int:
    """The smallest number that at least ``count`` of the values do not exceed."""
    sample = values[::_SAMPLED]
    number = min(len(sample) - 1, count * len(sample) // len(values))
    bound = int(np.partition(sample, number)[number])  # an estimate
    while np.count_nonzero(values <= bound) < count:
        bound += 1
    while bound and np.count_nonzero(values <= bound - 1) >= count:
        bound -= 1
    return bound


def _highest(scores: Matrix | Floats, count: int) -> Ints:
    """The positions of the ``count`` highest scores."""
    if len(scores) <= count:
        return np.arange(len(scores))
    cut = len(scores) - count
    return np.asarray(np.argpartition(scores, cut)[cut:], np.int64)
