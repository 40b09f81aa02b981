"""SQL for due summaries: the queue entries of sessions whose summary lacks extracted turns."""

from __future__ import annotations

import sqlite3

from cognigraph.stores.batch_size import count_crash, crash_reason
from cognigraph.stores.records import Backlog, Derivation, Failure


def of_session(connection: sqlite3.Connection, session_id: int) -> Backlog | None:
    """The failures so far of a session's due summary; ``None`` if the summary is not due."""
    row = connection.execute(
        "SELECT attempts, outages, state = 2, deaths FROM behind WHERE session_id = ?",
        (session_id,),
    ).fetchone()
    return None if row is None else Backlog(row[0], row[1], bool(row[2]), row[3])


def pending(connection: sqlite3.Connection, space: str | None) -> int:
    """The number of summaries that are due and not parked."""
    (count,) = connection.execute(
        """SELECT count(*) FROM behind WHERE state = 0
           AND (:space IS NULL OR space_id = (SELECT id FROM space WHERE name = :space))""",
        {"space": space},
    ).fetchone()
    return int(count)


def note(
    connection: sqlite3.Connection, session_id: int, derivation: Derivation, *, revised: bool
) -> None:
    """Record whether a summary is due after a derivation; a revision resets its failed attempts."""
    if not derivation.summary_due:
        connection.execute("DELETE FROM behind WHERE session_id = ?", (session_id,))
        return
    connection.execute(
        """INSERT INTO behind (session_id, space_id)
           SELECT id, space_id FROM session WHERE id = ? ON CONFLICT DO NOTHING""",
        (session_id,),
    )
    if derivation.held:
        connection.execute(
            """UPDATE behind SET state = 0, attempts = CASE WHEN ? THEN 0 ELSE attempts END
               WHERE session_id = ?""",
            (revised, session_id),
        )


def fail(
    connection: sqlite3.Connection,
    session_uid: str,
    reason: str,
    *,
    park_after: int,
    retry_at: int,
    outage: bool,
) -> None:
    """Count a failed attempt or an outage, and park a summary that failed too often."""
    connection.execute(
        """UPDATE behind SET attempts = attempts + ?,
             outages = CASE WHEN ? THEN outages + 1 ELSE 0 END, reason = ?, retry_at = ?,
             state = CASE WHEN attempts + 1 >= ? THEN 2 ELSE 0 END
           WHERE session_id = (SELECT id FROM session WHERE uid = ?)""",
        (not outage, outage, reason, retry_at, park_after, session_uid),
    )


def record_crash(connection: sqlite3.Connection, session_id: int, *, evidence: bool) -> None:
    """Count a crash of the process that was writing the summary."""
    row = connection.execute(
        "SELECT deaths FROM behind WHERE session_id = ? AND state = 0", (session_id,)
    ).fetchone()
    if row is not None:
        crashes, parks = count_crash(row[0], evidence=evidence)
        connection.execute(
            "UPDATE behind SET deaths = ?, reason = ?, state = ? WHERE session_id = ?",
            (crashes, crash_reason(crashes, summary=True), 2 if parks else 0, session_id),
        )


def failures(connection: sqlite3.Connection, space: str) -> list[Failure]:
    """Summaries whose last attempt failed, parked or waiting for a retry."""
    rows = connection.execute(
        """SELECT s.name, b.attempts, b.state = 2, b.reason, b.outages, b.deaths
           FROM session s CROSS JOIN behind b ON b.session_id = s.id
           WHERE s.space_id = (SELECT id FROM space WHERE name = ?) AND b.reason IS NOT NULL
           ORDER BY +s.id""",
        (space,),
    )
    return [Failure(None, row[0], row[1], bool(row[2]), *row[3:]) for row in rows]


def retry(connection: sqlite3.Connection, space: str | None) -> int:
    """Make parked summaries pending again; return how many."""
    return connection.execute(
        """UPDATE behind SET state = 0, attempts = 0, outages = 0, deaths = 0, retry_at = 0
           WHERE state = 2
             AND (:space IS NULL OR space_id = (SELECT id FROM space WHERE name = :space))""",
        {"space": space},
    ).rowcount
