"""The durable queue of chunks to enrich, in the same file as the graph."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from cognigraph.model import Theme
from cognigraph.stores.batches import batch_size, failures_of
from cognigraph.stores.rows import Failure, Lease, SessionNotes, WorkChunk
from cognigraph.times import from_micros, to_micros

PENDING, DONE, FAILED = 0, 1, 2
_EVER = (1 << 63) - 1
_NEVER = 1 << 62

_NEXT_SESSION = """
SELECT w.session_id FROM work w JOIN session s ON s.id = w.session_id
WHERE w.state = 0 AND w.retry_at <= :now AND s.lease_until <= :now {space}
ORDER BY w.chunk_id LIMIT 1"""

_PENDING_CHUNKS = """
SELECT c.uid, c.message_id, c.speaker, c.at, coalesce(c.fresh, c.text), c.part, w.attempts,
       w.outages, w.extractor, c.id
FROM chunk c JOIN work w ON w.chunk_id = c.id
WHERE c.session_id = ? AND w.state {states} AND w.retry_at <= ?
ORDER BY c.at, c.id LIMIT ?"""

_BEFORE = """
SELECT uid, message_id, speaker, at, coalesce(fresh, text), part, 0, 0, NULL, id FROM chunk
WHERE session_id = ? AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?"""


def has_pending(connection: sqlite3.Connection) -> bool:
    """Whether any chunk waits, leased or not."""
    return connection.execute("SELECT 1 FROM work WHERE state = 0 LIMIT 1").fetchone() is not None


def pending(connection: sqlite3.Connection, space: str | None) -> int:
    """How many chunks wait, leased or not."""
    query = "SELECT count(*) FROM work WHERE state = 0"
    parameters: tuple[str, ...] = ()
    if space is not None:
        query += " AND space_id = (SELECT id FROM space WHERE name = ?)"
        parameters = (space,)
    return int(connection.execute(query, parameters).fetchone()[0])


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
    connection.execute(
        "UPDATE session SET lease = ?, lease_until = ? WHERE id = ?",
        (token, to_micros(until), session_id),
    )
    rows = connection.execute(
        _PENDING_CHUNKS.format(states="= 0"), (session_id, instant, limit)
    ).fetchall()
    rows = rows[: batch_size([failures_of(row[6], row[7]) for row in rows], limit)]
    connection.executemany(
        "UPDATE work SET lease = ? WHERE chunk_id = ?", [(token, row[-1]) for row in rows]
    )
    return _lease(connection, session_id, rows, context, token, until)


def _lease(
    connection: sqlite3.Connection,
    session_id: int,
    rows: Sequence[tuple[Any, ...]],
    context: int,
    token: str,
    expires: datetime,
) -> Lease:
    uid, name, space, version, state, renew = connection.execute(
        """SELECT s.uid, s.name, p.name, s.version, s.state, s.renew
           FROM session s JOIN space p ON p.id = s.space_id WHERE s.id = ?""",
        (session_id,),
    ).fetchone()
    before = connection.execute(_BEFORE, (session_id, rows[0][3], rows[0][-1], context)).fetchall()
    return Lease(
        token=token,
        space=space,
        session=name,
        session_uid=uid,
        chunks=tuple(_work_chunk(name, row) for row in rows),
        before=tuple(_work_chunk(name, row) for row in reversed(before)),
        notes=SessionNotes(version) if renew else _notes(connection, session_id, version, state),
        expires=expires,
    )


def queued(connection: sqlite3.Connection, space_id: int) -> list[str]:
    """Sessions with pending chunks, in the order of their oldest."""
    rows = connection.execute(
        """SELECT s.uid FROM work w JOIN session s ON s.id = w.session_id
           WHERE w.space_id = ? AND w.state = 0 GROUP BY s.id ORDER BY min(w.chunk_id)""",
        (space_id,),
    )
    return [row[0] for row in rows]


def peek(
    connection: sqlite3.Connection, session_uid: str, context: int, again: bool
) -> Lease | None:
    """A session's pending chunks, waiting for a retry or not; with ``again`` the done ones too."""
    found = connection.execute("SELECT id FROM session WHERE uid = ?", (session_uid,)).fetchone()
    if found is None:
        return None
    query = _PENDING_CHUNKS.format(states="IN (0, 1)" if again else "= 0")
    rows = connection.execute(query, (found[0], _EVER, -1)).fetchall()
    if not rows:
        return None
    lease = _lease(connection, found[0], rows, context, "", from_micros(0))
    return replace(lease, notes=SessionNotes(lease.notes.version)) if again else lease


def _work_chunk(session: str, row: tuple[Any, ...]) -> WorkChunk:
    uid, message_id, speaker, at, text, *counts = row[:-1]
    return WorkChunk(uid, message_id, session, speaker, from_micros(at), text, *counts)


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


def extend(connection: sqlite3.Connection, lease: Lease, until: datetime) -> bool:
    """Hold a lease longer, if it is still held."""
    changed = connection.execute(
        "UPDATE session SET lease_until = ? WHERE uid = ? AND lease = ?",
        (to_micros(until), lease.session_uid, lease.token),
    )
    return changed.rowcount == 1


def expire(connection: sqlite3.Connection, token: str) -> None:
    """End a lease."""
    connection.execute("UPDATE session SET lease_until = 0 WHERE lease = ?", (token,))


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
    park_after: int | None,
    retry_at: datetime,
    outage: bool,
) -> None:
    """Count the failed attempt, or the outage, of each chunk; park what failed too often."""
    connection.executemany(
        """UPDATE work SET attempts = attempts + ?,
             outages = CASE WHEN ? THEN outages + 1 ELSE 0 END,
             reason = ?, retry_at = ?, lease = NULL,
             state = CASE WHEN attempts + 1 >= ? THEN 2 ELSE 0 END
           WHERE chunk_id = (SELECT id FROM chunk WHERE uid = ?)""",
        [
            (not outage, outage, reason, to_micros(retry_at),
             _NEVER if park_after is None or outage else park_after, chunk.uid)
            for chunk in lease.chunks
        ],
    )  # fmt: skip
    # What comes after these chunks in their session waits with them, or would be read before them.
    connection.execute(
        "UPDATE session SET lease = NULL, lease_until = ? WHERE uid = ?",
        (to_micros(retry_at) if outage else 0, lease.session_uid),
    )


def failures(connection: sqlite3.Connection, space: str) -> list[Failure]:
    """Chunks whose last attempt failed, parked or waiting for the next try."""
    rows = connection.execute(
        """SELECT c.message_id, s.name, w.attempts, w.state, w.reason, w.outages
           FROM work w JOIN chunk c ON c.id = w.chunk_id JOIN session s ON s.id = w.session_id
           WHERE w.space_id = (SELECT id FROM space WHERE name = ?)
             AND w.state IN (0, 2) AND w.reason IS NOT NULL
           ORDER BY c.id""",
        (space,),
    )
    return [Failure(row[0], row[1], row[2], row[3] == FAILED, row[4], row[5]) for row in rows]


def retry_failed(connection: sqlite3.Connection, space: str | None) -> int:
    """Make parked chunks pending again."""
    return connection.execute(
        """UPDATE work SET state = 0, attempts = 0, outages = 0, retry_at = 0 WHERE state = 2
           AND (? IS NULL OR space_id = (SELECT id FROM space WHERE name = ?))""",
        (space, space),
    ).rowcount
