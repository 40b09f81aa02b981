"""Rate limiter: bounds the number of concurrent calls, and pauses all calls after Retry-After."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import inf
from threading import Lock, Semaphore

from cognigraph.errors import ConfigurationError
from cognigraph.forks import ProcessLock

_shared: dict[str, Limiter] = {}
_lock = ProcessLock()


class Limiter:
    """Allows ``concurrent`` calls at a time, and none during a pause.

    A pause starts when one caller receives ``Retry-After``. It applies to all callers and never
    ends later than ``max_pause`` from now. Thread-safe.
    """

    def __init__(
        self,
        concurrent: int = 8,
        *,
        max_pause: timedelta = timedelta(seconds=60),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if concurrent < 1:
            raise ConfigurationError("a limiter must allow at least 1 concurrent call")
        if max_pause < timedelta(0):
            raise ConfigurationError("max_pause must not be negative")
        self._slots = Semaphore(concurrent)
        self._max_pause = max_pause.total_seconds()
        self._clock = clock
        self._sleep = sleep
        self._until = -inf
        self._lock = Lock()

    @classmethod
    def shared(cls, base_url: str) -> Limiter:
        """The limiter that this process shares for an endpoint."""
        with _lock:
            return _shared.setdefault(base_url.rstrip("/"), cls())

    def pause(self, seconds: float) -> float:
        """Pause all calls for some seconds, at most ``max_pause``; returns the seconds applied."""
        seconds = min(max(seconds, 0.0), self._max_pause)
        with self._lock:
            self._until = max(self._until, self._clock() + seconds)
        return seconds

    def waiting(self) -> float:
        """Seconds until the pause ends; 0 without a pause."""
        with self._lock:
            return max(0.0, self._until - self._clock())

    @contextmanager
    def slot(self, check: Callable[[float], None] | None = None) -> Iterator[None]:
        """Wait for a free slot and for the end of a pause; hold the slot in the ``with`` block.

        Before waiting for a pause, ``check`` is called with the seconds to wait; it may raise.
        """
        with self._slots:
            while (wait := self.waiting()) > 0:
                if check is not None:
                    check(wait)
                self._sleep(wait)
            yield
