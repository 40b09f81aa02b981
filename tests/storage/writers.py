"""Programs that the storage tests start, watch and kill: ``python -m tests.storage.writers``."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cognigraph import EnrichSettings, Memory, Message, Settings
from cognigraph.testing import HashEmbedder

START = datetime(2026, 5, 20, 9, tzinfo=UTC)
NAMES = ["Ann", "Ben", "Clara", "David", "Eva"]
CITIES = ["Oslo", "Bergen", "Lisbon", "Kyoto", "Lima"]
THINGS = ["kayak", "piano", "bicycle", "garden", "camera"]
LEASE = timedelta(seconds=0.5)


def open_memory(path: Path | str, **options: object) -> Memory:
    """A file memory with a small embedder and short leases."""
    settings = Settings(
        enrich=EnrichSettings(batch=4, lease=LEASE, retry_after=timedelta(milliseconds=1))
    )
    defaults = {"embedder": HashEmbedder(128), "enrich": "manual", "settings": settings}
    return Memory(path, **(defaults | options))  # type: ignore[arg-type]


def turn(number: int) -> Message:
    """Message ``number`` of an endless conversation; every seventh is long enough to be split."""
    name, city = NAMES[number % 5], CITIES[number // 5 % 5]
    text = f"I moved to {city} in May 2023 and I bought a {THINGS[number // 3 % 5]}, word{number}."
    if number % 7 == 3:
        text += f" We visited {city} together and ate fish, word{number}." * 60
    return Message(
        text=text, id=f"m{number}", session=f"s{number // 20}", speaker=name,
        at=START + timedelta(minutes=number),
    )  # fmt: skip


def write(path: str, first: str) -> None:
    """Add messages one by one for ever; print each id once it is acknowledged."""
    with open_memory(path) as memory:
        number = int(first)
        while True:
            message = turn(number)
            if number % 5 == 4:  # batches as well: all or none of them
                batch = [turn(number + n) for n in range(5)]
                ids = memory.add_many(batch).ids
                number += 5
            else:
                result = memory.add(
                    message.text, id=message.id, session=message.session,
                    speaker=message.speaker, at=message.at,
                )  # fmt: skip
                ids = result.ids
                number += 1
            sys.stdout.write(" ".join(ids) + "\n")
            sys.stdout.flush()


def enrich(path: str) -> None:
    """Enrich what is pending, a line for each batch done; end when nothing is left."""
    with open_memory(path) as memory:
        sys.stdout.write("open\n")
        sys.stdout.flush()
        while memory.stats().done < memory.stats().chunks:
            for step in memory.enrich():
                sys.stdout.write(f"{step.chunks}\n")
                sys.stdout.flush()


class SlowEmbedder(HashEmbedder):
    """Another embedder, slow enough to be killed at work."""

    def embed(self, texts: Sequence[str]) -> Any:
        time.sleep(0.004 * len(texts))
        return super().embed(texts)


def reindex(path: str, dimension: str) -> None:
    """Change the embedder, a line for each batch; at the end say so."""
    from cognigraph.ingest import reindex as module

    module._BATCH = 4

    def announce(made: int, total: int) -> None:
        sys.stdout.write(f"{made} {total}\n")
        sys.stdout.flush()

    with open_memory(path) as memory:
        memory.reindex(SlowEmbedder(int(dimension)), on_progress=announce)
    sys.stdout.write("done\n")


def load(path: str, count: str, offset: str) -> None:
    """Add the same ``count`` turns as everyone else, beginning somewhere else."""
    total, start = int(count), int(offset)
    turns = [turn((start + n) % total) for n in range(total)]
    with open_memory(path, enrich="background") as memory:
        for at in range(0, total, 10):
            memory.add_many(turns[at : at + 10])


def fill(path: str, limit: str) -> None:
    """Add messages under a limit of the file size until the store refuses."""
    import resource
    import signal

    from cognigraph import StoreUnavailableError

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with open_memory(path) as memory:
        memory.add("before the disk is full", id="first")
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
        acknowledged = ["first"]
        try:
            for number in range(3, 100_000, 7):  # the long ones
                acknowledged += memory.add_many([turn(number)]).ids
        except StoreUnavailableError as error:
            sys.stdout.write(f"{error}\n")
        # Still readable, and writable again once there is room.
        assert memory.search("word3")[0].id == "m3"
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        memory.add("after there is room again", id="last")
        sys.stdout.write(" ".join([*acknowledged, "last"]) + "\n")


PROGRAMS: dict[str, Callable[..., None]] = {
    "write": write, "enrich": enrich, "reindex": reindex, "load": load, "fill": fill,
}  # fmt: skip

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
