"""The enrichment queue of a memory whose spaces are in several databases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import count

from cognigraph.stores.groups import Groups
from cognigraph.stores.protocols import EnrichmentQueue
from cognigraph.stores.records import Derivation, Failure, Lease


class DividedQueue:
    """See :class:`cognigraph.stores.protocols.EnrichmentQueue`.

    Work on all spaces starts with another database each time, so that none of them waits for the
    others to have nothing left.
    """

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._turn = count()

    def _of(self, space: str) -> EnrichmentQueue:
        return self._groups.of(space).queue

    def _shares(self, space: str | None) -> list[tuple[EnrichmentQueue, str | None]]:
        if space is not None:
            return [(self._of(space), space)]
        return [(store.queue, own) for store, own in self._groups.shares()]

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
        """Lease work of the first database that has some."""
        shares = self._shares(space)
        start = next(self._turn) % len(shares) if shares else 0
        for queue, own in shares[start:] + shares[:start]:
            lease = queue.claim(
                worker=worker, limit=limit, lease_for=lease_for, now=now, space=own,
                context=context, summaries=summaries,
            )  # fmt: skip
            if lease is not None:
                return lease
        return None

    def complete(self, lease: Lease, derivation: Derivation) -> bool:
        """Write a derivation."""
        return self._of(lease.space).complete(lease, derivation)

    def fail(
        self,
        lease: Lease,
        reason: str,
        *,
        park_after: int | None,
        retry_at: datetime,
        outage: bool = False,
    ) -> bool:
        """Return the chunks to the queue."""
        return self._of(lease.space).fail(
            lease, reason, park_after=park_after, retry_at=retry_at, outage=outage
        )

    def extend(self, lease: Lease, until: datetime) -> bool:
        """Extend a lease."""
        return self._of(lease.space).extend(lease, until)

    def release(self, lease: Lease) -> bool:
        """Return the chunks unchanged."""
        return self._of(lease.space).release(lease)

    def leases(self) -> dict[str, datetime]:
        """Open leases of all databases."""
        return {
            token: until
            for _, store in self._groups.recent()
            for token, until in store.queue.leases().items()
        }

    def expire(self, token: str, until: datetime) -> None:
        """End a lease, in whichever database it is."""
        for _, store in self._groups.opened():
            store.queue.expire(token, until)

    def retry_failed(self, space: str | None = None) -> int:
        """Make parked work pending again."""
        return sum(queue.retry_failed(own) for queue, own in self._shares(space))

    def failures(self, space: str) -> list[Failure]:
        """Failures of a space."""
        return self._of(space).failures(space)

    def extractors(self, space: str) -> dict[str, int]:
        """Extractors of a space's chunks."""
        return self._of(space).extractors(space)

    def redo(self, space: str, extractors: Sequence[str]) -> int:
        """Requeue chunks of a space."""
        return self._of(space).redo(space, extractors)

    def start_over(self, lease: Lease) -> bool:
        """Requeue a session from its first chunk."""
        return self._of(lease.space).start_over(lease)

    def queued(self, space: str) -> list[str]:
        """Sessions of a space that wait."""
        return self._of(space).queued(space)

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        """Sessions of a space that were read by some extractors."""
        return self._of(space).read_by(space, extractors)

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        """What waits of a session, in whichever database it is."""
        for _, store in self._groups.all():
            lease = store.queue.peek(session_uid, context=context, again=again)
            if lease is not None:
                return lease
        return None

    def pending(self, space: str | None = None) -> int:
        """Chunks that wait."""
        return sum(queue.pending(own) for queue, own in self._shares(space))

    def due_summaries(self, space: str | None = None) -> int:
        """Summaries that are due."""
        return sum(queue.due_summaries(own) for queue, own in self._shares(space))

    def longest_wait(self, space: str | None = None) -> float:
        """The longest wait of all databases."""
        return max((queue.longest_wait(own) for queue, own in self._shares(space)), default=0.0)
