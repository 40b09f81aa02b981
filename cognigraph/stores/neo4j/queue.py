"""``Neo4jQueue``: the enrichment queue of a Neo4j database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from cognigraph.arrays import Vector
from cognigraph.stores.batch_size import (
    MOST_CRASHES,
    PATIENCE,
    count_crash,
    crash_reason,
    is_evidence,
)
from cognigraph.stores.model_rows import backlog_of, theme_of, work_chunk
from cognigraph.stores.neo4j import derive
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.index.packed import packed_of_values, unpacked_properties
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.values import vector
from cognigraph.stores.records import (
    Derivation,
    Failure,
    Lease,
    SessionNotes,
    Unembedded,
    UnembeddedChunk,
    Waiting,
)
from cognigraph.text.terms import searched
from cognigraph.times import Clock, from_micros, to_micros

_MOST_TRIES = 100
_NEVER = 1 << 62
_OF_SPACE = ("chunk.space IS NOT NULL", "chunk.space = $space")


class Neo4jQueue:
    """See :class:`cognigraph.stores.protocols.EnrichmentQueue`."""

    def __init__(self, connection: Connection, indexes: OwnIndexes, clock: Clock) -> None:
        self._connection = connection
        self._indexes = indexes
        self._clock = clock
        self._last_leased = self._last_embedded = ""  # names of spaces

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
        token, until = f"{worker}:{uuid4().hex}", now + lease_for
        for _ in range(_MOST_TRIES):
            # A read finds the session, so that idle workers lock nothing. If another worker leases
            # it first, the next session is tried.
            found = self._oldest(space, now)
            if found is None and summaries:
                named = {"space": space, "after": self._last_leased, "now": now}
                found = self._connection.row("queue/oldest_behind", **named)
            if found is None:
                return None
            session, space_served, is_summary_due = found
            if space is None:
                self._last_leased = space_served
            held = {"session": session, "token": token, "now": now, "until": until}
            row = _take(
                self._connection,
                "queue/claim_summary" if summaries and is_summary_due else "queue/claim",
                **held, limit=limit, context=context,
            )  # fmt: skip
            if row is not None:
                return _lease(row, session_uid=session, token=token, expires=until)
        return None

    def _oldest(self, space: str | None, now: datetime) -> Row | None:
        """The session of the oldest pending chunk of a space, or of the next that has one."""
        named = {"now": now, "patience": PATIENCE}
        if space is not None:
            own = ("chunk.space > $after", "chunk.space = $space")
            return self._connection.row("queue/oldest", own, space=space, until=None, **named)
        last = self._last_leased
        found = self._connection.row("queue/oldest", after=last, until=None, **named)
        if found is None and last:
            found = self._connection.row("queue/oldest", after="", until=last, **named)
            if found is None:
                self._last_leased = ""  # while nothing waits, one statement says so
        return found

    def complete(self, lease: Lease, derivation: Derivation) -> bool:
        totals = derive.complete(self._connection, lease, derivation, self._clock())
        if totals is None:
            return False
        self._indexes.grow(lease.space, "Triple", totals.triples, totals.triples_indexed)
        self._indexes.grow(lease.space, "Theme", totals.themes, totals.themes_indexed)
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

        return self._connection.write(work) is not None

    def extend(self, lease: Lease, until: datetime) -> bool:
        return self._extend(lease, until)

    def release(self, lease: Lease) -> bool:
        return self._extend(lease, None)

    def _extend(self, lease: Lease, until: datetime | None) -> bool:
        parameters = {"session": lease.session_uid, "token": lease.token, "until": until}
        return self._connection.write(lambda tx: tx.row("queue/extend", **parameters)) is not None

    def start_over(self, lease: Lease) -> bool:
        return bool(
            self._connection.write(lambda tx: start_over(tx, [lease.session_uid], lease.token))
        )

    def leases(self) -> dict[str, datetime]:
        return {token: from_micros(until) for token, until in self._connection.rows("queue/leases")}

    def expire(self, token: str, until: datetime) -> None:
        evidence = is_evidence(token, until)
        counted = [count_crash(before, evidence=evidence) for before in range(MOST_CRASHES)]
        parameters = {
            "token": token,
            "until": to_micros(until),
            "counted": [[crashes, "failed" if parks else "pending"] for crashes, parks in counted],
            "reasons": [crash_reason(crashes) for crashes, _ in counted],
            "summary_reasons": [crash_reason(crashes, summary=True) for crashes, _ in counted],
        }
        self._connection.write(lambda tx: tx.rows("queue/expire", **parameters))

    def retry_failed(self, space: str | None = None) -> int:

        def work(tx: Transaction) -> int:
            chunks = tx.rows("queue/retry", *_only(space), space=space)
            return sum(row[0] for row in chunks + tx.rows("queue/retry_summaries", space=space))

        return self._connection.write(work)

    def failures(self, space: str) -> list[Failure]:
        rows = self._connection.rows("queue/failures", space=space)
        rows += self._connection.rows("queue/summary_failures", space=space)
        return [Failure(*row) for row in rows]

    def extractors(self, space: str) -> dict[str, int]:
        return {
            name: count for name, count in self._connection.rows("redo/extractors", space=space)
        }

    def redo(self, space: str, extractors: Sequence[str]) -> int:

        def work(tx: Transaction) -> int:
            rows = tx.rows("redo/sessions", space=space, extractors=list(extractors))
            return sum(start_over(tx, [uid for (uid,) in rows]))

        return self._connection.write(work)

    def queued(self, space: str) -> list[str]:
        rows = self._connection.rows("queue/queued", space=space)
        rows += self._connection.rows("queue/queued_summaries", space=space)
        return list(dict.fromkeys(uid for (uid,) in rows))

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        rows = self._connection.rows("redo/sessions", space=space, extractors=list(extractors))
        return [uid for (uid,) in rows]

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        """A session's pending chunks, due for a retry or not; with ``again`` the done ones too.

        None if neither chunks nor a summary wait.
        """
        states = ["pending", "done"] if again else ["pending"]
        row = self._connection.row(
            "queue/peek", session=session_uid, context=context, states=states
        )
        if row is None:
            return None
        lease = _lease(row, session_uid=session_uid, token="", expires=from_micros(0))
        return replace(lease, notes=SessionNotes(lease.notes.version)) if again else lease

    def waiting(self, space: str | None = None) -> Waiting:
        row = self._connection.row("queue/waiting", *_only(space), space=space)
        return Waiting(*(row or (0, 0, 0)))

    def unembedded(self, limit: int, space: str | None = None) -> Unembedded | None:
        named = {"space": space, "limit": limit}
        last = "" if space is not None else self._last_embedded
        row = self._connection.row("queue/unembedded", after=last, **named)
        if row is None and last:
            row = self._connection.row("queue/unembedded", after="", **named)
        if space is None:
            self._last_embedded = "" if row is None else row[0]
        if row is None:
            return None
        chunks = (UnembeddedChunk(uid, digest, searched(*texts)) for uid, digest, texts in row[1])
        return Unembedded(row[0], tuple(chunks))

    def write_vectors(self, space: str, chunks: Sequence[UnembeddedChunk], vectors: Vector) -> None:
        made = {chunk.uid: (chunk.digest, own) for chunk, own in zip(chunks, vectors, strict=True)}

        def write(tx: Transaction) -> None:
            tx.check_generation()
            names = unpacked_properties(self._connection.embedding)
            rows = []
            for uid, values in tx.rows(
                "queue/unembedded_values", uids=sorted(made), unpacked=names
            ):
                digest, own = made[uid]
                ranking = packed_of_values([*values[:-1], own], len(own))
                rows.append(
                    {"uid": uid, "digest": digest, "vector": vector(own), "ranking": ranking}
                )
            if rows:
                tx.rows("queue/write_vectors", rows=rows)

        self._connection.write(write)

    def longest_wait(self, space: str | None = None) -> float:
        row = self._connection.row("queue/longest_wait", space=space)
        return max(0.0, float(row[0])) if row else 0.0


def _only(space: str | None) -> tuple[tuple[str, str], ...]:
    """What to replace in a statement about the chunks of all spaces."""
    return () if space is None else (_OF_SPACE,)


def start_over(tx: Transaction, sessions: Iterable[str], token: str | None = None) -> list[int]:
    """Requeue the done chunks of sessions, and end their leases; how many chunks of each.

    With a ``token``, only of those that have this lease.
    """
    uids = sorted(sessions)
    rows = tx.rows("redo/start_over", sessions=uids, token=token) if uids else []
    return [count for (count,) in rows]


def _take(connection: Connection, statement: str, **parameters: Any) -> Row | None:
    def take(tx: Transaction) -> Row | None:
        # A worker whose embedder was replaced must not lease chunks that it cannot complete.
        tx.check_generation()
        return tx.row(statement, **parameters)

    return connection.write(take)


def _lease(row: Row, *, session_uid: str, token: str, expires: datetime) -> Lease:
    space, session, version, state, chunks, before, arrived, *notes, backlog, renew = row
    keys, themes = notes
    arrivals = {seq: place for seqs in arrived for place, seq in enumerate(seqs, 1)}
    if renew:  # the keys and themes are to be replaced, not extended
        keys, themes = [], []
    return Lease(
        token=token,
        space=space,
        session=session,
        session_uid=session_uid,
        chunks=tuple(work_chunk(session, chunk, arrivals) for chunk in chunks),
        before=tuple(work_chunk(session, chunk, {}) for chunk in reversed(before)),
        notes=SessionNotes(
            version,
            tuple((name, weight) for name, weight in keys),
            tuple(theme_of(*theme) for theme in themes),
            state or "",
            backlog_of(*backlog),
        ),
        expires=expires,
    )
