"""The words of the texts of a large space in reading order, so that ranking reads no texts.

They are read from the texts before an index is written to its file, beside the searches. Until then
a search reads the texts themselves, as it does those of the rows that came since. They are kept as
lists of numbers, which also hold the evidence of facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints
from cognigraph.stores.sqlite.index.layer import Array
from cognigraph.text.terms import marked_words, names_in
from cognigraph.text.word_book import (
    NumberedTexts,
    Numbers,
    Ragged,
    StringBook,
    WordBook,
    lists_of,
    ragged,
)

_MERGE_FACTOR = 4
_Book = TypeVar("_Book", bound=StringBook)


class IndexWords:
    """The words of messages and of facts by their rows, and the names in messages.

    Callers must hold the lock of the index. What :meth:`of_chunks` and the others return can be
    used without it.
    """

    def __init__(self) -> None:
        self._words, self._spelled = WordBook(), StringBook()
        self._chunks, self._names, self._triples = NumberLists(), NumberLists(), NumberLists()

    @property
    def chunks(self) -> int:
        """The words of so many messages are known: those of the first rows."""
        return self._chunks.rows

    @property
    def triples(self) -> int:
        """The words of so many facts are known: those of the first rows."""
        return self._triples.rows

    @property
    def nbytes(self) -> int:
        """Bytes of memory of the arrays."""
        return sum(part.nbytes for part in self._parts().values())

    def of_chunks(self, rows: Ints) -> NumberedTexts:
        """The words of some messages."""
        return _numbered(self._words, self._chunks, rows)

    def names_of(self, rows: Ints) -> NumberedTexts:
        """The different names in some messages, as they are spelled."""
        return _numbered(self._spelled, self._names, rows)

    def of_triples(self, rows: Ints) -> NumberedTexts:
        """The words of some facts."""
        return _numbered(self._words, self._triples, rows)

    def take_chunks(self, texts: Sequence[str]) -> None:
        """Add the texts of the next messages."""
        self._chunks.append(*self._read(texts))
        names = names_in(texts)
        owners = np.fromiter((owner for owner, _ in names), np.int64, len(names))
        numbers = self._spelled.numbers([name for _, name in names])
        self._names.append(numbers, np.bincount(owners, minlength=len(texts)))

    def take_triples(self, texts: Sequence[str]) -> None:
        """Add the texts of the next facts."""
        self._triples.append(*self._read(texts))

    def rest(self) -> None:
        """Free what only adding needs."""
        self._words.rest()
        self._spelled.rest()

    def only(self, chunks: Ints, triples: Ints) -> IndexWords:
        """The words of these rows, which are ascending, and no other word."""
        made = IndexWords()
        made._words = _move(self._words, [
            (self._chunks, chunks, made._chunks), (self._triples, triples, made._triples)
        ])  # fmt: skip
        made._spelled = _move(self._spelled, [(self._names, chunks, made._names)])
        return made

    def arrays(self) -> dict[str, Array]:
        """What :meth:`restore` takes."""
        return {
            f"{part}.{name}": array
            for part, own in self._parts().items()
            for name, array in own.arrays().items()
        }

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        for part, own in self._parts().items():
            start = f"{part}."
            own.restore({
                name.removeprefix(start): array
                for name, array in arrays.items() if name.startswith(start)
            })  # fmt: skip

    def _parts(self) -> dict[str, StringBook | NumberLists]:
        return {
            "book": self._words, "spelled": self._spelled, "chunks": self._chunks,
            "names": self._names, "triples": self._triples,
        }  # fmt: skip

    def _read(self, texts: Sequence[str]) -> tuple[Numbers, Ints]:
        numbers = self._words.numbers(marked_words(texts))
        starts = np.flatnonzero(numbers == 0)
        return numbers[numbers != 0], np.diff(starts, append=len(numbers)) - 1


def _numbered(book: StringBook, lists: NumberLists, rows: Ints) -> NumberedTexts:
    book.settle()
    return NumberedTexts(book, lists.blocks(), rows)


def _move(book: _Book, moves: Sequence[tuple[NumberLists, Ints, NumberLists]]) -> _Book:
    """Move lists of some rows from one to another; return a book of their strings alone."""
    found = [lists.only(rows) for lists, rows, _ in moves]
    used = np.zeros(len(book), bool)
    used[:1] = isinstance(book, WordBook)  # the start of a text
    for block in found:
        used[block.values] = True
    number_of = (np.cumsum(used) - 1).astype(np.int32)
    for block, (_, _, made) in zip(found, moves, strict=True):
        made.append(number_of[block.values], block.sizes)
    return book.only(used)


class NumberLists:
    """A list of numbers for each of the first rows of a layer. Callers must not run at once."""

    def __init__(self, dtype: npt.DTypeLike = np.int32) -> None:
        self._dtype = np.dtype(dtype)
        self._blocks: list[Ragged] = []
        self._fresh: list[tuple[Array, Ints]] = []
        self.rows = 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory of the arrays."""
        self._settle()
        return sum(array.nbytes for block in self._blocks for array in block)

    def append(self, values: Array, sizes: Ints) -> None:
        """Add the lists of the next rows, one after another, and the size of each."""
        self._fresh.append((values, sizes))
        self.rows += len(sizes)

    def lists_of(self, rows: Ints) -> tuple[Array, Ints, npt.NDArray[np.bool_]]:
        """The lists of some rows, one after another, their sizes, and whether each is there."""
        values, sizes = lists_of(self.blocks(), rows, self._dtype)
        return values, sizes, rows < self.rows

    def blocks(self) -> tuple[Ragged, ...]:
        """All lists, those of the first rows in the first block; they are not changed later."""
        self._settle()
        return tuple(self._blocks)

    def only(self, rows: Ints) -> Ragged:
        """The lists of some rows, in ascending order; rows that have no list yet are left out."""
        return self._whole().only(rows[rows < self.rows])

    def kept(self, rows: Ints) -> NumberLists:
        """A copy with only the lists of some rows, in ascending order, renumbered from 0."""
        made, block = NumberLists(self._dtype), self.only(rows)
        made.append(block.values, block.sizes)
        return made

    def arrays(self) -> dict[str, Array]:
        """What :meth:`restore` takes."""
        return self._whole()._asdict()

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        block = Ragged(arrays["starts"], arrays["values"])
        self._blocks, self._fresh, self.rows = [block], [], block.lists

    def _whole(self) -> Ragged:
        self._settle()
        if len(self._blocks) == 1:
            return self._blocks[0]
        return ragged([_parts(block) for block in self._blocks], self._dtype)

    def _settle(self) -> None:
        """Take what was added into a block, and merge blocks that are not much smaller."""
        if not self._fresh:
            return
        block, self._fresh = ragged(self._fresh, self._dtype), []
        while self._blocks and self._blocks[-1].lists < _MERGE_FACTOR * block.lists:
            block = ragged([_parts(self._blocks.pop()), _parts(block)], self._dtype)
        self._blocks.append(block)


def _parts(block: Ragged) -> tuple[Array, Ints]:
    return block.values, block.sizes
