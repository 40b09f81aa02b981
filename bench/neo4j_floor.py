"""The least that a Neo4j server takes for anything, to compare figures of different days.

A bare read returns a number, in one round trip; a bare write creates one node with a vector of 256
numbers, in a transaction as applications write them. What a search or an insert takes, divided by
these, says what is cognigraph's part of it, whatever else the machine was doing.

The least that the candidates of a search take are the queries of vector and full-text indexes that
find them, with nothing read of what they return.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from neo4j import GraphDatabase, ManagedTransaction

from bench.measure import percentiles
from cognigraph.stores.neo4j.connection import Connection, Row

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


_CANDIDATES = "search/candidates"
_ALONE = """CYPHER 5
CALL () {
  UNWIND $vectors AS item
  CALL db.index.vector.queryNodes(item[0], item[1], $vector) YIELD node
  RETURN count(node) AS near
}
CALL () {
  UNWIND $words AS item
  CALL db.index.fulltext.queryNodes(item[0], item[1], {limit: item[2]}) YIELD node
  RETURN count(node) AS worded
}
RETURN near, worded
"""


class IndexQueries:
    """Takes the time of the index queries of the last search: all that its indexes do for it.

    Those of messages and those of facts and themes run side by side, each in one round trip, as in
    a search. ``connection`` is that of the store that is searched.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sent: list[dict[str, Any]] = []
        self._times: list[float] = []
        self._threads = ThreadPoolExecutor(2)
        send = connection.rows

        def rows(name: str, /, *replace: tuple[str, str], **parameters: Any) -> list[Row]:
            if name == _CANDIDATES:
                self._sent.append(parameters)
            return send(name, *replace, **parameters)

        connection.rows = rows  # type: ignore[method-assign]

    def begin(self) -> None:
        """Forget what earlier searches sent."""
        self._sent.clear()

    def run(self) -> None:
        """Send the queries of what was sent since :meth:`begin`, and note how long they take."""
        queries = [_index_queries(parameters) for parameters in self._sent]
        self._times.append(_timed(lambda: [*self._threads.map(self._run, queries)]))

    def _run(self, parameters: dict[str, Any]) -> None:
        with self._connection.driver.session(database=self._connection.database) as session:
            session.run(_ALONE, parameters).consume()

    def result(self, p50_ms: float) -> dict[str, Any]:
        """The times in milliseconds, and how many times their median a median is."""
        times = percentiles(self._times, 3)
        return {
            "index queries alone": times,
            "p50 in index queries": round(p50_ms / times["p50_ms"], 2),
        }


def _index_queries(sent: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the index queries in a statement that finds candidates."""
    sources = [sent[layer] for layer in ("chunk", "triple", "theme")]
    words = [(layer, sent[f"{layer}_words"]) for layer in ("chunk", "triple")]
    return {
        "vector": sent["vector"],
        "vectors": [[item["index"], item["fetch"]] for item in sources if item["index"]],
        "words": [
            [f"{layer}_lexemes", item["query"], item["fetch"]]
            for layer, item in words
            if item["query"]
        ],
    }


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000
