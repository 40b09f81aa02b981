"""Measure many small spaces: memory per space and per unknown name, and search latency.

python bench/many_spaces.py --names 20000 --spaces 2000 --json FILE

``unknown``: growth of the process after searches in spaces that do not exist. ``small``: growth per
space of two turns, after one search in it. ``beside``: latency of a search in a small space while
the cache has ``--entries`` entries (including names of spaces that do not exist, if it keeps them).
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from itertools import islice

from measure import machine, percentiles, resident_mb, write
from synthetic import World, messages

from cognigraph import Memory
from cognigraph.testing import HashEmbedder


def searched(memory: Memory, names: list[str]) -> list[float]:
    """Return the milliseconds of a search in each space."""
    times: list[float] = []
    for name in names:
        started = time.perf_counter()
        memory.space(name).search("When did it begin?", k=5)
        times.append((time.perf_counter() - started) * 1000)
    return times


def growth(memory: Memory, names: list[str]) -> float:
    """Return the MB by which the process grows when these spaces are searched."""
    gc.collect()
    before = resident_mb()
    searched(memory, names)
    gc.collect()
    return round(resident_mb() - before, 1)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", type=int, default=20_000)
    parser.add_argument("--spaces", type=int, default=2_000)
    parser.add_argument("--entries", type=int, default=55_000)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    turns = list(islice(messages(World(size=3000), 2), 2))
    small = [f"small-{number}" for number in range(arguments.spaces)]
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory(f"{folder}/m.db", embedder=HashEmbedder(256), enrich="manual") as memory,
    ):
        for name in small:
            memory.space(name).add_many(turns)
        searched(memory, [small[0]] * 100)
        alone = percentiles(searched(memory, [small[0]] * 200), 3)
        unknown = growth(memory, [f"unknown-{number}" for number in range(arguments.names)])
        of_small = growth(memory, small[1:])
        rest = arguments.entries - arguments.names - arguments.spaces
        searched(memory, [f"more-{number}" for number in range(max(rest, 0))])
        beside = percentiles(searched(memory, [small[0]] * 200), 3)
    write(
        {
            "unknown_names": arguments.names,
            "unknown_mb": unknown,
            "small_spaces": arguments.spaces,
            "small_kb_per_space": round(of_small * 1024 / (arguments.spaces - 1), 1),
            "entries": arguments.entries,
            "search_alone": alone,
            "search_beside": beside,
            "machine": machine(),
        },
        arguments.json,
    )


if __name__ == "__main__":
    main()
