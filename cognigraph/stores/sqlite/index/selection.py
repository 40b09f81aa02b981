"""Which rows of an index a filter lets through, and their places among the candidates."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints, each_once
from cognigraph.model import Exclusion
from cognigraph.model.filters import Filter
from cognigraph.stores.candidates import StoredTexts
from cognigraph.stores.sqlite.columns import ROLE_OF_NUMBER
from cognigraph.stores.sqlite.filters import data_conditions
from cognigraph.stores.sqlite.index.layer import Table
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.text.word_book import NumberedTexts
from cognigraph.times import to_micros

Mask = npt.NDArray[np.bool_]

_BATCH = 500

_MOST_OF_FILE = 4
"""A space with one of so many messages of the file is most of it."""


def allowed_chunks(
    connection: sqlite3.Connection,
    index: SpaceIndex,
    space_id: int,
    where: Filter,
    until: int | None = None,
) -> Mask | None:
    """Whether each chunk (n,) passes the filter and was said by ``until``; None if all do.

    Tags and metadata are looked up in the file.
    """
    masks = [*_masks(connection, index, space_id, where)]
    if until is not None:
        masks.append(index.chunks["at"] <= until)
    return np.logical_and.reduce(masks) if masks else None


def _masks(
    connection: sqlite3.Connection, index: SpaceIndex, space_id: int, where: Filter
) -> Iterator[Mask]:
    chunks = index.chunks
    passes: Mask = np.array([(role or "person") in where.roles for role in ROLE_OF_NUMBER])
    if any(not passes[number] for number in index.roles):
        yield passes[chunks["role"]]
    if where.sessions:
        yield np.isin(chunks["session"], _session_ids(connection, space_id, where.sessions))
    if where.speakers:
        codes = [code for code, name in enumerate(index.speakers) if name in where.speakers]
        yield np.isin(chunks["speaker"], codes)
    if isinstance(where.since, datetime):
        yield chunks["at"] >= to_micros(where.since)
    if where.latest is not None:
        yield chunks["at"] <= to_micros(where.latest)
    if where.tags or where.metadata:
        rows = chunks.find(_with_data(connection, space_id, where, chunks.rows))
        marked = np.zeros(chunks.rows, bool)
        marked[rows[rows >= 0]] = True
        yield marked


def left_out(
    connection: sqlite3.Connection, index: SpaceIndex, space_id: int, without: Exclusion
) -> Mask:
    """Whether each chunk (n,) belongs to a message that is left out."""
    marked = np.zeros(index.chunks.rows, bool)
    wanted = sorted(without.message_ids)
    for start in range(0, len(wanted), _BATCH):
        part = wanted[start : start + _BATCH]
        found = connection.execute(
            f"""SELECT c.id, s.name, c.message_id FROM chunk c JOIN session s ON s.id = c.session_id
                WHERE c.space_id = ? AND c.message_id IN ({",".join("?" * len(part))})""",
            (space_id, *part),
        )
        ids = [id for id, session, message in found if without.has_message(session, message)]
        rows = index.chunks.find(np.array(ids, np.int64))
        marked[rows[rows >= 0]] = True
    return marked


def _session_ids(
    connection: sqlite3.Connection, space_id: int, names: tuple[str, ...]
) -> list[int]:
    marks = ",".join("?" * len(names))
    rows = connection.execute(
        f"SELECT id FROM session WHERE space_id = ? AND name IN ({marks})", (space_id, *names)
    )
    return [row[0] for row in rows]


def _with_data(connection: sqlite3.Connection, space_id: int, where: Filter, chunks: int) -> Ints:
    """The ids of all chunks of the messages with these tags and fields, in a space of some size."""
    (last,) = connection.execute("SELECT max(chunk_id) FROM message_data").fetchone()
    # Without the index (the plus) a space that is most of the file is read in order.
    conditions = ["+d.space_id = ?" if _MOST_OF_FILE * chunks > (last or 0) else "d.space_id = ?"]
    parameters: list[object] = [space_id]
    for condition, values in data_conditions(where):
        conditions.append(condition)
        parameters.extend(values)
    # One row of text: fetching a row for each of many messages takes longer than finding them.
    found = connection.execute(
        "SELECT group_concat(d.chunk_id), group_concat(d.parts) FROM message_data d "
        f"WHERE {' AND '.join(conditions)}",
        parameters,
    ).fetchone()
    firsts, counts = (np.fromstring(text or "", np.int64, sep=",") for text in found)
    # The ids of a message's chunks follow each other.
    part = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    ids: Ints = np.repeat(firsts, counts) + part
    return ids


Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Gives a connection that reads."""


@dataclass(frozen=True)
class FoundRows:
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

    def at(self, rows: npt.NDArray[np.integer]) -> Ints:
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
