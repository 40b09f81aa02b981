"""Lists of numbers for the rows of a layer: the words of each text, or the names in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints
from cognigraph.stores.sqlite.index.table import Array
from cognigraph.text.word_book import Numbers, Ragged, ragged, slices

_MERGE_FACTOR = 4


class WordLists:
    """A list of numbers for each of the first rows of a layer. Callers must not run at once."""

    def __init__(self) -> None:
        self._blocks: list[Ragged] = []
        self._fresh: list[tuple[Numbers, Ints]] = []
        self.rows = 0

    @property
    def nbytes(self) -> int:
        """Memory held by the arrays."""
        self._settle()
        return sum(array.nbytes for block in self._blocks for array in block)

    def append(self, values: Numbers, sizes: Ints) -> None:
        """Add the lists of the next rows, one after another, and the size of each."""
        self._fresh.append((values, sizes))
        self.rows += len(sizes)

    def of(self, rows: Ints) -> tuple[Numbers, Ints, npt.NDArray[np.bool_]]:
        """The lists of some rows, one after another, their sizes, and whether each is there."""
        self._settle()
        known, sizes = rows < self.rows, np.zeros(len(rows), np.int64)
        if len(self._blocks) == 1:
            values, sizes[known] = self._blocks[0].of(rows[known])
            return values, sizes, known
        starts, found, first, total = sizes.copy(), [np.empty(0, np.int32)], 0, 0
        for block in self._blocks:
            inside = np.flatnonzero((rows >= first) & (rows < first + block.lists))
            values, own = block.of(rows[inside] - first)
            sizes[inside], starts[inside] = own, np.cumsum(own) - own + total
            found.append(values)
            first, total = first + block.lists, total + len(values)
        return np.concatenate(found)[slices(starts, sizes)], sizes, known

    def only(self, rows: Ints) -> Ragged:
        """The lists of some rows, which ascend, as far as they are there."""
        return self._whole().only(rows[rows < self.rows])

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
        return ragged([_parts(block) for block in self._blocks], np.int32)

    def _settle(self) -> None:
        """Take what was added into a block, and merge blocks that are not much smaller."""
        if not self._fresh:
            return
        block, self._fresh = ragged(self._fresh, np.int32), []
        while self._blocks and self._blocks[-1].lists < _MERGE_FACTOR * block.lists:
            block = ragged([_parts(self._blocks.pop()), _parts(block)], np.int32)
        self._blocks.append(block)


def _parts(block: Ragged) -> tuple[Array, Ints]:
    return block.values, block.sizes
