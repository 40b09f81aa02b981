"""Leases: keeping one, what to do after a failure, and when a worker starts on what waits.

A model call may take longer than a lease lasts. Without a heartbeat, another worker would take over
and pay for the same chunks again. A worker that crashes sends no heartbeat, so its lease expires.

From the name of a worker, other processes on the machine can tell whether it still runs. A name is
``host:process:id``. The process is its PID and, where ``/proc`` provides it, its start time,
because PIDs are reused: in a restarted container, often by the very next worker.
"""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Literal, Self

from cognigraph.errors import (
    BudgetExceededError,
    CogniGraphError,
    ExtractionError,
    ModelRefusedError,
    ModelUnavailableError,
    StoreError,
)
from cognigraph.ingest.extraction import Extractor
from cognigraph.settings import EnrichSettings
from cognigraph.stores.batch_size import SUSPECT_CRASHES
from cognigraph.stores.protocols import Store
from cognigraph.stores.records import Lease
from cognigraph.times import Clock

_STATE, _STARTED = 0, 19  # fields of /proc/PID/stat, counted after the name of the program
_DEAD = "ZX"


def worker_name(id: str) -> str:
    """The name of a worker of this process; ``id`` distinguishes the workers of one process."""
    pid = os.getpid()
    fields = _stat(pid)
    return f"{_host()}:{pid}{'-' + fields[_STARTED] if fields else ''}:{id}"


def has_crashed(token: str) -> bool | None:
    """Whether the worker named by a lease's token has ended; ``None`` if that is unknown."""
    host, _, rest = token.partition(":")
    number, _, started = rest.partition(":")[0].partition("-")
    if host != _host() or not number.isdigit() or os.name != "posix":
        return None
    pid = int(number)
    if not _exists(pid):
        return True
    fields = _stat(pid)
    if not fields:
        return False
    return fields[_STATE] in _DEAD or (started != "" and fields[_STARTED] != started)


def _host() -> str:
    return socket.gethostname().replace(":", "-")


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _stat(pid: int) -> list[str]:
    """Fields of ``/proc/PID/stat`` after the program's name; empty on other systems than Linux."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


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

    def __exit__(self, *error: object) -> None:
        # The thread ends by itself; to join it while it waits for the store would delay the work.
        self._over.set()

    def _beat(self) -> None:
        while not self._over.wait(self._length.total_seconds() / 3):
            try:
                if not self._store.queue.extend(self._lease, self._clock() + self._length):
                    return
            except StoreError as error:
                logger.warning("lease of session %r not extended: %s", self._lease.session, error)


# When a worker starts on what waits, and from when on its waiting is a fault.
#
# A model that is called after every turn costs a call a turn. If it is called when a
# conversation pauses, it costs one a pause and reads each turn together with its neighbours.

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


def settle_time(settings: EnrichSettings, extractor: Extractor) -> float:
    """Seconds without a new message after which a worker starts; with 0 it starts at once."""
    settle = extractor.settle if settings.settle is None else settings.settle
    return settle.total_seconds()


def longest_silence(settings: EnrichSettings, extractor: Extractor) -> float:
    """Seconds after which something is wrong if there is work and none of it is done."""
    settle = settle_time(settings, extractor)
    return _LEASES * settings.lease.total_seconds() + PATIENCE * settle


# Decides what to do after a failed extraction: stop, wait, or count it against the chunks.
#
# There are three cases. After a *stop* (a budget is used up) the chunks return to the queue
# unchanged. After an *outage* (the endpoint is down, the key is refused) they wait, and no chunk is
# blamed. A failure of the *content* counts against the chunks until the one at fault is alone and
# is parked.

Fault = Literal["stop", "outage", "content"]

_REFUSED_CONTENT = frozenset({400, 413, 422, 451})
"""HTTP statuses that may refuse the text; others refuse the key, the model name or the address."""

_MOST_DOUBLINGS = 10
_OUTAGE_DOUBLINGS = 7


@dataclass(frozen=True, slots=True)
class FailureDecision:
    """What to do with the chunks of a failed extraction.

    ``wait`` is the time until the retry. ``park_after`` is the number of attempts after which the
    chunks are parked; ``None`` never parks. ``ends_run`` says that other chunks would fail now too.
    A single outage does not end the run, because it may be due to this window alone (so long that
    the endpoint times out): the next window is tried.
    """

    fault: Fault
    wait: timedelta
    park_after: int | None = None
    ends_run: bool = False


def decide_on_failure(
    error: CogniGraphError,
    *,
    chunks: int,
    attempts: int,
    outages: int,
    after_outage: bool,
    settings: EnrichSettings,
) -> FailureDecision:
    """Decide for ``chunks`` chunks that failed ``attempts`` times and met ``outages`` before.

    ``after_outage`` says that the previous batch met an outage too. For a lease without chunks,
    which is for a summary, ``chunks`` is 0.
    """
    fault = fault_of(error)
    if fault == "stop":
        return FailureDecision("stop", timedelta(0), ends_run=True)
    if fault == "outage":
        wait = outage_wait(outages, settings)
        asked = timedelta(seconds=getattr(error, "retry_after", None) or 0.0)
        ends_run = after_outage or not error.is_retryable
        return FailureDecision("outage", max(wait, asked), ends_run=ends_run)
    if chunks > 1:  # some of them may be fine: retry at once in smaller batches
        return FailureDecision("content", timedelta(0))
    for_good = isinstance(error, ExtractionError | ModelRefusedError) and not error.is_retryable
    return FailureDecision(
        "content",
        settings.retry_after * 2 ** min(attempts, _MOST_DOUBLINGS),
        park_after=0 if for_good else settings.park_after,
    )


def outage_wait(outages: int, settings: EnrichSettings) -> timedelta:
    """How long to wait after an outage if there were ``outages`` before."""
    wait: timedelta = settings.retry_after * 2 ** min(outages, _OUTAGE_DOUBLINGS)
    return wait


def is_suspect(lease: Lease) -> bool:
    """Whether what is leased has made processes crash."""
    if lease.chunks:
        return any(chunk.crashes >= SUSPECT_CRASHES for chunk in lease.chunks)
    backlog = lease.notes.backlog
    return backlog is not None and backlog.crashes >= SUSPECT_CRASHES


def fault_of(error: CogniGraphError) -> Fault:
    """The case that an error belongs to."""
    if isinstance(error, BudgetExceededError):
        return "stop"
    if isinstance(error, ModelUnavailableError):
        return "outage"
    if isinstance(error, ModelRefusedError):
        is_content = error.too_long or error.status in _REFUSED_CONTENT
        return "content" if is_content else "outage"
    return "content"
