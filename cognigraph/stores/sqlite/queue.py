"""``SQLiteQueue``: pending chunks and due summaries, leases on them, and failures.

Each chunk has a row in ``work``, and each session whose summary lacks extracted turns has one in
``behind``. A session's lease is in its own row, so that at most one worker has it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from cognigraph.arrays import Vector
from cognigraph.stores.batch_size import (
    PATIENCE,
    batch_size,
    count_crash,
    crash_reason,
    failures_of,
    is_evidence,
)
from cognigraph.stores.model_rows import backlog_of, work_chunk
from cognigraph.stores.records import (
    Derivation,
    Failure,
    Lease,
    SessionNotes,
    Unembedded,
    UnembeddedChunk,
    Waiting,
)
from cognigraph.stores.sqlite.derive import write_derivation
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.messages import bump
from cognigraph.stores.sqlite.rows import DONE, FAILED, JOIN_DATA, PENDING, space_id
from cognigraph.stores.sqlite.summaries import themes_of
from cognigraph.text.terms import searched
from cognigraph.times import from_micros, system_clock, to_micros

_EVER = (1 << 63) - 1
_NEVER = 1 << 62
_ID = 10
"""The column of the chunk's id in the two queries for chunks."""

_HAS_PENDING = """
SELECT EXISTS (SELECT 1 FROM work WHERE state = 0) OR EXISTS (SELECT 1 FROM behind WHERE state = 0)
"""

_UNEMBEDDED = """
SELECT s.name, s.id, c.uid, c.digest, c.speaker, c.text, c.fresh
FROM work w INDEXED BY work_unembedded JOIN chunk c ON c.id = w.chunk_id
JOIN space s ON s.id = w.space_id
WHERE w.unembedded AND w.space_id {spaces}
ORDER BY w.space_id, w.chunk_id LIMIT :limit"""

_NEXT_SESSION = """
SELECT w.session_id, w.space_id, EXISTS (
  SELECT 1 FROM behind b WHERE b.session_id = s.id AND b.state = 0 AND b.retry_at <= :now
    AND b.outages < :patience)
FROM work w INDEXED BY work_pending_space JOIN session s ON s.id = w.session_id
WHERE w.state = 0 AND w.space_id {spaces} AND w.retry_at <= :now AND s.lease_until <= :now
ORDER BY w.space_id, w.chunk_id LIMIT 1"""

_NEXT_SUMMARY = """
SELECT w.session_id, w.space_id, 1 FROM behind w JOIN session s ON s.id = w.session_id
WHERE w.state = 0 AND w.space_id {spaces} AND w.retry_at <= :now AND s.lease_until <= :now
ORDER BY w.space_id, w.session_id LIMIT 1"""

_ONE_SPACE = "= (SELECT id FROM space WHERE name = :space)"
_IN_TURN = "> :last", "<= :last"
"""The spaces after the one that was served last, then those from the first one on."""

