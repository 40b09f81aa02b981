"""A user's word on facts of a SQLite file, and what is known of their slots."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from cognigraph.errors import NotFoundError
from cognigraph.model import Triple
from cognigraph.states.succession import NewRuling, Standing
from cognigraph.stores.sqlite import read
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.succession import Touched, settle, standings_at
from cognigraph.times import to_micros


class SQLiteStates:
    """See :class:`cognigraph.stores.protocols.StateStore`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def rule(self, space: str, *rulings: NewRuling) -> None:
        """Record what a user said of facts, and decide their slots again."""
        with self._file.write() as connection:
            space_id = read.space_id(connection, space)
            found = [_id_of(connection, space_id, one.uid) for one in rulings]
            assert space_id is not None
            (last,) = connection.execute(
                "SELECT coalesce(max(recorded), 0) FROM state_ruling WHERE space_id = ?",
                (space_id,),
            ).fetchone()
            recorded = max(to_micros(self._file.clock()), last + 1)
            connection.executemany(
                "INSERT OR REPLACE INTO state_ruling VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (space_id, one.uid, one.kind, one.by,
                     None if one.at is None else to_micros(one.at), one.reason, recorded + number)
                    for number, one in enumerate(rulings)
                ],
            )  # fmt: skip
            touched = Touched(connection)
            touched.add(found)
            settle(connection, space_id, touched)

    def standings_at(self, space: str, uids: Sequence[str], as_of: datetime) -> dict[str, Standing]:
        """What was known at ``as_of`` of facts."""

        def work(connection: sqlite3.Connection, space_id: int) -> dict[str, Standing]:
            rows = connection.execute(
                "SELECT id FROM triple WHERE uid IN (SELECT value FROM json_each(?)) "
                "AND +space_id = ?",
                (json.dumps([*uids]), space_id),
            ).fetchall()
            return standings_at(connection, space_id, [id for (id,) in rows], as_of)

        return self._file.query(space, {}, work)

    def of_entity(self, space: str, entity: str) -> list[Triple]:
        """Facts about slots of an entity, and those a user ruled on."""
        return self._file.query(space, [], lambda c, s: read.states_of(c, s, entity))

    def contested(self, space: str, limit: int) -> list[list[Triple]]:
        """Current facts that share a slot of one value with others, by slot."""
        return self._file.query(space, [], lambda c, s: read.contested(c, s, limit))


def _id_of(connection: sqlite3.Connection, space_id: int | None, uid: str) -> int:
    row = connection.execute(
        "SELECT coalesce(folded_into, id) FROM triple WHERE uid = ? AND space_id = ?",
        (uid, space_id),
    ).fetchone()
    if row is None:
        raise NotFoundError(f"there is no triple with the uid {uid!r}")
    return int(row[0])
