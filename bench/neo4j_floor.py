"""The least that a Neo4j server takes for anything, to compare figures of different days.

A bare read returns a number, in one round trip; a bare write creates one node with a vector of 256
numbers, in a transaction as applications write them. What a search or an insert takes, divided by
these, says what is cognigraph's part of it, whatever else the machine was doing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from neo4j import GraphDatabase, ManagedTransaction

from bench.measure import percentiles

_READ = "RETURN 1"
_WRITE = "CREATE (node:BenchFloor {vector: $vector})"
_CLEAN = "MATCH (node:BenchFloor) DELETE node"


class Floor:
    """Takes the times of bare reads and writes on one server, between those of something else."""

    def __init__(self, uri: str) -> None:
        self._driver = GraphDatabase.driver(uri, notifications_min_severity="OFF")
        self._session = self._driver.session()
        source = random.Random(7)
        self._vector = [source.uniform(-1.0, 1.0) for _ in range(256)]
        self._reads: list[float] = []
        self._writes: list[float] = []
        for _ in range(100):  # plans, connections, compiled code
            self._read()
            self._write()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._session.run(_CLEAN).consume()
        self._session.close()
        self._driver.close()

    def read(self) -> None:
        """Take the time of a bare read."""
        self._reads.append(_timed(self._read))

    def write(self) -> None:
        """Take the time of a bare write."""
        self._writes.append(_timed(self._write))

    def result(self, p50_ms: float) -> dict[str, Any]:
        """The times in milliseconds, and how many times the last one a median is."""
        result: dict[str, Any] = {}
        for name, times in (("bare read", self._reads), ("bare write", self._writes)):
            if times:
                result[name] = percentiles(times, 3)
                result[f"p50 in {name}s"] = round(p50_ms / percentiles(times, 6)["p50_ms"], 2)
        return result

    def _read(self) -> None:
        self._session.run(_READ).consume()

    def _write(self) -> None:
        def work(transaction: ManagedTransaction) -> None:
            transaction.run(_WRITE, vector=self._vector).consume()

        self._session.execute_write(work)


def _timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000
