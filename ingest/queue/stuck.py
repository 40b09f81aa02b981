"""When it is reported that messages wait and nothing is done about it."""

from __future__ import annotations

import time
from datetime import timedelta

from cognigraph.ingest.extraction import Extractor, Pausing
from cognigraph.ingest.queue.debounce import PATIENCE
from cognigraph.ingest.queue.worker_names import has_crashed
from cognigraph.settings import EnrichSettings
from cognigraph.stores.protocols import EnrichmentQueue
from cognigraph.times import Clock

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
