"""A growing table of numpy columns: the in-memory copy of an ``*_index`` table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints

Array = npt.NDArray[Any]

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

    def convert(self, column: str, dtype: Any) -> None:
        """Change the type of a column."""
        old = self._columns[column]
        self._columns[column] = np.empty(old.shape, dtype)
        self._columns[column][: self.rows] = old[: self.rows]  # what is unused may be anything

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
        """Memory held, including unused capacity."""
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
