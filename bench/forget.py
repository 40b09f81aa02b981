"""Time to forget a message, a session, an entity and a space, and the bytes that are left.

    python bench/forget.py --messages 10000

Messages are synthetic, read by the rules, in sessions of 20. ``--uri`` measures a Neo4j server.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cognigraph import Memory, Message
from cognigraph.testing import HashEmbedder

PER_SESSION = 20
PEOPLE = ("Ann", "Ben", "Cid", "Dora", "Emil", "Frida", "Georg", "Hanna")
PLACES = ("Oslo", "Bergen", "Hamar", "Narvik", "Bodo", "Skien", "Moss", "Molde")


def message(number: int) -> Message:
    """A message that names a person, a place and a word of its own."""
    person, place = PEOPLE[number % 8], PLACES[number // 8 % 8]
    friend = f"Friend{number // 50}"
    return Message(
        text=f"My friend {friend} moved to {place} and likes word{number}.",
        session=f"s{number // PER_SESSION}",
        speaker=person,
        id=f"m{number}",
        at=f"2026-{1 + number // 1000 % 12:02}-01T{number // 60 % 24:02}:{number % 60:02}:00Z",
    )


def timed(what: str, call: Callable[[], Any]) -> Any:
    """Run it and print its time."""
    started = time.perf_counter()
    result = call()
    print(f"{what:34} {time.perf_counter() - started:8.2f} s")
    return result


def bytes_left(path: Path, needle: bytes) -> int:
    """How often a word is in the file and in those beside it."""
    files = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
    return sum(file.read_bytes().count(needle) for file in files)


def measure(memory: Memory, space: str, count: int, path: Path | None) -> None:
    """Fill a space and forget it by and by."""
    tenant = memory.space(space)
    timed(f"add {count:,} messages", lambda: tenant.add_many(message(n) for n in range(count)))
    timed("enrich", tenant.enrich)
    if path is not None:
        print(f"{'file':34} {path.stat().st_size / 1e6:8.1f} MB")
    timed("dry run, one session", lambda: tenant.forget(session="s3", dry_run=True))
    timed("forget one message", lambda: tenant.forget(message="m7"))
    print(timed("forget one session", lambda: tenant.forget(session="s3")))
    print(timed("forget one entity (50 messages)", lambda: tenant.forget(entity="Friend9")))
    if path is not None:
        left = [bytes_left(path, word) for word in (b"word65.", b"word7.", b"Friend9 ")]
        print(f"{'copies of the text left':34} {left}")
    timed("first search after it", lambda: tenant.search("Who moved to Bergen?"))
    print(timed("forget everything", lambda: tenant.forget(everything=True)))
    timed("delete the empty space", lambda: memory.delete_space(space))
    if path is not None:
        memory.close()
        print(f"{'copies of any text left':34} {bytes_left(path, b'moved to'):8}")
        print(f"{'file':34} {path.stat().st_size / 1e6:8.1f} MB")


def main() -> None:
    """Measure one store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--uri", help="a Neo4j server instead of a file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = None if arguments.uri else Path(folder) / "bench.db"
        location = arguments.uri or path
        embedder = "wordllama" if arguments.uri else HashEmbedder(256)
        with Memory(location, embedder=embedder, enrich="manual", extractor="rules") as memory:
            measure(memory, "bench-forget", arguments.messages, path)


if __name__ == "__main__":
    main()
