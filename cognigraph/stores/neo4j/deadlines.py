"""Deadlines for calls to the server: one deadline for all statements and retries of a call."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_DEADLINE: ContextVar[float | None] = ContextVar("cognigraph_neo4j_deadline", default=None)

_FIRST_DELAY = 0.01
_LONGEST_DELAY = 1.0
REFUSED_PATIENCE = 3.0
"""Seconds for which a call waits for a server where nothing listens."""
_MONITOR = 3.0
"""Seconds within which the server ends an expired transaction; it checks every two seconds."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Set one deadline for all calls inside the block, including those in other threads."""
    token = _DEADLINE.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def deadline(seconds: float) -> float:
    """The deadline set by :func:`within`, or else one for this call alone (monotonic seconds)."""
    found = _DEADLINE.get()
    return time.monotonic() + seconds if found is None else found


def for_server(until: float) -> float:
    """The transaction timeout for the server in seconds, such that it reports before ``until``."""
    left = max(until - time.monotonic(), 0.01)
    return left - min(_MONITOR, left / 2)


def if_refused(error: BaseException, until: float, started: float) -> float:
    """The deadline of a call to a server that has not answered yet; earlier if it refused.

    Nothing listens at the address then. It may be wrong, so that waiting is of no use, or the
    server may be starting, which takes longer than the patience here.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ConnectionRefusedError):
        cause = cause.__cause__
    return until if cause is None else min(until, started + REFUSED_PATIENCE)


def delays() -> Iterator[float]:
    """Delays between attempts in seconds: exponential backoff with jitter."""
    longest = _FIRST_DELAY
    while True:
        yield random.uniform(longest / 2, longest)
        longest = min(longest * 2, _LONGEST_DELAY)
