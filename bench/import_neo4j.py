"""Copy the space of a file that bulk.py filled into a new Neo4j database, in minutes.

python -m bench.import_neo4j FILE --folder DIR [--line 2026] [--json FILE]

To fill a database with a million messages through the product takes hours. Here the rows of the
SQLite file become the CSV files of ``neo4j-admin database import``, which writes the store itself.
Then a server is started on it, which builds the indexes; DIR is what ``python -m
tests.servers.neo4j_server --folder`` gets to serve it afterwards. If DIR has an imported database,
only the indexes that it lacks are built. What searches do not read is left out: the vectors and
blocks of names, which are for merging them, the revisions of summaries, and how a message spells a
fact.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from neo4j import Driver, GraphDatabase, ManagedTransaction

from bench.measure import machine, write
from bench.synthetic import FUNCTION_WORDS, World
from cognigraph import Memory
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.stores.neo4j.index import fulltext
from cognigraph.stores.neo4j.index.packed import pack
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.schema import commands, migrations
from cognigraph.stores.neo4j.values import spread
from cognigraph.stores.sqlite.vector_format import POSTING, term_hash
from cognigraph.text.terms import stem
from cognigraph.times import from_micros

BATCH = 20_000
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
FIRST_SEQ = 1
"""Arrival number of the first message; those of later inserts are times in microseconds."""

_DIGITS = 5
_MOST = 10**_DIGITS - 1
_COMPONENTS = np.frombuffer(
    "".join(f"{'-' if n < 0 else '0'}.{abs(n):05d};" for n in range(-_MOST, _MOST + 1)).encode(),
    np.uint64,
)
"""The text of each number of five digits between -1 and 1, eight bytes with the delimiter."""

NODES = {
    "Session": "uid space id seq:long started_at:datetime ended_at:datetime messages:long"
    " chunks:long version:long claims:long tail state renew:boolean",
    "Chunk": "uid space session session_uid message_id part:long parts:long speaker at:datetime"
    " text digest question:boolean length:long terms:string[] lexemes state attempts:long"
    " outages:long deaths:long extractor seq:long embedding:float[]",
    "Entity": "uid space name normalised type key anchor name_hash spelled loops:long",
    "Triple": "uid space seq:long subject_uid object_uid raw_subject raw_object spelled subject"
    " said_subject relation object said_object negated:boolean status first_observed:datetime"
    " last_observed:datetime length:long terms:string[] lexemes embedding:float[]",
    "Theme": "uid space session_uid place:long seq:long title summary reason length:long"
    " terms:string[] embedding:float[]",
    "Key": "uid space name embedding:float[]",
    "Space": "name inserts:long seq:long chunks:long length:long chunk_indexed:boolean"
    " chunk_covered:long chunk_tail:long",
    "SpaceFacts": "name seq:long triples:long length:long themes:long triple_labels:string[]"
    " triple_indexed:boolean theme_labels:string[] theme_indexed:boolean",
}
"""Properties of each kind of node, with their types where they are not strings."""

RELATIONSHIPS = {
    "HAS_CHUNK": "", "NEXT": "", "HAS_THEME": "", "HAS_KEY": "weight:double", "SUBJECT": "",
    "OBJECT": "", "IN_SESSION": "", "EVIDENCE": "observed_at:datetime",
}  # fmt: skip


def labels_of(kind: str, space: str) -> str:
    """All labels of the nodes of a kind, as the importer takes them."""
    more = {"Entity": ["Named"], "Triple": ["Fact"]}.get(kind, [])
    if kind in ("Chunk", "Triple", "Theme"):
        more.append(fulltext.own_label(kind, space))  # type: ignore[arg-type]
    return ":".join([kind, *more])


class Words:
    """Finds the words of the made-up world by the hashes that are in the file."""

    def __init__(self, world: World, space: str) -> None:
        stems = list({stem(word) for word in [*world.words, *FUNCTION_WORDS]})
        hashes = np.array([term_hash(one) for one in stems], np.uint64)
        order = np.argsort(hashes)
        self._hashes = hashes[order]
        self._stems = np.array(stems, object)[order]
        self._space = space

    def read(self, blobs: list[bytes]) -> Iterator[dict[str, int]]:
        """Yield the terms of each text with their frequencies."""
        entries = np.frombuffer(b"".join(blobs), POSTING)
        found = np.searchsorted(self._hashes, entries["term"])
        assert (self._hashes[found] == entries["term"]).all(), "a word of another world"
        stems, frequencies = self._stems[found].tolist(), entries["frequency"].tolist()
        end = 0
        for blob in blobs:
            start, end = end, end + len(blob) // POSTING.itemsize
            yield dict(zip(stems[start:end], frequencies[start:end], strict=True))

    def properties(self, blobs: list[bytes]) -> Iterator[tuple[str, str]]:
        """Yield the properties ``terms`` and ``lexemes`` of each text."""
        for terms in self.read(blobs):
            yield ";".join(spread(terms)), fulltext.lexemes(self._space, terms)


def unit_vectors(blobs: list[bytes]) -> npt.NDArray[np.float32]:
    """Return vectors, normalised."""
    vectors = np.frombuffer(b"".join(blobs), np.float16).astype(np.float32)
    vectors = vectors.reshape(len(blobs), -1)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def components(blobs: list[bytes]) -> list[str]:
    """Return vectors, normalised, as the importer reads them."""
    vectors = unit_vectors(blobs)
    numbers = np.rint(vectors * 10**_DIGITS).astype(np.int32).clip(-_MOST, _MOST) + _MOST
    text = _COMPONENTS[numbers].tobytes().decode("ascii")
    width = 8 * vectors.shape[1]
    return [text[at : at + width - 1] for at in range(0, len(text), width)]


def times(micros: Iterable[int]) -> list[str]:
    """Return moments in ISO 8601."""
    moments = np.array(list(micros), np.int64).view("datetime64[us]")
    return [f"{one}Z" for one in np.datetime_as_string(moments, unit="us").tolist()]


class Source:
    """Reads the space of a file. Its nodes are numbered by their rows, one kind after another."""

    def __init__(self, file: str) -> None:
        # From several threads, one after another.
        self._connection = sqlite3.connect(
            f"file:{file}?mode=ro", uri=True, check_same_thread=False
        )
        ((self.space,),) = self._connection.execute("SELECT name FROM space").fetchall()
        self._words = Words(World(), self.space)
        at = 2
        self._base: dict[str, int] = {"Space": 0, "SpaceFacts": 1}
        for table in ("session", "chunk", "entity", "triple", "theme", "key"):
            self._base[table.capitalize()] = at
            at += self._one(f"SELECT max(id) FROM {table}") + 1

    def _one(self, query: str) -> int:
        return int(self._connection.execute(query).fetchone()[0] or 0)

    def _batches(self, query: str) -> Iterator[list[Any]]:
        cursor = self._connection.execute(query)
        while rows := cursor.fetchmany(BATCH):
            yield list(zip(*rows, strict=True))

    def packed(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield batches of nodes, by their ids, with what ranking needs of them."""
        for columns in self._batches(
            """SELECT chunk_id, terms, vector, chunk.uid, session.uid, chunk_index.at, question,
                 chunk.speaker
               FROM chunk_index JOIN chunk ON chunk.id = chunk_id
               JOIN session ON session.id = chunk.session_id ORDER BY 1"""
        ):
            chunks, *texts, uids, sessions, at, question, speakers = columns
            more = zip(sessions, map(from_micros, at), question, speakers, strict=True)
            yield self._packed(
                "Chunk", chunks, uids, texts,
                (dict(session=s, at=t, question=bool(q), speaker=name) for s, t, q, name in more),
            )  # fmt: skip
        for triples, *texts, uids in self._batches(
            """SELECT id, terms, vector, triple.uid
               FROM triple_index JOIN triple ON id = triple_id ORDER BY 1"""
        ):
            yield self._packed("Triple", triples, uids, texts, repeat({}))
        for themes, *texts, uids, sessions in self._batches(
            """SELECT theme.id, terms, vector, theme.uid, session.uid
               FROM theme JOIN session ON session.id = session_id ORDER BY 1"""
        ):
            yield self._packed(
                "Theme", themes, uids, texts, (dict(session=session) for session in sessions)
            )

    def _packed(
        self, kind: str, ids: Any, uids: Any, texts: list[Any], more: Iterable[dict[str, Any]]
    ) -> list[tuple[int, bytes]]:
        terms, vectors = self._words.read(texts[0]), unit_vectors(texts[1])
        return [
            (self._base[kind] + id, pack(self.space, uid, words, vector, **own))
            for id, uid, words, vector, own in zip(ids, uids, terms, vectors, more, strict=False)
        ]


