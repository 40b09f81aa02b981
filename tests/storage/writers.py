"""Programs that the storage tests start, watch and kill: ``python -m tests.storage.writers``."""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

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


class Calls:
    """Counts the function calls of this thread; at the last one the process kills itself.

    Unlike a delay, a number of calls stops a process at the same point of its work on a machine
    that is busy and on one that is not.
    """

    def __init__(self, last: float = math.inf) -> None:
        self.count, self.last = 0, last

    def __enter__(self) -> Calls:
        sys.setprofile(self._counted)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _counted(self, _frame: object, _event: str, _argument: object) -> None:
        self.count += 1
        if self.count >= self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def enrich(path: str, calls: str) -> None:
    """Enrich what is pending, and kill the process after a number of function calls."""
    with open_memory(path) as memory, Calls(int(calls)):
        memory.flush(timeout=20)


def reindex(path: str, dimension: str, batches: str) -> None:
    """Change the embedder, a line for each batch; kill the process after a number of batches."""
    from cognigraph.ingest import reindex as module

    module._BATCH = 4
    left = int(batches)

    def announce(made: int, total: int) -> None:
        nonlocal left
        sys.stdout.write(f"{made} {total}\n")
        sys.stdout.flush()
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with open_memory(path) as memory:
        memory.admin.reindex(HashEmbedder(int(dimension)), on_progress=announce)
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
