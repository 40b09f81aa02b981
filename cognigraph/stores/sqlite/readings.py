"""What an export needs beside the messages: what was read out of them, and users' decisions."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from cognigraph.ids import entity_uid
from cognigraph.resolution import incremental
from cognigraph.stores.readings import Collector, Decision, SessionReading
from cognigraph.stores.records import EntityRow, SessionNotes
from cognigraph.stores.sqlite import work
from cognigraph.stores.sqlite.derive import merge_entities
from cognigraph.stores.sqlite.entity_map import SQLiteEntityMap
from cognigraph.stores.sqlite.insert import bump
from cognigraph.stores.sqlite.vector_format import VectorFormat

_MENTIONS = """
SELECT c.message_id, c.part, e.uid, e.name, e.normalised, e.type, m.spelled
FROM chunk c JOIN mention m ON m.chunk_id = c.id JOIN entity e ON e.id = m.raw_id
WHERE c.session_id = ? ORDER BY c.at, c.id, e.uid"""
_ALIASES = """
SELECT c.message_id, c.part, e.uid, a.name, a.normalised, s.spelled
FROM chunk c JOIN alias_source s ON s.chunk_id = c.id JOIN alias a ON a.id = s.alias_id
JOIN entity e ON e.id = a.entity_id WHERE c.session_id = ? ORDER BY c.at, c.id, a.uid"""
_FACTS = """
SELECT c.message_id, c.part, t.subject, t.relation, t.object, s.normalised, o.normalised, s.type,
       o.type, t.when_text, t.negated, v.said_by, v.replaces, v.spelled
FROM chunk c JOIN evidence v ON v.chunk_id = c.id JOIN triple t ON t.id = v.raw_id
JOIN entity s ON s.id = t.raw_subject_id JOIN entity o ON o.id = t.raw_object_id
WHERE c.session_id = ? ORDER BY c.at, c.id, t.uid"""
_DECISIONS = """
SELECT a.name, a.type, b.name, b.type, r.verdict, i.name, i.type
FROM ruling r JOIN entity a ON a.id = r.a_id JOIN entity b ON b.id = r.b_id
JOIN entity i ON i.id = r.into_id WHERE a.space_id = ? ORDER BY r.at, a.uid, b.uid"""


def reading(connection: sqlite3.Connection, space: int, session: str) -> SessionReading:
    """What was read out of a session."""
    (id,) = connection.execute(
        "SELECT id FROM session WHERE space_id = ? AND name = ?", (space, session)
    ).fetchone()
    found = Collector()
    for message, part, *row in connection.execute(_MENTIONS, (id,)):
        found.mention((message, part), *row)
    for message, part, *row in connection.execute(_ALIASES, (id,)):
        found.alias((message, part), *row)
    for message, part, *row in connection.execute(_FACTS, (id,)):
        subject, relation, object, one, other, type, other_type, when, negated, by, *last = row
        replaces, spelled = last
        found.fact(
            (message, part), (subject, relation, object), (one, other), (type, other_type),
            (when, bool(negated), by, bool(replaces)), spelled,
        )  # fmt: skip
    whole, extractor = connection.execute(
        """SELECT min(w.state = 1), max(w.extractor)
           FROM chunk c CROSS JOIN work w ON w.chunk_id = c.id WHERE c.session_id = ?""",
        (id,),
    ).fetchone()
    return SessionReading(bool(whole), extractor or "", found.parts)


def notes(connection: sqlite3.Connection, space: int, session: str) -> SessionNotes:
    """Keys with their weights, themes, and the summariser's state of a session."""
    id, version, state = connection.execute(
        "SELECT id, version, state FROM session WHERE space_id = ? AND name = ?", (space, session)
    ).fetchone()
    return work.notes(connection, id, version, state, renew=False)


def decisions(connection: sqlite3.Connection, space: int) -> list[Decision]:
    """What users decided on entities, in that order."""
    return [
        Decision((a, a_type), (b, b_type), verdict, (into, into_type))
        for a, a_type, b, b_type, verdict, into, into_type in connection.execute(
            _DECISIONS, (space,)
        )
    ]


def decide(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space: str,
    entities: Sequence[EntityRow],
    found: Sequence[Decision],
    now: int,
) -> None:
    """Record users' decisions on entities, which are written if nothing has mentioned them yet."""
    space_id, revision = bump(connection, space)
    entity_map = SQLiteEntityMap(connection, space, space_id, revision, now)
    touched = merge_entities(connection, vectors, space_id, entities)
    incremental.settle(entity_map, sorted(touched))
    for number, one in enumerate(found):
        a, b, into = (entity_uid(space, *end) for end in (one.a, one.b, one.into))
        if one.verdict == "same":
            incremental.merge(entity_map, b if a == into else a, into, now + number)
        else:
            incremental.split(entity_map, a, now + number, b)
