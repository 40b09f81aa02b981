"""The time limit of an inspection query, which long-running code checks as it runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cognigraph.errors import QueryError

_deadline: ContextVar[float | None] = ContextVar("_deadline", default=None)


class OutOfTime(Exception):
    """The time limit has passed; :func:`time_limit` turns this into a :class:`QueryError`."""


def check_clock() -> None:
    """Raise :class:`OutOfTime` if the time limit of this context has passed."""
    deadline = _deadline.get()
    if deadline is not None and time.monotonic() > deadline:
        raise OutOfTime


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Set a time limit for the ``with`` block, which :func:`check_clock` enforces.

    Raises :class:`QueryError` when the limit has passed. An inner limit never extends an outer one.
    """
    outer, own = _deadline.get(), time.monotonic() + seconds
    token = _deadline.set(own if outer is None else min(outer, own))
    try:
        yield
    except OutOfTime:
        raise too_slow(seconds) from None
    finally:
        _deadline.reset(token)


def too_slow(seconds: float) -> QueryError:
    """Return the error for a query that exceeds its time limit."""
    return QueryError(
        f"the query took longer than {seconds:g} s; narrow its patterns or set a longer timeout"
    )
