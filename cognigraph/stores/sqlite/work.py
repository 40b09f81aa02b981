"""SQL of the enrichment queue: pending chunks, leases, failures and crashes."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from cognigraph.stores.batch_size import (
    PATIENCE,
    batch_size,
    count_crash,
    crash_reason,
    failures_of,
    is_evidence,
)
from cognigraph.stores.records import Failure, Lease, SessionNotes, WorkChunk, readable
from cognigraph.stores.sqlite import due_summaries
from cognigraph.stores.sqlite.episodes import themes_of
from cognigraph.stores.sqlite.message_data import JOIN
from cognigraph.times import from_micros, system_clock, to_micros

PENDING, DONE, FAILED = 0, 1, 2
_EVER = (1 << 63) - 1
_NEVER = 1 << 62
_ID = 10
"""The column of the chunk's id in the two queries for chunks."""

_NEXT_SESSION = """
SELECT w.session_id, EXISTS (
  SELECT 1 FROM behind b WHERE b.session_id = s.id AND b.state = 0 AND b.retry_at <= :now
    AND b.outages < :patience)
FROM work w JOIN session s ON s.id = w.session_id
WHERE w.state = 0 AND w.retry_at <= :now AND s.lease_until <= :now {space}
ORDER BY w.chunk_id LIMIT 1"""

_NEXT_SUMMARY = """
SELECT w.session_id, 1 FROM behind w JOIN session s ON s.id = w.session_id
WHERE w.state = 0 AND w.retry_at <= :now AND s.lease_until <= :now {space}
ORDER BY w.session_id LIMIT 1"""

_PENDING_CHUNKS = f"""
SELECT c.uid, c.message_id, c.speaker, c.at, coalesce(c.fresh, c.text), c.part, w.attempts,
       w.outages, w.extractor, w.deaths, c.id, c.role, d.facts
FROM chunk c JOIN work w ON w.chunk_id = c.id {JOIN}
WHERE c.session_id = ? AND w.state {{states}} AND w.retry_at <= ?
ORDER BY c.at, c.id LIMIT ?"""

_BEFORE = """
SELECT uid, message_id, speaker, at, coalesce(fresh, text), part, 0, 0, NULL, 0, id, role, NULL
FROM chunk
WHERE session_id = ? AND (at, id) < (?, ?) AND fresh IS NOT ''
  AND (role IS NULL OR role NOT IN ('system', 'tool')) ORDER BY at DESC, id DESC LIMIT ?"""

_ARRIVALS = """
SELECT id, row_number() OVER (PARTITION BY at ORDER BY id) FROM chunk
WHERE session_id = ? AND at BETWEEN ? AND ?"""


def has_pending(connection: sqlite3.Connection) -> bool:
    """Whether any chunk or summary is pending, leased or not."""
    return bool(
        connection.execute(
            """SELECT EXISTS (SELECT 1 FROM work WHERE state = 0)
               OR EXISTS (SELECT 1 FROM behind WHERE state = 0)"""
        ).fetchone()[0]
    )


def pending(connection: sqlite3.Connection, space: str | None) -> int:
    """Chunks that are pending or leased."""
    clause = "" if space is None else "AND space_id = (SELECT id FROM space WHERE name = :space)"
    (count,) = connection.execute(
        f"SELECT count(*) FROM work WHERE state = 0 {clause}", {"space": space}
    ).fetchone()
    return int(count)


def longest_wait(connection: sqlite3.Connection, space: str | None) -> float:
    """Seconds since the oldest pending chunk became pending; 0 if none is."""
    clause = "" if space is None else "AND space_id = (SELECT id FROM space WHERE name = :space)"
    row = connection.execute(
        f"SELECT since FROM work WHERE state = 0 {clause} ORDER BY chunk_id LIMIT 1",
        {"space": space},
    ).fetchone()
    return 0.0 if row is None else max(0.0, (to_micros(system_clock()) - row[0]) / 1e6)


