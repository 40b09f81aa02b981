"""Remembers the row ids of what searches found, so that results are fetched without their uids.

The index of uids is large and in random order: in a file of millions of facts, looking up a uid
costs about as much as all else that is read of a fact.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from cognigraph.stores.sqlite.in_list import select_in

_MOST = 50_000
"""Ids that are remembered: about 8 MB."""


class RowIds:
    """Row ids by uid, of candidates of recent searches. Thread-safe.

    An id is never given to another row, so an id of a deleted row finds nothing.
    """

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def remember(self, uids: Iterable[str], ids: Iterable[int]) -> None:
        """Remember the ids of some rows."""
        if len(self._ids) > _MOST:
            self._ids = {}
        self._ids.update(zip(uids, ids, strict=True))

    def select(
        self,
        connection: sqlite3.Connection,
        query: str,
        table: str,
        uids: Sequence[str],
        space: int,
    ) -> list[tuple[Any, ...]]:
        """The rows with these uids in a space, by their ids if those are known.

        The query begins with the id and the uid and ends with the beginning of its condition;
        ``table`` is its alias of the table.
        """
        by = f"{query} +{table}.space_id = ? AND {table}."
        known = [id for id in map(self._ids.get, uids) if id is not None]
        rows = select_in(connection, f"{by}id IN ({{}})", known, space) if known else []
        missing = sorted(set(uids).difference(row[1] for row in rows))
        if missing:
            rows += select_in(connection, f"{by}uid IN ({{}})", missing, space)
        return rows
