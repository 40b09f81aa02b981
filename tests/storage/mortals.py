"""A worker that one text crashes: ``python -m tests.storage.mortals LOCATION AUTH SPACE HOW``."""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import UTC, datetime, timedelta

from cognigraph import EnrichSettings, Memory, Message, Settings
from cognigraph.ingest import Extraction, Extractor, Fact, Window
from cognigraph.ingest.queue import enricher
from cognigraph.testing import HashEmbedder

START = datetime(2026, 5, 20, 9, tzinfo=UTC)
PER_SESSION = 8
FATAL = "fatal"
LEASE = timedelta(seconds=2)
"""Of a worker that thinks; it is extended as long as the process runs."""


def turn(number: int) -> Message:
    """Return message ``number``; the fourth of the first session crashes the worker."""
    return Message(
        text=f"I like number {number}.",
        id=FATAL if number == 3 else f"m{number}",
        session=f"s{number // PER_SESSION}",
        speaker="Ann",
        at=START + timedelta(minutes=number),
    )


class Mortal(Extractor):
    """Finds one fact in each message; ``how`` is the way in which the fatal message ends it.

    With ``"live"`` it survives.
    """

    name = "mortal-1"

    def __init__(self, how: str) -> None:
        self._how = how

    def extract(self, window: Window) -> Extraction:
        """Extract, or end the process."""
        ids = [chunk.message_id for chunk in window.chunks]
        if FATAL in ids:
            self._end()
        return Extraction(
            facts=tuple(
                Fact("Ann", "person", "likes", id, "object", (index,))
                for index, id in enumerate(ids)
            )
        )

    def _end(self) -> None:
        if self._how == "exit":
            os._exit(9)
        if self._how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._how in ("think", "wait"):
            sys.stdout.write("thinking\n")
            sys.stdout.flush()
            time.sleep(60)


def open_memory(
    location: str,
    auth: str,
    extractor: Extractor,
    *,
    background: bool = False,
    lease: timedelta = timedelta(minutes=2),
) -> Memory:
    """Open a memory with this extractor and batches of four messages."""
    return Memory(
        location,
        auth=None if auth == "-" else tuple(auth.split(":", 1)),  # type: ignore[arg-type]
        embedder="wordllama" if "://" in location else HashEmbedder(64),  # one for all on a server
        extractor=extractor,
        enrich="background" if background else "manual",
        settings=Settings(enrich=EnrichSettings(batch=4, lease=lease)),
    )


def main(location: str, auth: str, space: str, how: str) -> None:
    """Enrich a space once, or think in the background and leave without closing the memory."""
    if how == "think":
        open_memory(location, auth, Mortal(how), background=True, lease=LEASE)
        sys.stdin.readline()
        return
    if how in ("exit", "kill"):  # the text decides when these end, however soon
        enricher.SETTLING = timedelta(milliseconds=100)
    with open_memory(location, auth, Mortal(how)) as memory:
        memory.space(space).queue.enrich()


if __name__ == "__main__":
    main(*sys.argv[1:])
