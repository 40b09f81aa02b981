"""Hard budgets: a number of calls, tokens, money or seconds that is not gone over."""

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
    """What model calls may come to, for all models and threads it is given to.

    Args:
        calls: requests to the endpoint, retries and repairs included.
        tokens: input and output together.
        cost: in the currency of the model's prices.
        time: from now on; a call that is running then is cut short.

    Calls and time are never exceeded: :class:`BudgetExceededError` is raised before the call that
    would. What a call will come to in tokens and money is not known before it, so these stop the
    call after the one that went over. Nothing is lost: the work stays pending. Thread-safe.
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
        seconds = None if time is None else time.total_seconds()
        self._limits = {"calls": calls, "tokens": tokens, "cost": cost, "time": seconds}
        for name, limit in self._limits.items():
            if limit is not None and not limit >= 0:
                raise ConfigurationError(f"budget of {name} must not be negative")
        self._clock = clock
        self._start = clock()
        self._used = Usage()
        self._lock = Lock()

    @property
    def used(self) -> Usage:
        """What was used so far; calls count from the moment they are made."""
        with self._lock:
            return self._used

    @property
    def limits_cost(self) -> bool:
        """Whether money is limited, which takes a model with prices."""
        return self._limits["cost"] is not None

    def remaining(self) -> float:
        """Seconds left; infinite without a limit of time."""
        limit = self._limits["time"]
        return inf if limit is None else limit - (self._clock() - self._start)

    def check(self, wait: float = 0.0) -> None:
        """Raise if a call made after so many seconds would go over the budget."""
        with self._lock:
            self._check(wait)

    def reserve(self) -> None:
        """Count a call that is about to be made.

        Raises:
            BudgetExceededError: it would go over the budget, and is not counted.
        """
        with self._lock:
            self._check(0.0)
            self._used = replace(self._used, calls=self._used.calls + 1)

    def settle(self, usage: Usage) -> None:
        """Add what a reserved call came to (its ``calls`` are counted already)."""
        with self._lock:
            self._used += replace(usage, calls=0)

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
                    f"({_amount(name, used[name])}); what is not done stays pending",
                    limit=name,
                    allowed=float(limit),
                    used=float(used[name]),
                )


def _amount(name: str, value: float) -> str:
    if name == "time":
        return f"{value:.1f} seconds"
    return f"{name} {value:.4f}" if name == "cost" else f"{value:,} {name}"
