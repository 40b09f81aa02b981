"""A searchable layer of a space in memory: chunks, or triples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints, Vector
from cognigraph.stores.sqlite.index.codes import Codes
from cognigraph.stores.sqlite.index.postings import Postings
from cognigraph.stores.sqlite.index.scan import CodedScan, ExactScan, Scan
from cognigraph.stores.sqlite.index.table import Array, Table

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
        """Memory held, including unused capacity."""
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
        return {
            f"{part}.{name}": array for part, own in parts.items() for name, array in own.items()
        }

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Take over arrays that :meth:`arrays` has returned."""

        def part(name: str) -> dict[str, Array]:
            return {
                key.removeprefix(f"{name}."): array
                for key, array in arrays.items()
                if key.startswith(f"{name}.")
            }

        self.take_over(part("column"))
        self.codes = Codes(self._dimension)
        self.codes.restore(part("code"))
        self.words.restore(part("word"))
        self.total_length = 0
        self._measure(self["length"])
