"""How long a call to the server may take: one deadline for all its statements and retries."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_DEADLINE: ContextVar[float | None] = ContextVar("cognigraph_neo4j_deadline", default=None)

_FIRST_DELAY = 0.01
_LONGEST_DELAY = 1.0
_MONITOR = 3.0
"""The server looks for transactions that are out of time every two seconds."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Give everything that is called inside, in other threads too, one deadline."""
    token = _DEADLINE.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def deadline(seconds: float) -> float:
    """The deadline that ``within`` has set, or one for this call alone."""
    found = _DEADLINE.get()
    return time.monotonic() + seconds if found is None else found


def for_server(until: float) -> float:
    """Seconds after which the server should give up by itself, so that it answers in time."""
    left = max(until - time.monotonic(), 0.01)
    return left - min(_MONITOR, left / 2)


def delays() -> Iterator[float]:
    """Waits between attempts: twice as long each time, and random, so that writers part."""
    longest = _FIRST_DELAY
    while True:
        yield random.uniform(longest / 2, longest)
        longest = min(longest * 2, _LONGEST_DELAY)
