"""Leases: keeping one while its work is in progress, and the names of the workers on them.

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
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

from cognigraph.errors import StoreError
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
