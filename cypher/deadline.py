"""The clock of one inspection query, read from wherever the query may spend time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cognigraph.errors import QueryError

_deadline: ContextVar[float | None] = ContextVar("_deadline", default=None)


class OutOfTime(Exception):
    """The query has used up its time; :func:`time_limit` turns this into a QueryError."""


def check_clock() -> None:
    """Raise :class:`OutOfTime` if the query that runs in this context is out of time."""
    deadline = _deadline.get()
    if deadline is not None and time.monotonic() > deadline:
        raise OutOfTime


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End what runs inside after so many seconds, with a :class:`QueryError`.

    Limits nest: an inner one never extends the outer one.
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
    """Make the error of a query that is out of time."""
    return QueryError(
        f"the query took longer than {seconds:g} s; narrow its patterns or give a longer timeout"
    )


class Clocked(str):
    """A text that reads the clock while it is iterated over, as a parser does."""

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        for character in str.__str__(self):
            check_clock()
            yield character
