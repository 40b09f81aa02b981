"""``SQLiteResolution``: merges and splits by users, suspected duplicates, the history of merges."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

from cognigraph.ids import normalise
from cognigraph.model import Merge, SuspectedDuplicate
from cognigraph.model.storage import AuditEntry
from cognigraph.resolution import incremental
from cognigraph.stores.protocols import NamedEntity
from cognigraph.stores.records import EntityNames, merge_of, suspected_duplicate
from cognigraph.stores.sqlite.entity_map import SQLiteEntityMap
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.rows import add_audit_entry, space_id
from cognigraph.times import to_micros

_BATCH = 500
_T = TypeVar("_T")

_NAMED = """
SELECT e.uid, e.name, e.type, coalesce(s.uid, e.uid)
FROM entity e LEFT JOIN entity s ON s.id = e.shown_id
WHERE e.id IN (SELECT id FROM entity WHERE space_id = :space AND normalised = :name
               UNION SELECT entity_id FROM alias WHERE space_id = :space AND normalised = :name)
ORDER BY e.normalised != :name, e.type, e.uid"""

_SUSPECTED = """
SELECT a.name, a.type, b.name, b.type, p.score, p.reason FROM pair p
JOIN entity a ON a.id = p.a_id JOIN entity sa ON sa.id = coalesce(a.shown_id, a.id)
JOIN entity b ON b.id = p.b_id JOIN entity sb ON sb.id = coalesce(b.shown_id, b.id)
WHERE p.space_id = ? AND sa.id != sb.id
  AND NOT EXISTS (SELECT 1 FROM ruling r WHERE r.a_id = p.a_id AND r.b_id = p.b_id)
ORDER BY p.score DESC, a.uid, b.uid LIMIT ? OFFSET ?"""

_VECTORS = """
SELECT e.uid, e.name, e.normalised, e.type, coalesce(s.uid, e.uid), v.vector
FROM entity e JOIN name_vector v ON v.entity_id = e.id
LEFT JOIN entity s ON s.id = e.shown_id WHERE e.space_id = ?"""

_JUDGED = """
WITH wanted AS MATERIALIZED
  (SELECT id, uid FROM entity WHERE uid IN (SELECT value FROM json_each(?)))
SELECT a.uid, b.uid FROM wanted a JOIN pair p ON p.a_id = a.id JOIN wanted b ON b.id = p.b_id
UNION SELECT a.uid, b.uid FROM wanted a JOIN ruling r ON r.a_id = a.id
  JOIN wanted b ON b.id = r.b_id"""

_MERGES = """
SELECT a.name, a.type, i.name, i.type, m.by, m.reason, m.score, m.at, m.undone_at
FROM merge m JOIN entity a ON a.id = m.a_id JOIN entity i ON i.id = m.into_id
WHERE m.space_id = ? ORDER BY m.at DESC, m.id DESC LIMIT ? OFFSET ?"""

_LAST_RULING = """
SELECT coalesce(max(r.at), 0) FROM ruling r JOIN entity e ON e.id = r.a_id
JOIN space s ON s.id = e.space_id WHERE s.name = ?"""


class SQLiteResolution:
    """See :class:`cognigraph.stores.protocols.EntityResolution`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def named(self, space: str, name: str) -> list[NamedEntity]:

        def work(connection: sqlite3.Connection, space_id: int) -> list[NamedEntity]:
            rows = connection.execute(_NAMED, {"space": space_id, "name": normalise(name)})
            return [NamedEntity(*row) for row in rows]

        return self._file.query(space, [], work)

    def merge(self, space: str, uid: str, into: str, by: str | None = None) -> None:
        entry = AuditEntry(self._file.clock(), space, "merge", by, (uid, into))
        self._decide(space, lambda entities, at: incremental.merge(entities, uid, into, at), entry)

    def split(
        self, space: str, uid: str, apart_from: str | None = None, by: str | None = None
    ) -> bool:
        subjects = (uid,) if apart_from is None else (uid, apart_from)
        return self._decide(
            space,
            lambda entities, at: incremental.split(entities, uid, at, apart_from),
            AuditEntry(self._file.clock(), space, "split", by, subjects),
        )

    def _decide(
        self, space: str, decision: Callable[[SQLiteEntityMap, int], _T], entry: AuditEntry
    ) -> _T:
        """Apply a decision, and decide the slots of the facts that it moves."""
        with self._file.write() as connection:
            now = to_micros(self._file.clock())
            # Later than all other decisions, even if the clock stands still.
            (last,) = connection.execute(_LAST_RULING, (space,)).fetchone()
            entity_map = _entity_map(connection, space, now)
            result = decision(entity_map, max(now, int(last) + 1))
            entity_map.touched.decide()
            if result is not False:  # a split of what nothing is merged with
                add_audit_entry(connection, entry)
            return result

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        rows = self._file.select(space, _SUSPECTED, limit, offset)
        return [suspected_duplicate(*row) for row in rows]

    def names(self, space: str) -> EntityNames:
        with self._file.read_vectors() as connection:
            id = space_id(connection, space)
            rows = connection.execute(_VECTORS, (id,)).fetchall()
        uids, names, normalised, types, canonical, blobs = (
            zip(*rows, strict=True) if rows else [()] * 6
        )
        vectors = self._file.vectors.unpack(blobs)
        return EntityNames(uids, names, normalised, types, canonical, vectors)

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        with self._file.read() as connection:
            return {(a, b) for a, b in connection.execute(_JUDGED, (json.dumps([*uids]),))}

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        return [merge_of(*row) for row in self._file.select(space, _MERGES, limit, offset)]


def _entity_map(connection: sqlite3.Connection, space: str, now: int) -> SQLiteEntityMap:
    id, revision = connection.execute(
        "UPDATE space SET revision = revision + 1 WHERE name = ? RETURNING id, revision", (space,)
    ).fetchone()
    return SQLiteEntityMap(connection, space, id, revision, now)


def resolve_all_entities(connection: sqlite3.Connection, now: int) -> None:
    """Resolve all entities of a file from a version without entity resolution."""
    for id, space in connection.execute("SELECT id, name FROM space").fetchall():
        rows = connection.execute("SELECT uid FROM entity WHERE space_id = ? ORDER BY id", (id,))
        uids = [uid for (uid,) in rows.fetchall()]
        for start in range(0, len(uids), _BATCH):
            incremental.settle(_entity_map(connection, space, now), uids[start : start + _BATCH])
