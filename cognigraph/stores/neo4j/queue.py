"""The durable queue of chunks to enrich: states on chunks, leases on sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from cognigraph.model import Theme
from cognigraph.stores.batch_size import MOST_DEATHS, PATIENCE, death_reason
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.records import Backlog, Failure, Lease, SessionNotes, WorkChunk
from cognigraph.times import from_micros, to_micros

_MOST_TRIES = 100
_NEVER = 1 << 62


def claim(
    connection: Connection,
    *,
    worker: str,
    limit: int,
    lease_for: timedelta,
    now: datetime,
    space: str | None,
    context: int,
    summaries: bool,
) -> Lease | None:
    """Take the session of the oldest pending chunk; see ``Store.claim``."""
    token, until = f"{worker}:{uuid4().hex}", now + lease_for
    chunks = {"limit": limit, "context": context}
    for _ in range(_MOST_TRIES):
        # A read finds the session, so that idle workers lock nothing; another worker may be
        # faster to lock it, then the next session is tried.
        if space is None:
            found = connection.row("queue/oldest", now=now, patience=PATIENCE)
        else:
            parameters = {"space": space, "now": now, "patience": PATIENCE}
            found = connection.row("queue/oldest_of_space", **parameters)
        if found is None and summaries:
            found = connection.row("queue/oldest_behind", space=space, now=now)
        if found is None:
            return None
        session, is_behind = found
        held = {"session": session, "token": token, "now": now, "until": until}
        if summaries and is_behind:
            row = _take(connection, "queue/claim_summary", **held)
        else:
            row = _take(connection, "queue/claim", **held, **chunks)
        if row is not None:
            return _lease(row, session_uid=session, token=token, expires=until)
    return None


def _take(connection: Connection, statement: str, **parameters: Any) -> Row | None:
    def take(tx: Transaction) -> Row | None:
        # A worker with an embedder of the past must not hold what it cannot finish.
        tx.check_generation()
        return tx.row(statement, **parameters)

    return connection.write(take)


def _lease(row: Row, *, session_uid: str, token: str, expires: datetime) -> Lease:
    space, session, version, state, chunks, before, keys, themes, backlog, renew = row
    if renew:  # what its keys and themes say is to be replaced, not gone on from
        keys, themes = [], []
    return Lease(
        token=token,
        space=space,
        session=session,
        session_uid=session_uid,
        chunks=tuple(_work_chunk(session, chunk) for chunk in chunks),
        before=tuple(_work_chunk(session, chunk) for chunk in reversed(before)),
        notes=SessionNotes(
            version,
            tuple((name, weight) for name, weight in keys),
            tuple(Theme(title, summary) for title, summary in themes),
            state or "",
            _backlog(*backlog),
        ),
        expires=expires,
    )


def _backlog(state: str | None, attempts: int | None, outages: int | None) -> Backlog | None:
    if state is None:
        return None
    return Backlog(attempts or 0, outages or 0, parked=state == "failed")


def _work_chunk(session: str, row: Row) -> WorkChunk:
    uid, message_id, speaker, at, text, *counts = row
    return WorkChunk(uid, message_id, session, speaker, from_micros(at), text, *counts)


def queued(connection: Connection, space: str) -> list[str]:
    """Sessions with pending chunks, in the order of their oldest, then others that are behind."""
    rows = connection.rows("queue/queued", space=space)
    rows += connection.rows("queue/queued_summaries", space=space)
    return list(dict.fromkeys(uid for (uid,) in rows))


def peek(connection: Connection, session_uid: str, context: int, again: bool) -> Lease | None:
    """A session's pending chunks, waiting for a retry or not; with ``again`` the done ones too.

    None where neither chunks nor a summary wait.
    """
    states = ["pending", "done"] if again else ["pending"]
    row = connection.row("queue/peek", session=session_uid, context=context, states=states)
    if row is None:
        return None
    lease = _lease(row, session_uid=session_uid, token="", expires=from_micros(0))
    return replace(lease, notes=SessionNotes(lease.notes.version)) if again else lease


def fail(
    connection: Connection,
    lease: Lease,
    reason: str,
    *,
    park_after: int | None,
    retry_at: datetime,
    outage: bool,
) -> bool:
    """Count the failed attempt, or the outage, of each chunk, or of the summary; end the lease."""
    parameters = {
        "session": lease.session_uid,
        "token": lease.token,
        "reason": reason,
        "park_after": _NEVER if park_after is None else park_after,
        "retry_at": retry_at,
        "outage": outage,
    }
    chunks = sorted(chunk.uid for chunk in lease.chunks)

    def work(tx: Transaction) -> Row | None:
        if not chunks:
            return tx.row("queue/fail_summary", **parameters)
        return tx.row("queue/fail", chunks=chunks, **parameters)

    return connection.write(work) is not None


def release(connection: Connection, lease: Lease) -> bool:
    """Give the chunks back as they were; False if the lease is lost."""
    parameters = {"session": lease.session_uid, "token": lease.token}
    return connection.write(lambda tx: tx.row("queue/release", **parameters)) is not None


def extend(connection: Connection, lease: Lease, until: datetime) -> bool:
    """Hold a lease longer; False if it is lost."""
    parameters = {"session": lease.session_uid, "token": lease.token, "until": until}
    return connection.write(lambda tx: tx.row("queue/extend", **parameters)) is not None


def leases(connection: Connection) -> dict[str, datetime]:
    """Tokens of the leases that were not given back, and when they run out."""
    return {token: from_micros(until) for token, until in connection.rows("queue/leases")}


def expire(connection: Connection, token: str, until: datetime) -> None:
    """End the lease of a worker that died, and count the death against what it held."""
    deaths = range(1, MOST_DEATHS + 1)
    parameters = {
        "token": token,
        "until": to_micros(until),
        "most": MOST_DEATHS,
        "reasons": [death_reason(number) for number in deaths],
        "summary_reasons": [death_reason(number, summary=True) for number in deaths],
    }
    connection.write(lambda tx: tx.rows("queue/expire", **parameters))


def retry_failed(connection: Connection, space: str | None) -> int:
    """Make parked chunks and summaries pending again."""

    def work(tx: Transaction) -> int:
        if space is None:
            chunks = tx.rows("queue/retry")
        else:
            chunks = tx.rows("queue/retry_of_space", space=space)
        return sum(row[0] for row in chunks + tx.rows("queue/retry_summaries", space=space))

    return connection.write(work)


def failures(connection: Connection, space: str) -> list[Failure]:
    """Chunks and summaries whose last attempt failed, parked or waiting for the next try."""
    rows = connection.rows("queue/failures", space=space)
    rows += connection.rows("queue/summary_failures", space=space)
    return [Failure(*row) for row in rows]


def pending(connection: Connection, space: str | None) -> int:
    """Chunks that are pending or leased."""
    if space is None:
        row = connection.row("queue/pending")
    else:
        row = connection.row("queue/pending_of_space", space=space)
    return int(row[0]) if row else 0


def behind(connection: Connection, space: str | None) -> int:
    """Sessions whose summary waits to be brought up."""
    row = connection.row("queue/behind", space=space)
    return int(row[0]) if row else 0


def extractors(connection: Connection, space: str) -> dict[str, int]:
    """Who has read the done chunks, and how many."""
    return {name: count for name, count in connection.rows("redo/extractors", space=space)}


def requeue(connection: Connection, space: str, names: Sequence[str]) -> int:
    """Make the done chunks of every session pending that one of these has read a part of."""

    def work(tx: Transaction) -> int:
        row = tx.row("redo/requeue", space=space, extractors=list(names))
        return int(row[0]) if row else 0

    return connection.write(work)


def read_by(connection: Connection, space: str, names: Sequence[str]) -> list[str]:
    """Sessions of which one of these has read a part."""
    rows = connection.rows("redo/sessions", space=space, extractors=list(names))
    return [uid for (uid,) in rows]
