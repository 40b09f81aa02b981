"""A process that forgets a space, session by session: ``python -m tests.storage.forgetters DB``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cognigraph import Memory, Message
from cognigraph.testing import HashEmbedder

START = datetime(2026, 5, 20, 9, tzinfo=UTC)
SESSIONS, PER_SESSION = 24, 6


def marker(number: int) -> str:
    """A word that only message ``number`` says."""
    return f"Marker{number:05d}q"


def turn(number: int) -> Message:
    """Message ``number``, long enough to fill pages, with a name of its own."""
    return Message(
        text=f"My friend {marker(number)} lives in Oslo. " + "The weather is fine today. " * 8,
        id=f"m{number}",
        session=f"s{number // PER_SESSION}",
        speaker="Ann",
        at=START + timedelta(minutes=number),
    )


def open_memory(path: Path) -> Memory:
    """A memory of the rules."""
    return Memory(path, embedder=HashEmbedder(64), enrich="manual")


def main(path: Path) -> None:
    """Forget everything, announced by one line."""
    with open_memory(path) as memory:
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        memory.forget(speaker="Ann")
        sys.stdout.write("done\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
