"""Replacing the text of a message, with the old one kept as a version."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from cognigraph.ids import session_uid
from cognigraph.stores.new_text import under
from cognigraph.stores.records import MessageRow
from cognigraph.stores.sqlite.forget import begin, delete_chunks, forget_derived, refresh_session
from cognigraph.stores.sqlite.insert import write_chunks
from cognigraph.stores.sqlite.vector_format import VectorFormat
from cognigraph.times import from_micros

_CHUNKS = """
SELECT c.id, c.uid, c.text, c.digest FROM chunk c JOIN session s ON s.id = c.session_id
WHERE s.uid = ? AND c.message_id = ? AND c.space_id = s.space_id ORDER BY c.part"""


def update(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space: str,
    message: MessageRow,
    now: int,
) -> bool:
    """Replace the text of a message; see ``HousekeepingStore.update``."""
    old = connection.execute(_CHUNKS, (message.session_uid, message.id)).fetchall()
    if not old or old[0][3] == message.digest:
        return False
    owner = begin(connection, space, message.session_uid)
    assert owner is not None
    uid, ids = old[0][1], [row[0] for row in old]
    connection.execute(
        """INSERT INTO version
           SELECT :uid, 1 + (SELECT count(*) FROM version WHERE uid = :uid),
                  :space, :now, :text, :digest""",
        {
            "uid": uid,
            "space": owner.space_id,
            "now": now,
            "text": "".join(row[2] for row in old),
            "digest": old[0][3],
        },
    )
    was_read = forget_derived(connection, space, owner, ids, now)
    delete_chunks(connection, ids)
    first = ids[0] if len(message.chunks) <= len(ids) else None
    write_chunks(connection, vectors, owner, under(message, uid), first)
    refresh_session(connection, message.session_uid, owner, reread=was_read)
    return True


def versions(
    connection: sqlite3.Connection, space: str, session: str, id: str
) -> list[tuple[str, datetime]]:
    """Earlier texts of a message, oldest first."""
    rows = connection.execute(
        """SELECT v.text, v.replaced_at FROM session s
           JOIN chunk c ON c.session_id = s.id AND c.message_id = ? AND c.part = 0
           JOIN version v ON v.uid = c.uid WHERE s.uid = ? ORDER BY v.number""",
        (id, session_uid(space, session)),
    )
    return [(text, from_micros(at)) for text, at in rows]
