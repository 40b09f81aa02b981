"""Remembers the row ids of what searches found, so that results are fetched without their uids.

The index of uids is large and in random order: in a file of millions of facts, looking up a uid
costs about as much as all else that is read of a fact.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

from cognigraph.arrays import Ints
from cognigraph.stores.sqlite.in_list import select_in

_MOST = 16
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
        self._lists = ((uids, ids), *self._lists[: _MOST - 1])

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
