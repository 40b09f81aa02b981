"""Distinct strings by number, texts as the numbers of their words, and BM25 of word counts.

A store that keeps the words of its texts as numbers need not read and divide the texts again for
each search. With each word go its stem and its tokens, so that nothing is computed from its letters
when it is compared for the first time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.text.terms import START, stem

Numbers = npt.NDArray[np.int32]
Stems = npt.NDArray[np.uint64]
Array = npt.NDArray[Any]


def stem_number(name: str) -> int:
    """A number for a stem, the same in all processes: the first 64 bits of its hash, never 0."""
    digest = blake2b(name.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def slices(starts: Ints, sizes: Ints) -> Ints:
    """The indices of the elements of several slices, one slice after another."""
    ends = np.cumsum(sizes)
    if not len(ends):
        return np.empty(0, np.int64)
    return np.arange(ends[-1]) + np.repeat(starts - ends + sizes, sizes)


class Ragged(NamedTuple):
    """Lists of numbers, one after another: list i is ``values[starts[i]:starts[i + 1]]``."""

    starts: npt.NDArray[np.uint32]
    values: Array

    @property
    def lists(self) -> int:
        """The number of lists."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> Ints:
        """The size of each list."""
        return np.diff(self.starts).astype(np.int64)

    def of(self, rows: Ints) -> tuple[Array, Ints]:
        """The values of some lists, one after another, and the size of each list."""
        starts = self.starts[rows].astype(np.int64)
        sizes = self.starts[rows + 1] - starts
        return self.values[slices(starts, sizes)], sizes

    def only(self, rows: Ints) -> Ragged:
        """The lists of some rows, which ascend; takes little memory if they are nearly all."""
        kept = np.zeros(self.lists, bool)
        kept[rows] = True
        return ragged(
            [(self.values[np.repeat(kept, self.sizes)], self.sizes[rows])], self.values.dtype
        )


def ragged(parts: Sequence[tuple[Array, Ints]], dtype: Any) -> Ragged:
    """Lists whose values and sizes are given in parts."""
    values = np.concatenate([np.empty(0, dtype), *(part[0] for part in parts)]).astype(dtype)
    sizes = np.concatenate([np.zeros(1, np.int64), *(part[1] for part in parts)])
    return Ragged(np.cumsum(sizes).astype(np.uint32), values)


def lists_of(blocks: Sequence[Ragged], rows: Ints, dtype: npt.DTypeLike) -> tuple[Array, Ints]:
    """The values of some lists of several blocks, one list after another, and the size of each.

    The lists of the first block come first. A row behind the last list has none.
    """
    if len(blocks) == 1 and rows.max(initial=-1) < blocks[0].lists:
        return blocks[0].of(rows)
    sizes = np.zeros(len(rows), np.int64)
    starts, found, first, total = sizes.copy(), [np.empty(0, dtype)], 0, 0
    for block in blocks:
        inside = np.flatnonzero((rows >= first) & (rows < first + block.lists))
        values, own = block.of(rows[inside] - first)
        sizes[inside], starts[inside] = own, np.cumsum(own) - own + total
        found.append(values)
        first, total = first + block.lists, total + len(values)
    return np.concatenate(found)[slices(starts, sizes)], sizes


class StringBook:
    """Strings by number, in the order in which they were added. Writers must not run at once.

    A reader may be in another thread, for numbers that it has got after :meth:`settle`.
    """

    def __init__(self) -> None:
        self._spelled = ragged([], np.uint8)
        self._numbers: dict[str, int] | None = {}
        self._new: list[str] = []

    def __len__(self) -> int:
        """The number of strings."""
        return self._spelled.lists + len(self._new)

    @property
    def nbytes(self) -> int:
        """The memory of the arrays, in bytes; a dictionary for adding strings is not counted."""
        return sum(array.nbytes for array in self.arrays().values())

    def numbers(self, strings: Sequence[str]) -> Numbers:
        """The number of each string; those that are new are added."""
        known = self._known()
        for string in strings:
            if string not in known:
                known[string] = len(known)
                self._new.append(string)
        return np.fromiter(map(known.__getitem__, strings), np.int32, len(strings))

    def strings(self, numbers: Ints | Numbers) -> list[str]:
        """The strings with these numbers."""
        letters, sizes = self._spelled.of(np.asarray(numbers, np.int64))
        raw, ends = letters.tobytes(), np.cumsum(sizes).tolist()
        return [
            raw[start:end].decode("utf-8", "surrogatepass")
            for start, end in zip([0, *ends], ends, strict=False)
        ]

    def settle(self) -> None:
        """Take what was added into the arrays."""
        if self._new:
            spelled = [item.encode("utf-8", "surrogatepass") for item in self._new]
            self._spelled = _extended(self._spelled, spelled)
            self._extend(self._new)
            self._new = []

    def rest(self) -> None:
        """Free what only adding needs; it is made again when needed."""
        self.settle()
        self._numbers = None

    def only(self, used: npt.NDArray[np.bool_]) -> Self:
        """A book of those strings (len(self),) that are used, in their order."""
        self.settle()
        made = type(self)()
        made.restore(self._of(np.flatnonzero(used)))
        return made

    def arrays(self) -> dict[str, Array]:
        """What :meth:`restore` takes."""
        self.settle()
        return {"spelled": self._spelled.values, "spelled starts": self._spelled.starts}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        self._spelled = Ragged(arrays["spelled starts"], arrays["spelled"])
        self._numbers, self._new = None, []

    def _extend(self, new: Sequence[str]) -> None:
        """Take over what else there is of new strings."""

    def _of(self, numbers: Ints) -> dict[str, Array]:
        spelled = self._spelled.only(numbers)
        return {"spelled": spelled.values, "spelled starts": spelled.starts}

    def _known(self) -> dict[str, int]:
        if self._numbers is None:
            known = self.strings(np.arange(self._spelled.lists))
            self._numbers = {item: number for number, item in enumerate(known)}
        return self._numbers


