"""Measure how long it takes to insert a turn until it can be found, in empty and filled stores.

python -m bench.insert --store sqlite|URI --turns N --prefill M --embedder E --json FILE

A turn is inserted when ``add`` has returned, which is after the commit that makes it searchable;
every 50th turn is searched for immediately to verify this. Inserts into the empty and the prefilled
space alternate, so that both run under the same load; ``growth`` is the ratio of their medians.
The bulk load is timed in ten parts, which says whether it becomes slower as the space grows.
On a Neo4j server, a bare read and a bare write are timed after each pair of inserts.
``--settle`` waits after the bulk load, because a server continues to merge its indexes in the
background, and the benchmark measures a large store in daily use. ``--space`` inserts into a space
that exists, such as one that import_neo4j.py has filled, instead of loading one.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any
from uuid import uuid4

from bench.measure import machine, percentiles, resident_mb, write
from bench.neo4j_floor import Floor
from bench.synthetic import World, messages
from cognigraph import Memory, Message, Settings, Space, StorageSettings

_PARTS = 10
"""The bulk load is timed in as many parts: it must not become slower as the space grows."""


def timed_add(space: Space, message: Message) -> float:
    """Return the milliseconds that one ``add`` takes."""
    started = time.perf_counter()
    space.add(
        message.text, session=message.session, speaker=message.speaker, at=message.at, id=message.id
    )
    return (time.perf_counter() - started) * 1000


def fill(space: Space, stream: Iterator[Message], count: int) -> tuple[float, float]:
    """Return the seconds, and those of the processor, that adding the next messages takes."""
    batch = list(islice(stream, count))  # making them up is not part of it
    started, cpu = time.perf_counter(), time.process_time()
    space.add_many(batch)
    return time.perf_counter() - started, time.process_time() - cpu


def own_sessions(stream: Iterator[Message], run: str) -> Iterator[Message]:
    """Yield messages in sessions that no other run has."""
    return (dataclasses.replace(item, session=f"{run}-{item.session}") for item in stream)


def bulk(parts: list[tuple[float, float]], count: int) -> dict[str, Any]:
    """Return the rates of loading ``count`` messages in parts of equal size."""
    if not count:
        return {}
    each = count / len(parts)
    return {
        "bulk_turns_per_second": round(count / sum(wall for wall, _ in parts), 1),
        "bulk_turns_per_second_by_part": [round(each / wall) for wall, _ in parts],
        "bulk_turns_per_second_slowest_tenth": round(each / max(wall for wall, _ in parts), 1),
        "bulk_cpu_ms_by_part": [round(1000 * cpu / each, 3) for _, cpu in parts],
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", default="sqlite")
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--prefill", type=int, default=100_000)
    parser.add_argument("--space", help="insert into this space of the store; implies --prefill 0")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--settle", type=float, default=60.0, help="wait after the bulk load")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    world, run = World(), uuid4().hex[:6]
    on_server = "://" in arguments.store
    with tempfile.TemporaryDirectory() as folder:

        def open_memory(name: str) -> Memory:
            location = arguments.store if on_server else f"{folder}/{name}.db"
            # On a busy server the first statements are planned slowly.
            patient = Settings(storage=StorageSettings(read_timeout=300))
            return Memory(location, embedder=arguments.embedder, enrich="manual", settings=patient)

        # Two files on SQLite, so that the empty space is not measured in the large file.
        with open_memory("empty") as first, open_memory("full") as second, ExitStack() as stack:
            empty = first.space(f"empty-{run}")
            full = second.space(arguments.space or f"full-{run}")
            before = full.stats().chunks if arguments.space else 0
            prefill = 0 if arguments.space else arguments.prefill
            stream = messages(world, prefill + arguments.turns + 20, space=1)
            stream = own_sessions(stream, run) if arguments.space else stream
            parts = [fill(full, stream, prefill // _PARTS) for _ in range(_PARTS if prefill else 0)]
            time.sleep(arguments.settle if prefill else 0)
            fresh = messages(world, arguments.turns + 20, space=2)
            for message, other in zip(islice(stream, 20), islice(fresh, 20), strict=True):
                timed_add(full, message)  # warm-up: connections, caches, statements
                timed_add(empty, other)
            on_empty: list[float] = []
            on_full: list[float] = []
            floor = stack.enter_context(Floor(arguments.store)) if on_server else None
            for number, (message, other) in enumerate(zip(stream, fresh, strict=True)):
                on_full.append(timed_add(full, message))
                on_empty.append(timed_add(empty, other))
                if floor is not None:
                    floor.read()
                    floor.write()
                if number % 50 == 0:
                    found = [hit.id for hit in full.search(message.text, k=15, now=message.at)]
                    assert message.id in found, "an acknowledged turn was not found"
    result = {
        "store": "neo4j" if on_server else arguments.store,
        "embedder": arguments.embedder.split("/")[-1],
        "turns": arguments.turns,
        "prefill": before or prefill,
        "empty": percentiles(on_empty, 3),
        "prefilled": percentiles(on_full, 3),
        "growth": round(percentiles(on_full, 6)["p50_ms"] / percentiles(on_empty, 6)["p50_ms"], 3),
        **({} if floor is None else floor.result(percentiles(on_full, 6)["p50_ms"])),
        **bulk(parts, prefill),
        "resident_mb": resident_mb(),
        "machine": machine(),
    }
    write({**result, **result["prefilled"]}, arguments.json)


if __name__ == "__main__":
    main()
