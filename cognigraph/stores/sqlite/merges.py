"""SQL for entity resolution: merges and splits by users, suspected duplicates, the history."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from cognigraph.ids import normalise
from cognigraph.model import Merge, SuspectedDuplicate
from cognigraph.resolution import incremental
from cognigraph.stores.merge_records import merge_of, suspicion
from cognigraph.stores.protocols import NamedEntity
from cognigraph.stores.records import EntityNames
from cognigraph.stores.sqlite import succession
from cognigraph.stores.sqlite.entity_map import SQLiteEntityMap
from cognigraph.stores.sqlite.vector_format import VectorFormat

_BATCH = 500


def named(connection: sqlite3.Connection, space: int, name: str) -> list[NamedEntity]:
    """Extracted entities with this name, or with an alias of it in the text."""
    normalised = normalise(name)
    rows = connection.execute(
        """SELECT e.uid, e.name, e.type, coalesce(s.uid, e.uid)
           FROM entity e LEFT JOIN entity s ON s.id = e.shown_id
           WHERE e.id IN (SELECT id FROM entity WHERE space_id = ? AND normalised = ?
                          UNION SELECT entity_id FROM alias WHERE space_id = ? AND normalised = ?)
           ORDER BY e.normalised != ?, e.type, e.uid""",
        (space, normalised, space, normalised, normalised),
    )
    return [NamedEntity(*row) for row in rows]


def merge(connection: sqlite3.Connection, space: str, uid: str, into: str, now: int) -> None:
    """Record a user's decision that two entities are the same."""
    entity_map = _entity_map(connection, space, now)
    incremental.merge(entity_map, uid, into, _after(connection, space, now))
    succession.settle(connection, entity_map.space_id, entity_map.touched)


def split(
    connection: sqlite3.Connection, space: str, uid: str, apart_from: str | None, now: int
) -> bool:
    """Undo a merge, or separate an entity from its group or from one other entity."""
    entity_map = _entity_map(connection, space, now)
    split = incremental.split(entity_map, uid, _after(connection, space, now), apart_from)
    succession.settle(connection, entity_map.space_id, entity_map.touched)
    return split


def settle_all(connection: sqlite3.Connection, now: int) -> None:
    """Resolve all entities of a file from a version without entity resolution."""
    for id, space in connection.execute("SELECT id, name FROM space").fetchall():
        uids = [
            row[0]
            for row in connection.execute(
                "SELECT uid FROM entity WHERE space_id = ? ORDER BY id", (id,)
            )
        ]
        for start in range(0, len(uids), _BATCH):
            incremental.settle(_entity_map(connection, space, now), uids[start : start + _BATCH])


def _entity_map(connection: sqlite3.Connection, space: str, now: int) -> SQLiteEntityMap:
    id, revision = connection.execute(
        "UPDATE space SET revision = revision + 1 WHERE name = ? RETURNING id, revision", (space,)
    ).fetchone()
    return SQLiteEntityMap(connection, space, id, revision, now)


def _after(connection: sqlite3.Connection, space: str, now: int) -> int:
    """A time for a constraint, later than that of all others even if the clock stands still."""
    (last,) = connection.execute(
        """SELECT coalesce(max(r.at), 0) FROM ruling r JOIN entity e ON e.id = r.a_id
           JOIN space s ON s.id = e.space_id WHERE s.name = ?""",
        (space,),
    ).fetchone()
    return max(now, int(last) + 1)


_SHOWN = """
JOIN entity a ON a.id = p.a_id JOIN entity sa ON sa.id = coalesce(a.shown_id, a.id)
JOIN entity b ON b.id = p.b_id JOIN entity sb ON sb.id = coalesce(b.shown_id, b.id)"""


def suspected(
    connection: sqlite3.Connection, space: int, limit: int, offset: int
) -> list[SuspectedDuplicate]:
    """Pairs that may be the same but are not merged, and that no user has decided on."""
    rows = connection.execute(
        f"""SELECT a.name, a.type, b.name, b.type, p.score, p.reason FROM pair p {_SHOWN}
            WHERE p.space_id = ? AND sa.id != sb.id AND NOT EXISTS
              (SELECT 1 FROM ruling r WHERE r.a_id = p.a_id AND r.b_id = p.b_id)
            ORDER BY p.score DESC, a.uid, b.uid LIMIT ? OFFSET ?""",
        (space, limit, offset),
    )
    return [suspicion(*row) for row in rows]


def names(connection: sqlite3.Connection, space: int, vectors: VectorFormat) -> EntityNames:
    """Extracted entities whose names have vectors."""
    rows = connection.execute(
        """SELECT e.uid, e.name, e.normalised, e.type, coalesce(s.uid, e.uid), v.vector
           FROM entity e JOIN name_vector v ON v.entity_id = e.id
           LEFT JOIN entity s ON s.id = e.shown_id WHERE e.space_id = ?""",
        (space,),
    ).fetchall()
    uids, names, normalised, types, canonical, blobs = zip(*rows, strict=True) if rows else [()] * 6
    return EntityNames(uids, names, normalised, types, canonical, vectors.unpack(blobs))


def judged(connection: sqlite3.Connection, uids: Sequence[str]) -> set[tuple[str, str]]:
    """Pairs of entities that a comparison of their spelling, or a user, has already judged."""
    rows = connection.execute(
        """WITH wanted AS MATERIALIZED
             (SELECT id, uid FROM entity WHERE uid IN (SELECT value FROM json_each(?)))
           SELECT a.uid, b.uid FROM wanted a JOIN pair p ON p.a_id = a.id
             JOIN wanted b ON b.id = p.b_id
           UNION SELECT a.uid, b.uid FROM wanted a JOIN ruling r ON r.a_id = a.id
             JOIN wanted b ON b.id = r.b_id""",
        (json.dumps([*uids]),),
    )
    return {(a, b) for a, b in rows}


def merges(connection: sqlite3.Connection, space: int, limit: int, offset: int) -> list[Merge]:
    """The history of merges, newest first."""
    rows = connection.execute(
        """SELECT a.name, a.type, i.name, i.type, m.by, m.reason, m.score, m.at, m.undone_at
           FROM merge m JOIN entity a ON a.id = m.a_id JOIN entity i ON i.id = m.into_id
           WHERE m.space_id = ? ORDER BY m.at DESC, m.id DESC LIMIT ? OFFSET ?""",
        (space, limit, offset),
    )
    return [merge_of(*row) for row in rows]
