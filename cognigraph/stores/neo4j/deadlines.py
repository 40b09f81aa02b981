"""Deadlines of calls to the server, and waiting until something listens at its address.

The driver repeats the first call of ``neo4j://`` for as long as it may, and logs a warning each
time, even if nothing listens at the address.
"""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import urlsplit

from cognigraph.errors import StoreUnavailableError

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


_PORT = 7687

_LONGEST_ATTEMPT = 5.0


def wait_until_listening(uri: str, patience: float = REFUSED_PATIENCE) -> None:
    """Wait until a connection to the address is accepted, or might be.

    Raises :class:`StoreUnavailableError` if it is refused, or the name is unknown, for the seconds
    of ``patience`` or until the deadline of the call. An address that does not answer at all is
    left to the driver, as is one that cannot be read.
    """
    address = _address(uri)
    if address is None:
        return
    until = min(time.monotonic() + patience, deadline(patience))
    for delay in delays():
        problem = _refusal(address)
        if problem is None:
            return
        if time.monotonic() + delay >= until:
            raise StoreUnavailableError(
                f"nothing listens at {uri} ({problem}); check that the server runs and that "
                "address and port are right, then repeat the call"
            )
        time.sleep(delay)


def _address(uri: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(uri)
        return (parts.hostname, parts.port or _PORT) if parts.hostname else None
    except ValueError:  # the driver says what is wrong with the address
        return None


def _refusal(address: tuple[str, int]) -> str | None:
    """Why the address cannot be connected to; ``None`` if it can, or does not answer."""
    try:
        socket.create_connection(address, timeout=_LONGEST_ATTEMPT).close()
    except TimeoutError:
        return None
    except (OSError, UnicodeError) as error:
        return getattr(error, "strerror", None) or str(error)
    return None
