"""Short codes of vectors, which find the few rows that are worth comparing exactly.

Each vector has two codes: the signs of its components (1 bit each), and its components rounded to
one of 16 levels (4 bits each). A search narrows the rows down in three steps, each more exact and
more expensive for a row than the one before:

1. all rows by the number of signs that differ from those of the query,
2. the best percent of them by the signs weighted with the components of the query,
3. the best of these by the levels.

The caller compares what is left with the exact vectors. ``bench/codes.py`` measures how many of the
nearest rows are found.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints, Vector, product

Mask = npt.NDArray[np.bool_]
Matrix = npt.NDArray[np.floating]
_Words = npt.NDArray[np.uint64]
_Differing = npt.NDArray[np.unsignedinteger]

_BLOCK = 16_384
"""Rows compared at a time: what is computed on the way stays in the processor's cache."""
_LEVELS_BLOCK = 512
"""The same for the levels, which take more space."""
_BY_SIGNS, _SHARE_BY_SIGNS = 4096, 100
"""The first step leaves this many rows, and one of this many."""
_BY_WEIGHTS, _SHARE_BY_WEIGHTS = 1024, 6
_PER_RESULT, _FEWEST = 2, 32
"""The last step leaves this many rows for each that is asked for."""
_PLANES = 6
"""Bits to which a component of the query is rounded for the weighted signs."""
_SAMPLED = 64
_DEVIATIONS = 2.5
"""The levels divide the range of this many standard deviations on each side of 0."""


class Codes:
    """The codes of the vectors of a table's rows; both grow with it."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._half = -(-dimension // 2)
        self._signs = np.empty((-(-dimension // 64), 0), np.uint64)
        self._levels = np.empty((0, self._half), np.uint8)
        # 256 differing signs would count as none in 8 bits; such rows fail in the second step.
        self._counter = np.dtype(np.uint8 if dimension <= 256 else np.uint16)
        self.rows = 0

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._signs.nbytes + self._levels.nbytes

    def append(self, vectors: Matrix) -> None:
        """Add the codes of rows."""
        count = self.rows + len(vectors)
        if count > len(self._levels):
            self.reserve(max(count, len(self._levels) * 5 // 4))
        self.update(np.arange(self.rows, count), vectors)
        self.rows = count

    def update(self, rows: Ints, vectors: Matrix) -> None:
        """Overwrite the codes of rows."""
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            exact = np.asarray(vectors[part], np.float32)
            self._signs[:, rows[part]] = signs(exact)
            self._levels[rows[part]] = self._rounded(exact)

    def reserve(self, rows: int) -> None:
        """Allocate space for this many rows."""
        before = self.rows
        grown = np.empty((len(self._signs), rows), np.uint64)
        grown[:, :before] = self._signs[:, :before]
        levels = np.empty((rows, self._half), np.uint8)
        levels[:before] = self._levels[:before]
        self._signs, self._levels = grown, levels

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What :meth:`restore` takes."""
        return {"signs": self._signs[:, : self.rows], "levels": self._levels[: self.rows]}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        self._signs, self._levels = arrays["signs"], arrays["levels"]
        self.rows = len(self._levels)

    def differing(self, vector: Vector) -> _Differing:
        """The number of signs (rows,) that differ from those of a vector."""
        own = signs(np.asarray(vector, np.float32)[None])[:, 0]
        total: _Differing = np.empty(self.rows, self._counter)
        different, counts = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint8)
        for start in range(0, self.rows, _BLOCK):
            end = min(start + _BLOCK, self.rows)
            out, one, bits = total[start:end], different[: end - start], counts[: end - start]
            for word, mine in enumerate(own):
                np.bitwise_xor(self._signs[word, start:end], mine, out=one)
                np.bitwise_count(one, out=bits)
                if word:
                    np.add(out, bits, out=out)
                else:
                    out[:] = bits
        return total

    def weighted(self, vector: Vector, rows: Ints) -> Matrix:
        """The sum of the components of a vector, to some bits, where a row is positive (k,).

        The product of the vector and the signs is twice that, up to what is equal for all rows.
        """
        low = float(vector.min())
        step = (float(vector.max()) - low) / (2**_PLANES - 1) or 1.0
        rounded = np.round((vector - low) / step).astype(np.uint8)
        taken = np.take(self._signs, rows, axis=1)
        total = np.float32(low) * _count(taken)
        for plane in range(_PLANES):
            mask = _packed((rounded >> plane & 1)[None].astype(bool))
            total += np.float32(step * 2**plane) * _count(taken & mask)
        return total

    def by_levels(self, vector: Vector, rows: Ints) -> Matrix:
        """The product (k,) of a vector and the levels of rows, up to what is equal for all rows."""
        low, high = np.asarray(vector[: self._half]), np.zeros(self._half, np.float32)
        high[: self._dimension - self._half] = vector[self._half :]
        found = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _LEVELS_BLOCK):
            part = slice(start, start + _LEVELS_BLOCK)
            taken = self._levels[rows[part]]
            found[part] = product((taken & 15).astype(np.float32), low)
            found[part] += product((taken >> 4).astype(np.float32), high)
        return found

    def _rounded(self, vectors: Matrix) -> npt.NDArray[np.uint8]:
        """Levels of vectors of any length: two components in a byte, of the two halves."""
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        scale = np.divide(
            np.sqrt(self._dimension) * 8 / _DEVIATIONS, norms, out=np.ones_like(norms),
            where=norms > 0,
        )  # fmt: skip
        levels = np.clip(np.floor(vectors * scale + 8), 0, 15).astype(np.uint8)
        low = levels[:, : self._half]
        high = np.zeros_like(low)
        high[:, : self._dimension - self._half] = levels[:, self._half :]
        return np.asarray(low | high << 4)