class Export(Source):
    """Writes the space of a file as CSV files."""

    def __init__(self, file: str, folder: Path) -> None:
        super().__init__(file)
        self.folder = folder
        folder.mkdir(parents=True)
        self._files = {name: (folder / f"{name}.csv").open("w") for name in NODES | RELATIONSHIPS}
        for name, columns in NODES.items():
            self._lines(name, [":ID " + columns])
        for name, columns in RELATIONSHIPS.items():
            self._lines(name, [f":START_ID :END_ID {columns}".strip()])

    def _lines(self, name: str, lines: Iterable[str]) -> None:
        """Write a header, with spaces between the columns."""
        self._files[name].writelines(line.replace(" ", "\t") + "\n" for line in lines)

    def run(self) -> None:
        """Write everything."""
        for part in (self._sessions, self._chunks, self._entities, self._triples, self._themes,
                     self._keys, self._ties, self._totals):  # fmt: skip
            part()
        for file in self._files.values():
            file.close()

    def _sessions(self) -> None:
        base, space = self._base["Session"], self.space
        tails = dict(self._connection.execute(
            "SELECT session_id, uid FROM (SELECT session_id, uid, max(at) FROM chunk GROUP BY 1)"
        ))  # fmt: skip
        firsts = dict(self._connection.execute("SELECT session_id, min(id) FROM chunk GROUP BY 1"))
        for ids, uids, names, started, ended, messages, chunks in self._batches(
            "SELECT id, uid, name, started_at, ended_at, messages, chunks FROM session"
        ):
            self._files["Session"].writelines(
                f"{base + id}\t{uid}\t{space}\t{name}\t{FIRST_SEQ - 1 + firsts[id]}\t{start}\t{end}"
                f'\t{m}\t{c}\t1\t0\t{tails[id]}\t""\tfalse\n'
                for id, uid, name, start, end, m, c in zip(
                    ids, uids, names, times(started), times(ended), messages, chunks, strict=True
                )
            )

    def _chunks(self) -> None:
        base, space = self._base["Chunk"], self.space
        before = (0, 0)
        for columns in self._batches(
            """SELECT chunk.id, chunk.session_id, chunk.uid, session.name, session.uid, message_id,
                 part, parts, chunk.speaker, text, digest, question, length, chunk.at, terms, vector
               FROM chunk JOIN chunk_index ON chunk_id = chunk.id
               JOIN session ON session.id = chunk.session_id ORDER BY chunk.id"""
        ):
            ids, sessions, *strings, at, terms, vectors = columns
            self._files["Chunk"].writelines(
                f"{base + id}\t{uid}\t{space}\t{session}\t{session_uid}\t{message}\t{part}\t{parts}"
                f"\t{speaker}\t{at}\t{text}\t{digest}\t{'true' if question else 'false'}\t{length}"
                f"\t{words}\t{tokens}\tdone\t1\t0\t0\tsynthetic-1\t{FIRST_SEQ - 1 + id}\t{vector}\n"
                for id, uid, session, session_uid, message, part, parts, speaker, text, digest,
                question, length, at, (words, tokens), vector in zip(
                    ids, *strings, times(at), self._words.properties(terms), components(vectors),
                    strict=True,
                )
            )  # fmt: skip
            for id, session in zip(ids, sessions, strict=True):
                self._files["HAS_CHUNK"].write(f"{self._base['Session'] + session}\t{base + id}\n")
                if before[1] == session:
                    self._files["NEXT"].write(f"{base + before[0]}\t{base + id}\n")
                before = id, session

    def _entities(self) -> None:
        base, space = self._base["Entity"], self.space
        for columns in self._batches(
            "SELECT id, uid, name, normalised, type, key, spelled FROM entity"
        ):
            self._files["Entity"].writelines(
                f"{base + id}\t{uid}\t{space}\t{name}\t{normalised}\t{type}\t{key}"
                f"\t{fulltext.anchor(space, key)}\t{fulltext.name_hash(space, normalised)}"
                f"\t{spelled}\t0\n"
                for id, uid, name, normalised, type, key, spelled in zip(*columns, strict=True)
            )

    def _triples(self) -> None:
        base, entity, space = self._base["Triple"], self._base["Entity"], self.space
        uids = [""] * (self._one("SELECT max(id) FROM entity") + 1)
        for id, uid in self._connection.execute("SELECT id, uid FROM entity"):
            uids[id] = uid
        for columns in self._batches(
            """SELECT triple.id, triple.uid, triple.subject_id, triple.object_id, subject, relation,
                 object, triple.first_observed, triple.last_observed, length, terms, vector
               FROM triple JOIN triple_index ON triple_id = triple.id ORDER BY triple.id"""
        ):
            *strings, first, last, lengths, terms, vectors = columns
            self._files["Triple"].writelines(
                f"{base + id}\t{uid}\t{space}\t{id}\t{uids[one]}\t{uids[other]}\t{uids[one]}"
                f"\t{uids[other]}\t{subject} {relation} {object}\t{subject}\t{subject}\t{relation}"
                f"\t{object}\t{object}\tfalse\tcurrent\t{first}\t{last}\t{length}\t{words}"
                f"\t{tokens}\t{vector}\n"
                for id, uid, one, other, subject, relation, object, first, last, length,
                (words, tokens), vector in zip(
                    *strings, times(first), times(last), lengths, self._words.properties(terms),
                    components(vectors), strict=True,
                )
            )  # fmt: skip
            ids, _, subjects, objects, *_ = columns
            for name, ends in ("SUBJECT", subjects), ("OBJECT", objects):
                self._files[name].writelines(
                    f"{base + id}\t{entity + end}\n" for id, end in zip(ids, ends, strict=True)
                )

    def _ties(self) -> None:
        """Write where the facts are stated."""
        triple, chunk, session = (self._base[name] for name in ("Triple", "Chunk", "Session"))
        for columns in self._batches(
            """SELECT triple_id, chunk_id, observed_at, session_id
               FROM evidence JOIN chunk ON chunk.id = chunk_id ORDER BY raw_id"""
        ):
            triples, chunks, observed, sessions = columns
            self._files["EVIDENCE"].writelines(
                f"{triple + one}\t{chunk + other}\t{at}\n"
                for one, other, at in zip(triples, chunks, times(observed), strict=True)
            )
            self._files["IN_SESSION"].writelines(
                f"{triple + one}\t{session + other}\n"
                for one, other in set(zip(triples, sessions, strict=True))
            )

    def _themes(self) -> None:
        base, space = self._base["Theme"], self.space
        newest = self._one("SELECT max(id) FROM triple")
        for columns in self._batches(
            """SELECT theme.id, theme.uid, session.uid, place, title, summary, length,
                 theme.session_id, terms, vector
               FROM theme JOIN session ON session.id = theme.session_id ORDER BY theme.id"""
        ):
            *strings, sessions, terms, vectors = columns
            self._files["Theme"].writelines(
                f"{base + id}\t{uid}\t{space}\t{session_uid}\t{place}\t{newest + id}\t{title}"
                f'\t{summary}\t""\t{length}\t{words}\t{vector}\n'
                for id, uid, session_uid, place, title, summary, length, (words, _), vector in zip(
                    *strings, self._words.properties(terms), components(vectors), strict=True
                )
            )
            self._files["HAS_THEME"].writelines(
                f"{self._base['Session'] + session}\t{base + id}\n"
                for id, session in zip(columns[0], sessions, strict=True)
            )

    def _keys(self) -> None:
        base, session = self._base["Key"], self._base["Session"]
        for ids, uids, names, vectors in self._batches("SELECT id, uid, name, vector FROM key"):
            self._files["Key"].writelines(
                f"{base + id}\t{uid}\t{self.space}\t{name}\t{vector}\n"
                for id, uid, name, vector in zip(ids, uids, names, components(vectors), strict=True)
            )
        for columns in self._batches("SELECT session_id, key_id, weight FROM session_key"):
            self._files["HAS_KEY"].writelines(
                f"{session + one}\t{base + key}\t{weight}\n"
                for one, key, weight in zip(*columns, strict=True)
            )

    def _totals(self) -> None:
        chunks, length = self._connection.execute(
            "SELECT count(*), sum(length) FROM chunk_index"
        ).fetchone()
        triples, of_triples, newest = self._connection.execute(
            "SELECT count(*), sum(length), max(triple_id) FROM triple_index"
        ).fetchone()
        themes, last = self._connection.execute("SELECT count(*), max(id) FROM theme").fetchone()
        seq = FIRST_SEQ - 1 + self._one("SELECT max(id) FROM chunk")
        triple, theme = (fulltext.own_label(layer, self.space) for layer in ("Triple", "Theme"))
        self._lines("Space", [f"0 {self.space} 1 {seq} {chunks} {length} true {seq} 0"])
        self._lines(
            "SpaceFacts",
            [f"1 {self.space} {newest + last} {triples} {of_triples} {themes}"
             f" {triple} true {theme} true"],
        )  # fmt: skip


