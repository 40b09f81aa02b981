"""An in-memory inverted index: the rows of one space that contain a term, and how often."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.stores.sqlite.columns import term_hash

Hashes = npt.NDArray[np.uint64]

Rows = npt.NDArray[np.int32]

Counts = npt.NDArray[np.uint16]

Lookup = tuple[Rows, Counts]
"""The rows under a number, ascending, and how often it occurs in each."""

_BOTH = np.array([0, 1])

_MERGE_FACTOR = 4

_MOST = np.iinfo(np.uint16).max
"""A term that occurs more often in a text counts as this often."""


class _Segment(NamedTuple):
    """Postings sorted by term and row: the rows of ``terms[i]`` begin at ``starts[i]``."""

    terms: Hashes
    starts: npt.NDArray[np.uint32]
    rows: Rows
    counts: Counts

    def spread(self) -> Hashes:
        """The term of each posting."""
        return np.repeat(self.terms, np.diff(self.starts))


class Postings:
    """An inverted index of sorted segments, as in a log-structured merge tree.

    A segment is merged with its predecessor when it is no longer much smaller. Adding n postings
    one by one costs O(n log n) in total; a lookup costs O(log n) per segment plus the length of the
    posting list. Rows are added in ascending order, so those of a posting list ascend too.
    """

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._fresh: list[tuple[Hashes, Rows, Counts]] = []

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(array.nbytes for part in (*self._segments, *self._fresh) for array in part)

    def append(self, entries: npt.NDArray[np.void], sizes: Ints, first_row: int) -> None:
        """Add the postings of consecutive rows, starting at ``first_row``.

        ``sizes`` holds the number of postings of each row.
        """
        if len(entries):
            rows = np.repeat(np.arange(first_row, first_row + len(sizes), dtype=np.int32), sizes)
            counts = np.minimum(entries["frequency"], _MOST).astype(np.uint16)
            self._fresh.append((entries["term"], rows, counts))

    def add(self, keys: Ints, rows: Ints) -> None:
        """Add rows under numbers instead of terms."""
        if len(keys):
            ones = np.ones(len(keys), np.uint16)
            self._fresh.append((keys.astype(np.uint64), rows.astype(np.int32), ones))

    def settle(self) -> None:
        """Sort all postings added since the last call at once, so that a bulk load is one sort."""
        if not self._fresh:
            return
        segment = _sorted(self._fresh)
        self._fresh = []
        while self._segments and len(self._segments[-1].rows) < _MERGE_FACTOR * len(segment.rows):
            last = self._segments.pop()
            parts = [(one.spread(), one.rows, one.counts) for one in (last, segment)]
            segment = _sorted(parts)
        self._segments.append(segment)

    def keep(self, row_of: Rows) -> None:
        """Remove postings, and renumber the others: ``row_of`` (n,) is the new row of each row.

        It is -1 for a row that is removed; the others keep their order.
        """
        self.settle()
        self._segments = [one for one in map(_kept(row_of), self._segments) if len(one.rows)]

    def lookup(self, term: str) -> Lookup:
        """The rows that contain the term, each once and ascending, and its frequency in each."""
        return self.under(term_hash(term))

    def under(self, key: int) -> Lookup:
        """The rows under a number, and how often."""
        return self.under_all(np.array([key], np.uint64))[0]

    def under_all(self, keys: Hashes) -> list[Lookup]:
        """The rows under each of some numbers, and how often."""
        self.settle()
        found: list[list[Lookup]] = [[] for _ in keys]
        for terms, starts, rows, counts in self._segments:
            at = np.searchsorted(terms, keys)
            at[at == len(terms)] = 0  # a key behind the last is not the first either
            inside = np.flatnonzero(terms[at] == keys)
            ends = starts[at[inside, None] + _BOTH].tolist()
            for number, (first, end) in zip(inside.tolist(), ends, strict=True):
                found[number].append((rows[first:end], counts[first:end]))
        return [_joined(parts) for parts in found]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What :meth:`restore` takes."""
        self.settle()
        return {
            f"{name}.{number}": array
            for number, segment in enumerate(self._segments)
            for name, array in segment._asdict().items()
        }

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        self._segments = [
            _Segment(*(arrays[f"{name}.{number}"] for name in _Segment._fields))
            for number in range(len(arrays) // len(_Segment._fields))
        ]


def term_hashes(terms: Sequence[str]) -> Hashes:
    """The numbers of terms, for :meth:`Postings.under_all`."""
    return np.array([term_hash(term) for term in terms], np.uint64)


def _joined(parts: Sequence[Lookup]) -> Lookup:
    """What several segments have under one number."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.empty(0, np.int32), np.empty(0, np.uint16)
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([n for _, n in parts])


def _sorted(parts: Sequence[tuple[Hashes, Rows, Counts]]) -> _Segment:
    keys = np.concatenate([part[0] for part in parts])
    order = np.argsort(keys, kind="stable")
    rows = np.concatenate([part[1] for part in parts])[order]
    counts = np.concatenate([part[2] for part in parts])[order]
    keys = keys[order]
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    starts = np.r_[first, len(keys)].astype(np.uint32)
    return _Segment(keys[first], starts, rows, counts)


def _kept(row_of: Rows) -> Callable[[_Segment], _Segment]:
    def kept(segment: _Segment) -> _Segment:
        rows = row_of[segment.rows]
        inside = rows >= 0
        if inside.all():
            return segment._replace(rows=rows)
        before = np.concatenate([[0], np.cumsum(inside)])[segment.starts]
        some = np.diff(before) > 0  # terms that are still there
        starts = np.append(before[:-1][some], before[-1]).astype(np.uint32)
        return _Segment(segment.terms[some], starts, rows[inside], segment.counts[inside])

    return kept


def frequencies(found: Lookup, rows: Rows) -> Counts:
    """How often (len(rows),) a term occurs in some rows; ``found`` is its lookup."""
    containing, counts = found
    if not len(containing):
        return np.zeros(len(rows), np.uint16)
    at = np.searchsorted(containing, rows)
    at[at == len(containing)] = 0  # a row behind the last is not the first either
    return np.where(containing[at] == rows, counts[at], np.uint16(0))


def gather(found: Sequence[Lookup], rows: Ints) -> Floats:
    """Term frequencies (len(rows), len(found)); ``found`` holds the lookup of each term."""
    matches = np.zeros((len(rows), len(found)))
    wanted = rows.astype(np.int32)  # of the same type, else the whole lists would be converted
    for column, one in enumerate(found):
        matches[:, column] = frequencies(one, wanted)
    return matches
