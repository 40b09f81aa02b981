"""``Heartbeat``: extends a lease while its work is in progress.

A model call may take longer than a lease lasts. Without a heartbeat, another worker would take over
and pay for the same chunks again. A worker that crashes sends no heartbeat, so its lease expires.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from threading import Event, Thread
from types import TracebackType
from typing import Self

from cognigraph.errors import StoreError
from cognigraph.stores.protocols import Store
from cognigraph.stores.records import Lease
from cognigraph.times import Clock

logger = logging.getLogger("cognigraph.enrich")


class Heartbeat:
    """Extends a lease by ``length`` every third of ``length``, while the ``with`` block runs."""

    def __init__(self, store: Store, lease: Lease, length: timedelta, clock: Clock) -> None:
        self._store = store
        self._lease = lease
        self._length = length
        self._clock = clock
        self._over = Event()
        self._thread = Thread(target=self._beat, name="cognigraph-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # The thread ends by itself; to join it while it waits for the store would delay the work.
        self._over.set()

    def _beat(self) -> None:
        while not self._over.wait(self._length.total_seconds() / 3):
            try:
                if not self._store.queue.extend(self._lease, self._clock() + self._length):
                    return
            except StoreError as error:
                logger.warning("lease of session %r not extended: %s", self._lease.session, error)
