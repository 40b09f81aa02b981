"""``SQLiteQueue``: the enrichment queue of a SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from cognigraph.stores.records import Derivation, Failure, Lease
from cognigraph.stores.sqlite import (
    derive,
    due_summaries,
    read,
    replace,
    work,
)
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.times import to_micros


class SQLiteQueue:
    """See :class:`cognigraph.stores.protocols.EnrichmentQueue`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

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
        """Lease pending chunks of one session, or its summary."""
        with self._file.read() as connection:  # an idle worker must not take the write lock
            if not work.has_pending(connection):
                return None
        # A worker whose embedder was replaced must not lease chunks that it cannot complete.
        with self._file.write_vectors() as connection:
            return work.claim(
                connection,
                worker=worker,
                limit=limit,
                lease_for=lease_for,
                now=now,
                space=space,
                context=context,
                summaries=summaries,
            )

    def complete(self, lease: Lease, derivation: Derivation) -> bool:
        """Write a derivation if the lease still holds."""
        with self._file.write_vectors() as connection:
            if not work.holds(connection, lease):
                return False
            now = to_micros(self._file.clock())
            derive.write_derivation(connection, self._file.vectors, lease, derivation, now)
            if not derivation.held:
                work.release(connection, lease)
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
        """Return chunks to the queue after a failed attempt or an outage."""
        with self._file.write() as connection:
            if not work.holds(connection, lease):
                return False
            work.fail(
                connection, lease, reason, park_after=park_after, retry_at=retry_at, outage=outage
            )
            return True

    def extend(self, lease: Lease, until: datetime) -> bool:
        """Extend a lease."""
        with self._file.write() as connection:
            return work.extend(connection, lease, until)

    def release(self, lease: Lease) -> bool:
        """Return chunks to the queue unchanged."""
        with self._file.write() as connection:
            if not work.holds(connection, lease):
                return False
            work.release(connection, lease)
            return True

    def start_over(self, lease: Lease) -> bool:
        """Requeue the done chunks of a leased session."""
        with self._file.write() as connection:
            if not work.holds(connection, lease):
                return False
            replace.start_over(connection, lease.session_uid)
            return True

    def leases(self) -> dict[str, datetime]:
        """Tokens of the open leases, and when they expire."""
        with self._file.read() as connection:
            return work.leases(connection)

    def expire(self, token: str, until: datetime) -> None:
        """End the lease of a worker that crashed."""
        with self._file.write() as connection:
            work.expire(connection, token, until)

    def retry_failed(self, space: str | None = None) -> int:
        """Make parked chunks and summaries pending again."""
        with self._file.write() as connection:
            return work.retry_failed(connection, space)

    def failures(self, space: str) -> list[Failure]:
        """Chunks and summaries whose last attempt failed."""
        with self._file.read() as connection:
            return work.failures(connection, space)

    def extractors(self, space: str) -> dict[str, int]:
        """The number of done chunks of each extractor."""
        return self._file.query(space, {}, replace.extractors)

    def redo(self, space: str, extractors: Sequence[str]) -> int:
        """Requeue the sessions that these extractors have processed."""
        with self._file.write() as connection:
            space_id = read.space_id(connection, space)
            return 0 if space_id is None else replace.requeue(connection, space_id, extractors)

    def queued(self, space: str) -> list[str]:
        """Uids of sessions with pending chunks or a due summary."""
        return self._file.query(space, [], work.queued)

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        """Uids of the sessions with a done chunk of one of these extractors."""
        return self._file.query(space, [], lambda c, s: replace.read_by(c, s, extractors))

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        """All pending chunks of a session; with ``again``, as if it had been requeued."""
        with self._file.read() as connection:
            return work.peek(connection, session_uid, context, again)

    def pending(self, space: str | None = None) -> int:
        """Chunks that are pending or leased."""
        with self._file.read() as connection:
            return work.pending(connection, space)

    def due_summaries(self, space: str | None = None) -> int:
        """Number of sessions whose summary is due."""
        with self._file.read() as connection:
            return due_summaries.pending(connection, space)

    def longest_wait(self, space: str | None = None) -> float:
        """Seconds for which the oldest pending chunk has been pending."""
        with self._file.read() as connection:
            return work.longest_wait(connection, space)
