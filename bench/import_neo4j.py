"""Copy the space of a file that bulk.py filled into a new Neo4j database, in minutes.

python -m bench.import_neo4j FILE --folder DIR [--limit N] [--line 2026] [--json FILE]

To fill a database with a million messages through the product takes hours. Here the rows of the
SQLite file become the CSV files of ``neo4j-admin database import``, which writes the store itself.
Then a server is started on it, which builds the indexes; DIR is what ``python -m
tests.servers.neo4j_server --folder`` gets to serve it afterwards. If DIR has an imported database,
only the indexes that it lacks are built. ``--limit`` takes the first N messages only, with the
facts read from them and the summaries of their sessions. What searches do not read is left out: the
vectors and blocks of names, which are for merging them, the revisions of summaries, and how a
message spells a fact.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neo4j import Driver, GraphDatabase, ManagedTransaction

from bench.measure import machine, write
from bench.neo4j_csv import NODES, RELATIONSHIPS, Export, Source, labels_of
from cognigraph import Memory
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.schema import commands, migrations

if TYPE_CHECKING:
    from tests.servers.neo4j_server import Server, Sizes

TRANSACTION = 5000
"""Nodes that are packed in one transaction."""
DIMENSION = 256
BUILDERS = os.cpu_count() or 1
"""Threads that add vectors to an index at once."""
POPULATION = (
    # So that the quick indexes need not wait for those of vectors.
    "internal.dbms.index_population.parallelism=6",
    # By default one thread for each four processors. One of them reads the nodes.
    f"internal.dbms.index_population.workers={BUILDERS + 1}",
    # In MB, of all threads together. The vectors that fit in get one graph, a segment, and each
    # search visits all segments; but to add a vector takes longer the larger its graph is.
    f"internal.dbms.index.vector.population_ram_buffer_size={50 * BUILDERS}",
)
# The server has no more workers than processors.
PROCESSORS = f"-XX:ActiveProcessorCount={BUILDERS + 1}"


def import_files(space: str, csv: Path, folder: Path, line: str, sizes: Sizes) -> None:
    """Let neo4j-admin write the store."""
    from tests.servers.neo4j_server import admin

    nodes = [f"--nodes={labels_of(kind, space)}={csv / kind}.csv" for kind in NODES]
    ties = [f"--relationships={name}={csv / name}.csv" for name in RELATIONSHIPS]
    admin(
        line, folder, ["database", "import", "full", "neo4j", "--id-type=actual",
                       "--delimiter=TAB", "--array-delimiter=;", "--max-off-heap-memory=3G",
                       f"--report-file={folder / 'import.report'}", *nodes, *ties],
        sizes,
    )  # fmt: skip


IS_PACKED = """CYPHER 5
MATCH (node) WHERE id(node) = $id
RETURN node.packed IS NOT NULL AS packed
"""
PACK = """CYPHER 5
UNWIND $rows AS row
MATCH (node) WHERE id(node) = row[0]
SET node.packed = row[1]
"""


def rows_of(driver: Driver, statement: str, **parameters: Any) -> list[list[Any]]:
    """Run a statement by itself, without waiting for what other sessions have written."""
    with driver.session() as session:
        return session.run(statement, parameters).values()


def pack_nodes(uri: str, source: Source) -> None:
    """Write what ranking needs of the nodes, which the product writes last, and so finds first.

    What was interrupted is continued.
    """
    with GraphDatabase.driver(uri, notifications_min_severity="OFF") as driver:

        def write(batch: list[tuple[int, bytes]]) -> None:
            if rows_of(driver, IS_PACKED, id=batch[-1][0]) == [[True]]:
                return
            for start in range(0, len(batch), TRANSACTION):
                rows_of(driver, PACK, rows=batch[start : start + TRANSACTION])

        with ThreadPoolExecutor(1) as writing:
            last: Future[None] | None = None
            for batch in source.packed():
                if last is not None:
                    last.result()
                last = writing.submit(write, batch)
            if last is not None:
                last.result()


WAITING = """CYPHER 5
SHOW INDEXES YIELD name, state, populationPercent WHERE state <> 'ONLINE'
RETURN collect(name + ' ' + toString(round(populationPercent)) + ' %')
"""
_DAY = 86_400.0


def create_indexes(uri: str) -> None:
    """Create all indexes, those of vectors first because they take longest."""
    connection = Connection(uri, None, None)
    schema = [command for _, name in migrations() for command in commands(name)]
    others = [item for item in schema if "CREATE INDEX" in item or "CREATE FULLTEXT" in item]

    def create(tx: ManagedTransaction) -> None:
        for command in others:  # in one transaction, so that the nodes are read once
            tx.run(command).consume()

    try:
        with within(_DAY):
            OwnIndexes(connection, DIMENSION, 0).make_again("embedding", DIMENSION)
            with connection.driver.session() as session:
                session.execute_write(create)
            for command in schema:
                if "CREATE CONSTRAINT" in command:
                    connection.command_text(command, {})
    finally:
        connection.close()


def wait_for_indexes(uri: str, seconds: dict[str, float], started: float) -> None:
    """Wait until the server has built all indexes; note when those that are not of vectors were."""
    with GraphDatabase.driver(uri) as driver:
        while True:
            waiting = rows_of(driver, WAITING)[0][0]
            if not any("vector" not in item for item in waiting):
                seconds.setdefault("other_indexes_s", round(time.perf_counter() - started, 1))
            if not waiting:
                return
            print(*waiting, sep=", ", flush=True)
            time.sleep(min(20, 0.2 + (time.perf_counter() - started) / 10))


HELD = """CYPHER 5
MATCH (space:Space)
RETURN space.name, space.chunks
"""


def check_same(uri: str, source: Source) -> None:
    """Raise ``SystemExit`` unless the database holds this space with as many messages.

    Its nodes have the numbers of the rows that were imported.
    """
    with GraphDatabase.driver(uri) as driver:
        held = rows_of(driver, HELD)
    if held != [[source.space, source.chunks]]:
        wanted = f"{source.chunks} messages of {source.space}"
        raise SystemExit(f"the folder holds {held} instead of {wanted}; give a new one")


class Laps:
    """The seconds that each step took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.started = time.perf_counter()

    def end(self, name: str) -> None:
        """Note a step and begin the next one."""
        self.seconds[name] = round(time.perf_counter() - self.started, 1)
        self.started = time.perf_counter()
        print(name, self.seconds[name], flush=True)


