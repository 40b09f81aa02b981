"""An in-memory inverted index: the rows of one space that contain a term, and how often."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.stores.sqlite.vector_format import term_hash

_Hashes = npt.NDArray[np.uint64]
_Rows = npt.NDArray[np.int32]
_Counts = npt.NDArray[np.float32]
_Segment = tuple[_Hashes, _Rows, _Counts]

_MERGE_FACTOR = 4


class Postings:
    """An inverted index of sorted segments, as in a log-structured merge tree.

    A segment is merged with its predecessor when it is no longer much smaller. Adding n postings
    one by one costs O(n log n) in total; a lookup costs O(log n) per segment plus the length of the
    posting list.
    """

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._fresh: list[_Segment] = []

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return sum(array.nbytes for part in (*self._segments, *self._fresh) for array in part)

    def append(self, entries: npt.NDArray[np.void], sizes: Ints, first_row: int) -> None:
        """Add the postings of consecutive rows, starting at ``first_row``.

        ``sizes`` holds the number of postings of each row.
        """
        if len(entries):
            rows = np.repeat(np.arange(first_row, first_row + len(sizes), dtype=np.int32), sizes)
            self._fresh.append((entries["term"], rows, entries["frequency"].astype(np.float32)))

    def settle(self) -> None:
        """Sort all postings added since the last call at once, so that a bulk load is one sort."""
        if not self._fresh:
            return
        segment = _sorted(self._fresh)
        self._fresh = []
        while self._segments and len(self._segments[-1][0]) < _MERGE_FACTOR * len(segment[0]):
            segment = _sorted([self._segments.pop(), segment])
        self._segments.append(segment)

    def lookup(self, term: str) -> tuple[_Rows, _Counts]:
        """The rows that contain the term, each once, and its frequency in each."""
        self.settle()
        wanted = np.uint64(term_hash(term))
        rows: list[_Rows] = []
        counts: list[_Counts] = []
        for hashes, segment_rows, segment_counts in self._segments:
            start, end = (
                np.searchsorted(hashes, wanted, "left"),
                np.searchsorted(hashes, wanted, "right"),
            )
            if start < end:
                rows.append(segment_rows[start:end])
                counts.append(segment_counts[start:end])
        if len(rows) == 1:
            return rows[0], counts[0]
        if not rows:
            return np.empty(0, np.int32), np.empty(0, np.float32)
        return np.concatenate(rows), np.concatenate(counts)


def _sorted(parts: list[_Segment]) -> _Segment:
    hashes = np.concatenate([part[0] for part in parts])
    order = np.argsort(hashes)
    rows = np.concatenate([part[1] for part in parts])
    counts = np.concatenate([part[2] for part in parts])
    return hashes[order], rows[order], counts[order]


def gather(found: list[tuple[_Rows, _Counts]], pool: Ints, size: int) -> Floats:
    """Term frequencies (len(pool), len(found)) in the rows ``pool`` of a table of ``size`` rows.

    ``found`` holds the result of :meth:`Postings.lookup` for each term.
    """
    matches = np.zeros((len(pool), len(found)))
    dense = np.zeros(size, np.float32)
    for column, (rows, counts) in enumerate(found):
        dense[rows] = counts
        matches[:, column] = dense[pool]
        dense[rows] = 0.0
    return matches
