"""Load messages into a Neo4j server by one or several processes: rates, retries and errors.

python -m bench.bulk_writers --store URI --messages N --server-pid PID --json FILE

Cases: one writer; two writers in one space; two and four writers in spaces of their own. Each case
loads N messages in all into new spaces, with ``add_many``; a load before them that does not count
lets the server compile its code. The rate is measured until the last writer is done. Every case
ends with a check that all messages are there, once. With ``--server-pid`` of a server on this
machine, the processor time of the server is counted too.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from bench.measure import machine, write
from bench.synthetic import World, messages
from cognigraph import CogniGraphError, Memory

CASES = {
    "one writer": ("a",),
    "two writers in one space": ("a", "a"),
    "two writers in two spaces": ("a", "b"),
    "four writers in four spaces": ("a", "b", "c", "d"),
}
_AHEAD = 3.0
"""Seconds in which all writers open their memories and make up their messages."""


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


class Load(NamedTuple):
    """What one writer did; the times are those of the clock of the machine."""

    started: float
    ended: float
    cpu: float
    retries: int
    deadlocks: int
    errors: list[str]


def load(store: str, space: str, number: int, count: int, start: float) -> Load:
    """Add the messages of one writer, beginning at the time ``start``."""
    retries = Retries()
    for name in ("neo4j", "cognigraph.neo4j"):
        logging.getLogger(name).addHandler(retries)
    logging.getLogger("cognigraph.neo4j").setLevel(logging.INFO)
    errors: list[str] = []
    with Memory(store, enrich="manual") as memory:
        own = [
            {
                "text": message.text,
                "id": f"{number}-{message.id}",
                "session": f"{number}-{message.session}",
                "speaker": message.speaker,
                "at": message.at,
            }
            for message in messages(World(), count, space=number)
        ]
        memory._engine.embedder.embed(["ready"])
        time.sleep(max(start - time.time(), 0.0))
        started, cpu = time.time(), time.process_time()
        try:
            memory.space(space).add_many(own)
        except CogniGraphError as error:
            errors.append(f"{type(error).__name__}: {error}")
        ended, cpu = time.time(), time.process_time() - cpu
    return Load(started, ended, cpu, retries.all, retries.deadlocks, errors)


def server_seconds(pid: int | None) -> float | None:
    """Return the processor time that a process on this machine has used."""
    if pid is None:
        return None
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def case(store: str, spaces: tuple[str, ...], count: int, pid: int | None) -> dict[str, Any]:
    """Load ``count`` messages by as many writers as there are spaces, and check the result."""
    run, each = uuid4().hex[:6], count // len(spaces)
    names = [f"bulk-{run}-{space}" for space in spaces]
    before = server_seconds(pid)
    start = time.time() + _AHEAD + each / 10_000
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(spaces), mp_context=context) as pool:
        futures = [
            pool.submit(load, store, name, number, each, start) for number, name in enumerate(names)
        ]
        loads = [future.result() for future in futures]
    after = server_seconds(pid)
    with Memory(store, enrich="manual") as memory:
        stored = sum(memory.space(name).stats().messages for name in {*names})
        for name in {*names}:
            memory.admin.delete_space(name)
    seconds = max(item.ended for item in loads) - min(item.started for item in loads)
    total = each * len(spaces)
    return {
        "writers": len(spaces),
        "spaces": len({*names}),
        "messages": total,
        "stored": stored,
        "per_second": round(total / seconds, 1),
        "client_cpu_ms": round(1000 * sum(item.cpu for item in loads) / total, 3),
        "server_cpu_ms": None
        if before is None or after is None
        else round(1000 * (after - before) / total, 3),
        "retries": sum(item.retries for item in loads),
        "deadlocks": sum(item.deadlocks for item in loads),
        "errors": [error for item in loads for error in item.errors],
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", required=True)
    parser.add_argument("--messages", type=int, default=30_000)
    parser.add_argument("--warm-up", type=int, default=20_000)
    parser.add_argument("--server-pid", type=int)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    with Memory(arguments.store, enrich="manual") as memory:
        server = memory.info.details.get("server", "")
    if arguments.warm_up:
        case(arguments.store, ("a",), arguments.warm_up, None)
    cases = {
        name: case(arguments.store, spaces, arguments.messages, arguments.server_pid)
        for name, spaces in CASES.items()
    }
    for name, found in cases.items():
        assert found["stored"] == found["messages"] and not found["errors"], (name, found)
    write({"server": server, "cases": cases, "machine": machine()}, arguments.json)


if __name__ == "__main__":
    main()
