"""How near the rows of a layer are to the vector of a query.

A small layer holds its vectors in memory and compares all of them. A large one holds short codes in
memory (:mod:`codes`), which find the rows whose vectors are then read and compared. Both give the
exact cosine of every row that they return.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from cognigraph.arrays import Floats, Ints, Vector, product
from cognigraph.stores.sqlite.index.codes import CodeQuery, Codes, Mask, Matrix
from cognigraph.stores.sqlite.index.top import top_rows

ReadVectors = Callable[[Ints], Matrix]
"""Reads the vectors (n, d) of n rows."""


class Scan(Protocol):
    """The comparison of a layer with one vector."""

    def best(self, limit: int, allowed: Mask | None = None) -> Ints:
        """The nearest allowed rows with a positive cosine, unordered."""
        ...

    def narrowed(self, rows: Ints, limit: int) -> Ints:
        """Some of the rows, ascending, with the ``limit`` nearest among them."""
        ...

    def of(self, rows: Ints) -> Floats:
        """The cosines of rows."""
        ...


class ExactScan:
    """Compares all rows of a matrix (n, d)."""

    def __init__(self, vectors: Matrix, vector: Vector) -> None:
        self._cosine = product(vectors, vector)

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
    """Finds rows by their codes and compares their exact vectors. Each is read once."""

    def __init__(self, codes: Codes, vector: Vector, read: ReadVectors) -> None:
        self._query = CodeQuery(codes, vector)
        self._vector = vector
        self._read = read
        self._rows = np.empty(0, np.int64)
        self._cosine = np.empty(0)

    def best(self, limit: int, allowed: Mask | None = None) -> Ints:
        """See :class:`Scan`."""
        if not limit:
            return np.empty(0, np.int64)
        among = None if allowed is None else np.flatnonzero(allowed)
        rows = self._query.nearest(limit, among)
        return rows[top_rows(self.of(rows), None, limit)]

    def narrowed(self, rows: Ints, limit: int) -> Ints:
        """See :class:`Scan`."""
        return self._query.nearest(limit, rows)

    def of(self, rows: Ints) -> Floats:
        """See :class:`Scan`."""
        unread = np.setdiff1d(rows, self._rows)
        if len(unread):
            cosine = np.asarray(product(self._read(unread), self._vector), float)
            known = np.concatenate([self._rows, unread])
            order = np.argsort(known)
            self._rows = known[order]
            self._cosine = np.concatenate([self._cosine, cosine])[order]
        return self._cosine[np.searchsorted(self._rows, rows)]
