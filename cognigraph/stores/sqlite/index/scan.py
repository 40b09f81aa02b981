"""How near the rows of a layer are to the vector of a query.

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

from cognigraph.arrays import Floats, Ints, Vector, product
from cognigraph.stores.sqlite.index.code_arrays import Mask, Matrix
from cognigraph.stores.sqlite.index.code_query import CodeQuery
from cognigraph.stores.sqlite.index.codes import Codes
from cognigraph.stores.sqlite.index.shared_work import Task, run_all
from cognigraph.stores.sqlite.index.top import top_rows

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

    def of(self, rows: Ints) -> Floats:
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

    def of(self, rows: Ints) -> Floats:
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
        return rows[top_rows(self.of(rows), None, limit)]

    def narrowed(self, rows: Ints, limit: int) -> Ints:
        """See :class:`Scan`."""
        return self._query.nearest(limit, rows)

    def of(self, rows: Ints) -> Floats:
        """See :class:`Scan`."""
        return self._codes.cosines(self._vector, rows)
