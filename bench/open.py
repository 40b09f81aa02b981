"""Measure the time from opening a file to the first answer, with a cold and a warm page cache.

python bench/open.py FILE [FILE[@CHECKOUT] ...] --rounds 7 --json FILE
python bench/open.py --make FILE --chunks 100000 --triples 300000 --vectors float16|float32

Each measurement runs in a new process. The files are measured alternately, so that a busy machine
slows all of them equally; the result has the median and the best time of each. ``@CHECKOUT``
measures with another working copy of cognigraph, such as an older version. Cold means that the file
was dropped from the page cache before.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from measure import machine, resident_mb, write
from search import NOW, fill, questions
from synthetic import SyntheticExtractor, World

RUN = "open"


def make(path: str, chunks: int, triples: int, vectors: str) -> None:
    """Create a file with one space."""
    from cognigraph import Memory, Settings, StorageSettings

    world = World()
    extractor = SyntheticExtractor(world, triples // chunks)
    settings = Settings(storage=StorageSettings(vectors=vectors))  # type: ignore[arg-type]
    with Memory(path, extractor=extractor, enrich="manual", settings=settings) as memory:
        print(fill(memory, world, chunks, 1, RUN))


def drop_from_cache(path: str) -> None:
    """Drop a file from the page cache, so that the next read comes from the disk."""
    for name in (path, f"{path}-wal"):
        if Path(name).exists():
            descriptor = os.open(name, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def once(target: str, cold: bool, question: str) -> dict[str, float]:
    """Open a file and ask one question in a new process."""
    path, _, checkout = target.partition("@")
    if cold:
        drop_from_cache(path)
    environment = dict(os.environ)
    if checkout:
        environment["PYTHONPATH"] = checkout
    output = subprocess.run(
        [sys.executable, __file__, "--answer", path, question],
        check=True, capture_output=True, text=True, env=environment,
    ).stdout  # fmt: skip
    measured: dict[str, float] = json.loads(output)
    return measured


def answer(path: str, question: str) -> None:
    """Run in the new process: open, ask once, report seconds, CPU seconds and memory."""
    from cognigraph import Memory

    started, used = time.perf_counter(), time.process_time()
    with Memory(path, enrich="manual") as memory:
        space = memory.space(memory.spaces()[0])
        assert space.search(question, now=NOW)
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
        print(json.dumps({"seconds": seconds, "cpu": cpu, "resident_mb": resident_mb()}))


def main() -> None:
    """Run from the command line."""
    if sys.argv[1:2] == ["--answer"]:
        answer(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--make")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--triples", type=int, default=300_000)
    parser.add_argument("--vectors", default="float16")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.make, arguments.chunks, arguments.triples, arguments.vectors)
        return
    (_, question), *_ = questions(World(), arguments.chunks, 1)
    runs: dict[str, dict[str, list[dict[str, float]]]] = {}
    for _ in range(arguments.rounds):
        for target in arguments.files:
            for state in ("cold", "warm"):
                measured = once(target, state == "cold", question)
                runs.setdefault(target, {}).setdefault(state, []).append(measured)
    write({"files": {t: _summary(t, found) for t, found in runs.items()}, "machine": machine(),
           "rounds": arguments.rounds}, arguments.json)  # fmt: skip


def _summary(target: str, states: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "file_mb": round(Path(target.partition("@")[0]).stat().st_size / 1e6, 1)
    }
    for state, measured in states.items():
        seconds = [one["seconds"] for one in measured]
        summary[state] = {
            "median_s": round(statistics.median(seconds), 2),
            "best_s": round(min(seconds), 2),
            "cpu_s": round(statistics.median(one["cpu"] for one in measured), 2),
            "resident_mb": round(statistics.median(one["resident_mb"] for one in measured)),
        }
    return summary


if __name__ == "__main__":
    main()
