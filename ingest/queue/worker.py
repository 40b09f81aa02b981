"""``BackgroundWorker``: enriches in the background, at once or after a conversation has paused."""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Thread

from cognigraph.errors import StoreError
from cognigraph.ingest.extraction import Extractor, Pausing
from cognigraph.ingest.queue.debounce import Debounce
from cognigraph.ingest.queue.enricher import Enricher
from cognigraph.settings import EnrichSettings

logger = logging.getLogger("cognigraph.enrich")


@dataclass(frozen=True, slots=True)
class Chore:
    """What a worker does beside the queue, and how often."""

    work: Callable[[], None]
    every: timedelta


class BackgroundWorker:
    """A daemon thread that enriches whenever there is work, or after a pause in new messages.

    The length of the pause is ``settings.settle``, or else ``settle`` of a
    :class:`~cognigraph.ingest.extraction.Pausing` extractor. Work that an earlier process left
    pending is done first. A ``chore`` is done at the start and at intervals, between batches.
    """

    def __init__(
        self,
        enricher: Enricher,
        settings: EnrichSettings,
        extractor: Extractor,
        chore: Chore | None = None,
    ) -> None:
        self._enricher = enricher
        self._chore = chore
        self._chore_due = time.monotonic()
        self._poll = settings.idle_poll.total_seconds()
        settle = settings.settle
        if settle is None:
            settle = extractor.settle if isinstance(extractor, Pausing) else timedelta(0)
        self._debounce = Debounce(settle.total_seconds(), settings.batch) if settle else None
        self._hurried: set[str | None] = set()
        self._quota = 0
        self._wake = Event()
        self._stop = Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        if self._debounce is not None:
            self._quota = self._enricher.waiting().total
        self._thread = Thread(target=self._run, name="cognigraph-enrich", daemon=True)
        self._thread.start()
        atexit.register(self.stop, 0.0)  # for programs that do not close their memory

    def notify(self) -> None:
        """Tell the worker that there is new work."""
        if self._debounce is None:
            self._wake.set()

    def hurry(self, space: str | None) -> None:
        """Enrich this space, or with ``None`` all spaces, now, because a caller waits for it."""
        if self._debounce is not None:
            self._hurried.add(space)
        self._wake.set()

    def stop(self, timeout: float = 10.0) -> None:
        """Stop the thread after its current batch; the remaining work stays pending in the store.

        A batch that takes longer than ``timeout`` seconds returns to the queue unchanged.
        """
        atexit.unregister(self.stop)
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout)
        self._enricher.release_all()

    def _run(self) -> None:
        work = self._step if self._debounce is None else self._settled_step
        while not self._stop.is_set():
            try:
                self._do_chore()
                busy = work()
            except StoreError as error:
                if not self._stop.is_set():
                    logger.warning("enrichment waits for the store: %s", error)
                busy = False
            if not busy:
                self._wake.wait(self._poll)
                self._wake.clear()

    def _do_chore(self) -> None:
        if self._chore is not None and time.monotonic() >= self._chore_due:
            self._chore_due = time.monotonic() + self._chore.every.total_seconds()
            self._chore.work()

    def _step(self) -> bool:
        busy = False
        for _ in self._enricher.steps(None, self._stop):
            busy = True
            self._do_chore()
        return busy

    def _settled_step(self) -> bool:
        """Work for a waiting caller, or else on the chunks that were pending after the pause."""
        assert self._debounce is not None
        if self._hurried:
            return self._enricher.step(self._hurried.pop()) is not None
        if self._quota <= 0:
            pending = self._enricher.waiting().total
            if not self._debounce.is_ready(pending, time.monotonic()):
                return False
            self._quota = pending
        step = self._enricher.step()
        self._quota = self._quota - max(1, step.chunks) if step else 0
        if self._quota <= 0:
            self._debounce.started(self._enricher.waiting().total, time.monotonic())
        return step is not None
