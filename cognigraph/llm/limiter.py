"""One limiter for the process: few calls at a time, and none while the endpoint wants a rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import inf
from threading import Lock, Semaphore

from cognigraph.errors import ConfigurationError

_shared: dict[str, Limiter] = {}
_lock = Lock()


class Limiter:
    """Lets ``concurrent`` calls through at a time, and none during a pause.

    A pause is what one caller was told by ``Retry-After``; it holds for all, and is never longer
    than ``max_pause`` from now. Thread-safe.
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
            raise ConfigurationError("a limiter must let at least 1 call through")
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
        """The one limiter of this process for an endpoint."""
        with _lock:
            return _shared.setdefault(base_url.rstrip("/"), cls())

    def pause(self, seconds: float) -> float:
        """Hold back all calls for so long (at most ``max_pause``); returns how long that is."""
        seconds = min(max(seconds, 0.0), self._max_pause)
        with self._lock:
            self._until = max(self._until, self._clock() + seconds)
        return seconds

    def waiting(self) -> float:
        """Seconds until the pause is over."""
        with self._lock:
            return max(0.0, self._until - self._clock())

    @contextmanager
    def slot(self, check: Callable[[float], None] | None = None) -> Iterator[None]:
        """Wait for the end of a pause and for a free place, and keep that place.

        ``check`` is called with the seconds it would wait, before waiting; it may raise.
        """
        with self._slots:
            while (wait := self.waiting()) > 0:
                if check is not None:
                    check(wait)
                self._sleep(wait)
            yield
