"""Measure many small spaces in one file: cold and warm searches, memory, and unknown names.

python -m bench.many_spaces --spaces 10000 --messages 100 --index-mb 32 --json FILE

``cold`` is the latency of the first search in a space since the memory was opened, in random
spaces; ``cold_of_few`` is the same in a file with a hundredth of the spaces, under the same load,
because the two alternate. ``warm`` repeats a search in one space. Then every space is searched
once: ``resident_mb`` is the memory of the process after the first space and after the last, with
indexes of at most ``--index-mb``. ``unknown_mb`` is its growth after searches in spaces that do not
exist. ``cpu`` are times of the processor.
"""

from __future__ import annotations

import argparse
import gc
import random
import tempfile
import time
from collections.abc import Iterable
from itertools import islice
from typing import Any

from bench.measure import machine, percentiles, resident_mb, write
from bench.synthetic import World, messages
from cognigraph import Memory, Message, Settings, StorageSettings

QUESTION = "When did it begin?"
FEWER = 100


class Times:
    """Milliseconds of searches, by the clock and of the processor."""

    def __init__(self) -> None:
        self._wall: list[float] = []
        self._cpu: list[float] = []

    def search(self, memory: Memory, name: str) -> None:
        """Search in a space."""
        wall, cpu = time.perf_counter(), time.process_time()
        memory.space(name).search(QUESTION, k=5)
        self._cpu.append(1000 * (time.process_time() - cpu))
        self._wall.append(1000 * (time.perf_counter() - wall))

    def report(self) -> dict[str, Any]:
        """Return percentiles."""
        return {**percentiles(self._wall, 3), "cpu": percentiles(self._cpu, 3)}


def fill(memory: Memory, count: int, each: int) -> float:
    """Fill spaces of equal size, and return the messages per second."""
    world = World(size=3000)
    said = list(islice(messages(world, 50 * each), 50 * each))
    started = time.perf_counter()
    for number in range(count):
        first = random.Random(number).randrange(len(said) - each)
        memory.space(f"space-{number}").add_many(turns(said[first : first + each]))
    return round(count * each / (time.perf_counter() - started), 1)


def turns(said: list[Message]) -> Iterable[Message]:
    """Yield messages with the ids of a space of their own."""
    for number, item in enumerate(said):
        yield Message(
            text=item.text, id=f"m{number}", session=item.session, speaker=item.speaker, at=item.at
        )


def grown(memory: Memory, names: Iterable[str]) -> float:
    """Return the MB of the process after a search in each space."""
    for name in names:
        memory.space(name).search(QUESTION, k=5)
    gc.collect()
    return resident_mb()


def measure(arguments: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Fill two files and search them."""
    bound = int(arguments.index_mb * (1 << 20))
    settings = Settings(storage=StorageSettings(index_bytes=bound))

    def opened(name: str) -> Memory:
        return Memory(
            f"{folder}/{name}.db", embedder=arguments.embedder, enrich="manual", settings=settings
        )

    few = max(arguments.spaces // FEWER, 2)
    with opened("many") as memory:
        rate = fill(memory, arguments.spaces, arguments.messages)
    with opened("few") as memory:
        fill(memory, few, arguments.messages)
    order = random.Random(1).sample(range(arguments.spaces), min(arguments.cold, arguments.spaces))
    cold, cold_of_few, warm = Times(), Times(), Times()
    with opened("many") as memory:
        first = grown(memory, ["space-0"])
        for at in range(0, len(order), few):
            with opened("few") as smaller:  # again, because its spaces are cold only once
                smaller.space("nobody").search(QUESTION)
                for number, other in zip(order[at : at + few], range(few), strict=False):
                    cold.search(memory, f"space-{number}")
                    cold_of_few.search(smaller, f"space-{other}")
        for _ in range(200):
            warm.search(memory, "space-0")
        every = grown(memory, (f"space-{number}" for number in range(arguments.spaces)))
        unknown = grown(memory, (f"unknown-{number}" for number in range(arguments.names))) - every
    return {
        "spaces": arguments.spaces,
        "messages_of_each": arguments.messages,
        "embedder": arguments.embedder,
        "added_per_second": rate,
        "cold": cold.report(),
        "cold_of_few": cold_of_few.report(),
        "warm": warm.report(),
        "index_mb": arguments.index_mb,
        "resident_mb": {"first": first, "all": every, "grown": round(every - first, 1)},
        "unknown_names": arguments.names,
        "unknown_mb": round(unknown, 1),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spaces", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--cold", type=int, default=1000, help="spaces that are searched cold")
    parser.add_argument("--index-mb", type=float, default=32)
    parser.add_argument("--names", type=int, default=20_000)
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(arguments, folder)
    write({**result, "machine": machine()}, arguments.json)


if __name__ == "__main__":
    main()
