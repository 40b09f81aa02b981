"""A database as an older schema wrote it: three turns, two names of one person, four facts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import Any

from neo4j import GraphDatabase

from cognigraph import ids
from cognigraph.embed import CheckedEmbedder
from cognigraph.stores.neo4j import tokens
from cognigraph.stores.neo4j.schema import commands, migrations
from cognigraph.stores.neo4j.values import spread
from cognigraph.stores.sqlite import schema
from cognigraph.stores.sqlite.connection import APPLICATION_ID
from cognigraph.stores.sqlite.rows import VectorFormat, pack_terms, pack_uid
from cognigraph.testing import HashEmbedder
from cognigraph.text.terms import ANALYZER, term_counts, terms
from cognigraph.times import to_micros
from tests.conftest import START

EMBEDDER = CheckedEmbedder(HashEmbedder(32))
FACTS = [
    ("Anna", "bought", "kayak", 0),
    ("Anna Berg", "bought", "kayak", 1),
    ("Anna Berg", "likes", "dogs", 1),
    ("Ben", "has", "dog", 2),
]
PEOPLE = ["Anna", "Anna Berg", "Ben"]


def _entities(space: str) -> list[tuple[str, str, str]]:
    found = [(name, "person") for name in PEOPLE]
    found += [(name, "object") for name in ("kayak", "dogs", "dog")]
    return [(ids.entity_uid(space, name, type), name, type) for name, type in found]


def _texts(space: str) -> list[tuple[str, str]]:
    return [
        (ids.chunk_uid(ids.message_uid(space, "s", f"m{n}"), 0), f"{who} said something")
        for n, who in enumerate(PEOPLE)
    ]


def sqlite(path: str, space: str, version: int = 1) -> None:
    """Write it to a file of the first schema, and migrate the file to ``version`` only."""
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(schema.migrations()[0][1])
        db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) STRICT")
        db.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            [("embedder", EMBEDDER.identity.name), ("dimension", "32"), ("analyzer", ANALYZER)],
        )
        db.execute("INSERT INTO space VALUES (1, ?, 1, 0)", (space,))
        db.execute(
            "INSERT INTO session (id, uid, space_id, name, started_at, ended_at, messages, chunks)"
            " VALUES (1, ?, 1, 's', ?, ?, 3, 3)",
            (ids.session_uid(space, "s"), _at(0), _at(2)),
        )
        for n, (uid, text) in enumerate(_texts(space)):
            db.execute(
                "INSERT INTO chunk VALUES (?, ?, 1, 1, ?, 0, 1, NULL, ?, ?, 'd')",
                (n + 1, uid, f"m{n}", _at(n), text),
            )
            db.execute(
                "INSERT INTO chunk_index VALUES (?, 1, 1, 1, ?, NULL, 0, 3, ?, ?, ?)",
                (n + 1, _at(n), pack_uid(uid), *_indexed(text)),
            )
            db.execute("INSERT INTO work VALUES (?, 1, 1, 1, NULL, 1, 0, NULL, 'x')", (n + 1,))
        rows = {}
        for uid, name, type in _entities(space):
            rows[name] = db.execute(
                "INSERT INTO entity (uid, space_id, name, normalised, type, key)"
                " VALUES (?, 1, ?, ?, ?, ?) RETURNING id",
                (uid, name, ids.normalise(name), type, " ".join(terms(name))),
            ).fetchone()[0]
        for subject, relation, object, n in FACTS:
            uid, text = _triple(space, subject, relation, object)
            (id,) = db.execute(
                "INSERT INTO triple (uid, space_id, subject_id, object_id, subject, relation,"
                " object, negated, first_observed, last_observed)"
                " VALUES (?, 1, ?, ?, ?, ?, ?, 0, ?, ?) RETURNING id",
                (uid, rows[subject], rows[object], subject, relation, object, _at(n), _at(n)),
            ).fetchone()
            db.execute(
                "INSERT INTO triple_index VALUES (?, 1, 1, ?, ?, ?, ?, 3, ?, ?, ?)",
                (id, rows[subject], rows[object], _at(n), _at(n), pack_uid(uid), *_indexed(text)),
            )
            db.execute("INSERT INTO evidence VALUES (?, ?, ?)", (id, n + 1, _at(n)))
        for n, name in enumerate(PEOPLE):
            db.execute("INSERT INTO mention VALUES (?, ?)", (n + 1, rows[name]))
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for _, script in schema.migrations()[1:version]:
            db.executescript(script)
        db.execute(f"PRAGMA user_version = {version}")
    db.close()


def neo4j(uri: str, auth: tuple[str, str] | None, space: str, version: int = 1) -> None:
    """Write it to a server beside other data; later versions write the same properties."""
    with GraphDatabase.driver(uri, auth=auth) as driver:

        def run(text: str, **values: Any) -> None:
            driver.execute_query(text, space=space, **values)  # type: ignore[arg-type]

        for _, name in migrations()[:version]:
            for command in commands(name):
                run(command)
        run(
            "MERGE (m:CogniGraph {uid: 'cognigraph'}) SET m.opened = 1, "
            "m.schema_version = $version, m.embedder = $embedder, m.dimension = 32, "
            "m.analyzer = $analyzer",
            version=version, embedder=EMBEDDER.identity.name, analyzer=ANALYZER,
        )  # fmt: skip
        run(
            "CREATE (:Space {name: $space, seq: 3, chunks: 3, length: 9, chunk_labels: [], "
            "chunk_indexed: false, sessions: 1}) "
            "CREATE (:SpaceFacts {name: $space, seq: 4, triples: 4, length: 12, themes: 0, "
            "triple_labels: [], triple_indexed: false, theme_labels: [], theme_indexed: false}) "
            "CREATE (:Session {uid: $uid, space: $space, id: 's', started_at: $first, seq: 1, "
            "ended_at: $last, messages: 3, chunks: 3, version: 0, claims: 0})",
            uid=ids.session_uid(space, "s"), first=START, last=START + timedelta(minutes=2),
        )  # fmt: skip
        for n, (uid, text) in enumerate(_texts(space)):
            run(
                "MATCH (s:Session {uid: $session}) CREATE (s)-[:HAS_CHUNK]->(c:Chunk) "
                "SET c = $values, c.space = $space",
                session=ids.session_uid(space, "s"),
                values={
                    "uid": uid, "seq": n + 1, "session_uid": ids.session_uid(space, "s"),
                    "session": "s", "message_id": f"m{n}", "part": 0, "parts": 1, "text": text,
                    "at": START + timedelta(minutes=n), "state": "done", "digest": "d",
                    "terms": spread(term_counts(text)), "length": 3, "question": False,
                },
            )  # fmt: skip
        for uid, name, type in _entities(space):
            key, normalised = " ".join(terms(name)), ids.normalise(name)
            run(
                "CREATE (e:Entity) SET e = $values, e.space = $space, e.loops = 0",
                values={
                    "uid": uid, "name": name, "normalised": normalised, "type": type, "key": key,
                    "anchor": tokens.anchor_hash(space, key),
                    "name_hash": tokens.name_hash(space, normalised),
                },
            )  # fmt: skip
        for n, (subject, relation, object, position) in enumerate(FACTS, 1):
            uid, text = _triple(space, subject, relation, object)
            ends = ids.entity_uid(space, subject, "person"), ids.entity_uid(space, object, "object")
            at = START + timedelta(minutes=position)
            run(
                "MATCH (a:Entity {uid: $a}) MATCH (b:Entity {uid: $b}) MATCH (c:Chunk {uid: $c}) "
                "MATCH (s:Session {uid: $s}) CREATE (t:Triple) SET t = $values, t.space = $space "
                "CREATE (t)-[:SUBJECT]->(a) CREATE (t)-[:OBJECT]->(b) "
                "CREATE (t)-[:IN_SESSION]->(s) "
                "CREATE (t)-[:EVIDENCE {observed_at: $at}]->(c)",
                a=ends[0], b=ends[1], c=_texts(space)[position][0], s=ids.session_uid(space, "s"),
                at=at,
                values={
                    "uid": uid, "seq": n, "subject_uid": ends[0], "object_uid": ends[1],
                    "subject": subject, "relation": relation, "object": object, "negated": False,
                    "first_observed": at, "last_observed": at, "length": 3,
                    "terms": spread(term_counts(text)),
                    "lexemes": tokens.lexemes(space, term_counts(text)),
                },
            )  # fmt: skip
        for n, name in enumerate(PEOPLE):
            run(
                "MATCH (c:Chunk {uid: $c}) MATCH (e:Entity {uid: $e}) CREATE (c)-[:MENTIONS]->(e)",
                c=_texts(space)[n][0], e=ids.entity_uid(space, name, "person"),
            )  # fmt: skip


def _at(minute: int) -> int:
    return to_micros(START + timedelta(minutes=minute))


def _indexed(text: str) -> tuple[bytes, bytes]:
    return pack_terms(term_counts(text)), VectorFormat(32).pack(EMBEDDER.embed([text])[0])


def _triple(space: str, subject: str, relation: str, object: str) -> tuple[str, str]:
    ends = ids.entity_uid(space, subject, "person"), ids.entity_uid(space, object, "object")
    uid = ids.triple_uid(space, ends[0], relation, ends[1], None, False)
    return uid, f"{subject} {relation} {object}"
