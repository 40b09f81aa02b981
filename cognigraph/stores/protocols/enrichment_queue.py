"""The role that hands out chunks to be enriched and stores what was derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from cognigraph.stores.records import (
    Derivation,
    Failure,
    Lease,
)


class EnrichmentQueue(Protocol):
    """The enrichment queue: pending chunks, the leases on them, and the results of extraction."""

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
        """Lease up to ``limit`` pending chunks of one session, oldest first; ``None`` if none wait.

        A session has at most one lease at a time; chunks under an expired lease count as pending.
        Each failed attempt divides the batch size by four, and a batch ends before the first chunk
        that failed more often, so that the chunk at fault is soon alone. A chunk during which two
        processes crashed is alone at once. The notes of a session that is extracted again have no
        keys and themes.

        With ``summaries``, a summary that is due can be leased too, in a lease without chunks. It
        comes before the next chunks of its own session (unless it met many outages) and after the
        chunks of all other sessions.
        """
        ...

    def complete(self, lease: Lease, derivation: Derivation) -> bool:
        """Write a derivation and mark the chunks done; False, changing nothing, if lease is lost.

        Duplicates are found by exact key: an entity or triple that is already stored gains evidence
        and its observed interval widens; the earliest spelling is displayed. Everything that was
        extracted from these chunks before is removed: their evidence, mentions and aliases, triples
        left without evidence, and entities that nothing refers to, except those that a user merged
        or kept apart. Entities are resolved (:mod:`cognigraph.resolution.incremental`) in the same
        transaction. A derivation that is ``held`` keeps its lease.
        """
        ...

    def fail(
        self,
        lease: Lease,
        reason: str,
        *,
        park_after: int | None,
        retry_at: datetime,
        outage: bool = False,
    ) -> bool:
        """Return the chunks to the queue: pending again at ``retry_at``, or parked.

        A chunk is parked after ``park_after`` attempts; ``None`` never parks. An ``outage`` is
        counted separately and not as an attempt. The whole session then waits for ``retry_at``, so
        that no chunk is extracted before an earlier one. A lease without chunks is for a summary,
        and it is the summary that failed.
        """
        ...

    def extend(self, lease: Lease, until: datetime) -> bool:
        """Extend a lease; False if it is lost."""
        ...

    def release(self, lease: Lease) -> bool:
        """Return the chunks to the queue unchanged; False if the lease is lost."""
        ...

    def leases(self) -> dict[str, datetime]:
        """Tokens of open leases (a token begins with the worker's name) and when they expire."""
        ...

    def expire(self, token: str, until: datetime) -> None:
        """End the lease of a worker that crashed, so that its chunks can be claimed at once.

        A lease that was extended past ``until`` is left alone. The crash counts against the leased
        chunks, or against the summary; :func:`batch_size.count_crash` decides when they are parked.
        """
        ...

    def retry_failed(self, space: str | None = None) -> int:
        """Make parked chunks and summaries pending again; return how many."""
        ...

    def failures(self, space: str) -> list[Failure]:
        """Chunks whose last attempt failed, in order of arrival, then such summaries."""
        ...

    def extractors(self, space: str) -> dict[str, int]:
        """Names of the extractors of the space's done chunks, with the number of chunks of each."""
        ...

    def redo(self, space: str, extractors: Sequence[str]) -> int:
        """Requeue the done chunks of these extractors and return how many were requeued.

        A session is requeued as a whole, because its summary grows with its chunks, and its lease
        ends. The facts extracted from a chunk stay until the chunk is done again.
        """
        ...

    def start_over(self, lease: Lease) -> bool:
        """End a lease and requeue every done chunk of its session, to be extracted in order.

        False, changing nothing, if the lease is lost. As with :meth:`redo`, the facts extracted
        from a chunk stay until the chunk is done again.
        """
        ...

    def queued(self, space: str) -> list[str]:
        """Uids of sessions with pending chunks, oldest chunk first, then those due a summary."""
        ...

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        """Uids of the sessions that :meth:`redo` would make pending."""
        ...

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        """All pending chunks of a session in the form of a lease, without taking one.

        None if nothing waits. With ``again``, the result is as if the session had been requeued.
        """
        ...

    def pending(self, space: str | None = None) -> int:
        """Chunks that are pending or leased."""
        ...

    def due_summaries(self, space: str | None = None) -> int:
        """Number of sessions whose summary is due."""
        ...

    def longest_wait(self, space: str | None = None) -> float:
        """Seconds for which the oldest pending chunk has been pending, leased or not; 0 if none is.

        Measured by the clock of the machine or the server, as a memory's own clock may be any.
        """
        ...
