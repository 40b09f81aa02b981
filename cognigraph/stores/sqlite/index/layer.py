"""Tables of numpy columns, and the layers made of them, searchable by vector and by word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector
from cognigraph.stores.sqlite.index.nearest import CodedScan, Codes, ExactScan, Scan
from cognigraph.stores.sqlite.rows import VectorFormat, term_hash, unpack_terms

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
            parts = [(item.spread(), item.rows, item.counts) for item in (last, segment)]
            segment = _sorted(parts)
        self._segments.append(segment)

    def keep(self, row_of: Rows) -> None:
        """Remove postings, and renumber the others: ``row_of`` (n,) is the new row of each row.

        It is -1 for a row that is removed; the others keep their order.
        """
        self.settle()
        self._segments = [item for item in map(_kept(row_of), self._segments) if len(item.rows)]

    def under(self, key: int) -> Lookup:
        """The rows under a number, each once and ascending, and how often."""
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
    for column, item in enumerate(found):
        matches[:, column] = frequencies(item, wanted)
    return matches


# Tables of numpy columns, and the searchable layers made of them: chunks, triples, themes.

Array = npt.NDArray[Any]


def joined(parts: Mapping[str, Mapping[str, Array]], mark: str) -> dict[str, Array]:
    """The arrays of some parts under one name each: that of the part, a mark, and their own."""
    return {f"{part}{mark}{name}": a for part, own in parts.items() for name, a in own.items()}


def part_of(arrays: Mapping[str, Array], start: str) -> dict[str, Array]:
    """The arrays of one part by their own names."""
    return {name.removeprefix(start): a for name, a in arrays.items() if name.startswith(start)}


_LEAST_ROWS = 8
"""A table starts small, because there may be many small spaces."""


class Table:
    """Rows with a unique integer id, usually ascending; all columns share row numbers."""

    def __init__(self, columns: Mapping[str, tuple[Any, tuple[int, ...]]]) -> None:
        self._columns = {
            name: np.empty((0, *shape), dtype) for name, (dtype, shape) in columns.items()
        }
        self._capacity = 0
        self.rows = 0
        self._order: Ints | None = None  # rows sorted by id; None while ids are ascending

    def __getitem__(self, name: str) -> Array:
        return self._columns[name][: self.rows]

    def append(self, values: Mapping[str, Array]) -> None:
        """Add rows; ``values`` has one array per column."""
        count = len(values["id"])
        if not count:
            return
        self._grow(self.rows + count)
        last = self["id"][-1] if self.rows else -1
        for name, array in values.items():
            self._columns[name][self.rows : self.rows + count] = array
        before, self.rows = self.rows, self.rows + count
        added = self["id"][before:]
        if self._order is not None or not (added[0] > last and _ascend(added)):
            self._order = np.argsort(self["id"], kind="stable")

    def update(self, rows: Ints, values: Mapping[str, Array]) -> None:
        """Overwrite rows."""
        for name, array in values.items():
            self._columns[name][rows] = array

    def find(self, ids: Ints) -> Ints:
        """The row of each id; -1 for an unknown id."""
        if not self.rows:
            return np.full(len(ids), -1, np.int64)
        own = self["id"]
        if self._order is None:
            indices = np.searchsorted(own, ids)
            rows = np.minimum(indices, self.rows - 1)
        else:
            indices = np.searchsorted(own, ids, sorter=self._order)
            rows = self._order[np.minimum(indices, self.rows - 1)]
        return np.where(own[rows] == ids, rows, -1)

    def keep(self, kept: Ints) -> None:
        """Remove all rows but these (k,), which keep their order."""
        self._columns = {name: self[name][kept] for name in self._columns}
        self._capacity = self.rows = len(kept)
        self._order = None if _ascend(self["id"]) else np.argsort(self["id"], kind="stable")

    def drop(self, column: str) -> None:
        """Remove a column."""
        del self._columns[column]

    def columns(self) -> dict[str, Array]:
        """All columns, without unused capacity."""
        return {name: self[name] for name in self._columns}

    def take_over(self, columns: Mapping[str, Array]) -> None:
        """Replace all columns."""
        self._columns = dict(columns)
        self._capacity = self.rows = len(columns["id"])
        self._order = None if _ascend(self["id"]) else np.argsort(self["id"], kind="stable")

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with unused capacity."""
        arrays = sum(array.nbytes for array in self._columns.values())
        return arrays + (0 if self._order is None else self._order.nbytes)

    def reserve(self, rows: int) -> None:
        """Allocate space for this many rows, and a few more."""
        if rows > self._capacity:
            self._resize(rows + rows // 16)

    def _grow(self, rows: int) -> None:
        if rows > self._capacity:
            # Grow by a quarter, not double: these matrices are most of the process's memory.
            self._resize(max(rows, self._capacity + self._capacity // 4, _LEAST_ROWS))

    def _resize(self, capacity: int) -> None:
        self._capacity = capacity
        for name, old in self._columns.items():
            grown = np.empty((self._capacity, *old.shape[1:]), old.dtype)
            grown[: self.rows] = old[: self.rows]
            self._columns[name] = grown


def _ascend(ids: Array) -> bool:
    """Whether each id is greater than the one before it."""
    return bool(np.all(ids[1:] > ids[:-1]))


FEW_ROWS = 8192
"""A layer with up to this many rows holds its vectors in memory."""


class Layer(Table):
    """A table with an index of words, and its vectors: the column ``vector``, or only codes."""

    def __init__(
        self,
        columns: Mapping[str, tuple[Any, tuple[int, ...]]],
        dimension: int,
        few_rows: int = FEW_ROWS,
    ) -> None:
        super().__init__({**columns, "vector": (np.float32, (dimension,))})
        self._dimension = dimension
        self._few_rows = few_rows
        self.words = Postings()
        self.codes: Codes | None = None
        self.total_length = self.shortest = 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with unused capacity."""
        codes = 0 if self.codes is None else self.codes.nbytes
        return super().nbytes + codes

    @property
    def mean_length(self) -> float:
        """The mean number of terms of a text."""
        return self.total_length / self.rows if self.rows else 0.0

    def reserve(self, rows: int) -> None:
        """Allocate space for this many rows, and a few more."""
        if rows > self._few_rows:
            self._encode()
            assert self.codes is not None
            self.codes.reserve(rows + rows // 16)
        super().reserve(rows)

    def take(
        self, values: dict[str, Array], postings: npt.NDArray[np.void], sizes: Ints, **new: int
    ) -> int:
        """Add rows, or overwrite those with known ids; the words of a row never change.

        ``new`` are columns that only new rows get. Returns the first of the new rows.
        """
        rows = self.find(values["id"])
        old = rows >= 0
        if old.any():
            self.update(rows[old], {name: array[old] for name, array in values.items()})
            values = {name: array[~old] for name, array in values.items()}
            postings, sizes = postings[np.repeat(~old, sizes)], sizes[~old]
        first = self.rows
        self.append(values | {name: np.full(len(sizes), value) for name, value in new.items()})
        self.words.append(postings, sizes, first)
        self._measure(values["length"])
        return first

    def _measure(self, lengths: Array) -> None:
        """Count the terms of rows in the total, and in the length of the shortest text."""
        if len(lengths):
            least = int(lengths.min())
            self.shortest = min(self.shortest, least) if self.total_length else least
            self.total_length += int(lengths.sum())

    def remove_others(self, kept: Ints) -> npt.NDArray[np.int32]:
        """Remove all rows but these (k,), which keep their order.

        Returns the new row of each row; -1 if it is gone, and at the end, so that -1 leads to -1.
        """
        row_of = np.full(self.rows + 1, -1, np.int32)
        row_of[kept] = np.arange(len(kept), dtype=np.int32)
        self.keep(kept)
        if self.codes is not None:
            self.codes.keep(kept)
        self.words.keep(row_of)
        self.total_length = 0
        self._measure(self["length"])
        return row_of

    def append(self, values: Mapping[str, Array]) -> None:
        """Add rows; ``values`` has one array per column."""
        if self.codes is None:
            super().append(values)
            if self.rows > self._few_rows:
                self._encode()
        else:
            self.codes.append(values["vector"])
            super().append({name: array for name, array in values.items() if name != "vector"})

    def update(self, rows: Ints, values: Mapping[str, Array]) -> None:
        """Overwrite rows."""
        if self.codes is not None:
            self.codes.update(rows, values["vector"])
            values = {name: array for name, array in values.items() if name != "vector"}
        super().update(rows, values)

    def _encode(self) -> None:
        """Hold codes instead of the vectors from now on."""
        if self.codes is None:
            self.codes = Codes(self._dimension)
            self.codes.append(self["vector"])
            self.drop("vector")

    def scan(self, vector: Vector) -> Scan:
        """Compare the rows with a vector."""
        if self.codes is None:
            return ExactScan(self["vector"], vector)
        return CodedScan(self.codes, vector)

    def arrays(self) -> dict[str, Array]:
        """All that the layer holds, for :meth:`restore`; only with codes."""
        assert self.codes is not None
        parts = {"column": self.columns(), "code": self.codes.arrays(), "word": self.words.arrays()}
        return joined(parts, ".")

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""
        self.take_over(part_of(arrays, "column."))
        self.codes = Codes(self._dimension)
        self.codes.restore(part_of(arrays, "code."))
        self.words.restore(part_of(arrays, "word."))
        self.total_length = 0
        self._measure(self["length"])


ThemeRow = tuple[bytes, bytes, int]
"""Vector, terms and length of a theme, as stored in the file."""

_SESSION_BYTES = 200
"""Memory of the Python objects for the rows of a session."""

NOBODY = -1
"""The owner of a row that was replaced."""


class Themes(Layer):
    """One row for each theme: its session (``owner``), vector, length and words.

    A session's themes change as the session grows. The old rows are then marked with the owner
    ``NOBODY`` and removed once they outnumber the others, so that the amortised cost of a change
    depends only on its own rows.
    """

    def __init__(self, vectors: VectorFormat, few_rows: int = FEW_ROWS) -> None:
        columns = {"id": (np.int64, ()), "owner": (np.int64, ()), "length": (np.int32, ())}
        super().__init__(columns, vectors.dimension, few_rows)
        self._format = vectors
        self._rows: dict[int, list[int]] = {}
        self._next = 0

    @property
    def nbytes(self) -> int:
        """Approximate memory held."""
        return super().nbytes + self.words.nbytes + len(self._rows) * _SESSION_BYTES

    def cosines(self, vector: Vector) -> dict[tuple[int, int], float]:
        """The cosine of each theme with a vector, by its session and its position in that."""
        found = self.scan(vector).cosines(np.arange(self.rows)).tolist()
        return {
            (session, place): max(0.0, found[row])
            for session, rows in self._rows.items()
            for place, row in enumerate(rows)
        }

    def rows_of(self, sessions: Iterable[int]) -> Ints:
        """The rows of the themes of some sessions."""
        own = map(self._rows.get, sessions, repeat(()))
        return np.array([*chain.from_iterable(own)], np.int64)

    def replace(self, sessions: Mapping[int, Sequence[ThemeRow]]) -> None:
        """Replace the themes of some sessions; an empty sequence removes them."""
        for session in sessions:
            self["owner"][self._rows.pop(session, [])] = NOBODY
        new = [(session, *row) for session, rows in sessions.items() for row in rows]
        if new:
            owners, vectors, terms, lengths = zip(*new, strict=True)
            values: dict[str, Array] = {
                "id": np.arange(self._next, self._next + len(new)),
                "owner": np.array(owners, np.int64),
                "length": np.array(lengths, np.int32),
                "vector": self._format.unpack(vectors),
            }
            self._next += len(new)
            sizes = np.array([len(blob) for blob in terms], np.int64)
            first = self.take(values, *unpack_terms(b"".join(terms), sizes))
            for row, owner in enumerate(owners, first):
                self._rows.setdefault(owner, []).append(row)
        kept = np.flatnonzero(self["owner"] != NOBODY)
        if self.rows > 2 * len(kept):
            row_of = self.remove_others(kept)
            self._rows = {owner: row_of[rows].tolist() for owner, rows in self._rows.items()}
