"""The codes of vectors as arrays that grow: signs of 1 bit and rounded components of 8 bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints

Mask = npt.NDArray[np.bool_]
Matrix = npt.NDArray[np.floating]
Words = npt.NDArray[np.uint64]

_BLOCK = 16_384
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
        """Memory held, including unused capacity."""
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
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            exact = np.asarray(vectors[part], np.float32)
            self.signs[:, rows[part]] = signs(exact)
            self.rounded[rows[part]], self.scale[rows[part]] = _rounded(exact)

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


def _rounded(vectors: Matrix) -> tuple[npt.NDArray[np.int8], Matrix]:
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
