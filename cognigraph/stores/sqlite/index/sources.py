"""What the candidate sources of chunks, triples and sessions share."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints
from cognigraph.stores.sqlite.in_list import select_in
from cognigraph.stores.sqlite.index.code_arrays import Mask


@dataclass(frozen=True)
class Found:
    """The rows that each candidate source found."""

    vector: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    terms: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    anchor: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def all(self) -> Ints:
        """The rows that one of them found, ascending."""
        return np.unique(np.concatenate([self.vector, self.terms, self.anchor]))


def passing(rows: Ints, mask: Mask | None) -> Ints:
    """The rows that a mask lets through; all without one."""
    return rows if mask is None else rows[mask[rows]]


def are_among(rows: Ints, found: Ints) -> Mask:
    """Whether each of the rows (k,) is among others, which are unique."""
    if not len(found):
        return np.zeros(len(rows), bool)
    ascending = np.sort(found)
    at = np.minimum(np.searchsorted(ascending, rows), len(ascending) - 1)
    return np.asarray(ascending[at] == rows)


def hexadecimal(uids: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    """Uids as hexadecimal text."""
    return tuple(uids.tobytes().hex(" ", uids.shape[1]).split())


def texts_of(connection: sqlite3.Connection, statement: str, ids: Ints) -> tuple[str, ...]:
    """The texts of rows of the file, in the order of their ids."""
    wanted = ids.tolist()
    found = dict(select_in(connection, statement, wanted))
    return tuple(found[id] for id in wanted)
