"""Reading rows: lists of ids in queries, the id of a space, and row ids that searches remember.

Row ids are remembered because the index of uids is large and in random order: in a file of millions
of facts, looking up a uid costs about as much as all else that is read of a fact.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from cognigraph.arrays import Ints
from cognigraph.ids import normalise

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
