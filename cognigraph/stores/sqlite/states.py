"""A user's word on facts of a SQLite file, and what is known of their slots."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from cognigraph.errors import NotFoundError
from cognigraph.model import Triple
from cognigraph.states.succession import RulingKind
from cognigraph.stores.sqlite import read
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.succession import Touched, settle
from cognigraph.times import to_micros


class SQLiteStates:
    """See :class:`cognigraph.stores.protocols.StateStore`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def rule(
        self,
        space: str,
        kind: RulingKind,
        uid: str,
        *,
        by: str | None = None,
        at: datetime | None = None,
        reason: str = "",
    ) -> None:
        """Record what a user said of a fact, and decide its slot again."""
        with self._file.write() as connection:
            space_id = read.space_id(connection, space)
            found = _id_of(connection, space_id, uid)
            (last,) = connection.execute(
                "SELECT coalesce(max(recorded), 0) FROM state_ruling WHERE space_id = ?",
                (space_id,),
            ).fetchone()
            recorded = max(to_micros(self._file.clock()), last + 1)
            connection.execute(
                "INSERT OR REPLACE INTO state_ruling VALUES (?, ?, ?, ?, ?, ?, ?)",
                (space_id, uid, kind, by, None if at is None else to_micros(at), reason, recorded),
            )
            assert space_id is not None
            touched = Touched(connection)
            touched.add([found])
            settle(connection, space_id, touched)

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
