"""What an export needs beside the messages: what was read out of them, and users' decisions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.ids import entity_uid, session_uid
from cognigraph.resolution import incremental
from cognigraph.stores.neo4j.connection import Connection, Transaction
from cognigraph.stores.neo4j.derive import entity_row
from cognigraph.stores.neo4j.entity_map import Neo4jEntityMap
from cognigraph.stores.neo4j.episodes import theme_of
from cognigraph.stores.readings import Collector, Decision, SessionReading
from cognigraph.stores.records import EntityRow, SessionNotes


def reading(connection: Connection, space: str, session: str) -> SessionReading:
    """What was read out of a session."""
    owner = session_uid(space, session)
    found = Collector()
    for message, part, *row in connection.rows("export/mentions", session=owner):
        found.mention((message, part), *row)
    for message, part, *row in connection.rows("export/aliases", session=owner):
        found.alias((message, part), *row)
    for message, part, *row in connection.rows("export/facts", session=owner):
        subject, relation, object, one, other, type, other_type, when, negated, by, *last = row
        replaces, spelled = last
        found.fact(
            (message, part), (subject, relation, object), (one, other), (type, other_type),
            (when, negated, by, replaces), spelled,
        )  # fmt: skip
    state = connection.row("export/state", session=owner)
    assert state is not None
    return SessionReading(bool(state[0]), state[1] or "", found.parts)


def notes(connection: Connection, space: str, session: str) -> SessionNotes:
    """Keys with their weights, themes, and the summariser's state of a session."""
    row = connection.row("export/notes", session=session_uid(space, session))
    assert row is not None
    version, state, keys, themes = row
    return SessionNotes(
        version,
        tuple((name, weight) for name, weight in keys),
        tuple(theme_of(theme) for theme in themes),
        state or "",
    )


def decisions(connection: Connection, space: str) -> list[Decision]:
    """What users decided on entities, in that order."""
    return [
        Decision((a, a_type), (b, b_type), verdict, (into, into_type))
        for a, a_type, b, b_type, verdict, into, into_type in connection.rows(
            "export/decisions", space=space
        )
    ]


def decide(
    connection: Connection,
    space: str,
    entities: Sequence[EntityRow],
    found: Sequence[Decision],
    now: datetime,
) -> None:
    """Record users' decisions on entities, which are written if nothing has mentioned them yet."""

    def work(tx: Transaction) -> None:
        tx.rows("insert/space", space=space)
        labels = (tx.row("forget/lock", space=space) or [[]])[0]
        entity_map = Neo4jEntityMap(tx, space, labels, now)
        rows = [entity_row(space, entity) for entity in entities]
        rows.sort(key=lambda row: str(row["entity"]["uid"]))
        tx.rows("derive/entities", entities=rows)
        incremental.settle(entity_map, sorted(entity.uid for entity in entities))
        for one in found:
            _, at = tx.row("resolve/begin", space=space) or (None, 0)
            a, b, into = (entity_uid(space, *end) for end in (one.a, one.b, one.into))
            if one.verdict == "same":
                incremental.merge(entity_map, b if a == into else a, into, at)
            else:
                incremental.split(entity_map, a, at, b)

    connection.write(work)
