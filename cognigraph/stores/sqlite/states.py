"""A user's word on facts of a SQLite file, and what is known of their slots."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from cognigraph.errors import NotFoundError
from cognigraph.model import Triple
from cognigraph.states.succession import NewRuling, Ruling, Standing
from cognigraph.stores.readings import NamedRuling, ruling_of
from cognigraph.stores.sqlite import read
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.insert import bump
from cognigraph.stores.sqlite.succession import Touched, settle, standings_at
from cognigraph.times import to_micros

_RULINGS = """
SELECT r.kind, r.at, r.recorded, r.reason, s.name, s.type, t.relation, o.name, o.type, t.when_text,
       t.negated, bs.name, bs.type, b.relation, bo.name, bo.type, b.when_text, b.negated
FROM state_ruling r JOIN triple t ON t.uid = r.uid
JOIN entity s ON s.id = t.raw_subject_id JOIN entity o ON o.id = t.raw_object_id
LEFT JOIN triple b ON b.uid = r.by_uid LEFT JOIN entity bs ON bs.id = b.raw_subject_id
LEFT JOIN entity bo ON bo.id = b.raw_object_id
WHERE r.space_id = ? ORDER BY r.recorded"""


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

    def rulings(self, space: str) -> list[NamedRuling]:
        """What users said of facts."""
        return self._file.query(
            space, [], lambda c, s: [ruling_of(row) for row in c.execute(_RULINGS, (s,))]
        )

    def keep(self, space: str, rulings: Sequence[Ruling]) -> None:
        """Record what users said before."""
        with self._file.write() as connection:
            space_id, _ = bump(connection, space)
            connection.executemany(
                "INSERT OR REPLACE INTO state_ruling VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (space_id, one.uid, one.kind, one.by,
                     None if one.at is None else to_micros(one.at), one.reason, one.order)
                    for one in rulings
                ],
            )  # fmt: skip
            ids = connection.execute(
                """SELECT coalesce(folded_into, id) FROM triple
                   WHERE uid IN (SELECT value FROM json_each(?)) AND +space_id = ?""",
                (json.dumps([one.uid for one in rulings]), space_id),
            ).fetchall()
            touched = Touched(connection)
            touched.add([id for (id,) in ids])
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