@contextmanager
def imported(
    file: str, folder: Path, line: str, sizes: Sizes, limit: int | None, laps: Laps
) -> Iterator[Server]:
    """Yield a server with the space of a file, or its first messages, and all indexes.

    Its data stays in ``folder``.
    """
    from tests.servers.neo4j_server import running_server

    csv = folder / "csv"
    if not (folder / "home").exists():
        Export(file, csv, limit).run()
        laps.end("csv_s")
        import_files(Source(file).space, csv, folder, line, sizes)
        laps.end("import_s")
        shutil.rmtree(csv)
    with running_server(line, replace(sizes, folder=folder)) as server:
        print(server.uri, flush=True)
        laps.started = started = time.perf_counter()
        source = Source(file, limit)
        check_same(server.uri, source)
        pack_nodes(server.uri, source)
        laps.end("pack_s")
        create_indexes(server.uri)
        wait_for_indexes(server.uri, laps.seconds, started)
        laps.end("indexes_s")
        yield server


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--folder", required=True, type=Path, help="new, for the server's data")
    parser.add_argument("--limit", type=int, metavar="N", help="take the first N messages only")
    parser.add_argument("--line", default="2026")
    parser.add_argument("--heap", default="3g")
    parser.add_argument("--page-cache", default="4g")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.limit is not None and arguments.limit < 1:
        parser.error("--limit: at least 1")
    from tests.servers.neo4j_server import Sizes

    sizes = Sizes(
        arguments.heap, arguments.page_cache, False, settings=POPULATION, java=(PROCESSORS,)
    )
    laps = Laps()
    with (
        imported(
            arguments.file, arguments.folder, arguments.line, sizes, arguments.limit, laps
        ) as server,
        Memory(server.uri, enrich="manual") as memory,
    ):
        stats = memory.space(memory.spaces()[0]).stats()
    counted = {"chunks": stats.chunks, "triples": stats.triples, "sessions": stats.sessions}
    write({**counted, **laps.seconds, "machine": machine()}, arguments.json)


if __name__ == "__main__":
    main()
