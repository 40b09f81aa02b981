"""``BackgroundWorker``: enriches in the background, at once or after a conversation has paused."""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Thread

from cognigraph.errors import StoreError
from cognigraph.ingest.extraction import Extractor
from cognigraph.ingest.queue.enricher import Enricher
from cognigraph.ingest.queue.lease import Debounce, longest_silence, settle_time
from cognigraph.ingest.queue.step import Step
from cognigraph.model.storage import WorkerState
from cognigraph.settings import EnrichSettings

logger = logging.getLogger("cognigraph.enrich")

_LOOKS = 10
"""How often an idle worker looks for messages that wait, within the time after which it says so."""
_MOST_PAUSE_DOUBLINGS = 6


@dataclass(frozen=True, slots=True)
class Chore:
    """What a worker does beside the queue, and how often."""

    work: Callable[[], None]
    every: timedelta


class BackgroundWorker:
    """A daemon thread that enriches whenever there is work, or after a pause in new messages.

    The length of the pause is ``settings.settle``, or else the extractor's. Work that an earlier
    process left pending is done first. A ``chore`` is done at the start and at intervals, between
    batches.

    Only :meth:`stop` ends the work for good. Whatever else ends it is logged and shown by
    :attr:`state`, and after a pause the work begins anew.
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
        settle = settle_time(settings, extractor)
        self._debounce = Debounce(settle, settings.batch) if settle else None
        self._limit = longest_silence(settings, extractor)
        self._restarts = 0
        self._failures = 0  # in a row
        self._fault: str | None = None
        self._forsaken: str | None = None
        self._begun: float | None = None  # when it began what it is at
        self._progress = self._looked = time.monotonic()
        self._hurried: set[str | None] = set()
        self._quota = 0
        self._wake = Event()
        self._stop = Event()
        self._thread: Thread | None = None

    @property
    def state(self) -> WorkerState:
        """How the work is going, as far as this process knows without asking the store."""
        return WorkerState(time.monotonic() - self._progress, self._restarts, self._problem())

    def _problem(self) -> str | None:
        if self._stop.is_set() or self._thread is None:
            return None
        if not self._thread.is_alive():  # such as in a process that was forked from this one
            return "the background worker does not run in this process"
        if self._fault is not None:
            return f"{self._fault}; the log has the reason"
        begun = self._begun
        busy = 0.0 if begun is None else time.monotonic() - begun
        if busy >= self._limit:
            return f"the background worker has been at one batch or sweep for {busy:,.0f} s"
        return self._forsaken

    def start(self) -> None:
        """Start the thread."""
        if self._debounce is not None:
            self._quota = self._enricher.waiting().total
        self._thread = Thread(target=self._run, name="cognigraph-enrich", daemon=True)
        self._thread.start()
        atexit.register(self.stop, 0.0)  # for programs that do not close their memory

    def notify(self, *, vectors: bool = False) -> None:
        """Tell the worker that there is new work; ``vectors`` are made without a pause."""
        if self._debounce is None or vectors:
            self._wake.set()

    def hurry(self, space: str | None) -> None:
        """Enrich this space, or with ``None`` all spaces, now, because a caller waits for it."""
        if self._debounce is not None:
            self._hurried.add(space)
        elif space is not None:
            self._enricher.hurry(space)
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
        while not self._stop.is_set():
            try:
                self._work()
            except BaseException as error:  # whatever it is, the work has to go on
                self._restarts += 1
                pause = self._poll * 2 ** min(self._failures, _MOST_PAUSE_DOUBLINGS)
                self._failures += 1
                self._fault = f"the background worker ended with a {type(error).__name__}"
                logger.error("%s; it begins anew in %g s", self._fault, pause, exc_info=error)
                self._begun = None
                self._stop.wait(pause)

    def _work(self) -> None:
        work = self._step if self._debounce is None else self._settled_step
        while not self._stop.is_set():
            self._begun = time.monotonic()
            try:
                self._do_chore()
                busy = work()
                self._failures, self._fault = 0, None
                if not busy:
                    self._begun = None
                    self._look()
            except StoreError as error:
                if not self._stop.is_set():
                    self._fault = (
                        f"the background worker waits for the store ({type(error).__name__})"
                    )
                    logger.warning("enrichment waits for the store: %s", error)
                busy = False
            if not busy:
                self._begun = None
                self._wake.wait(self._poll)
                self._wake.clear()

    def _steps(self, space: str | None, is_over: Callable[[], bool]) -> Iterator[Step]:
        """Yield what is done until nothing is ready, or ``is_over`` says so."""
        for step in self._enricher.steps(space, is_over):
            self._begun = time.monotonic()
            if step.error is None:
                self._progress, self._forsaken = self._begun, None
            yield step

    def _look(self) -> None:
        """Look now and then, while nothing is done, whether there are messages that wait."""
        now = time.monotonic()
        if now - max(self._progress, self._looked) >= self._limit / _LOOKS:
            self._looked = now
            self._forsaken = self._enricher.forsaken(self._limit)

    def _do_chore(self) -> None:
        if self._chore is not None and time.monotonic() >= self._chore_due:
            self._chore_due = time.monotonic() + self._chore.every.total_seconds()
            self._chore.work()

    def _step(self) -> bool:
        busy = False
        for _ in self._steps(None, self._stop.is_set):
            busy = True
            self._do_chore()
        return busy

    def _settled_step(self) -> bool:
        """Work for a waiting caller, or else on the chunks that were pending after the pause."""
        assert self._debounce is not None
        while not self._is_interrupted() and self._enricher.embed_waiting():
            self._begun = time.monotonic()
        if self._hurried:  # until a caller waits for another space
            space = self._hurried.pop()
            hurried = self._steps(space, lambda: self._is_interrupted(space))
            return sum(1 for _ in hurried) > 0
        if self._quota <= 0:
            pending = self._enricher.waiting().total
            if not self._debounce.is_ready(pending, time.monotonic()):
                return False
            self._quota = pending
        busy = False
        for step in self._steps(None, self._is_interrupted):
            busy = True
            self._quota -= max(1, step.chunks)
            if self._quota <= 0:
                break
        else:
            if not self._is_interrupted():
                self._quota = 0
        if self._quota <= 0:
            self._debounce.started(self._enricher.waiting().total, time.monotonic())
        return busy

    def _is_interrupted(self, *spaces: str | None) -> bool:
        """Whether the work is to end, or a caller waits for others than these spaces."""
        return self._stop.is_set() or not self._hurried.issubset(spaces)
