"""Compare search latency with an earlier version of cognigraph, alternating on one machine.

python -m bench.search_beside --earlier CHECKOUT --chunks N --triples M --rounds N --folder DIR
    --json FILE

CHECKOUT is a folder with the earlier version. Each version fills a file of its own in DIR with the
same rows (an existing file is reused). Both then answer the same questions alternately, each round
in a new process and twice: the first time much is read or computed for the first time. The speed of
a machine changes within minutes, so only the ratios within a round are meaningful.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from bench.measure import write

HERE = Path(__file__).resolve().parents[1]
RUN = "beside"

FILL = """
import sys
from bench.search import fill
from bench.synthetic import SyntheticExtractor, World
from cognigraph import Memory
file, chunks, per_chunk = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
world = World()
with Memory(file, extractor=SyntheticExtractor(world, per_chunk), enrich="manual") as memory:
    fill(memory, world, chunks, 1, sys.argv[4])
"""
ASK = """
import json, sys
from bench.search import ask, questions
from bench.synthetic import World
from cognigraph import Memory
asked = questions(World(), int(sys.argv[2]), 1)
with Memory(sys.argv[1], enrich="manual") as memory:
    print(json.dumps([sorted(ask(memory, asked, sys.argv[3])) for _ in range(2)]))
"""


def version(checkout: Path, script: str, *arguments: object) -> str:
    """Run a script with the package and the benchmarks of a checkout."""
    path = os.pathsep.join([str(checkout), str(checkout / "bench")])
    return subprocess.run(
        [sys.executable, "-P", "-c", script, *map(str, arguments)],
        check=True, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path},
    ).stdout  # fmt: skip


def ratios(earlier: list[float], now: list[float]) -> dict[str, float]:
    """Return the ratio of the current to the earlier time, by round."""
    found = [later / before for before, later in zip(earlier, now, strict=True)]
    named = {"median": median(found), "lowest": min(found), "highest": max(found)}
    return {name: round(ratio, 2) for name, ratio in named.items()}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--earlier", required=True, type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--triples", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    versions = {"earlier": arguments.earlier.resolve(), "now": HERE}
    for name, checkout in versions.items():
        file = arguments.folder / f"{name}.db"
        per_chunk = arguments.triples // arguments.chunks
        version(checkout, FILL, file, arguments.chunks, per_chunk, RUN)
    p50: dict[str, dict[str, list[float]]] = {
        when: {name: [] for name in versions} for when in ("first", "again")
    }
    for _ in range(arguments.rounds):
        for name, checkout in versions.items():
            file = arguments.folder / f"{name}.db"
            answer = json.loads(version(checkout, ASK, file, arguments.chunks, RUN))
            for when, times in zip(p50, answer, strict=True):
                p50[when][name].append(round(median(times), 2))
    commit = subprocess.run(
        ["git", "-C", str(arguments.earlier), "rev-parse", "--short", "HEAD"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    write(
        {
            "chunks": arguments.chunks,
            "triples": arguments.triples,
            "earlier": commit,
            "p50_ms": p50,
            "ratio": {when: ratios(**times) for when, times in p50.items()},
        },
        arguments.json,
    )


if __name__ == "__main__":
    main()
