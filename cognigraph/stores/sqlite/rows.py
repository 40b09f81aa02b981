"""Rows of the file: ids in queries, values as columns hold them, and conditions of filters.

Row ids are remembered because the index of uids is large and in random order: in a file of millions
of facts, looking up a uid costs about as much as all else that is read of a fact.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints, Vector
from cognigraph.ids import normalise
from cognigraph.model import Role
from cognigraph.model.filters import Filter, Scalar
from cognigraph.model.graph import Period
from cognigraph.model.messages import ROLES
from cognigraph.model.storage import AuditEntry
from cognigraph.stores.records import audit_row
from cognigraph.stores.reindex import Precision
from cognigraph.times import from_micros, to_micros

_BATCH = 512

_LEAST = 16


def select_in(
    connection: sqlite3.Connection, statement: str, values: Sequence[Any], *first: Any
) -> list[tuple[Any, ...]]:
    """Run a query for each batch of values; ``{}`` in it stands for the list.

    ``first`` are the parameters before the list. In these queries ``+space_id`` stops SQLite from
    using the index on the space, which would scan the whole space instead of looking up the list.
    """
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(values), _BATCH):
        part = values[start : start + _BATCH]
        # Few different lengths, so that SQLite has the statement prepared; NULL is in no list.
        length = max(_LEAST, 1 << (len(part) - 1).bit_length())
        parameters = (*first, *part, *[None] * (length - len(part)))
        rows += connection.execute(_with_list(statement, length), parameters).fetchall()
    return rows


@lru_cache(maxsize=256)
def _with_list(statement: str, length: int) -> str:
    """The statement for a list of some length: the same object, whose hash Python remembers."""
    return statement.format(",".join("?" * length))


def space_id(connection: sqlite3.Connection, space: str) -> int | None:
    """Row id of a space; None if nothing was ever added to it."""
    row = connection.execute("SELECT id FROM space WHERE name = ?", (space,)).fetchone()
    return None if row is None else int(row[0])


def escape_like(text: str) -> str:
    """Escape the wildcards of LIKE by backslashes."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def pattern_of(match: str) -> str:
    """The pattern of LIKE for normalised names that contain a text."""
    return f"%{escape_like(normalise(match))}%"


JOIN_DATA = "LEFT JOIN message_data d ON d.chunk_id = c.id - c.part"
"""Joins the data of a message to each of its chunks ``c``."""

_MOST_LISTS = 16
"""Lists that are remembered: two for each of the last searches, which may run at the same time."""

_Listed = tuple[Sequence[str], Sequence[int] | Ints]


class RowIds:
    """Row ids by uid, of candidates of recent searches. Thread-safe.

    An id is never given to another row, so an id of a deleted row finds nothing. To remember a list
    takes no time; it is only read for the few uids that a result needs.
    """

    def __init__(self) -> None:
        self._lists: tuple[_Listed, ...] = ()

    def remember(self, uids: Sequence[str], ids: Sequence[int] | Ints) -> None:
        """Remember the ids of some rows, which are sorted by uid."""
        self._lists = ((uids, ids), *self._lists[: _MOST_LISTS - 1])

    def known(self, uids: Iterable[str]) -> dict[str, int]:
        """Those of the uids whose ids are remembered."""
        found, missing = {}, set(uids)
        for listed, ids in self._lists:
            for uid in missing:
                at = bisect_left(listed, uid)
                if at < len(listed) and listed[at] == uid:
                    found[uid] = int(ids[at])
            missing.difference_update(found)
            if not missing:
                break
        return found

    def select(
        self,
        connection: sqlite3.Connection,
        query: str,
        table: str,
        uids: Sequence[str],
        space: int,
        ids: Iterable[int] = (),
    ) -> list[tuple[Any, ...]]:
        """The rows with these uids in a space, by their ids if those are known, and with ``ids``.

        The query begins with the id and the uid and ends with the beginning of its condition;
        ``table`` is its alias of the table.
        """
        by = f"{query} +{table}.space_id = ? AND {table}."
        wanted = {*ids, *self.known(uids).values()}
        rows = select_in(connection, f"{by}id IN ({{}})", [*wanted], space) if wanted else []
        missing = sorted(set(uids).difference(row[1] for row in rows))
        if missing:
            rows += select_in(connection, f"{by}uid IN ({{}})", missing, space)
        return rows


# Values as the columns of a file hold them: vectors, terms, uids, roles, states, tags, periods.

POSTING = np.dtype([("term", "<u8"), ("frequency", "<u4")])
"""One entry of a terms blob: 64-bit hash of the term and its frequency in the text."""


