"""Words of an index: the rows with the best BM25 scores, and texts as numbers of their words.

The posting lists are joined from the shortest on. As soon as the best rows score more than all
lists that are left could add up to, no further row can join them (the MaxScore algorithm: Turtle
and Flood, "Query evaluation: strategies and optimizations", 1995). The long lists of common words
are then only looked up for rows that were found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.stores.sqlite.index.layer import (
    Array,
    Counts,
    Layer,
    Lookup,
    Rows,
    frequencies,
    joined,
    part_of,
)
from cognigraph.stores.sqlite.index.nearest import Mask
from cognigraph.text.terms import marked_words, names_in
from cognigraph.text.word_book import (
    NumberedTexts,
    Numbers,
    Ragged,
    StringBook,
    WordBook,
    bm25,
    lists_of,
    ragged,
)

_LONG = 4096
"""Posting lists longer than this are only read if they can lead to further rows."""
_ROUNDING = 1 - 1e-9


class _Scored(NamedTuple):
    """Ascending rows and a score of each."""

    rows: Rows
    scores: Floats


class _Word(NamedTuple):
    """The posting list of a term, and its idf."""

    rows: Rows
    counts: Counts
    weight: float


class _Scoring:
    """BM25 in a layer; ``mean`` is the mean length of a text in terms."""

    def __init__(self, layer: Layer, mean: float) -> None:
        self._lengths, self._mean = layer["length"], mean
        self._shortest = np.array([layer.shortest], np.int32)

    def most(self, word: _Word) -> float:
        """The most that a word can add to a score: by its highest count, in the shortest text."""
        most = self._scores(word.counts.max(keepdims=True), self._shortest, word.weight)
        return float(most[0])

    def added(self, word: _Word, allowed: Mask | None) -> _Scored:
        """What a word adds to the scores of the allowed rows in its list."""
        rows, counts = word.rows, word.counts
        if allowed is not None:
            passing = allowed[rows]
            rows, counts = rows[passing], counts[passing]
        return _Scored(rows, self._scores(counts, self._lengths[rows], word.weight))

    def completed(self, found: _Scored, words: Sequence[_Word]) -> Floats:
        """The scores with what some further words add to them."""
        scores, lengths = found.scores.copy(), self._lengths[found.rows]
        for word in words:
            counts = frequencies((word.rows, word.counts), found.rows)
            scores += self._scores(counts, lengths, word.weight)
        return scores

    def _scores(self, counts: Counts, lengths: Array, weight: float) -> Floats:
        return bm25(counts.astype(float)[:, None], lengths, np.array([weight]), self._mean)


def best_by_words(
    layer: Layer,
    lookups: Sequence[Lookup],
    weights: Floats,
    mean: float,
    limit: int,
    allowed: Mask | None = None,
) -> Ints:
    """The allowed rows with the ``limit`` highest scores, unordered; of equal ones the newest.

    ``lookups`` are those of the terms of the question, ``weights`` their idf.
    """
    if not limit or not layer.rows:
        return np.empty(0, np.int64)
    scoring = _Scoring(layer, mean)
    words = [_Word(*found, weight) for found, weight in zip(lookups, weights.tolist(), strict=True)]
    words.sort(key=lambda word: len(word.rows))
    short = [word for word in words if len(word.rows) <= _LONG]
    found, left = _joined([scoring.added(word, allowed) for word in short]), words[len(short) :]
    mosts = [scoring.most(word) for word in left]
    while left:
        bound = _least_of_best(scoring, found, left, limit)
        most = sum(mosts)
        if bound * _ROUNDING > most:
            hopeful = found.scores + most >= bound * _ROUNDING
            found = _Scored(found.rows[hopeful], found.scores[hopeful])
            break
        found = _joined([found, scoring.added(left[0], allowed)])
        left, mosts = left[1:], mosts[1:]
    return _best(_Scored(found.rows, scoring.completed(found, left)), limit)


def _best(found: _Scored, limit: int) -> Ints:
    """The rows with the ``limit`` highest positive scores; of equal ones the newest."""
    rows = np.flatnonzero(found.scores > 0)
    cut = len(rows) - limit
    if cut > 0:
        scores = found.scores[rows]
        least = np.partition(scores, cut)[cut]
        higher = rows[scores > least]
        rows = np.concatenate([higher, rows[scores == least][len(higher) - limit :]])
    return found.rows[rows].astype(np.int64)


def _least_of_best(scoring: _Scoring, found: _Scored, left: Sequence[_Word], limit: int) -> float:
    """A score that ``limit`` of the found rows reach; 0 if fewer rows were found."""
    cut = len(found.rows) - limit
    if cut < 0:
        return 0.0
    best = np.sort(np.argpartition(found.scores, cut)[cut:]) if cut else np.arange(limit)
    some = _Scored(found.rows[best], found.scores[best])
    return float(scoring.completed(some, left).min())


def _joined(parts: Sequence[_Scored]) -> _Scored:
    """Each row of the parts once, with the sum of its scores."""
    if not parts:
        return _Scored(np.empty(0, np.int32), np.empty(0))
    rows = np.concatenate([part.rows for part in parts])
    scores = np.concatenate([part.scores for part in parts])
    if len(parts) == 1 or not len(rows):
        return _Scored(rows, scores)
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    is_first = np.ones(len(rows), bool)
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    return _Scored(rows[first], np.add.reduceat(scores[order], first))


# The words of the texts of a large space in reading order, so that ranking reads no texts.
#
# They are read from the texts before an index is written to its file, beside the searches. Until
# then a search reads the texts themselves, as it does those of the rows that came since. They are
# kept as lists of numbers, which also hold the evidence of facts.

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
        """The number of messages whose words are known: those of the first rows."""
        return self._chunks.rows

    @property
    def triples(self) -> int:
        """The number of facts whose words are known: those of the first rows."""
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
        return joined({part: own.arrays() for part, own in self._parts().items()}, ".")

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        for part, own in self._parts().items():
            own.restore(part_of(arrays, f"{part}."))

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