_PENDING_CHUNKS = f"""
SELECT c.uid, c.message_id, c.speaker, c.at, coalesce(c.fresh, c.text), c.part, w.attempts,
       w.outages, w.extractor, w.deaths, c.id, c.role, d.facts
FROM chunk c JOIN work w ON w.chunk_id = c.id {JOIN_DATA}
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

_CHUNK_FAILURES = """
SELECT c.message_id, s.name, w.attempts, w.state = 2, w.reason, w.outages, w.deaths
FROM work w JOIN chunk c ON c.id = w.chunk_id JOIN session s ON s.id = w.session_id
WHERE w.space_id = ? AND w.state IN (0, 2) AND w.reason IS NOT NULL ORDER BY c.id"""

_SUMMARY_FAILURES = """
SELECT NULL, s.name, b.attempts, b.state = 2, b.reason, b.outages, b.deaths
FROM session s CROSS JOIN behind b ON b.session_id = s.id
WHERE s.space_id = ? AND b.reason IS NOT NULL ORDER BY +s.id"""

_READ_BY = """
SELECT s.uid FROM work w JOIN session s ON s.id = w.session_id
WHERE w.space_id = ? AND w.state = 1 AND w.extractor IN ({})
GROUP BY s.id ORDER BY min(w.chunk_id)"""

_OF_SESSION = "chunk_id IN (SELECT id FROM chunk WHERE session_id = ?)"


class SQLiteQueue:
    """See :class:`cognigraph.stores.protocols.EnrichmentQueue`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file
        self._last_leased = self._last_embedded = 0  # ids of spaces

    # Leases

    def claim(
        self,
        *,
        worker: str,
        limit: int,
        lease_for: timedelta,
        now: datetime,
        space: str | None = None,
        context: int = 2,
        summaries: bool = False,
    ) -> Lease | None:
        with self._file.read() as connection:  # an idle worker must not take the write lock
            if not connection.execute(_HAS_PENDING).fetchone()[0]:
                return None
        # A worker whose embedder was replaced must not lease chunks that it cannot complete.
        with self._file.write_vectors() as connection:
            values = {"now": to_micros(now), "patience": PATIENCE}
            session = None
            for query in (_NEXT_SESSION, _NEXT_SUMMARY)[: 1 + summaries]:
                last = self._last_leased
                session = session or next(_in_turn(connection, query, space, last, values), None)
            if session is None:
                return None
            session_id, space_served, is_summary_due = session
            if space is None:
                self._last_leased = space_served
            token, until = f"{worker}:{uuid4().hex}", now + lease_for
            connection.execute(
                "UPDATE session SET lease = ?, lease_until = ? WHERE id = ?",
                (token, to_micros(until), session_id),
            )
            rows = []
            if not (summaries and is_summary_due):
                rows = connection.execute(
                    _PENDING_CHUNKS.format(states="= 0"), (session_id, values["now"], limit)
                ).fetchall()
                failures = [failures_of(row[6], row[7], row[9]) for row in rows]
                rows = rows[: batch_size(failures, limit)]
                connection.executemany(
                    "UPDATE work SET lease = ? WHERE chunk_id = ?",
                    [(token, row[_ID]) for row in rows],
                )
            return _lease(connection, session_id, rows, context, token, until)

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        with self._file.read() as connection:
            row = connection.execute(
                "SELECT id FROM session WHERE uid = ?", (session_uid,)
            ).fetchone()
            if row is None:
                return None
            query = _PENDING_CHUNKS.format(states="IN (0, 1)" if again else "= 0")
            rows = connection.execute(query, (row[0], _EVER, -1)).fetchall()
            lease = _lease(connection, row[0], rows, context, "", from_micros(0))
        if again:
            lease = replace(lease, notes=SessionNotes(lease.notes.version))
        waits = lease.notes.backlog is not None and not lease.notes.backlog.parked
        return lease if rows or waits else None

    def complete(self, lease: Lease, derivation: Derivation) -> bool:
        with self._file.write_vectors() as connection:
            if not _holds(connection, lease):
                return False
            now = to_micros(self._file.clock())
            write_derivation(connection, self._file.vectors, lease, derivation, now)
            if not derivation.held:
                _end_lease(connection, lease)
            return True

    def fail(
        self,
        lease: Lease,
        reason: str,
        *,
        park_after: int | None,
        retry_at: datetime,
        outage: bool = False,
    ) -> bool:
        if park_after is None or outage:
            park_after = _NEVER
        failed = """attempts = attempts + ?, outages = CASE WHEN ? THEN outages + 1 ELSE 0 END,
            reason = ?, retry_at = ?, state = CASE WHEN attempts + 1 >= ? THEN 2 ELSE 0 END"""
        values = not outage, outage, reason, to_micros(retry_at), park_after
        with self._file.write() as connection:
            if not _holds(connection, lease):
                return False
            if not lease.chunks:
                connection.execute(
                    f"""UPDATE behind SET {failed}
                        WHERE session_id = (SELECT id FROM session WHERE uid = ?)""",
                    (*values, lease.session_uid),
                )
            connection.executemany(
                f"""UPDATE work SET {failed}, lease = NULL
                    WHERE chunk_id = (SELECT id FROM chunk WHERE uid = ?)""",
                [(*values, chunk.uid) for chunk in lease.chunks],
            )
            # In an outage the whole session waits, so that later chunks are not extracted before.
            _end_lease(connection, lease, until=to_micros(retry_at) if outage else 0)
            return True

    def extend(self, lease: Lease, until: datetime) -> bool:
        with self._file.write() as connection:
            changed = connection.execute(
                "UPDATE session SET lease_until = ? WHERE uid = ? AND lease = ?",
                (to_micros(until), lease.session_uid, lease.token),
            )
            return changed.rowcount == 1

    def release(self, lease: Lease) -> bool:
        with self._file.write() as connection:
            if not _holds(connection, lease):
                return False
            _end_lease(connection, lease)
            return True

    def leases(self) -> dict[str, datetime]:
        query = "SELECT lease, lease_until FROM session WHERE lease IS NOT NULL"
        with self._file.read() as connection:
            return {token: from_micros(until) for token, until in connection.execute(query)}

    def expire(self, token: str, until: datetime) -> None:
        with self._file.write() as connection:
            row = connection.execute(
                """UPDATE session SET lease = NULL, lease_until = 0
                   WHERE lease = ? AND lease_until = ? RETURNING id""",
                (token, to_micros(until)),
            ).fetchone()
            if row is not None:
                _count_crash(connection, row[0], token, is_evidence(token, until))

    # Failures and extracting again

    def retry_failed(self, space: str | None = None) -> int:
        pending = "state = 0, attempts = 0, outages = 0, deaths = 0, retry_at = 0"
        with self._file.write() as connection:
            values = {"space": space, "now": to_micros(system_clock())}
            where = f"WHERE state = 2 {_of_space(space)}"
            return sum(
                connection.execute(f"UPDATE {table} {where}", values).rowcount
                for table in (f"work SET {pending}, since = :now", f"behind SET {pending}")
            )

    def failures(self, space: str) -> list[Failure]:
        return [
            Failure(id, session, attempts, bool(parked), *rest)
            for query in (_CHUNK_FAILURES, _SUMMARY_FAILURES)
            for id, session, attempts, parked, *rest in self._file.select(space, query)
        ]

    def extractors(self, space: str) -> dict[str, int]:
        query = """SELECT extractor, count(*) FROM work
                   WHERE space_id = ? AND state = 1 AND extractor IS NOT NULL GROUP BY extractor"""
        return dict(self._file.select(space, query))

    def redo(self, space: str, extractors: Sequence[str]) -> int:
        with self._file.write() as connection:
            id = space_id(connection, space)
            query = _READ_BY.format(",".join("?" * len(extractors)))
            sessions = connection.execute(query, (id, *extractors)).fetchall()
            return sum(start_over(connection, uid) for (uid,) in sessions)

    def start_over(self, lease: Lease) -> bool:
        with self._file.write() as connection:
            if not _holds(connection, lease):
                return False
            start_over(connection, lease.session_uid)
            return True

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        query = _READ_BY.format(",".join("?" * len(extractors)))
        return [uid for (uid,) in self._file.select(space, query, *extractors)]

    # What waits

    def queued(self, space: str) -> list[str]:
        chunks = """SELECT s.uid FROM work w JOIN session s ON s.id = w.session_id
                    WHERE w.space_id = ? AND w.state = 0 GROUP BY s.id ORDER BY min(w.chunk_id)"""
        summaries = """SELECT s.uid FROM behind b JOIN session s ON s.id = b.session_id
                       WHERE b.space_id = ? AND b.state = 0 ORDER BY s.id"""
        rows = self._file.select(space, chunks) + self._file.select(space, summaries)
        return list(dict.fromkeys(uid for (uid,) in rows))

    def waiting(self, space: str | None = None) -> Waiting:
        counts = (
            f"(SELECT count(*) FROM {waits} {_of_space(space)})"
            for waits in ("work WHERE state = 0", "behind WHERE state = 0", "work WHERE unembedded")
        )
        with self._file.read() as connection:
            query = f"SELECT {', '.join(counts)}"
            return Waiting(*connection.execute(query, {"space": space}).fetchone())

    def unembedded(self, limit: int, space: str | None = None) -> Unembedded | None:
        with self._file.read() as connection:
            last = self._last_embedded
            rows = list(_in_turn(connection, _UNEMBEDDED, space, last, {"limit": limit}))
        if not rows:
            return None
        first, space_served, *_ = rows[0]
        if space is None:
            self._last_embedded = space_served
        return Unembedded(
            first,
            tuple(
                UnembeddedChunk(uid, digest, searched(*texts))
                for name, _, uid, digest, *texts in rows
                if name == first
            ),
        )

    def write_vectors(self, space: str, chunks: Sequence[UnembeddedChunk], vectors: Vector) -> None:
        with self._file.write_vectors() as connection:
            written: list[tuple[bytes, int]] = []
            for chunk, vector in zip(chunks, vectors, strict=True):
                row = connection.execute(
                    "UPDATE work SET unembedded = 0 WHERE unembedded AND chunk_id = "
                    "(SELECT id FROM chunk WHERE uid = ? AND digest = ?) RETURNING chunk_id",
                    (chunk.uid, chunk.digest),
                ).fetchone()
                if row is not None:
                    written.append((self._file.vectors.pack(vector), row[0]))
            if not written:
                return
            # Indexes in memory read again what has a newer revision.
            _, revision = bump(connection, space)
            connection.executemany(
                "UPDATE chunk_index SET vector = ?, changed = ? WHERE chunk_id = ?",
                [(vector, revision, chunk_id) for vector, chunk_id in written],
            )

    def longest_wait(self, space: str | None = None) -> float:
        query = (
            f"SELECT since FROM work WHERE state = 0 {_of_space(space)} ORDER BY chunk_id LIMIT 1"
        )
        with self._file.read() as connection:
            row = connection.execute(query, {"space": space}).fetchone()
        return 0.0 if row is None else max(0.0, (to_micros(system_clock()) - row[0]) / 1e6)


