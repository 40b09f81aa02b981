"""Waiting until the server has built indexes, which it does in the background."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection

from cognigraph.errors import StoreError, StoreUnavailableError
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.deadlines import within

logger = logging.getLogger("cognigraph.neo4j")

_FIRST_DELAY = 0.02
_LONGEST_DELAY = 2.0
_REPORT = 10.0
"""Seconds between two lines of the log."""
_ANSWER = 30.0
"""Seconds for the last question to the server, in addition to the time of waiting."""


def wait_until_built(connection: Connection, names: Collection[str], seconds: float) -> None:
    """Wait until those of some indexes that exist are online.

    Raises:
        StoreUnavailableError: they are not complete after ``seconds``; it says how far they are.
        StoreError: the server could not build one of them.
    """
    with within(seconds + _ANSWER):
        started = reported = time.monotonic()
        delay = _FIRST_DELAY
        while waiting := _unfinished(connection, names):
            now = time.monotonic()
            if now - started >= seconds:
                raise StoreUnavailableError(
                    f"{connection.uri} has not built all indexes within {seconds:g} s: "
                    f"{', '.join(waiting)}; the server goes on with it, repeat the call later"
                )
            if now - reported >= _REPORT:
                reported = now
                logger.warning("waiting for indexes of %s: %s", connection.uri, ", ".join(waiting))
            time.sleep(min(delay, seconds))
            delay = min(2 * delay, _LONGEST_DELAY)


def _unfinished(connection: Connection, names: Collection[str]) -> list[str]:
    """The indexes that are not online, and how far they are."""
    rows = connection.rows("schema/states", names=sorted(names))
    for name, state, _, reason in rows:
        if state == "FAILED":
            cause = reason.strip().partition("\n")[0]  # a trace of the server's calls follows
            raise StoreError(
                f"{connection.uri} could not build the index {name} ({cause}); drop it with DROP "
                "INDEX or DROP CONSTRAINT and open the memory again, which creates it anew"
            )
    return sorted(f"{name} ({built:.0f} %)" for name, state, built, _ in rows if state != "ONLINE")
