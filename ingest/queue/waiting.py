"""When a worker starts on what waits, and from when on its waiting is a fault.

A model that is called after every turn costs a call a turn. If it is called when a conversation
pauses, it costs one a pause and reads each turn together with its neighbours.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta

from cognigraph.ingest.extraction import Extractor, Pausing
from cognigraph.ingest.queue.lease import has_crashed
from cognigraph.settings import EnrichSettings
from cognigraph.stores.protocols import EnrichmentQueue
from cognigraph.times import Clock

PATIENCE = 8
"""While new chunks keep arriving, work is delayed by at most this multiple of the settle time."""


@dataclass(slots=True)
class Debounce:
    """Decides when work may start, from repeated counts of the pending chunks.

    Work may start when no chunk has arrived for ``settle`` seconds, when ``batch`` chunks are
    pending, or when the first has waited ``PATIENCE`` times ``settle``. Times are in seconds from
    any fixed origin.
    """

    settle: float
    batch: int
    _seen: int = 0
    _first: float = 0.0
    _newest: float = 0.0

    def is_ready(self, pending: int, now: float) -> bool:
        """Whether to start now; ``pending`` is the number of pending chunks."""
        if pending > self._seen:
            self._newest = now
            if self._seen == 0:
                self._first = now
        self._seen = pending
        if pending == 0:
            return False
        return (
            pending >= self.batch
            or now - self._newest >= self.settle
            or now - self._first >= PATIENCE * self.settle
        )

    def started(self, pending: int, now: float) -> None:
        """Record that work was done; ``pending`` chunks arrived meanwhile or wait for a retry."""
        self._seen = pending
        self._first = now


_LEASES = 5
"""Work that does not go on for as long as this many leases is stuck."""
_BETWEEN_BATCHES = 0.2
"""Seconds after which a worker that has just returned a lease surely has the next one."""


def settle_time(settings: EnrichSettings, extractor: Extractor) -> float:
    """Seconds without a new message after which a worker starts; with 0 it starts at once."""
    settle = settings.settle
    if settle is None:
        settle = extractor.settle if isinstance(extractor, Pausing) else timedelta(0)
    return settle.total_seconds()


def longest_silence(settings: EnrichSettings, extractor: Extractor) -> float:
    """Seconds after which something is wrong if there is work and none of it is done."""
    settle = settle_time(settings, extractor)
    return _LEASES * settings.lease.total_seconds() + PATIENCE * settle


def forsaken(queue: EnrichmentQueue, clock: Clock, limit: float) -> str | None:
    """A sentence if a chunk has been waiting for ``limit`` seconds and no worker has any work."""
    for pause in (_BETWEEN_BATCHES, 0.0):
        if queue.longest_wait() < limit or any(
            until > clock() and not has_crashed(token) for token, until in queue.leases().items()
        ):
            return None
        time.sleep(pause)
    return (
        f"messages have been waiting for more than {limit:,.0f} s to be enriched, and no worker "
        "has work in hand"
    )