def _of_space(space: str | None) -> str:
    """A further condition for one space; no condition at all leaves SQLite the better index."""
    return "" if space is None else f"AND space_id {_ONE_SPACE}"


def _in_turn(
    connection: sqlite3.Connection,
    query: str,
    space: str | None,
    last: int,
    values: dict[str, Any],
) -> Iterator[tuple[Any, ...]]:
    """Rows of a space, or with ``None`` of each after the one with the id ``last``, in a circle."""
    for spaces in _IN_TURN if space is None else (_ONE_SPACE,):
        named = {**values, "space": space, "last": last}
        yield from connection.execute(query.format(spaces=spaces), named)


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
        chunks=tuple(work_chunk(name, row, arrivals) for row in rows),
        before=tuple(work_chunk(name, row, {}) for row in reversed(before)),
        notes=session_notes(connection, session_id, version, state, renew),
        expires=expires,
    )


def session_notes(
    connection: sqlite3.Connection, session_id: int, version: int, state: str, renew: bool
) -> SessionNotes:
    """Keys, themes and state of a session's summary, and what failed of one that is due."""
    row = connection.execute(
        "SELECT state, attempts, outages, deaths FROM behind WHERE session_id = ?", (session_id,)
    ).fetchone()
    backlog = None if row is None else backlog_of(*row)
    if renew:  # the keys and themes are to be replaced, not extended
        return SessionNotes(version, state=state, backlog=backlog)
    keys = connection.execute(
        "SELECT name, weight FROM session_key JOIN key ON key.id = key_id WHERE session_id = ? "
        "ORDER BY weight DESC, name",
        (session_id,),
    ).fetchall()
    return SessionNotes(version, tuple(keys), themes_of(connection, session_id), state, backlog)


