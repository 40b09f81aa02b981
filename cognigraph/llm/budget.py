"""Hard budgets for model calls: limits on their number, tokens, cost and time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from math import inf
from threading import Lock

from cognigraph.errors import BudgetExceededError, ConfigurationError
from cognigraph.model import Usage


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
