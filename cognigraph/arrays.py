"""Types of numpy arrays, and products that stay in the calling thread."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
"""Vectors of unit length, so that a dot product is a cosine."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


_UNTHREADED = 1 << 18
"""OpenBLAS computes a product of at most this many multiplications in the calling thread."""


def product(matrix: npt.NDArray[np.number], vector: Vector) -> npt.NDArray[np.floating]:
    """The product (n,) of a matrix (n, d) and a vector, computed in the calling thread.

    OpenBLAS divides all but the smallest products among its threads. In a search, waking them costs
    more than the product, they keep a core busy while they wait for the next one, and the search
    waits for a thread that other programs have displaced.
    """
    return np.asarray(np.einsum("ij,j->i", matrix, vector))


def products(left: npt.NDArray[np.floating], right: npt.NDArray[np.floating]) -> Vector:
    """The product (n, m) of (n, d) and the transposed (m, d), as in :func:`product`."""
    found = np.empty((len(left), len(right)), np.result_type(left, right))
    step = max(_UNTHREADED // max(right.size, 1), 1)
    for start in range(0, len(left), step):
        np.matmul(left[start : start + step], right.T, out=found[start : start + step])
    return found


def each_once(*rows: npt.NDArray[np.integer]) -> Ints:
    """The numbers of some arrays, ascending, each once; for few it is faster than np.unique."""
    ascending = np.sort(np.concatenate(rows)).astype(np.int64, copy=False)
    first = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return ascending[first]