def _holds(connection: sqlite3.Connection, lease: Lease) -> bool:
    """Whether the session still has this lease; an expired lease counts if nobody took over."""
    row = connection.execute(
        "SELECT lease FROM session WHERE uid = ?", (lease.session_uid,)
    ).fetchone()
    return row is not None and row[0] == lease.token


def _end_lease(connection: sqlite3.Connection, lease: Lease, until: int = 0) -> None:
    """End the lease; the next worker can claim the session, or can do so after a time."""
    connection.execute(
        "UPDATE session SET lease = NULL, lease_until = ? WHERE uid = ?", (until, lease.session_uid)
    )


def _count_crash(
    connection: sqlite3.Connection, session_id: int, token: str, evidence: bool
) -> None:
    """Count a crash against the chunks under a lease; without any, against the due summary."""
    leased = connection.execute(
        """SELECT w.chunk_id, w.deaths FROM chunk c JOIN work w ON w.chunk_id = c.id
           WHERE c.session_id = ? AND w.state = 0 AND w.lease = ?""",
        (session_id, token),
    ).fetchall()
    summaries = () if leased else connection.execute(
        "SELECT session_id, deaths FROM behind WHERE session_id = ? AND state = 0", (session_id,)
    ).fetchall()  # fmt: skip
    for table, key, rows in (("work", "chunk_id", leased), ("behind", "session_id", summaries)):
        for id, before in rows:
            crashes, parks = count_crash(before, evidence=evidence)
            reason = crash_reason(crashes, summary=table == "behind")
            connection.execute(
                f"UPDATE {table} SET deaths = ?, reason = ?, state = ? WHERE {key} = ?",
                (crashes, reason, FAILED if parks else PENDING, id),
            )
    connection.execute(
        f"UPDATE work SET lease = NULL WHERE {_OF_SESSION} AND lease = ?", (session_id, token)
    )


def start_over(connection: sqlite3.Connection, session_uid: str) -> int:
    """Requeue the done chunks of a session, end its lease, and return the number of chunks."""
    (session_id,) = connection.execute(
        """UPDATE session SET renew = 1, state = '', lease = NULL, lease_until = 0 WHERE uid = ?
           RETURNING id""",
        (session_uid,),
    ).fetchone()
    connection.execute("DELETE FROM behind WHERE session_id = ?", (session_id,))
    connection.execute(f"UPDATE work SET lease = NULL WHERE {_OF_SESSION}", (session_id,))
    # The extractor stays: it tells the next derivation that there are facts to replace.
    return connection.execute(
        f"""UPDATE work SET state = 0, attempts = 0, outages = 0, deaths = 0, retry_at = 0,
              reason = NULL, since = ? WHERE {_OF_SESSION} AND state = {DONE}""",
        (to_micros(system_clock()), session_id),
    ).rowcount
