"""Time to forget a message, a session, an entity and a space, and the bytes that are left.

python -m bench.forget --messages 10000,100000 --json FILE [--uri bolt://...]

Messages are synthetic, in sessions of 20, read by the rules. Every size is measured in a store of
its own, so that the figures show what grows with the space and what with what is forgotten. For
each step there are the seconds and the seconds of CPU of this process; a server's are not in them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.measure import machine, write
from cognigraph import Memory, Message
from cognigraph.testing import HashEmbedder

PER_SESSION = 20
PEOPLE = ("Ann", "Ben", "Cid", "Dora", "Emil", "Frida", "Georg", "Hanna")
PLACES = ("Oslo", "Bergen", "Hamar", "Narvik", "Bodo", "Skien", "Moss", "Molde")
WORDS = (b"word65.", b"word7.", b"Friend9 ")
"""What only forgotten messages said: of a session, of one message, of an entity."""


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


class Steps:
    """What each step took, by its name."""

    def __init__(self) -> None:
        self.taken: dict[str, dict[str, float]] = {}

    def __call__(self, name: str, call: Callable[[], Any]) -> Any:
        """Run a step and note its time."""
        started, cpu = time.perf_counter(), time.process_time()
        result = call()
        self.taken[name] = {
            "seconds": round(time.perf_counter() - started, 3),
            "cpu_seconds": round(time.process_time() - cpu, 3),
        }
        return result


def bytes_left(path: Path, needle: bytes) -> int:
    """How often a word is in the file and in those beside it."""
    files = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
    return sum(file.read_bytes().count(needle) for file in files)


def megabytes(path: Path | None) -> float | None:
    """The size of the file."""
    return None if path is None else round(path.stat().st_size / 1e6, 1)


def measure(memory: Memory, space: str, count: int, path: Path | None) -> dict[str, Any]:
    """Fill a space and forget it by and by."""
    tenant, step = memory.space(space), Steps()
    step("add", lambda: tenant.add_many(message(n) for n in range(count)))
    step("enrich", tenant.queue.enrich)
    full = megabytes(path)
    step("dry_run", lambda: tenant.forget(session="s3", dry_run=True))
    step("message", lambda: tenant.forget(message="m7"))
    session = step("session", lambda: tenant.forget(session="s3"))
    entity = step("entity", lambda: tenant.forget(entity="Friend9"))
    left = None if path is None else sum(bytes_left(path, word) for word in WORDS)
    step("search_after", lambda: tenant.search("Who moved to Bergen?"))
    everything = step("everything", lambda: tenant.forget(everything=True))
    step("delete_space", lambda: memory.admin.delete_space(space))
    memory.close()
    return {
        "messages": count,
        "file_mb": full,
        "forgotten": {
            "session": session.messages,
            "entity": entity.messages,
            "everything": everything.messages,
        },
        "steps": step.taken,
        "copies_left": left,
        "copies_left_at_the_end": None if path is None else bytes_left(path, b"moved to"),
        "file_mb_at_the_end": megabytes(path),
    }


def main() -> None:
    """Measure one store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", default="10000", help="sizes, separated by commas")
    parser.add_argument("--uri", help="a Neo4j server instead of a file")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    sizes = []
    for count in map(int, arguments.messages.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            path = None if arguments.uri else Path(folder) / "bench.db"
            location = arguments.uri or path
            embedder = "wordllama" if arguments.uri else HashEmbedder(256)
            with Memory(location, embedder=embedder, enrich="manual", extractor="rules") as memory:
                sizes.append(measure(memory, f"forget-{uuid4().hex[:8]}", count, path))
    result = {
        "store": "neo4j" if arguments.uri else "sqlite", "sizes": sizes, "machine": machine()
    }  # fmt: skip
    write(result, arguments.json)


if __name__ == "__main__":
    main()
