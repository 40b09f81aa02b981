"""The search for the rows nearest to one vector, by their codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cognigraph.arrays import Floats, Ints, Vector
from cognigraph.stores.sqlite.index.code_arrays import Matrix
from cognigraph.stores.sqlite.index.codes import Codes, Differing
from cognigraph.stores.sqlite.index.shared_work import Task, run_all

_SHARE_ONE_BY_ONE = 16
"""The signs of rows that are at most one of this many of all are gathered."""
_BY_SIGNS, _SHARE_BY_SIGNS = 8192, 200
"""The second step leaves this many rows, and one of this many."""
_BY_WEIGHTS, _SHARE_BY_WEIGHTS = 1024, 4
_PER_RESULT, _FEWEST = 2, 32
"""The last step leaves this many rows for each that is asked for."""
_SAMPLED, _MOST_SAMPLED = 64, 8192
"""The sample is one value in so many, and of a large layer at most about so many values."""


class CodeQuery:
    """The search for the rows nearest to one vector, by their codes."""

    def __init__(self, codes: Codes, vector: Vector) -> None:
        self._codes = codes
        self._vector = vector
        self._differing: Differing | None = None

    def comparisons(self, among: Ints | None = None) -> Sequence[Task]:
        """Tasks that :meth:`nearest` begins with, unless they are run before, in any threads."""
        if self._differing is not None or not self._needs_all(among):
            return ()
        self._differing, tasks = self._codes.comparisons(self._vector)
        return tasks

    def _needs_all(self, among: Ints | None) -> bool:
        """Whether the signs of all rows are compared to find the nearest among some."""
        if among is None:
            return self._codes.rows > _left_by_signs(self._codes.rows)
        is_few = len(among) * _SHARE_ONE_BY_ONE <= self._codes.rows
        return not is_few and len(among) > _left_by_signs(len(among))

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
        run_all(self.comparisons(among))
        count = _left_by_signs(self._codes.rows if among is None else len(among))
        if among is None:
            if self._differing is None:
                return np.arange(self._codes.rows)
            return _least(self._differing, count)
        if len(among) <= count:
            return among
        if self._needs_all(among):
            assert self._differing is not None
            return among[_least(self._differing[among], count)]
        return among[_least(self._codes.differing(self._vector, among), count)]


def _left_by_signs(total: int) -> int:
    """How many of some rows the signs leave at least."""
    return _BY_SIGNS + total // _SHARE_BY_SIGNS


def _least(values: Differing, count: int) -> Ints:
    """The positions of the ``count`` least values, and of all that equal the last of them."""
    sample = values[:: max(_SAMPLED, len(values) // _MOST_SAMPLED)]
    number = min(len(sample) - 1, count * len(sample) // len(values))
    bound = int(np.partition(sample, number)[number])  # an estimate
    least = values <= bound
    while np.count_nonzero(least) < count:
        bound += 1
        least = values <= bound
    while np.count_nonzero(fewer := values < bound) >= count:
        bound -= 1
        least = fewer
    return np.flatnonzero(least)


def _highest(scores: Matrix | Floats, count: int) -> Ints:
    """The positions of the ``count`` highest scores."""
    if len(scores) <= count:
        return np.arange(len(scores))
    cut = len(scores) - count
    return np.asarray(np.argpartition(scores, cut)[cut:], np.int64)