class CodeQuery:
    """The search for the rows nearest to one vector, by their codes."""

    def __init__(self, codes: Codes, vector: Vector) -> None:
        self._codes = codes
        self._vector = vector

    @cached_property
    def _differing(self) -> _Differing:
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
            rows = rows[_highest(self._codes.by_levels(self._vector, rows), left)]
        return np.sort(rows)

    def _by_signs(self, among: Ints | None) -> Ints:
        """The rows with the fewest differing signs, with all that differ as little."""
        total = self._codes.rows if among is None else len(among)
        count = _BY_SIGNS + total // _SHARE_BY_SIGNS
        if total <= count:
            return np.arange(total) if among is None else among
        differing = self._differing if among is None else self._differing[among]
        near = np.flatnonzero(differing <= _least(differing, count))
        return near if among is None else among[near]


def signs(vectors: Matrix) -> _Words:
    """The signs of the components of n vectors, as (words, n): a set bit is positive."""
    return _packed(vectors > 0)


def _packed(bits: Mask) -> _Words:
    """Bits (n, d) in 64-bit words (words, n)."""
    words = -(-bits.shape[1] // 64)
    packed = np.zeros((len(bits), 8 * words), np.uint8)
    octets = np.packbits(bits, axis=1, bitorder="little")
    packed[:, : octets.shape[1]] = octets
    return np.ascontiguousarray(packed.view(np.uint64).T)


def _count(words: _Words) -> Matrix:
    """The number of set bits (n,) of codes (words, n)."""
    counts = np.bitwise_count(words)
    total = counts[0].astype(np.uint16)
    for more in counts[1:]:  # several times faster than a sum over the first axis
        total += more
    return np.asarray(total, np.float32)


def _least(values: _Differing, count: int) -> int:
    """The smallest number that at least ``count`` of the values do not exceed."""
    sample = values[::_SAMPLED]
    number = min(len(sample) - 1, count * len(sample) // len(values))
    bound = int(np.partition(sample, number)[number])  # an estimate
    while np.count_nonzero(values <= bound) < count:
        bound += 1
    while bound and np.count_nonzero(values <= bound - 1) >= count:
        bound -= 1
    return bound


def _highest(scores: Matrix, count: int) -> Ints:
    """The positions of the ``count`` highest scores."""
    if len(scores) <= count:
        return np.arange(len(scores))
    cut = len(scores) - count
    return np.asarray(np.argpartition(scores, cut)[cut:], np.int64)