def import_files(space: str, csv: Path, folder: Path, line: str, heap: str) -> None:
    """Let neo4j-admin write the store."""
    from tests.servers.neo4j_server import admin

    nodes = [f"--nodes={labels_of(kind, space)}={csv / kind}.csv" for kind in NODES]
    ties = [f"--relationships={name}={csv / name}.csv" for name in RELATIONSHIPS]
    admin(
        line, folder, ["database", "import", "full", "neo4j", "--id-type=actual",
                       "--delimiter=TAB", "--array-delimiter=;", "--max-off-heap-memory=3G",
                       f"--report-file={folder / 'import.report'}", *nodes, *ties],
        heap=heap,
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
    others = [one for one in schema if "CREATE INDEX" in one or "CREATE FULLTEXT" in one]

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
            if not any("vector" not in one for one in waiting):
                seconds.setdefault("other_indexes_s", round(time.perf_counter() - started, 1))
            if not waiting:
                return
            print(*waiting, sep=", ", flush=True)
            time.sleep(20)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--folder", required=True, type=Path, help="new, for the server's data")
    parser.add_argument("--line", default="2026")
    parser.add_argument("--heap", default="3g")
    parser.add_argument("--page-cache", default="4g")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    from tests.servers.neo4j_server import Sizes, running_server

    seconds: dict[str, float] = {}
    started = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal started
        seconds[name] = round(time.perf_counter() - started, 1)
        started = time.perf_counter()
        print(name, seconds[name], flush=True)

    csv = arguments.folder / "csv"
    if not (arguments.folder / "home").exists():
        export = Export(arguments.file, csv)
        export.run()
        lap("csv_s")
        import_files(export.space, csv, arguments.folder, arguments.line, arguments.heap)
        lap("import_s")
        shutil.rmtree(csv)
    sizes = Sizes(
        arguments.heap, arguments.page_cache, False, arguments.folder, POPULATION, (PROCESSORS,)
    )
    with running_server(arguments.line, sizes) as server:
        print(server.uri, flush=True)
        started = time.perf_counter()
        pack_nodes(server.uri, Source(arguments.file))
        lap("pack_s")
        create_indexes(server.uri)
        wait_for_indexes(server.uri, seconds, started)
        lap("indexes_s")
        with Memory(server.uri, enrich="manual") as memory:
            stats = memory.space(memory.spaces()[0]).stats()
    counted = {"chunks": stats.chunks, "triples": stats.triples, "sessions": stats.sessions}
    write({**counted, **seconds, "machine": machine()}, arguments.json)


if __name__ == "__main__":
    main()
