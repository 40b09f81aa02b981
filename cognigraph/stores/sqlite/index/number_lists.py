"""Lists of numbers for the rows of a layer: the words of each text, the names in it, or others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints
from cognigraph.stores.sqlite.index.table import Array
from cognigraph.text.word_book import Ragged, lists_of, ragged

_MERGE_FACTOR = 4


class NumberLists:
    """A list of numbers for each of the first rows of a layer. Callers must not run at once."""

    def __init__(self, dtype: npt.DTypeLike = np.int32) -> None:
        self._dtype = np.dtype(dtype)
        self._blocks: list[Ragged] = []
        self._fresh: list[tuple[Array, Ints]] = []
        self.rows = 0

    @property
    def nbytes(self) -> int:
        """Memory held by the arrays."""
        self._settle()
        return sum(array.nbytes for block in self._blocks for array in block)

    def append(self, values: Array, sizes: Ints) -> None:
        """Add the lists of the next rows, one after another, and the size of each."""
        self._fresh.append((values, sizes))
        self.rows += len(sizes)

    def of(self, rows: Ints) -> tuple[Array, Ints, npt.NDArray[np.bool_]]:
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
