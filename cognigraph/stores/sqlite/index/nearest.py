"""The rows nearest to the vector of a question: all compared, or found by their codes.

A small layer holds its vectors in memory and compares all of them. A large one holds codes
(:mod:`codes`): they find the nearest rows with high probability, and give cosines that are off by
less than .001 in general.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector, product
from cognigraph.stores.sqlite.index.codes import Codes, Differing, Mask, Matrix
from cognigraph.stores.sqlite.index.shared_work import Task, run_all

_SAMPLED_SCORES = 16
"""One row in this many is sampled."""
_SHARE_ONE_BY_ONE = 16
"""The signs of rows that are at most one of this many of all are gathered."""

_BY_SIGNS, _SHARE_BY_SIGNS = 8192, 200
"""The second step leaves this many rows, and one of this many."""

_BY_WEIGHTS, _SHARE_BY_WEIGHTS = 1024, 4

_PER_RESULT, _FEWEST = 2, 32
"""The last step leaves this many rows for each that is asked for."""

_SAMPLED, _MOST_SAMPLED = 64, 8192
"""The sample is one value in so many, and of a large layer at most about so many values."""
_LONG = 1 << 19
"""To compare vectors with so many components is worth another thread."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """A search for the nearest rows: first some tasks, in any threads, and then the rest."""

    rest: Callable[[], Ints]
    tasks: Sequence[Task] = ()

    @property
    def is_long(self) -> bool:
        """Whether it is worth another thread."""
        return bool(self.tasks)


class Scan(Protocol):
    """The comparison of a layer with one vector."""

    def nearest(self, limit: int, allowed: Mask | None = None) -> Nearest:
        """The search that gives :meth:`best`."""
        ...

    def best(self, limit: int, allowed: Mask | None = None) -> Ints:
        """The nearest allowed rows with a positive cosine, unordered."""
        ...

    def narrowed(self, rows: Ints, limit: int) -> Ints:
        """Some of the rows, ascending, with the ``limit`` nearest among them."""
        ...

    def cosines(self, rows: Ints) -> Floats:
        """The cosines (k,) of rows."""
        ...


class ExactScan:
    """Compares all rows of a matrix (n, d)."""

    def __init__(self, vectors: Matrix, vector: Vector) -> None:
        self._vectors, self._vector = vectors, vector

    @cached_property
    def _cosine(self) -> Matrix:
        return product(self._vectors, self._vector)

    def nearest(self, limit: int, allowed: Mask | None = None) -> Nearest:
        """See :class:`Scan`."""
        is_long = self._vectors.size > _LONG
        return Nearest(lambda: self.best(limit, allowed), [self._compare] if is_long else ())

    def _compare(self) -> None:
        _ = self._cosine  # computed, and kept

    def best(self, limit: int, allowed: Mask | None = None) -> Ints:
        """See :class:`Scan`."""
        return top_rows(self._cosine, allowed, limit)

    def narrowed(self, rows: Ints, limit: int) -> Ints:
        """See :class:`Scan`."""
        return np.sort(rows)

    def cosines(self, rows: Ints) -> Floats:
        """See :class:`Scan`."""
        return self._cosine[rows].astype(float)


class CodedScan:
    """Finds rows by their codes, and compares their rounded components."""

    def __init__(self, codes: Codes, vector: Vector) -> None:
        self._codes = codes
        self._query = CodeQuery(codes, vector)
        self._vector = vector

    def nearest(self, limit: int, allowed: Mask | None = None) -> Nearest:
        """See :class:`Scan`."""
        if not limit:
            return Nearest(lambda: np.empty(0, np.int64))
        among = None if allowed is None else np.flatnonzero(allowed)
        return Nearest(lambda: self._best(limit, among), self._query.comparisons(among))

    def best(self, limit: int, allowed: Mask | None = None) -> Ints:
        """See :class:`Scan`."""
        search = self.nearest(limit, allowed)
        run_all(search.tasks)
        return search.rest()

    def _best(self, limit: int, among: Ints | None) -> Ints:
        rows = self._query.nearest(limit, among)
        return rows[top_rows(self.cosines(rows), None, limit)]

    def narrowed(self, rows: Ints, limit: int) -> Ints:
        """See :class:`Scan`."""
        return self._query.nearest(limit, rows)

    def cosines(self, rows: Ints) -> Floats:
        """See :class:`Scan`."""
        return self._codes.cosines(self._vector, rows)


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


def top_rows(
    scores: npt.NDArray[np.floating], allowed: npt.NDArray[np.bool_] | None, limit: int
) -> Ints:
    """The rows with the ``limit`` highest positive scores (n,) among the allowed (n,), unordered.

    Which of several equal scores at the limit are chosen is not defined.
    """
    if not limit:
        return np.empty(0, np.int64)
    enough = scores > 0 if allowed is None else allowed & (scores > 0)
    # The limit-th highest score of a sample is a lower bound of that of all rows, and it leaves
    # few rows to compare.
    sample = scores[::_SAMPLED_SCORES][enough[::_SAMPLED_SCORES]]
    if len(sample) > limit:
        enough &= scores >= np.partition(sample, len(sample) - limit)[len(sample) - limit]
    rows = np.flatnonzero(enough)
    if len(rows) > limit:
        cut = len(rows) - limit
        rows = rows[np.argpartition(scores[rows], cut)[cut:]]
    return np.asarray(rows, np.int64)


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