@lru_cache(maxsize=131_072)
def term_hash(term: str) -> int:
    """64-bit hash of a term; the probability that two of a million terms collide is 3e-8."""
    digest = blake2b(term.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def pack_terms(counts: Mapping[str, int]) -> bytes:
    """Pack terms with their frequencies into a blob."""
    return b"".join(map(_posting, counts.keys(), counts.values()))


@lru_cache(maxsize=131_072)
def _posting(term: str, frequency: int) -> bytes:
    """One entry of a terms blob."""
    return struct.pack("<QI", term_hash(term), frequency)


def unpack_terms(joined: bytes, lengths: Ints) -> tuple[npt.NDArray[np.void], Ints]:
    """Unpack the joined blobs of many rows: one array of postings, and each row's number of them.

    ``lengths`` are the lengths of the blobs in bytes.
    """
    return np.frombuffer(joined, dtype=POSTING), lengths // POSTING.itemsize


@dataclass(frozen=True, slots=True)
class VectorFormat:
    """The format of the vectors in a file: little-endian components without a header."""

    dimension: int
    precision: Precision = "float32"

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The type of a component on disk."""
        return np.dtype("<f2" if self.precision == "float16" else "<f4")

    def pack(self, vector: Vector) -> bytes:
        """Pack one vector into a blob."""
        return np.ascontiguousarray(vector, dtype=self.dtype).tobytes()

    def view(self, joined: bytes) -> npt.NDArray[np.floating]:
        """View the joined blobs of n rows as one (n, dimension) matrix in the precision on disk."""
        return np.frombuffer(joined, dtype=self.dtype).reshape(-1, self.dimension)

    def unpack(self, blobs: Sequence[bytes]) -> Vector:
        """Unpack the blobs of n rows into one (n, dimension) float32 matrix."""
        return np.asarray(self.view(b"".join(blobs)), np.float32)


def pack_uid(uid: str) -> bytes:
    """Pack a uid (32 hex digits) into 16 bytes."""
    return bytes.fromhex(uid)


def unpack_uids(joined: bytes) -> npt.NDArray[np.uint8]:
    """View the joined 16-byte uids of n rows as one (n, 16) array."""
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, 16)


def unpack_integers(listed: str) -> Ints:
    """Parse the comma-separated integers that ``group_concat`` returns into an array."""
    return np.fromstring(listed, dtype=np.int64, sep=",")


ROLE_OF_NUMBER: tuple[Role | None, ...] = (None, *ROLES)
"""Roles by their numbers in ``chunk_index``. New roles go to the end."""

_NUMBERS = {role: number for number, role in enumerate(ROLE_OF_NUMBER)}


def role_number(role: Role | None) -> int:
    """The number of a role in ``chunk_index``."""
    return _NUMBERS[role]


def tags_of(text: str | None) -> tuple[str, ...]:
    """Tags, sorted."""
    return tuple(json.loads(text)) if text else ()


PENDING, DONE, FAILED = 0, 1, 2


def periods(text: str) -> tuple[Period, ...]:
    """The times in which a fact was true before, as they are stored."""
    if text == "[]":  # as nearly always
        return ()
    return tuple((from_micros(start), from_micros(end)) for start, end in json.loads(text))


# SQL conditions for the filters of searches and listings.

Condition = tuple[str, tuple[Any, ...]]
"""SQL, and the values of its parameters."""


def all_of(conditions: Iterable[Condition]) -> Condition:
    """One condition that all of some are met."""
    listed = list(conditions)
    values = tuple(value for _, own in listed for value in own)
    return " AND ".join(f"({text})" for text, _ in listed), values


def source_conditions(where: Filter) -> Iterator[Condition]:
    """Conditions on a chunk ``c``, its session ``n`` and the data ``d`` of its message."""
    yield f"coalesce(c.role, 'person') IN ({_marks(where.roles)})", tuple(where.roles)
    if where.sessions:
        yield f"n.name IN ({_marks(where.sessions)})", where.sessions
    if where.speakers:
        yield f"c.speaker IN ({_marks(where.speakers)})", where.speakers
    if isinstance(where.since, datetime):
        yield "c.at >= ?", (to_micros(where.since),)
    if where.latest is not None:
        yield "c.at <= ?", (to_micros(where.latest),)
    yield from data_conditions(where)


def _marks(values: Any) -> str:
    return ",".join("?" * len(tuple(values)))


def data_conditions(where: Filter) -> Iterator[tuple[str, tuple[object, ...]]]:
    """SQL conditions on the tags and metadata of a row ``d`` of ``message_data``.

    Most rows are ruled out by a search for the text, which is faster than reading their JSON.
    """
    for tag in where.tags:
        yield from _containing("d.tags", tag)
        yield "EXISTS (SELECT 1 FROM json_each(d.tags) WHERE value = ?)", (tag,)
    for name, value in where.metadata.items():
        yield from _containing("d.metadata", name)
        if isinstance(value, str):
            yield from _containing("d.metadata", value)
        yield _field(name, value)


def _containing(column: str, text: str) -> Iterator[tuple[str, tuple[object, ...]]]:
    if _is_plain(text):
        yield f"instr({column}, ?)", (f'"{text}"',)


def _is_plain(text: str) -> bool:
    """Whether a text stands in JSON as it is, however the JSON was written."""
    return text.isascii() and json.dumps(text) == f'"{text}"'


def _field(name: str, value: Scalar) -> tuple[str, tuple[object, ...]]:
    """A condition on a field of a JSON object. 1 equals 1.0, but not true."""
    types = _types(value)
    marks = ",".join("?" * len(types))
    equal = () if value is None or isinstance(value, bool) else (value,)
    if not _is_plain(name):
        also = " AND value = ?" * len(equal)
        return (
            "EXISTS (SELECT 1 FROM json_each(d.metadata)"
            f" WHERE key = ? AND type IN ({marks}){also})",
            (name, *types, *equal),
        )
    path = f'$."{name}"'
    first = "json_extract(d.metadata, ?) = ? AND " * len(equal)
    paths = (path, *equal) if equal else ()
    return f"({first}json_type(d.metadata, ?) IN ({marks}))", (*paths, path, *types)


def _types(value: Scalar) -> tuple[str, ...]:
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("true",) if value else ("false",)
    return ("text",) if isinstance(value, str) else ("integer", "real")


# The audit log of a file: rows are added, and nothing changes or deletes them.


_INSERT_AUDIT = """
INSERT INTO audit (at, space, action, by, subjects, details)
VALUES (:at, :space, :action, :by, :subjects, :details)"""


def add_audit_entry(connection: sqlite3.Connection, entry: AuditEntry) -> None:
    """Add an entry in the open transaction."""
    connection.execute(_INSERT_AUDIT, audit_row(entry))
