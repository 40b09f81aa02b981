"""Whether anything listens at the address of a server, found out before the driver is asked.

The driver repeats the first call of ``neo4j://`` for as long as it may, and logs a warning each
time, even if nothing listens at the address.
"""

from __future__ import annotations

import socket
import time
from urllib.parse import urlsplit

from cognigraph.errors import StoreUnavailableError
from cognigraph.stores.neo4j import deadlines

_PORT = 7687
_LONGEST_ATTEMPT = 5.0


def wait_until_listening(uri: str, patience: float = deadlines.REFUSED_PATIENCE) -> None:
    """Wait until a connection to the address is accepted, or might be.

    Raises :class:`StoreUnavailableError` if it is refused, or the name is unknown, for the seconds
    of ``patience`` or until the deadline of the call. An address that does not answer at all is
    left to the driver, as is one that cannot be read.
    """
    address = _address(uri)
    if address is None:
        return
    until = min(time.monotonic() + patience, deadlines.deadline(patience))
    for delay in deadlines.delays():
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
