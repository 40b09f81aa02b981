"""Measure search latency on a large synthetic memory, in one space and spread over many.

python -m bench.search --store sqlite|URI --chunks N --triples M --spaces 1,1000 [--run NAME]
    [--file FILE] --json FILE

For each number of spaces, the same rows are generated from a seed, and the same number of questions
is asked in random spaces. For a file, the benchmark also measures the time from opening it to the
first answer, in a new process, and the memory of that process. ``--file`` measures a file that
``bulk.py`` has filled with one space, which takes minutes where enriching takes an hour. On a Neo4j
server, a bare read is timed after each search, and its index queries alone; with ``--server-pid``
of a server on this machine, the processor time that it takes for a search is counted too.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.bulk import RUN as BULK_RUN
from bench.bulk_writers import server_seconds
from bench.measure import machine, percentiles, resident_mb, write
from bench.neo4j_floor import Floor, IndexQueries
from bench.synthetic import START, SyntheticExtractor, World, messages
from cognigraph import Memory, SearchResult, Settings, Space, StorageSettings

NOW = START.replace(year=START.year + 20)
QUESTIONS = 300
PATIENT = Settings(storage=StorageSettings(read_timeout=300))
"""On a busy server the first statements are planned slowly."""


def fill(memory: Memory, world: World, chunks: int, spaces: int, run: str) -> dict[str, float]:
    """Insert and enrich; return the seconds of each."""
    seconds = {"insert_s": 0.0, "enrich_s": 0.0}
    for number in range(spaces):
        space = memory.space(f"{run}-{number}")
        stats, wanted = space.stats(), chunks // spaces
        if stats.chunks >= wanted and not stats.pending:
            continue
        started = time.perf_counter()
        if stats.chunks < wanted:
            space.add_many(messages(world, wanted, space=number))
        seconds["insert_s"] += time.perf_counter() - started
        started = time.perf_counter()
        space.flush(timeout=7200)
        seconds["enrich_s"] += time.perf_counter() - started
    return {name: round(value, 1) for name, value in seconds.items()}


def questions(world: World, chunks: int, spaces: int) -> list[tuple[int, str]]:
    """Return questions about random turns, as (space number, question)."""
    source = random.Random(99)
    per_space = chunks // spaces
    numbers = [source.randrange(spaces) for _ in range(QUESTIONS)]
    texts: dict[int, list[str]] = {}
    for number in set(numbers):
        texts[number] = [m.text for m in messages(world, min(per_space, 2000), space=number)]
    return [(number, world.question(source.choice(texts[number]), source)) for number in numbers]


def first_search(memory: Memory, number: int, question: str, run: str) -> float:
    """Return the seconds of the first search of this process."""
    started = time.perf_counter()
    memory.space(f"{run}-{number}").search(question, now=NOW)
    return round(time.perf_counter() - started, 2)


class Beside:
    """What is measured beside the searches on a Neo4j server.

    ``pid`` is the server's process, if it is on this machine.
    """

    def __init__(self, floor: Floor, alone: IndexQueries, pid: int | None) -> None:
        self._floor = floor
        self._alone = alone
        self._pid = pid
        self._seconds = {"client": 0.0, "server": 0.0}
        self._searches = 0

    def search(self, space: Space, question: str) -> SearchResult:
        """Search, and count the processor time of both sides; then time what is beside it."""
        self._alone.begin()
        server, client = server_seconds(self._pid), time.process_time()
        result = space.search(question, now=NOW)
        self._seconds["client"] += time.process_time() - client
        if server is not None:
            self._seconds["server"] += (server_seconds(self._pid) or 0.0) - server
        self._searches += 1
        return result

    def after(self) -> None:
        """Time a bare read and the index queries of the last search."""
        self._floor.read()
        self._alone.run()

    def result(self, p50_ms: float) -> dict[str, Any]:
        """What was measured, in milliseconds, and how many times that a median search is."""
        processor = {
            f"{side}_cpu_ms": round(1000 * seconds / self._searches, 2)
            for side, seconds in self._seconds.items()
            if seconds
        }
        return {**self._floor.result(p50_ms), **self._alone.result(p50_ms), **processor}


def ask(
    memory: Memory, asked: list[tuple[int, str]], run: str, beside: Beside | None = None
) -> list[float]:
    """Return the milliseconds of each search, after some questions as a warm-up."""
    for number, question in asked[:30]:
        memory.space(f"{run}-{number}").search(question, now=NOW)
    times = []
    for number, question in asked:
        space = memory.space(f"{run}-{number}")
        started = time.perf_counter()
        if beside is None:
            result = space.search(question, now=NOW)
        else:
            result = beside.search(space, question)
        times.append((time.perf_counter() - started) * 1000)
        if beside is not None:
            beside.after()
        assert result, "a question about a stored turn found nothing"
    return times


def cold_start(location: str, run: str, asked: list[tuple[int, str]]) -> dict[str, float]:
    """Return how soon a new process gives its first answer, and its memory then and in the end."""
    output = subprocess.run(
        [sys.executable, "-m", "bench.search", "--cold", location, run],
        check=True, capture_output=True, text=True, input=json.dumps(asked),
    ).stdout  # fmt: skip
    return dict(json.loads(output))


def answer_cold(location: str, run: str) -> None:
    """Run in the new process: open, ask all questions, report."""
    asked = json.loads(sys.stdin.read())
    started = time.perf_counter()
    with Memory(location, enrich="manual") as memory:
        found: dict[str, float] = {}
        for number, question in asked:
            assert memory.space(f"{run}-{number}").search(question, now=NOW)
            if not found:
                found["open_and_first_answer_s"] = round(time.perf_counter() - started, 2)
                found["resident_mb"] = resident_mb()
        found["resident_after_all_mb"] = resident_mb()
        sys.stdout.write(json.dumps(found))


def main() -> None:
    """Run from the command line."""
    if sys.argv[1:2] == ["--cold"]:
        answer_cold(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", default="sqlite")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--triples", type=int, default=300_000)
    parser.add_argument("--spaces", default="1,1000")
    parser.add_argument("--run", help="prefix of the space names; existing spaces are reused")
    parser.add_argument("--file", help="a file that bulk.py filled; implies one space")
    parser.add_argument("--server-pid", type=int, help="of a Neo4j server on this machine")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    world = World()
    extractor = SyntheticExtractor(world, arguments.triples // arguments.chunks)
    layouts: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in [1] if arguments.file else [int(n) for n in arguments.spaces.split(",")]:
            run = arguments.run or (BULK_RUN if arguments.file else uuid4().hex[:6])
            local = "://" not in arguments.store
            location = f"{folder}/{count}.db" if local else arguments.store
            location = arguments.file or location
            asked = questions(world, arguments.chunks, count)
            with Memory(location, extractor=extractor, enrich="manual", settings=PATIENT) as memory:
                seconds = fill(memory, world, arguments.chunks, count, run)
                stats = memory.space(f"{run}-0").stats()
                if not local:
                    seconds["first_search_s"] = first_search(memory, *asked[0], run)
                beside: Beside | None = None
                with nullcontext() if local else Floor(location) as floor:
                    if floor is not None:
                        store = memory._engine.store
                        alone = IndexQueries(store._connection)  # type: ignore[attr-defined]
                        beside = Beside(floor, alone, arguments.server_pid)
                    times = ask(memory, asked, run, beside)
            layouts[str(count)] = {
                "spaces": count,
                "chunks_in_first_space": stats.chunks,
                "triples_in_first_space": stats.triples,
                **percentiles(times),
                **({} if beside is None else beside.result(percentiles(times)["p50_ms"])),
                **seconds,
            }
            if local:
                layouts[str(count)] |= cold_start(location, run, asked)
                layouts[str(count)]["file_mb"] = round(Path(location).stat().st_size / 1e6, 1)
    result = {
        "store": "neo4j" if "://" in arguments.store else arguments.store,
        "chunks": arguments.chunks,
        "triples": arguments.triples,
        "questions": QUESTIONS,
        "layouts": layouts,
        "machine": machine(),
    }
    write(result, arguments.json)


if __name__ == "__main__":
    main()