class WordBook(StringBook):
    """Words with their stems. Number 0 is the start of a text."""

    def __init__(self) -> None:
        super().__init__()
        self._stems = np.empty(0, np.uint64)
        self.numbers([START])

    def stems(self, numbers: Numbers) -> Stems:
        """The numbers of the stems of some words; see :func:`stem_number`."""
        return np.asarray(self._stems[numbers])

    def arrays(self) -> dict[str, Array]:
        """What :meth:`restore` takes."""
        return super().arrays() | {"stems": self._stems}

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        super().restore(arrays)
        self._stems = arrays["stems"]

    def _extend(self, new: Sequence[str]) -> None:
        stems = np.fromiter((stem_number(stem(word)) for word in new), np.uint64, len(new))
        self._stems = np.concatenate([self._stems, stems])

    def _of(self, numbers: Ints) -> dict[str, Array]:
        return super()._of(numbers) | {"stems": self._stems[numbers]}


def _extended(lists: Ragged, new: Sequence[bytes]) -> Ragged:
    sizes = np.fromiter(map(len, new), np.int64, len(new))
    added = np.frombuffer(b"".join(new), np.uint8), sizes
    return ragged([(lists.values, lists.sizes), added], np.uint8)


@dataclass(frozen=True, eq=False)
class NumberedTexts:
    """The strings of n texts by their numbers in a book: their words in order, or their names.

    ``rows`` (n,) are those of the texts in lists of numbers, which are read when they are needed.
    """

    book: StringBook
    blocks: Sequence[Ragged]
    rows: Ints

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Whether the numbers (n,) of a text are known at all."""
        return np.asarray(self.rows < sum(block.lists for block in self.blocks))

    @property
    def values(self) -> Numbers:
        """The numbers of one text after another."""
        return self._lists[0]

    @property
    def sizes(self) -> Ints:
        """How many numbers (n,) each text has."""
        return self._lists[1]

    def at(self, rows: Ints) -> NumberedTexts:
        """The texts in these rows, in this order; they share the numbers of words."""
        return NumberedTexts(self.book, self.blocks, self.rows[rows])

    @cached_property
    def _lists(self) -> tuple[Numbers, Ints]:
        return lists_of(self.blocks, self.rows, np.int32)


# BM25 scores, computed from the statistics of one space, whichever index found the candidates.
#
# Robertson & Zaragoza, "The Probabilistic Relevance Framework" (2009), with the idf kept positive.

K1 = 1.2
B = 0.4
"""Length normalisation. It is mild, because turns are short and length says little about topic."""

B_OF_PARTS = 0.75
"""The same where parts of words count: any long text has some of any word's."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Statistics of one space: number of chunks, mean length in terms, document frequencies."""

    chunks: int
    mean_length: float
    frequencies: Mapping[str, int]


def idf(lexicon: Lexicon, terms: tuple[str, ...]) -> Floats:
    """Inverse document frequency of each term: ln(1 + (N - df + 1/2) / (df + 1/2)) > 0."""
    df = np.array([lexicon.frequencies.get(term, 0) for term in terms], float)
    return np.log1p((max(lexicon.chunks, 1) - df + 0.5).clip(min=0.5) / (df + 0.5))


def bm25(
    matches: Floats,
    length: npt.NDArray[np.floating] | Floats,
    weights: Floats,
    mean_length: float,
    b: float = B,
) -> Floats:
    """BM25 of n texts.

    ``matches`` (n, t) are term frequencies, ``length`` (n,) the lengths of the texts in terms,
    ``weights`` (t,) the idf of the terms, and ``mean_length`` the mean length of such texts in
    terms. Returns scores (n,).
    """
    if not matches.shape[1]:
        return np.zeros(len(matches))
    norm = K1 * (1 - b + b * length / max(mean_length, 1e-9))
    saturated = matches * (K1 + 1) / (matches + norm[:, None])
    return np.asarray(saturated @ weights)
