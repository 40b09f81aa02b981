"""The rows of a file that bulk.py filled, as the CSV files that ``neo4j-admin`` imports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.synthetic import FUNCTION_WORDS, World
from cognigraph.stores.neo4j import tokens
from cognigraph.stores.neo4j.index.packed import pack
from cognigraph.stores.neo4j.values import spread
from cognigraph.stores.sqlite.rows import POSTING, term_hash
from cognigraph.text.terms import stem
from cognigraph.times import from_micros

BATCH = 20_000
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


FIRST_MESSAGES = {
    "chunk": "SELECT * FROM main.chunk WHERE id <= {limit}",
    "chunk_index": "SELECT * FROM main.chunk_index WHERE chunk_id <= {limit}",
    "session": """SELECT session.id, session.uid, name, started_at, max(at) AS ended_at,
                    sum(part = 0) AS messages, count(*) AS chunks
                  FROM main.session JOIN chunk ON session_id = session.id GROUP BY session.id""",
    "evidence": "SELECT * FROM main.evidence WHERE chunk_id <= {limit}",
    "triple": "SELECT * FROM main.triple WHERE id IN (SELECT triple_id FROM evidence)",
    "triple_index": """SELECT * FROM main.triple_index
                       WHERE triple_id IN (SELECT triple_id FROM evidence)""",
    "entity": """SELECT * FROM main.entity
                 WHERE id IN (SELECT subject_id FROM triple UNION SELECT object_id FROM triple)""",
    "theme": "SELECT * FROM main.theme WHERE session_id IN (SELECT session_id FROM chunk)",
    "session_key": """SELECT * FROM main.session_key
                      WHERE session_id IN (SELECT session_id FROM chunk)""",
    "key": "SELECT * FROM main.key WHERE id IN (SELECT key_id FROM session_key)",
}
"""Views that take the place of the tables where only the first messages are wanted."""


def labels_of(kind: str, space: str) -> str:
    """All labels of the nodes of a kind, as the importer takes them."""
    more = {"Entity": ["Named"], "Triple": ["Fact"]}.get(kind, [])
    if kind in ("Chunk", "Triple", "Theme"):
        more.append(tokens.own_label(kind, space))  # type: ignore[arg-type]
    return ":".join([kind, *more])


class Words:
    """Finds the words of the made-up world by the hashes that are in the file."""

    def __init__(self, world: World, space: str) -> None:
        stems = list({stem(word) for word in [*world.words, *FUNCTION_WORDS]})
        hashes = np.array([term_hash(item) for item in stems], np.uint64)
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
            yield ";".join(spread(terms)), tokens.lexemes(self._space, terms)


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
    return [f"{item}Z" for item in np.datetime_as_string(moments, unit="us").tolist()]


class Source:
    """Reads the space of a file, or its first ``limit`` messages and what was read from them.

    Its nodes are numbered by their rows, one kind after another.
    """

    def __init__(self, file: str, limit: int | None = None) -> None:
        self.file = file
        # From several threads, one after another.
        self._connection = sqlite3.connect(
            f"file:{file}?mode=ro", uri=True, check_same_thread=False
        )
        if limit is not None:
            for table, rows in FIRST_MESSAGES.items():
                self._connection.execute(f"CREATE TEMP VIEW {table} AS {rows.format(limit=limit)}")
        ((self.space,),) = self._connection.execute("SELECT name FROM space").fetchall()
        self._words = Words(World(), self.space)
        self.chunks = self._one("SELECT count(*) FROM chunk_index")
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

    def __init__(self, file: str, folder: Path, limit: int | None = None) -> None:
        super().__init__(file, limit)
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
                f"\t{tokens.anchor_hash(space, key)}\t{tokens.name_hash(space, normalised)}"
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
                f"{triple + item}\t{chunk + other}\t{at}\n"
                for item, other, at in zip(triples, chunks, times(observed), strict=True)
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
                f"{session + column}\t{base + key}\t{weight}\n"
                for column, key, weight in zip(*columns, strict=True)
            )

    def _totals(self) -> None:
        chunks, length = self._connection.execute(
            "SELECT count(*), sum(length) FROM chunk_index"
        ).fetchone()
        triples, of_triples, newest = self._connection.execute(
            "SELECT count(*), ifnull(sum(length), 0), ifnull(max(triple_id), 0) FROM triple_index"
        ).fetchone()
        themes, last = self._connection.execute("SELECT count(*), max(id) FROM theme").fetchone()
        seq = FIRST_SEQ - 1 + self._one("SELECT max(id) FROM chunk")
        triple, theme = (tokens.own_label(layer, self.space) for layer in ("Triple", "Theme"))
        self._lines("Space", [f"0 {self.space} 1 {seq} {chunks} {length} true {seq} 0"])
        self._lines(
            "SpaceFacts",
            [f"1 {self.space} {newest + last} {triples} {of_triples} {themes}"
             f" {triple} true {theme} true"],
        )  # fmt: skip
