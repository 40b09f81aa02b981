"""Enrichment: claim, extract, derive, write; and the worker that does it in the background.

All state is in the store. A worker that dies leaves a lease that expires, a failing extractor
leaves its chunks pending with a reason, and a restart goes on from there.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Thread
from uuid import uuid4

from cognigraph.embed import CheckedEmbedder
from cognigraph.errors import CogniGraphError, ExtractionError, StoreError
from cognigraph.ingest.derive import derive
from cognigraph.ingest.extraction import Extraction, Extractor, Window
from cognigraph.ingest.settling import Settling
from cognigraph.settings import EnrichSettings
from cognigraph.stores.base import Derivation, Lease, Store
from cognigraph.times import Clock

logger = logging.getLogger("cognigraph.enrich")

_MOST_DOUBLINGS = 10


@dataclass(frozen=True, slots=True)
class Step:
    """What one lease came to."""

    space: str
    session: str
    chunks: int
    triples: int = 0
    rejected: int = 0
    error: str | None = None
    lost: bool = False


class Enricher:
    """Works off the queue one lease at a time. Safe to run in many threads and processes."""

    def __init__(
        self,
        store: Store,
        embedder: CheckedEmbedder,
        extractor: Extractor,
        settings: EnrichSettings,
        clock: Clock,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._extractor = extractor
        self._settings = settings
        self._clock = clock
        self._worker = f"{_host()}:{os.getpid()}:{uuid4().hex[:8]}"
        self._looked_for_dead = False

    def step(self, space: str | None = None) -> Step | None:
        """Enrich one batch of one session; None when nothing is ready."""
        settings = self._settings
        if not self._looked_for_dead:
            self._looked_for_dead = True
            self._expire_dead()
        lease = self._store.claim(
            worker=self._worker,
            limit=settings.batch,
            lease_for=settings.lease,
            now=self._clock(),
            space=space,
            context=settings.context,
        )
        if lease is None:
            return None
        try:
            derivation, rejected = self._derive(lease)
        except StoreError:
            raise
        except CogniGraphError as error:
            return self._give_back(lease, error)
        written = self._store.complete(lease, derivation)
        return Step(
            lease.space,
            lease.session,
            len(lease.chunks),
            triples=len(derivation.triples),
            rejected=rejected,
            lost=not written,
        )

    def _expire_dead(self) -> None:
        """Take over from workers of this machine that were killed, without waiting for them."""
        for token in self._store.leases():
            host, _, rest = token.partition(":")
            pid = rest.partition(":")[0]
            if host == _host() and pid.isdigit() and not _is_alive(int(pid)):
                self._store.expire(token)

    def _derive(self, lease: Lease) -> tuple[Derivation, int]:
        window = Window(lease.space, lease.session, lease.chunks, lease.before, lease.notes)
        uids = tuple(chunk.uid for chunk in lease.chunks)
        try:
            extraction = self._extractor.extract(window)
            if not isinstance(extraction, Extraction):
                raise TypeError(f"returned a {type(extraction).__name__}, not an Extraction")
            return derive(extraction, lease, self._extractor.name, self._embedder)
        except CogniGraphError:
            raise
        except Exception as error:  # any extractor may be plugged in here
            raise ExtractionError(
                f"{self._extractor.name}: {type(error).__name__}: {error}", chunks=uids
            ) from error

    def _give_back(self, lease: Lease, error: CogniGraphError) -> Step:
        settings = self._settings
        tries = max(chunk.attempts for chunk in lease.chunks) + 1
        wait: timedelta = settings.retry_after * 2 ** min(tries - 1, _MOST_DOUBLINGS)
        park_after = settings.park_after
        if isinstance(error, ExtractionError) and not error.is_retryable:
            park_after = 0
        logger.warning(
            "enrichment of %d chunks of session %r failed (attempt %d): %s",
            len(lease.chunks), lease.session, tries, error,
        )  # fmt: skip
        self._store.fail(lease, str(error), park_after=park_after, retry_at=self._clock() + wait)
        return Step(lease.space, lease.session, len(lease.chunks), error=str(error))

    def drain(
        self, space: str | None = None, on_step: Callable[[Step], None] | None = None
    ) -> list[Step]:
        """Work until nothing is ready (chunks waiting for a retry stay)."""
        steps = []
        while step := self.step(space):
            steps.append(step)
            if on_step is not None:
                on_step(step)
        return steps


def _host() -> str:
    return socket.gethostname().replace(":", "-")


def _is_alive(pid: int) -> bool:
    if os.name != "posix":  # signal 0 is a question only there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class BackgroundWorker:
    """A daemon thread that enriches whenever there is work, or once it has settled.

    ``settle`` of the settings, else of the extractor (an optional ``timedelta``), says how long
    nothing new must have come; what was left by an earlier process is worked off at the start.
    """

    def __init__(
        self, enricher: Enricher, settings: EnrichSettings, store: Store, extractor: Extractor
    ) -> None:
        self._enricher = enricher
        self._store = store
        self._poll = settings.idle_poll.total_seconds()
        settle = settings.settle
        if settle is None:
            settle = getattr(extractor, "settle", timedelta(0))
        self._settling = Settling(settle.total_seconds(), settings.batch) if settle else None
        self._hurried: set[str] = set()
        self._quota = 0
        self._wake = Event()
        self._stop = Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        if self._settling is not None:
            self._quota = self._store.pending()
        self._thread = Thread(target=self._run, name="cognigraph-enrich", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """There is new work."""
        if self._settling is None:
            self._wake.set()

    def hurry(self, space: str) -> None:
        """Somebody waits for this space: work on it now, settled or not."""
        if self._settling is not None:
            self._hurried.add(space)
        self._wake.set()

    def stop(self, timeout: float = 10.0) -> None:
        """Finish the batch in hand and end; what is left stays pending in the store."""
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        work = self._step if self._settling is None else self._settled_step
        while not self._stop.is_set():
            try:
                busy = work()
            except StoreError as error:
                if not self._stop.is_set():
                    logger.warning("enrichment waits for the store: %s", error)
                busy = False
            if not busy:
                self._wake.wait(self._poll)
                self._wake.clear()

    def _step(self) -> bool:
        return self._enricher.step() is not None

    def _settled_step(self) -> bool:
        """Work for who waits; else on as many chunks as waited when things had settled."""
        assert self._settling is not None
        if self._hurried:
            return self._enricher.step(self._hurried.pop()) is not None
        if self._quota <= 0:
            pending = self._store.pending()
            if not self._settling.is_ready(pending, time.monotonic()):
                return False
            self._quota = pending
        step = self._enricher.step()
        self._quota = self._quota - step.chunks if step else 0
        if self._quota <= 0:
            self._settling.started(self._store.pending(), time.monotonic())
        return step is not None
