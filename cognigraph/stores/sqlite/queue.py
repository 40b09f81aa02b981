"""The durable queue of chunks to enrich, in the same file as the graph."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from uuid import uuid4

from cognigraph.model import Theme
from cognigraph.stores.base import Failure, Lease, SessionNotes, WorkChunk
from cognigraph.times import from_micros, to_micros

PENDING, DONE, FAILED = 0, 1, 2

_NEXT_SESSION = """
SELECT w.session_id FROM work w JOIN session s ON s.id = w.session_id
WHERE w.state = 0 AND w.retry_at <= :now AND s.lease_until <= :now {space}
ORDER BY w.chunk_id LIMIT 1"""

_PENDING_CHUNKS = """
SELECT c.uid, c.message_id, c.speaker, c.at, c.text, c.part, w.attempts, c.id
FROM chunk c JOIN work w ON w.chunk_id = c.id
WHERE c.session_id = ? AND w.state = 0 AND w.retry_at <= ?
ORDER BY c.at, c.id LIMIT ?"""

_BEFORE = """
SELECT uid, message_id, speaker, at, text, part, 0, id FROM chunk
WHERE session_id = ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?"""


def has_pending(connection: sqlite3.Connection) -> bool:
    """Whether any chunk waits, leased or not."""
    return connection.execute("SELECT 1 FROM work WHERE state = 0 LIMIT 1").fetchone() is not None


def claim(
    connection: sqlite3.Connection,
    *,
    worker: str,
    limit: int,
    lease_for: timedelta,
    now: datetime,
    space: str | None,
    context: int,
) -> Lease | None:
    """Take the session of the oldest pending chunk; see ``Store.claim``."""
    instant = to_micros(now)
    parameters: dict[str, object] = {"now": instant}
    clause = ""
    if space is not None:
        clause = "AND w.space_id = (SELECT id FROM space WHERE name = :space)"
        parameters["space"] = space
    found = connection.execute(_NEXT_SESSION.format(space=clause), parameters).fetchone()
    if found is None:
        return None
    session_id = found[0]
    token, until = f"{worker}:{uuid4().hex}", now + lease_for
    name, session_uid, space_name, version, state = connection.execute(
        """UPDATE session SET lease = ?, lease_until = ? WHERE id = ?
           RETURNING name, uid, (SELECT name FROM space WHERE id = space_id), version, state""",
        (token, to_micros(until), session_id),
    ).fetchone()
    rows = connection.execute(_PENDING_CHUNKS, (session_id, instant, limit)).fetchall()
    connection.executemany(
        "UPDATE work SET lease = ? WHERE chunk_id = ?", [(token, row[-1]) for row in rows]
    )
    before = connection.execute(_BEFORE, (session_id, rows[0][3], rows[0][-1], context)).fetchall()
    return Lease(
        token=token,
        space=space_name,
        session=name,
        session_uid=session_uid,
        chunks=tuple(_work_chunk(name, row) for row in rows),
        before=tuple(_work_chunk(name, row) for row in reversed(before)),
        notes=_notes(connection, session_id, version, state),
        expires=until,
    )


def _work_chunk(
    session: str, row: tuple[str, str, str | None, int, str, int, int, int]
) -> WorkChunk:
    uid, message_id, speaker, at, text, part, attempts, _ = row
    return WorkChunk(uid, message_id, session, speaker, from_micros(at), text, part, attempts)


def _notes(
    connection: sqlite3.Connection, session_id: int, version: int, state: str
) -> SessionNotes:
    keys = connection.execute(
        "SELECT name, weight FROM session_key JOIN key ON key.id = key_id WHERE session_id = ? "
        "ORDER BY weight DESC, name",
        (session_id,),
    ).fetchall()
    themes = connection.execute(
        "SELECT title, summary FROM theme WHERE session_id = ? ORDER BY place", (session_id,)
    ).fetchall()
    return SessionNotes(version, tuple(keys), tuple(Theme(*theme) for theme in themes), state)


def holds(connection: sqlite3.Connection, lease: Lease) -> bool:
    """Whether the lease is still the session's (it may be late, if nobody took over)."""
    row = connection.execute(
        "SELECT lease FROM session WHERE uid = ?", (lease.session_uid,)
    ).fetchone()
    return row is not None and row[0] == lease.token


def leases(connection: sqlite3.Connection, now: datetime) -> list[str]:
    """Tokens of the leases held now."""
    query = "SELECT lease FROM session WHERE lease IS NOT NULL AND lease_until > ?"
    return [row[0] for row in connection.execute(query, (to_micros(now),))]


def release(connection: sqlite3.Connection, lease: Lease) -> None:
    """Open the session for the next worker."""
    connection.execute(
        "UPDATE session SET lease = NULL, lease_until = 0 WHERE uid = ?", (lease.session_uid,)
    )


def give_back(
    connection: sqlite3.Connection,
    lease: Lease,
    reason: str,
    *,
    park_after: int,
    retry_at: datetime,
) -> None:
    """Count the failed attempt of each chunk; park those that failed too often."""
    connection.executemany(
        """UPDATE work SET attempts = attempts + 1, reason = ?, retry_at = ?, lease = NULL,
             state = CASE WHEN attempts + 1 >= ? THEN 2 ELSE 0 END
           WHERE chunk_id = (SELECT id FROM chunk WHERE uid = ?)""",
        [(reason, to_micros(retry_at), park_after, chunk.uid) for chunk in lease.chunks],
    )


def failures(connection: sqlite3.Connection, space: str) -> list[Failure]:
    """Chunks whose last attempt failed, parked or waiting for the next try."""
    rows = connection.execute(
        """SELECT c.message_id, s.name, w.attempts, w.state, w.reason
           FROM work w JOIN chunk c ON c.id = w.chunk_id JOIN session s ON s.id = w.session_id
           WHERE w.space_id = (SELECT id FROM space WHERE name = ?)
             AND w.state IN (0, 2) AND w.reason IS NOT NULL
           ORDER BY c.id""",
        (space,),
    )
    return [Failure(row[0], row[1], row[2], row[3] == FAILED, row[4]) for row in rows]