def claim(
    connection: sqlite3.Connection,
    *,
    worker: str,
    limit: int,
    lease_for: timedelta,
    now: datetime,
    space: str | None,
    context: int,
    summaries: bool,
) -> Lease | None:
    """Lease chunks of the session with the oldest pending chunk; see ``EnrichmentQueue.claim``."""
    instant = to_micros(now)
    parameters: dict[str, object] = {"now": instant, "patience": PATIENCE}
    clause = ""
    if space is not None:
        clause = "AND w.space_id = (SELECT id FROM space WHERE name = :space)"
        parameters["space"] = space
    found = connection.execute(_NEXT_SESSION.format(space=clause), parameters).fetchone()
    if found is None and summaries:
        found = connection.execute(_NEXT_SUMMARY.format(space=clause), parameters).fetchone()
    if found is None:
        return None
    session_id, is_summary_due = found
    token, until = f"{worker}:{uuid4().hex}", now + lease_for
    connection.execute(
        "UPDATE session SET lease = ?, lease_until = ? WHERE id = ?",
        (token, to_micros(until), session_id),
    )
    if summaries and is_summary_due:
        return _lease(connection, session_id, (), context, token, until)
    rows = connection.execute(
        _PENDING_CHUNKS.format(states="= 0"), (session_id, instant, limit)
    ).fetchall()
    rows = rows[: batch_size([failures_of(row[6], row[7], row[9]) for row in rows], limit)]
    connection.executemany(
        "UPDATE work SET lease = ? WHERE chunk_id = ?", [(token, row[_ID]) for row in rows]
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
    before: list[tuple[Any, ...]] = []
    arrivals: dict[int, int] = {}
    if rows:
        first = rows[0]
        span = session_id, first[3], rows[-1][3]
        arrivals = dict(connection.execute(_ARRIVALS, span).fetchall())
        before = connection.execute(_BEFORE, (session_id, first[3], first[_ID], context)).fetchall()
    return Lease(
        token=token,
        space=space,
        session=name,
        session_uid=uid,
        chunks=tuple(_work_chunk(name, row, arrivals[row[_ID]]) for row in rows),
        before=tuple(_work_chunk(name, row) for row in reversed(before)),
        notes=notes(connection, session_id, version, state, renew),
        expires=expires,
    )


def queued(connection: sqlite3.Connection, space_id: int) -> list[str]:
    """Uids of sessions with pending chunks, oldest chunk first, then of those due a summary."""
    rows = connection.execute(
        """SELECT s.uid FROM work w JOIN session s ON s.id = w.session_id
           WHERE w.space_id = ? AND w.state = 0 GROUP BY s.id ORDER BY min(w.chunk_id)""",
        (space_id,),
    ).fetchall()
    rows += connection.execute(
        """SELECT s.uid FROM behind b JOIN session s ON s.id = b.session_id
           WHERE b.space_id = ? AND b.state = 0 ORDER BY s.id""",
        (space_id,),
    )
    return list(dict.fromkeys(row[0] for row in rows))


def peek(
    connection: sqlite3.Connection, session_uid: str, context: int, again: bool
) -> Lease | None:
    """A session's pending chunks, due for a retry or not; with ``again`` the done ones too.

    None if neither chunks nor a summary wait.
    """
    found = connection.execute("SELECT id FROM session WHERE uid = ?", (session_uid,)).fetchone()
    if found is None:
        return None
    query = _PENDING_CHUNKS.format(states="IN (0, 1)" if again else "= 0")
    rows = connection.execute(query, (found[0], _EVER, -1)).fetchall()
    lease = _lease(connection, found[0], rows, context, "", from_micros(0))
    if again:
        lease = replace(lease, notes=SessionNotes(lease.notes.version))
    waits = lease.notes.backlog is not None and not lease.notes.backlog.parked
    return lease if rows or waits else None


def _work_chunk(session: str, row: tuple[Any, ...], arrival: int = 0) -> WorkChunk:
    uid, message_id, speaker, at, text, *rest = row
    rest[_ID - 5] = arrival
    text = readable(text, rest[-2])
    return WorkChunk(uid, message_id, session, speaker, from_micros(at), text, *rest)


def notes(
    connection: sqlite3.Connection, session_id: int, version: int, state: str, renew: bool
) -> SessionNotes:
    """Keys, themes and state of a session's summary."""
    summary_due = due_summaries.of_session(connection, session_id)
    if renew:  # the keys and themes are to be replaced, not extended
        return SessionNotes(version, state=state, backlog=summary_due)
    keys = connection.execute(
        "SELECT name, weight FROM session_key JOIN key ON key.id = key_id WHERE session_id = ? "
        "ORDER BY weight DESC, name",
        (session_id,),
    ).fetchall()
    themes = themes_of(connection, session_id)
    return SessionNotes(version, tuple(keys), themes, state, summary_due)


def holds(connection: sqlite3.Connection, lease: Lease) -> bool:
    """Whether the session still has this lease; an expired lease counts if nobody took over."""
    row = connection.execute(
        "SELECT lease FROM session WHERE uid = ?", (lease.session_uid,)
    ).fetchone()
    return row is not None and row[0] == lease.token


def leases(connection: sqlite3.Connection) -> dict[str, datetime]:
    """Tokens of the open leases, and when they expire."""
    query = "SELECT lease, lease_until FROM session WHERE lease IS NOT NULL"
    return {token: from_micros(until) for token, until in connection.execute(query)}


def extend(connection: sqlite3.Connection, lease: Lease, until: datetime) -> bool:
    """Extend a lease; False if it is lost."""
    return (
        connection.execute(
            "UPDATE session SET lease_until = ? WHERE uid = ? AND lease = ?",
            (to_micros(until), lease.session_uid, lease.token),
        ).rowcount
        == 1
    )


def expire(connection: sqlite3.Connection, token: str, until: datetime) -> None:
    """End the lease of a worker that crashed; count the crash against its chunks or summary."""
    evidence = is_evidence(token, until)
    row = connection.execute(
        """UPDATE session SET lease = NULL, lease_until = 0 WHERE lease = ? AND lease_until = ?
           RETURNING id""",
        (token, to_micros(until)),
    ).fetchone()
    if row is None:
        return
    held = connection.execute(
        """SELECT w.chunk_id, w.deaths FROM chunk c JOIN work w ON w.chunk_id = c.id
           WHERE c.session_id = ? AND w.state = 0 AND w.lease = ?""",
        (row[0], token),
    ).fetchall()
    connection.executemany(
        "UPDATE work SET deaths = ?, reason = ?, state = ?, lease = NULL WHERE chunk_id = ?",
        [
            (crashes, crash_reason(crashes), FAILED if parks else PENDING, chunk_id)
            for chunk_id, before in held
            for crashes, parks in [count_crash(before, evidence=evidence)]
        ],
    )
    if not held:
        due_summaries.record_crash(connection, row[0], evidence=evidence)


def release(connection: sqlite3.Connection, lease: Lease) -> None:
    """End the lease, so that the next worker can claim the session."""
    connection.execute(
        "UPDATE session SET lease = NULL, lease_until = 0 WHERE uid = ?", (lease.session_uid,)
    )


def fail(
    connection: sqlite3.Connection,
    lease: Lease,
    reason: str,
    *,
    park_after: int | None,
    retry_at: datetime,
    outage: bool,
) -> None:
    """Count the failed attempt or outage of each chunk, and park chunks that failed too often."""
    if park_after is None or outage:
        park_after = _NEVER
    if not lease.chunks:
        due_summaries.fail(
            connection, lease.session_uid, reason,
            park_after=park_after, retry_at=to_micros(retry_at), outage=outage,
        )  # fmt: skip
    connection.executemany(
        """UPDATE work SET attempts = attempts + ?,
             outages = CASE WHEN ? THEN outages + 1 ELSE 0 END,
             reason = ?, retry_at = ?, lease = NULL,
             state = CASE WHEN attempts + 1 >= ? THEN 2 ELSE 0 END
           WHERE chunk_id = (SELECT id FROM chunk WHERE uid = ?)""",
        [
            (not outage, outage, reason, to_micros(retry_at), park_after, chunk.uid)
            for chunk in lease.chunks
        ],
    )
    # In an outage the whole session waits, so that later chunks are not extracted before these.
    connection.execute(
        "UPDATE session SET lease = NULL, lease_until = ? WHERE uid = ?",
        (to_micros(retry_at) if outage else 0, lease.session_uid),
    )


def failures(connection: sqlite3.Connection, space: str) -> list[Failure]:
    """Chunks and summaries whose last attempt failed, parked or waiting for a retry."""
    rows = connection.execute(
        """SELECT c.message_id, s.name, w.attempts, w.state = 2, w.reason, w.outages, w.deaths
           FROM work w JOIN chunk c ON c.id = w.chunk_id JOIN session s ON s.id = w.session_id
           WHERE w.space_id = (SELECT id FROM space WHERE name = ?)
             AND w.state IN (0, 2) AND w.reason IS NOT NULL
           ORDER BY c.id""",
        (space,),
    )
    found = [
        Failure(id, session, attempts, bool(parked), *rest)
        for id, session, attempts, parked, *rest in rows
    ]
    return found + due_summaries.failures(connection, space)


def retry_failed(connection: sqlite3.Connection, space: str | None) -> int:
    """Make parked chunks and summaries pending again; return how many."""
    chunks = connection.execute(
        """UPDATE work SET state = 0, attempts = 0, outages = 0, deaths = 0, retry_at = 0,
             since = :now
           WHERE state = 2
             AND (:space IS NULL OR space_id = (SELECT id FROM space WHERE name = :space))""",
        {"space": space, "now": to_micros(system_clock())},
    ).rowcount
    return chunks + due_summaries.retry(connection, space)
