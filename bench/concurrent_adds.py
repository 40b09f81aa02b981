"""Several threads add to one space: measure waits and retries, and check that nothing is lost.

python bench/concurrent_adds.py --store sqlite|URI --threads 8 --turns 40 --json FILE
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from uuid import uuid4

from measure import machine, percentiles, write

from cognigraph import Memory
from cognigraph.testing import HashEmbedder


class Retries(logging.Handler):
    """Counts transactions that the Neo4j driver or the store retries."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.all = 0
        self.deadlocks = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Count one log record."""
        text = record.getMessage()
        self.all += "will be retried" in text
        self.deadlocks += "DeadlockDetected" in text


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", default="sqlite")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--turns", type=int, default=40, help="turns per thread")
    parser.add_argument("--memories", type=int, default=1, help="open memories to spread over")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    retries = Retries()
    for name in ("neo4j", "cognigraph.neo4j"):
        logging.getLogger(name).addHandler(retries)
    logging.getLogger("cognigraph.neo4j").setLevel(logging.INFO)
    with tempfile.TemporaryDirectory() as folder:
        location = arguments.store if "://" in arguments.store else f"{folder}/m.db"
        with ExitStack() as stack:
            name = f"adds-{uuid4().hex[:8]}"
            memories = [
                stack.enter_context(Memory(location, embedder=HashEmbedder(256), enrich="manual"))
                for _ in range(arguments.memories)
            ]

            def adds(thread: int) -> list[float]:
                space = memories[thread % len(memories)].space(name)
                times: list[float] = []
                for number in range(arguments.turns):
                    started = time.perf_counter()
                    space.add(
                        f"Turn {number} of thread {thread}.",
                        id=f"m{thread}-{number}",
                        session=f"s{thread % 3}",
                    )
                    times.append((time.perf_counter() - started) * 1000)
                return times

            with ThreadPoolExecutor(arguments.threads) as pool:
                times = [each for own in pool.map(adds, range(arguments.threads)) for each in own]
            assert memories[0].space(name).stats().messages == len(times), (
                "an acknowledged turn is missing"
            )
    result = {
        "store": "neo4j" if "://" in arguments.store else arguments.store,
        "threads": arguments.threads,
        "memories": arguments.memories,
        "adds": len(times),
        **percentiles(times),
        "max_ms": round(max(times), 2),
        "retries": retries.all,
        "deadlocks": retries.deadlocks,
        "machine": machine(),
    }
    write(result, arguments.json)


if __name__ == "__main__":
    main()
