"""Enrichment: claim, extract, derive, write; and the worker that does it in the background.

All state is in the store. A worker that dies leaves a lease that expires, a failing extractor
leaves its chunks pending with a reason, and a restart goes on from there.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event, Thread
from uuid import uuid4

from cognigraph.embed import CheckedEmbedder
from cognigraph.errors import CogniGraphError, ExtractionError, StoreError
from cognigraph.ingest.derive import derive
from cognigraph.ingest.estimate import Estimate, estimate, window_of
from cognigraph.ingest.extraction import Extraction, Extractor
from cognigraph.ingest.heartbeat import Heartbeat
from cognigraph.ingest.limits import Limits
from cognigraph.ingest.settling import Settling
from cognigraph.ingest.verdicts import judge
from cognigraph.model import Usage
from cognigraph.settings import EnrichSettings
from cognigraph.stores.base import Store
from cognigraph.stores.rows import Derivation, Lease
from cognigraph.times import Clock

logger = logging.getLogger("cognigraph.enrich")

_MOST_PAUSE_DOUBLINGS = 5
_MOST_FAILURES = 12
"""So many batches in a row are no coincidence: an extractor that reads nothing is left alone."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one lease came to.

    ``rejected`` says of each thing left out why (``reason: what``), ``usage`` what the extractor
    spent, failed or not. ``error`` is why nothing was written; ``lost`` that another worker took
    over; ``stopped`` why the run ends here though chunks may be left.
    """

    space: str
    session: str
    chunks: int
    triples: int = 0
    rejected: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    lost: bool = False
    stopped: str | None = None


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
        self._failures = 0
        self._after_outage = False
        self._rests_until: datetime | None = None
        self.halted: str | None = None

    def step(self, space: str | None = None) -> Step | None:
        """Enrich one batch of one session; None when nothing is ready, or during an outage.

        ``halted`` says afterwards which budget ended the work, if one did.
        """
        settings = self._settings
        if not self._looked_for_dead:
            self._looked_for_dead = True
            self._expire_dead()
        if self._rests_until is not None and self._clock() < self._rests_until:
            return None
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
            with Heartbeat(self._store, lease, settings.lease, self._clock):
                derivation, rejected, usage = self._derive(lease)
        except StoreError:
            raise
        except _Spent as spent:
            return self._give_back(lease, spent.error, spent.usage)
        except CogniGraphError as error:
            return self._give_back(lease, error, getattr(error, "usage", None) or Usage())
        except BaseException:  # interrupted: the next worker need not wait for the lease
            with suppress(StoreError):
                self._store.release(lease)
            raise
        self._failures, self._after_outage = 0, False
        self._rests_until = self.halted = None
        written = self._store.complete(lease, derivation)
        for reason in rejected:
            logger.info("left out of session %r: %s", lease.session, reason)
        return Step(
            lease.space,
            lease.session,
            len(lease.chunks),
            triples=len(derivation.triples),
            rejected=rejected,
            usage=usage,
            lost=not written,
        )

    def _expire_dead(self) -> None:
        """Take over from workers of this machine that were killed, without waiting for them."""
        for token in self._store.leases():
            host, _, rest = token.partition(":")
            pid = rest.partition(":")[0]
            if host == _host() and pid.isdigit() and not _is_alive(int(pid)):
                self._store.expire(token)

    def _derive(self, lease: Lease) -> tuple[Derivation, tuple[str, ...], Usage]:
        """Read what is new in the chunks; those that only repeat the memory teach nothing."""
        name, keep = self._extractor.name, self._settings.keep_revisions
        chunks = tuple(chunk for chunk in lease.chunks if chunk.text.strip())
        if not chunks:
            return Derivation(name, keep_revisions=keep), (), Usage()
        lease = replace(lease, chunks=chunks)
        try:
            extraction = self._extractor.extract(window_of(lease))
            if not isinstance(extraction, Extraction):
                raise TypeError(f"returned a {type(extraction).__name__}, not an Extraction")
        except CogniGraphError:
            raise
        except Exception as error:  # any extractor may be plugged in here
            raise _failed(name, error, lease) from error
        try:
            derivation, rejected = derive(extraction, lease, name, self._embedder)
        except CogniGraphError as error:
            raise _Spent(error, extraction.usage) from error
        except Exception as error:  # so may be what it returns
            raise _Spent(_failed(name, error, lease), extraction.usage) from error
        return replace(derivation, keep_revisions=keep), rejected, extraction.usage

    def _give_back(self, lease: Lease, error: CogniGraphError, usage: Usage) -> Step:
        verdict = judge(
            error,
            chunks=len(lease.chunks),
            attempts=max(chunk.attempts for chunk in lease.chunks),
            outages=max(chunk.outages for chunk in lease.chunks),
            after_outage=self._after_outage,
            settings=self._settings,
        )
        logger.warning(
            "enrichment of %d chunks of session %r ended (%s): %s",
            len(lease.chunks), lease.session, verdict.fault, error,
        )  # fmt: skip
        now = self._clock()
        if verdict.fault == "stop":
            self.halted = str(error)
            self._store.release(lease)
        else:
            self._store.fail(
                lease,
                str(error),
                park_after=verdict.park_after,
                retry_at=now + verdict.wait,
                outage=verdict.fault == "outage",
            )
        self._failures += 1
        self._after_outage = verdict.fault == "outage"
        stopped = str(error) if verdict.ends_run else None
        if stopped is None and self._failures % _MOST_FAILURES == 0:
            # Not a poisoned chunk, then, and each batch may cost a call.
            stopped = f"{_MOST_FAILURES} batches in a row failed, the last with: {error}"
        if stopped is not None:
            doublings = min(self._failures - 1, _MOST_PAUSE_DOUBLINGS)
            self._rests_until = now + self._settings.retry_after * 2**doublings
        return Step(
            lease.space,
            lease.session,
            len(lease.chunks),
            usage=usage,
            error=str(error),
            stopped=stopped,
        )

    def drain(
        self,
        space: str | None = None,
        on_step: Callable[[Step], None] | None = None,
        limits: Limits | None = None,
    ) -> list[Step]:
        """Work until nothing is ready (chunks waiting for a retry stay), or the run must stop.

        ``stopped`` of the last step says which outage, budget or limit ended it.
        """
        self._after_outage = False
        steps: list[Step] = []
        spent, started = Usage(), time.monotonic()
        while step := self.step(space):
            spent += step.usage
            if limits is not None and step.stopped is None:
                reached = limits.reached(spent, time.monotonic() - started)
                step = replace(step, stopped=reached)
            steps.append(step)
            if on_step is not None:
                on_step(step)
            if step.stopped is not None:
                break
        return steps

    def estimate(self, space: str, redo: Sequence[str] = ()) -> Estimate:
        """What enriching all that waits would take, without a call."""
        return estimate(self._store, self._extractor, space, self._settings, redo)


class _Spent(CogniGraphError):
    """An error after the extractor has been paid."""

    def __init__(self, error: CogniGraphError, usage: Usage) -> None:
        super().__init__(str(error))
        self.error = error
        self.usage = usage


def _failed(name: str, error: Exception, lease: Lease) -> ExtractionError:
    return ExtractionError(
        f"{name}: {type(error).__name__}: {error}",
        chunks=tuple(chunk.uid for chunk in lease.chunks),
    )


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
