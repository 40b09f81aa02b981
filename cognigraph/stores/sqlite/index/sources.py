"""What the candidate sources of chunks, triples and sessions share."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints, each_once
from cognigraph.stores.candidates import StoredTexts
from cognigraph.stores.sqlite.index.code_arrays import Mask
from cognigraph.stores.sqlite.index.table import Table
from cognigraph.text.word_book import NumberedTexts

Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Gives a connection that reads."""


@dataclass(frozen=True)
class Found:
    """The rows that each candidate source found."""

    vector: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    terms: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    anchor: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def all(self) -> Ints:
        """The rows that one of them found, ascending."""
        return each_once(self.vector, self.terms, self.anchor)


@dataclass(frozen=True)
class FoundEvidence:
    """Pairs of a triple and a chunk that is evidence of it, by their rows in the index."""

    triples: Ints
    chunks: Ints


class Positions:
    """The positions of rows of a table among candidates, which are sorted by uid."""

    def __init__(self, table: Table, rows: Ints) -> None:
        """``rows`` ascend, and each is there once."""
        uids = table["uid"][rows]
        self.ascending = rows
        halves = uids.view(">u8").T[::-1]
        self.order = np.lexsort(halves) if len(rows) else np.empty(0, np.int64)
        """The indices in ``ascending`` of the rows sorted by uid."""
        self.rows = rows[self.order]
        self.uids = _hexadecimal(uids[self.order])
        """The uids of ``rows``."""
        self._position = np.empty(len(rows), np.int64)
        self._position[self.order] = np.arange(len(rows))

    def of(self, rows: npt.NDArray[np.integer]) -> Ints:
        """The positions of rows, in an array of the same shape; -1 for rows of no candidates."""
        if not len(self.ascending):
            return np.full(rows.shape, -1, np.int64)
        at = np.minimum(np.searchsorted(self.ascending, rows), len(self.ascending) - 1)
        return np.where(self.ascending[at] == rows, self._position[at], -1)


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


def _hexadecimal(uids: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    """Uids as hexadecimal text."""
    return tuple(uids.tobytes().hex(" ", uids.shape[1]).split())


def read_later(
    connect: Connect,
    statement: str,
    ids: Ints,
    words: NumberedTexts | None = None,
    names: NumberedTexts | None = None,
) -> StoredTexts:
    """Texts that are read when they are needed, if their ``words`` and ``names`` are not enough.

    The statement gives an id and a text for each id in a JSON array.
    """

    def read(wanted: Sequence[int]) -> dict[int, str]:
        with connect() as connection:
            return dict(connection.execute(statement, (json.dumps([*wanted]),)).fetchall())

    return StoredTexts(ids, read, words, names)
