"""Which entities are in which block on SQLite, and what is common to ledgers.

Lists go into statements as JSON, so that a statement is compiled once whatever their length.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from cognigraph.ingest.blocking import MOST_IN_BLOCK
from cognigraph.ingest.forms import is_proper
from cognigraph.ingest.resolve import Named

_ENTER = """
INSERT OR IGNORE INTO block SELECT ?, key.value, entity.key
FROM json_each(?) entity, json_each(entity.value) key RETURNING key"""
_LEAVE = """
DELETE FROM block WHERE (space_id, key, entity_id) IN
  (SELECT ?, key.value, CAST(entity.key AS INTEGER)
   FROM json_each(?) entity, json_each(entity.value) key) RETURNING key"""

_SIZES = """
SELECT value, (SELECT count(*) FROM
  (SELECT 1 FROM block WHERE space_id = ? AND key = value LIMIT ?)) FROM json_each(?)"""


class SQLiteBlocks:
    """See :class:`cognigraph.ingest.blocking.Blocks`."""

    def __init__(self, connection: sqlite3.Connection, space_id: int) -> None:
        self._connection = connection
        self._space_id = space_id
        self._ids: dict[str, int] = {}
        self._uids: dict[int, str] = {}

    def _in(self, query: str, values: Iterable[Any], *first: Any) -> list[tuple[Any, ...]]:
        """Run a query with ``{}`` in the place of a list; ``first`` are its other parameters."""
        listed = list(values)
        if not listed:
            return []
        filled = query.replace("{}", "(SELECT value FROM json_each(?))")
        return self._connection.execute(filled, (*first, json.dumps(listed))).fetchall()

    def _know(self, rows: Iterable[tuple[str, int]]) -> None:
        for uid, id in rows:
            self._ids[uid] = id
            self._uids[id] = uid

    def _id(self, uids: Collection[str]) -> list[int]:
        missing = [uid for uid in uids if uid not in self._ids]
        self._know(self._in("SELECT uid, id FROM entity WHERE uid IN {}", missing))
        return [self._ids[uid] for uid in uids]

    def _uid(self, ids: Collection[int]) -> Mapping[int, str]:
        missing = [id for id in ids if id not in self._uids]
        self._know(self._in("SELECT uid, id FROM entity WHERE id IN {}", missing))
        return self._uids

    def _around(
        self, columns: str, table: str, uids: Collection[str], *ends: str
    ) -> list[tuple[Any, ...]]:
        """Rows with one of some entities at one of two ends, which the first columns are.

        Entities are given by uid; rows come in their order.
        """
        ids, where = self._id(uids), "SELECT {}, {}, {} FROM {} WHERE {} IN {}"
        rows = {
            row
            for end in ends
            for row in self._in(where.format(*ends, columns, table, end, "{}"), ids)
        }
        known = self._uid({id for row in rows for id in row[:2]})
        found = [(known[row[0]], known[row[1]], *row[2:]) for row in rows]
        return sorted(found, key=lambda row: row[:3])

    def named(self, uids: Collection[str]) -> list[Named]:
        """Entities by uid, with their aliases."""
        ids = self._id(uids)
        aliases: dict[int, set[str]] = {}
        for id, alias in self._in(
            "SELECT entity_id, normalised FROM alias WHERE entity_id IN {}", ids
        ):
            aliases.setdefault(id, set()).add(alias)
        return [
            Named(self._uids[id], name, type, frozenset(aliases.get(id, ())), is_proper(spelling))
            for id, name, type, spelling in self._in(
                "SELECT id, normalised, type, name FROM entity WHERE id IN {}", ids
            )
        ]

    def enter(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Put entities into blocks."""
        new = self._change(_ENTER, keys)
        sizes = self.sizes({key for own in keys.values() for key in own}, new)
        return {key: (size, new[key]) for key, size in sizes.items()}

    def leave(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Take entities out of blocks."""
        gone = self._change(_LEAVE, keys)
        sizes = self.sizes(gone)
        return {key: (sizes.get(key, 0), count) for key, count in gone.items()}

    def _change(self, statement: str, keys: Mapping[str, Collection[int]]) -> Counter[int]:
        """Change blocks, and count the rows changed by key."""
        self._id(keys)
        listed = json.dumps({self._ids[uid]: sorted(own) for uid, own in keys.items() if own})
        rows = self._connection.execute(statement, (self._space_id, listed)).fetchall()
        return Counter(key for (key,) in rows)

    def sizes(self, keys: Collection[int], new: Mapping[int, int] | None = None) -> dict[int, int]:
        """Sizes of blocks, as far as it matters: up to one more than all that is new."""
        most = MOST_IN_BLOCK + 1 + max((new or {}).values(), default=0)
        rows = self._connection.execute(_SIZES, (self._space_id, most, json.dumps([*keys])))
        return {key: size for key, size in rows if size}

    def blocks(self, keys: Collection[int]) -> dict[int, list[str]]:
        """Members of blocks."""
        rows = self._in(
            "SELECT key, entity_id FROM block WHERE space_id = ? AND key IN {}",
            keys,
            self._space_id,
        )
        known = self._uid({id for _, id in rows})
        found: dict[int, list[str]] = {key: [] for key in keys}
        for key, id in rows:
            found[key].append(known[id])
        return found
