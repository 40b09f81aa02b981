"""Short codes of vectors, which find the nearest rows without the vectors themselves.

Each vector has two codes: the signs of its components (1 bit each), and its components rounded to
8 bits. A search (:mod:`nearest`) narrows the rows down in three steps, each more exact and more
expensive for a row than the one before:

1. all rows by the number of signs that differ from those of the query,
2. some thousands of them by the signs weighted with the components of the query,
3. the best of these by the rounded components.

``bench/codes.py`` measures how many of the nearest rows are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector, product
from cognigraph.stores.sqlite.index.shared_work import Task

Mask = npt.NDArray[np.bool_]

Matrix = npt.NDArray[np.floating]

Words = npt.NDArray[np.uint64]

_ENCODED = 16_384
"""Rows encoded at a time."""

_HIGHEST = 127


class CodeArrays:
    """The signs (words, n), the rounded components (n, d) and the scale (n,) of n vectors.

    A component is its rounded value times the scale of its row, whose largest one becomes 127. The
    cosine of two unit vectors is then off by less than .001 in general.
    """

    def __init__(self, dimension: int) -> None:
        self.signs = np.empty((-(-dimension // 64), 0), np.uint64)
        self.rounded = np.empty((0, dimension), np.int8)
        self.scale = np.empty(0, np.float32)
        self.rows = 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with unused capacity."""
        return self.signs.nbytes + self.rounded.nbytes + self.scale.nbytes

    def append(self, vectors: Matrix) -> None:
        """Add the codes of rows."""
        count = self.rows + len(vectors)
        if count > len(self.scale):
            self.reserve(max(count, len(self.scale) * 5 // 4))
        rows = np.arange(self.rows, count)
        self.rows = count
        self.update(rows, vectors)

    def update(self, rows: Ints, vectors: Matrix) -> None:
        """Overwrite the codes of rows."""
        for start in range(0, len(rows), _ENCODED):
            part = slice(start, start + _ENCODED)
            exact = np.asarray(vectors[part], np.float32)
            self.signs[:, rows[part]] = signs(exact)
            self.rounded[rows[part]], self.scale[rows[part]] = _rounded_components(exact)

    def reserve(self, rows: int) -> None:
        """Allocate space for this many rows."""
        before = self.rows
        grown = np.empty((len(self.signs), rows), np.uint64)
        grown[:, :before] = self.signs[:, :before]
        rounded = np.empty((rows, self.rounded.shape[1]), np.int8)
        rounded[:before] = self.rounded[:before]
        scale = np.empty(rows, np.float32)
        scale[:before] = self.scale[:before]
        self.signs, self.rounded, self.scale = grown, rounded, scale

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What :meth:`restore` takes."""
        rows = self.rows
        return {
            "signs": self.signs[:, :rows],
            "rounded": self.rounded[:rows],
            "scale": self.scale[:rows],
        }

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        self.signs, self.rounded = arrays["signs"], arrays["rounded"]
        self.scale = arrays["scale"]
        self.rows = len(self.scale)


def _rounded_components(vectors: Matrix) -> tuple[npt.NDArray[np.int8], Matrix]:
    """The rounded components of vectors, and the scale of each."""
    scale = np.abs(vectors).max(axis=1) / _HIGHEST
    by = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    return np.rint(vectors * by[:, None]).astype(np.int8), scale


def signs(vectors: Matrix) -> Words:
    """The signs of the components of n vectors, as (words, n): a set bit is positive."""
    return packed(vectors > 0)


def packed(bits: Mask) -> Words:
    """Bits (n, d) in 64-bit words (words, n)."""
    words = -(-bits.shape[1] // 64)
    filled = np.zeros((len(bits), 8 * words), np.uint8)
    octets = np.packbits(bits, axis=1, bitorder="little")
    filled[:, : octets.shape[1]] = octets
    return np.ascontiguousarray(filled.view(np.uint64).T)


Differing = npt.NDArray[np.unsignedinteger]

_BLOCK = 131_072
"""Rows compared at a time, by one thread before it looks for more: so many that threads seldom wait
for the interpreter lock, and so few that what is computed on the way stays in the cache."""

_PLANES = 6
"""Bits to which a component of the query is rounded for the weighted signs."""

_UNCHECKED: Literal["clip"] = "clip"
"""Rows that were found are there; to gather them without a check takes a tenth less time."""

_NONE = np.zeros(0, bool)

_IN_A_BYTE = 3
"""The bits of so many words can be counted in 8 bits."""


class Codes:
    """The codes of the vectors of a table's rows; both grow with it.

    Those that came from a file stay where they are, so that the first new row does not copy them.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._stored, self._new = CodeArrays(dimension), CodeArrays(dimension)
        # 256 differing signs would count as none in 8 bits; such rows fail in the second step.
        self._counter = np.dtype(np.uint8 if dimension <= 256 else np.uint16)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._stored.rows + self._new.rows

    @property
    def nbytes(self) -> int:
        """Memory held; of what is mapped from a file, all that may be read."""
        return self._stored.nbytes + self._new.nbytes

    def append(self, vectors: Matrix) -> None:
        """Add the codes of rows."""
        self._new.append(vectors)

    def update(self, rows: Ints, vectors: Matrix) -> None:
        """Overwrite the codes of rows."""
        first = self._stored.rows
        new = rows >= first
        self._stored.update(rows[~new], vectors[~new])
        self._new.update(rows[new] - first, vectors[new])

    def reserve(self, rows: int) -> None:
        """Allocate space for this many rows."""
        if rows - self._stored.rows > len(self._new.scale):
            self._new.reserve(rows - self._stored.rows)

    def keep(self, kept: Ints) -> None:
        """Remove all rows but these (k,), which keep their order."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "signs": self._signs_at(kept),
            "rounded": np.empty((len(kept), self._dimension), np.int8),
            "scale": np.empty(len(kept), np.float32),
        }
        for part in _parts(len(kept), _BLOCK):
            arrays["rounded"][part], arrays["scale"][part] = self._rounded_at(kept[part])
        self.restore(arrays)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What :meth:`restore` takes."""
        old, new = self._stored.arrays(), self._new.arrays()
        if not self._stored.rows or not self._new.rows:
            return old if self._stored.rows else new
        return {name: np.concatenate([old[name], a], axis=-1 if name == "signs" else 0)
                for name, a in new.items()}  # fmt: skip

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        self._stored.restore(arrays)
        self._new = CodeArrays(self._dimension)

    def cosines(self, vector: Vector, rows: Ints) -> Floats:
        """The products (k,) of a vector and the rounded components of rows."""
        rounded, scale = self._rounded_at(rows)
        return np.asarray(product(rounded, vector) * scale, float)

    def _rounded_at(self, rows: Ints) -> tuple[npt.NDArray[np.int8], Matrix]:
        first = self._stored.rows
        new = self._are_new(rows)
        if not new.any():
            return _rounded_in(self._stored, rows)
        if new.all():
            return _rounded_in(self._new, rows - first)
        rounded = np.empty((len(rows), self._dimension), np.int8)
        scale = np.empty(len(rows), np.float32)
        for part, inside, before in ((self._stored, ~new, 0), (self._new, new, first)):
            rounded[inside] = part.rounded[rows[inside] - before]
            scale[inside] = part.scale[rows[inside] - before]
        return rounded, scale

    def _are_new(self, rows: Ints) -> Mask:
        """Whether each of some rows (k,) was not in a file."""
        return rows >= self._stored.rows if self._new.rows else _NONE

    def _signs_at(self, rows: Ints) -> Words:
        """The signs (words, k) of rows."""
        first = self._stored.rows
        new = self._are_new(rows)
        if not new.any():
            return self._stored.signs.take(rows, axis=1, mode=_UNCHECKED)
        if new.all():
            return self._new.signs.take(rows - first, axis=1, mode=_UNCHECKED)
        found = np.empty((len(self._new.signs), len(rows)), np.uint64)
        found[:, ~new] = self._stored.signs[:, rows[~new]]
        found[:, new] = self._new.signs[:, rows[new] - first]
        return found

    def comparisons(self, vector: Vector) -> tuple[Differing, list[Task]]:
        """The number (n,) of signs that differ from those of a vector, after some tasks are run.

        They may be run in several threads.
        """
        own, total = _own_signs(vector), np.empty(self.rows, self._counter)
        first = self._stored.rows
        parts = (
            (self._stored.signs, total[:first]),
            (self._new.signs[:, : self._new.rows], total[first:]),
        )
        return total, [
            partial(_differing, rows[:, part], own, out[part])
            for rows, out in parts
            for part in _parts(len(out), _BLOCK)
        ]

    def differing(self, vector: Vector, rows: Ints) -> Differing:
        """The number (k,) of signs of some rows that differ from those of a vector."""
        total = np.empty(len(rows), self._counter)
        _differing(self._signs_at(rows), _own_signs(vector), total)
        return total

    def weighted(self, vector: Vector, rows: Ints) -> Matrix:
        """The sum (k,) of the components of a vector, to some bits, where a row is positive.

        The product of the vector and the signs is twice that, up to what is equal for all rows.
        """
        low, step, masks = _planes(np.asarray(vector, np.float32).tobytes())
        taken = self._signs_at(rows)
        steps = np.zeros(len(rows), np.uint32)
        for mask in masks:  # from the highest bit to the lowest
            steps += steps
            _add_bits(steps, taken & mask[:, None])
        positive = np.zeros(len(rows), np.uint32)
        _add_bits(positive, taken)
        return np.asarray(step * steps + low * positive, np.float32)


@lru_cache(maxsize=8)
def _planes(vector: bytes) -> tuple[float, float, Words]:
    """The least component of a vector, a step, and the bits of the steps above it.

    The bits are (planes, words), the highest first. All layers of a space ask for the same vector.
    """
    components = np.frombuffer(vector, np.float32)
    low = float(components.min())
    step = (float(components.max()) - low) / (2**_PLANES - 1) or 1.0
    rounded = np.round((components - low) / step).astype(np.uint8)
    bits = (rounded >> np.arange(_PLANES)[::-1, None] & 1).astype(bool)
    return low, step, packed(bits).T


def _rounded_in(part: CodeArrays, rows: Ints) -> tuple[npt.NDArray[np.int8], Matrix]:
    rounded = part.rounded.take(rows, axis=0, mode=_UNCHECKED)
    return rounded, part.scale.take(rows, mode=_UNCHECKED)


def _own_signs(vector: Vector) -> Words:
    return _signs_of(np.asarray(vector, np.float32).tobytes())


@lru_cache(maxsize=8)
def _signs_of(vector: bytes) -> Words:
    """The signs (words,) of the components of a vector."""
    return signs(np.frombuffer(vector, np.float32)[None])[:, 0]


def _parts(total: int, most: int) -> Iterator[slice]:
    return (slice(start, start + most) for start in range(0, total, most))


def _differing(rows: Words, own: Words, out: Differing) -> None:
    """Write the number of signs of rows (words, n) that differ from one's own (words,)."""
    most = min(_BLOCK, len(out))
    different, counts = np.empty(most, np.uint64), np.empty(most, np.uint8)
    for part in _parts(len(out), _BLOCK):
        total = out[part]
        one, bits = different[: len(total)], counts[: len(total)]
        for word, mine in enumerate(own):
            np.bitwise_xor(rows[word, part], mine, out=one)
            if word:
                np.add(total, np.bitwise_count(one, out=bits), out=total)
            else:
                np.bitwise_count(one, out=total)


def _add_bits(total: npt.NDArray[np.uint32], words: Words) -> None:
    """Add the number of set bits (n,) of codes (words, n)."""
    counts = np.bitwise_count(words)
    for first in range(0, len(counts), _IN_A_BYTE):
        added, *others = counts[first : first + _IN_A_BYTE]
        for one in others:  # several times faster than a sum over the first axis
            added += one
        total += added
