"""The rows nearest to a vector: all compared, or found by short codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Task, Vector, product, run_all

# Short codes of vectors, which find the nearest rows without the vectors themselves.
#
# Each vector has two codes: the signs of its components (1 bit each), and its components rounded to
# 8 bits. A search narrows the rows down in three steps, each more exact and more expensive for a
# row than the one before:
#
# 1. all rows by the number of signs that differ from those of the query,
# 2. some thousands of them by the signs weighted with the components of the query,
# 3. the best of these by the rounded components.

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
"""Rows that a thread compares before it looks for more: enough that threads seldom wait for the
interpreter lock, and few enough that what is computed on the way stays in the cache."""

_PLANES = 6
"""Bits to which a component of the query is rounded for the weighted signs."""

_UNCHECKED: Literal["clip"] = "clip"
"""Rows that were found are there; to gather them without a check takes a tenth less time."""

_NONE = np.zeros(0, bool)

_IN_A_BYTE = 3
"""The number of words whose bits can be counted in 8 bits."""


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
        for other in others:  # several times faster than a sum over the first axis
            added += other
        total += added


# The rows nearest to the vector of a question: all compared, or found by their codes.
#
# A small layer holds its vectors in memory and compares all of them. A large one holds codes:
# they find the nearest rows with high probability, and give cosines that are off by
# less than .001 in general.

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
"""The sample is one value in 64, and of a large layer about 8,192 values at most."""
_LONG = 1 << 19
"""Comparing vectors with this many components in all is worth another thread."""


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
        """The search for the nearest allowed rows with a positive cosine, unordered."""

    def narrowed(self, rows: Ints, limit: int) -> Ints:
        """Some of the rows, ascending, with the ``limit`` nearest among them."""

    def cosines(self, rows: Ints) -> Floats:
        """The cosines (k,) of rows."""


class ExactScan:
    """Compares all rows of a matrix (n, d)."""

    def __init__(self, vectors: Matrix, vector: Vector) -> None:
        self._vectors, self._vector = vectors, vector

    @cached_property
    def _cosine(self) -> Matrix:
        return product(self._vectors, self._vector)

    def nearest(self, limit: int, allowed: Mask | None = None) -> Nearest:
        is_long = self._vectors.size > _LONG
        return Nearest(
            lambda: top_rows(self._cosine, allowed, limit), [self._compare] if is_long else ()
        )

    def _compare(self) -> None:
        _ = self._cosine  # computed, and kept

    def narrowed(self, rows: Ints, limit: int) -> Ints:
        return np.sort(rows)

    def cosines(self, rows: Ints) -> Floats:
        return self._cosine[rows].astype(float)


class CodedScan:
    """Finds rows by their codes, and compares their rounded components."""

    def __init__(self, codes: Codes, vector: Vector) -> None:
        self._codes = codes
        self._vector = vector
        self._differing: Differing | None = None

    def nearest(self, limit: int, allowed: Mask | None = None) -> Nearest:
        if not limit:
            return Nearest(lambda: np.empty(0, np.int64))
        among = None if allowed is None else np.flatnonzero(allowed)
        return Nearest(lambda: self._best(limit, among), self._comparisons(among))

    def _best(self, limit: int, among: Ints | None) -> Ints:
        rows = self.left(limit, among)
        return rows[top_rows(self.cosines(rows), None, limit)]

    def narrowed(self, rows: Ints, limit: int) -> Ints:
        return self.left(limit, rows)

    def cosines(self, rows: Ints) -> Floats:
        return self._codes.cosines(self._vector, rows)

    def left(self, count: int, among: Ints | None = None) -> Ints:
        """Rows, ascending, that contain the ``count`` nearest ones with high probability.

        ``among`` (k,) restricts the search to some rows.
        """
        left = max(_PER_RESULT * count, _FEWEST)
        rows = self._by_signs(among)
        if len(rows) > left:
            kept = max(_BY_WEIGHTS, len(rows) // _SHARE_BY_WEIGHTS, left)
            if len(rows) > kept:
                rows = rows[_highest(self._codes.weighted(self._vector, rows), kept)]
            rows = rows[_highest(self.cosines(rows), left)]
        return np.sort(rows)

    def _comparisons(self, among: Ints | None) -> Sequence[Task]:
        """Tasks that :meth:`left` begins with, unless they are run before, in any threads."""
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

    def _by_signs(self, among: Ints | None) -> Ints:
        """The rows with the fewest differing signs, with all that differ as little."""
        run_all(self._comparisons(among))
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
