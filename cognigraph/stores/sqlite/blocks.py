"""Which entities are in which block on SQLite, and what is common to ledgers."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from cognigraph.ingest.forms import is_proper
from cognigraph.ingest.resolve import Named

_MOST_VARIABLES = 400


class SQLiteBlocks:
    """See :class:`cognigraph.ingest.blocking.Blocks`."""

    def __init__(self, connection: sqlite3.Connection, space_id: int) -> None:
        self._connection = connection
        self._space_id = space_id
        self._ids: dict[str, int] = {}

    def _in(self, query: str, values: Iterable[Any], *first: Any) -> list[tuple[Any, ...]]:
        """Run a query with IN lists; each ``{}`` in it stands for the whole list."""
        rows: list[tuple[Any, ...]] = []
        listed, times = list(values), query.count("{}")
        for start in range(0, len(listed), _MOST_VARIABLES):
            part = listed[start : start + _MOST_VARIABLES]
            marks = ",".join("?" * len(part))
            filled = query.replace("{}", marks)
            rows += self._connection.execute(filled, (*first, *(part * times))).fetchall()
        return rows

    def _id(self, uids: Collection[str]) -> list[int]:
        missing = [uid for uid in uids if uid not in self._ids]
        self._ids.update(self._in("SELECT uid, id FROM entity WHERE uid IN ({})", missing))
        return [self._ids[uid] for uid in uids]

    def named(self, uids: Collection[str]) -> list[Named]:
        """Entities by uid, with their aliases."""
        aliases: dict[str, set[str]] = {}
        for uid, alias in self._in(
            "SELECT e.uid, a.normalised FROM alias a JOIN entity e ON e.id = a.entity_id "
            "WHERE a.entity_id IN ({})",
            self._id(uids),
        ):
            aliases.setdefault(uid, set()).add(alias)
        return [
            Named(uid, name, type, frozenset(aliases.get(uid, ())), is_proper(spelling))
            for uid, name, type, spelling in self._in(
                "SELECT uid, normalised, type, name FROM entity WHERE uid IN ({})", uids
            )
        ]

    def enter(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Put entities into blocks."""
        self._id(keys)
        new: dict[int, int] = {}
        for uid, own in keys.items():
            for key in own:
                added = self._connection.execute(
                    "INSERT OR IGNORE INTO block VALUES (?, ?, ?)",
                    (self._space_id, key, self._ids[uid]),
                ).rowcount
                new[key] = new.get(key, 0) + added
        sizes = self.sizes(new)
        return {key: (sizes[key], added) for key, added in new.items()}

    def leave(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Take entities out of blocks."""
        self._id(keys)
        gone: dict[int, int] = {}
        for uid, own in keys.items():
            for key in own:
                count = self._connection.execute(
                    "DELETE FROM block WHERE space_id = ? AND key = ? AND entity_id = ?",
                    (self._space_id, key, self._ids[uid]),
                ).rowcount
                gone[key] = gone.get(key, 0) + count
        sizes = self.sizes(gone)
        return {key: (sizes.get(key, 0), count) for key, count in gone.items()}

    def sizes(self, keys: Collection[int]) -> dict[int, int]:
        """Sizes of blocks."""
        return dict(
            self._in(
                "SELECT key, count(*) FROM block WHERE space_id = ? AND key IN ({}) GROUP BY key",
                keys,
                self._space_id,
            )
        )

    def blocks(self, keys: Collection[int]) -> dict[int, list[str]]:
        """Members of blocks."""
        found: dict[int, list[str]] = {key: [] for key in keys}
        for key, uid, id in self._in(
            "SELECT b.key, e.uid, e.id FROM block b JOIN entity e ON e.id = b.entity_id "
            "WHERE b.space_id = ? AND b.key IN ({})",
            keys,
            self._space_id,
        ):
            self._ids[uid] = id
            found[key].append(uid)
        return found

    def _around(self, query: str, uids: Collection[str]) -> set[tuple[Any, ...]]:
        """Rows with one of the entities at either end (``x`` and ``y`` in the query)."""
        ids = self._id(uids)
        return set(self._in(f"{query} WHERE x.id IN ({{}})", ids)) | set(
            self._in(f"{query} WHERE y.id IN ({{}})", ids)
        )
