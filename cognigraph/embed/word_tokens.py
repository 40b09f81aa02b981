"""Products of the vectors of words, which are computed from their tokens and not kept.

The vector of a word is the mean of the vectors of its tokens, so its product with another vector is
the mean of the products of its tokens. A word takes some 20 bytes like this; its vector would take
a kilobyte.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints, Vector, products_of_rows
from cognigraph.embed.models import token_means
from cognigraph.text.word_book import slices

_Scalar = TypeVar("_Scalar", bound=np.generic)


class WordTokens:
    """The tokens of words by their number, in the order in which they were added.

    The first ``without`` words have no tokens, and so has an empty word: their vectors are zero.
    Callers must not run at once.
    """

    def __init__(self, without: int) -> None:
        self._count = without
        self._ends = np.zeros(1 + without, np.int32)  # in the tokens of all words; 0 comes first
        self._tokens = np.empty(0, np.int32)
        self._scale = np.zeros(without, np.float32)  # makes the sum of the tokens a unit vector

    def __len__(self) -> int:
        """The number of words."""
        return self._count

    def append(self, words: Sequence[str]) -> None:
        """Add words."""
        if not words:
            return
        model = token_means()
        tokens = model.tokens_of_words(words)
        sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
        norms = np.linalg.norm(model.means(tokens), axis=1) * sizes.astype(np.float32)
        first, before = self._count, int(self._ends[self._count])
        self._count = count = first + len(words)
        end = before + int(sizes.sum())
        self._ends = extended(self._ends, count + 1)
        self._scale = extended(self._scale, count)
        self._tokens = extended(self._tokens, end)
        self._ends[first + 1 : count + 1] = before + np.cumsum(sizes)
        np.divide(1, norms, out=self._scale[first:count], where=norms > 0)
        self._tokens[before:end] = np.concatenate(tokens)

    def vectors(self, numbers: Ints) -> Vector:
        """The unit vectors (k, d) of some words; they may be zero."""
        tokens, sizes = self._tokens_of(numbers)
        own = np.split(tokens, np.cumsum(sizes)[:-1])
        scale = self._scale[numbers] * sizes.astype(np.float32)
        return token_means().means(own) * scale[:, None]

    def products(self, numbers: Ints, vectors: Vector) -> Vector:
        """The products (k, m) of the unit vectors of some words and other vectors (m, d)."""
        weights = token_means().vectors
        tokens, sizes = self._tokens_of(numbers)
        found = np.zeros((len(numbers), len(vectors)), np.float32)
        if len(tokens):
            used = np.zeros(len(weights), bool)
            used[tokens] = True
            rows = np.flatnonzero(used)
            position = np.empty(len(used), np.int32)
            position[rows] = np.arange(len(rows))
            of_tokens = products_of_rows(weights, rows, vectors)
            filled = np.flatnonzero(sizes)
            first = (np.cumsum(sizes) - sizes)[filled]
            sums = np.add.reduceat(of_tokens.take(position.take(tokens), 0), first, axis=0)
            found[filled] = sums * self._scale[numbers[filled], None]
        return found

    def _tokens_of(self, numbers: Ints) -> tuple[npt.NDArray[np.int32], Ints]:
        """The tokens of some words, one word after another, and the number of each."""
        starts = self._ends[numbers].astype(np.int64)
        sizes = self._ends[numbers + 1] - starts
        return self._tokens[slices(starts, sizes)], sizes


def extended(array: npt.NDArray[_Scalar], rows: int) -> npt.NDArray[_Scalar]:
    """The array with zeros behind it if it is shorter, which take no memory until they are written.

    It becomes twice as long as needed, so that adding rows takes amortised linear time.
    """
    if rows <= len(array):
        return array
    made = np.zeros((2 * rows, *array.shape[1:]), array.dtype)
    made[: len(array)] = array
    return made
