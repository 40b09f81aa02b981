"""What limits model calls: budgets, and the number of calls at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from math import inf
from threading import Lock, Semaphore

from cognigraph.errors import BudgetExceededError, ConfigurationError
from cognigraph.forks import ProcessLock
from cognigraph.model import Usage

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 20.0


class Budget:
    """A limit on model calls, shared by all models and threads that are given this object.

    Args:
        calls: number of requests to the endpoint, retries and repairs included.
        tokens: input and output tokens together.
        cost: in the currency of the model's prices.
        time: counted from now on; a call still running at the end is cut short.

    Calls and time are never exceeded: :class:`BudgetExceededError` is raised before a call that
    would exceed them. The tokens and cost of a call are only known after it, so one call may
    exceed them; the next one is stopped. Nothing is lost: the work stays pending. Thread-safe.
    """

    def __init__(
        self,
        *,
        calls: int | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        time: timedelta | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._outer: Budget | None = None
        seconds = None if time is None else time.total_seconds()
        self._limits = {"calls": calls, "tokens": tokens, "cost": cost, "time": seconds}
        for name, limit in self._limits.items():
            if limit is not None and not limit >= 0:
                raise ConfigurationError(f"the budget of {name} must not be negative")
        self._clock = clock
        self._start = clock()
        self._used = Usage()
        self._lock = Lock()

    def inside(self, outer: Budget) -> Budget:
        """Count further calls against another budget too; returns this one."""
        self._outer = outer
        return self

    @property
    def used(self) -> Usage:
        """Usage so far; a call counts from the moment it is made."""
        with self._lock:
            return self._used

    @property
    def limits_cost(self) -> bool:
        """Whether cost is limited, which requires a model with prices."""
        limited = self._limits["cost"] is not None
        return limited or (self._outer is not None and self._outer.limits_cost)

    def remaining(self) -> float:
        """Seconds left; infinite without a time limit."""
        limit = self._limits["time"]
        own = inf if limit is None else limit - (self._clock() - self._start)
        return own if self._outer is None else min(own, self._outer.remaining())

    def check(self, wait: float = 0.0) -> None:
        """Raise BudgetExceededError if a call after ``wait`` seconds would exceed the budget."""
        with self._lock:
            self._check(wait)
        if self._outer is not None:
            self._outer.check(wait)

    def reserve(self) -> None:
        """Count a call that is about to be made.

        Raises:
            BudgetExceededError: the call would exceed the budget; it is not counted.
        """
        with self._lock:
            self._check(0.0)
            if self._outer is not None:
                self._outer.reserve()
            self._used = replace(self._used, calls=self._used.calls + 1)

    def settle(self, usage: Usage) -> None:
        """Add the usage of a reserved call, whose ``calls`` are already counted."""
        with self._lock:
            self._used += replace(usage, calls=0)
        if self._outer is not None:
            self._outer.settle(usage)

    def _check(self, wait: float) -> None:
        used = {
            "calls": self._used.calls,
            "tokens": self._used.input_tokens + self._used.output_tokens,
            "cost": self._used.cost,
            "time": self._clock() - self._start + wait,
        }
        for name, limit in self._limits.items():
            if limit is not None and used[name] >= limit:
                raise BudgetExceededError(
                    f"the budget of {_amount(name, limit)} is used up "
                    f"({_amount(name, used[name])}); unfinished work stays pending",
                    limit=name,
                    allowed=float(limit),
                    used=float(used[name]),
                )


def _amount(name: str, value: float) -> str:
    if name == "time":
        return f"{value:.1f} seconds"
    return f"{name} {value:.4f}" if name == "cost" else f"{value:,} {name}"


DEFAULT_CALLS = 8
"""Calls of an endpoint that are under way at once."""
_shared: dict[str, Limiter] = {}
_lock = ProcessLock()


class Limiter:
    """Allows ``concurrent`` calls at a time, and none during a pause.

    A pause starts when one caller receives ``Retry-After``. It applies to all callers and never
    ends later than ``max_pause`` from now. Thread-safe.
    """

    def __init__(
        self,
        concurrent: int = DEFAULT_CALLS,
        *,
        max_pause: timedelta = timedelta(seconds=60),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if concurrent < 1:
            raise ConfigurationError("a limiter must allow at least 1 concurrent call")
        if max_pause < timedelta(0):
            raise ConfigurationError("max_pause must not be negative")
        self._concurrent = concurrent
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

    def widen(self, concurrent: int) -> None:
        """Allow at least this many calls at a time."""
        with self._lock:
            more = concurrent - self._concurrent
            if more > 0:
                self._concurrent = concurrent
                self._slots.release(more)

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


def wait_before_retry(
    limiter: Limiter, failed: int, after: float | None, random: Callable[[], float]
) -> float:
    """The seconds to wait after ``failed`` attempts: exponential, with full jitter.

    ``after`` is what the endpoint asked for (``Retry-After``). It is waited by all callers of the
    limiter; the jitter on top keeps them from resuming at the same moment.
    """
    wait: float = random() * min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (failed - 1))
    if after is None:
        return wait
    limiter.pause(after)
    return wait + limiter.waiting()
