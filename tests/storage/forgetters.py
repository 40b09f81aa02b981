"""What a process runs that forgets a space, session by session."""

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


def open_memory(location: Path | str, auth: tuple[str, str] | None = None) -> Memory:
    """A memory of the rules; a server is shared with other tests, and has their embedder."""
    embedder = HashEmbedder(64) if isinstance(location, Path) else "wordllama"
    return Memory(location, auth=auth, embedder=embedder, enrich="manual")


def main(location: Path | str, auth: tuple[str, str] | None = None, space: str = "default") -> None:
    """Forget everything, announced by one line."""
    with open_memory(location, auth) as memory:
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        memory.space(space).forget(speaker="Ann")
        sys.stdout.write("done\n")
