"""Forgetting messages of a session, with all that was read out of them, in one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from cognigraph.resolution.incremental import EntityMap, settle
from cognigraph.resolution.incremental import forget as leave_groups
from cognigraph.stores.leaks import leaking, only_in, quoting
from cognigraph.stores.protocols.housekeeping_store import Chosen, Selection
from cognigraph.stores.sqlite import read, succession, written
from cognigraph.stores.sqlite.entity_map import SQLiteEntityMap
from cognigraph.stores.sqlite.insert import Owner
from cognigraph.stores.sqlite.replace import (
    Affected,
    drop_support,
    entities_without_support,
    prune,
    prune_aliases,
    start_over,
)
from cognigraph.times import to_micros

_CHOSEN = """
SELECT s.name, s.uid, c.uid, c.part FROM chunk c JOIN session s ON s.id = c.session_id
WHERE c.space_id = :space {conditions} ORDER BY s.id, c.at, c.id"""

_ABOUT = """
(c.session_id, c.message_id) IN (
  SELECT about.session_id, about.message_id FROM chunk about WHERE about.id IN (
    SELECT chunk_id FROM mention WHERE entity_id IN (SELECT value FROM json_each(:entities))
    UNION SELECT v.chunk_id FROM evidence v JOIN triple t ON t.id = v.triple_id
    WHERE t.subject_id IN (SELECT value FROM json_each(:entities))
       OR t.object_id IN (SELECT value FROM json_each(:entities))))"""

_REASONS = """
SELECT r.uid, r.reason, t.subject || ' ' || t.relation || ' ' || t.object
         || coalesce(' ' || b.subject || ' ' || b.relation || ' ' || b.object, '')
FROM state_ruling r JOIN triple t ON t.uid = r.uid LEFT JOIN triple b ON b.uid = r.by_uid
WHERE r.space_id = ? AND r.reason != ''"""

_NAMES = """
WITH left AS (SELECT id, uid FROM chunk WHERE session_id = :session
              AND id NOT IN (SELECT value FROM json_each(:gone)))
SELECT l.uid, e.name, m.spelled, NULL, NULL FROM left l JOIN mention m ON m.chunk_id = l.id
  JOIN entity e ON e.id = m.raw_id
UNION ALL SELECT l.uid, t.subject, t.object, v.spelled, v.said_by
  FROM left l JOIN evidence v ON v.chunk_id = l.id JOIN triple t ON t.id = v.raw_id
UNION ALL SELECT l.uid, a.name, s.spelled, NULL, NULL FROM left l
  JOIN alias_source s ON s.chunk_id = l.id JOIN alias a ON a.id = s.alias_id"""


def choose(connection: sqlite3.Connection, space: int, selection: Selection) -> list[Chosen]:
    """Messages that match all criteria, by session."""
    conditions: list[str] = []
    parameters: dict[str, Any] = {"space": space}
    for value, name, condition in (
        (selection.message, "message", "c.message_id = :message"),
        (selection.session, "session", "s.name = :session"),
        (selection.speaker, "speaker", "c.speaker = :speaker"),
        (_moment(selection.before), "before", "c.at < :before"),
        (_entities(connection, space, selection), "entities", _ABOUT),
        (selection.role, "role", "coalesce(c.role, 'person') = :role"),
        (selection.tag, "tag", _TAGGED),
        (_moment(selection.expired), "expired", _EXPIRED),
    ):
        if value is not None:
            conditions.append(f" AND {condition}")
            parameters[name] = value
    rows = connection.execute(_CHOSEN.format(conditions="".join(conditions)), parameters)
    by_session: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for session, session_uid, uid, part in rows:
        by_session.setdefault((session, session_uid), []).append((uid, part))
    return [
        Chosen(
            *key,
            chunks=tuple(uid for uid, _ in chunks),
            messages=tuple(uid for uid, part in chunks if not part),
        )
        for key, chunks in by_session.items()
    ]


_OF_MESSAGE = "SELECT 1 FROM message_data d WHERE d.chunk_id = c.id - c.part"
_TAGGED = f"""EXISTS ({_OF_MESSAGE} AND EXISTS (
  SELECT 1 FROM json_each(d.tags) WHERE value = :tag))"""
_EXPIRED = f"EXISTS ({_OF_MESSAGE} AND d.expires <= :expired)"


def _moment(at: datetime | None) -> int | None:
    return None if at is None else to_micros(at)


def _entities(connection: sqlite3.Connection, space: int, selection: Selection) -> str | None:
    if selection.entity is None:
        return None
    return json.dumps(read.entities_called(connection, space, selection.entity))


def forget(
    connection: sqlite3.Connection, space: str, chosen: Chosen, *, remember: bool, now: int
) -> None:
    """Delete messages; see ``HousekeepingStore.forget``."""
    owner = begin(connection, space, chosen.session_uid)
    ids = ids_of(connection, chosen.chunks)
    if owner is None or not ids:
        return
    if remember:
        connection.executemany(
            "INSERT OR IGNORE INTO forgotten VALUES (?, ?)",
            [(uid, owner.space_id) for uid in chosen.messages],
        )
    was_read = forget_derived(connection, space, owner, ids.values(), now)
    _drop_reasons(connection, owner, ids.values())
    delete_chunks(connection, ids.values())
    connection.executemany("DELETE FROM version WHERE uid = ?", [(u,) for u in chosen.messages])
    refresh_session(connection, chosen.session_uid, owner, reread=was_read)


def begin(connection: sqlite3.Connection, space: str, session_uid: str) -> Owner | None:
    """Tell all readers of a space that rows disappear; None if there is no such session."""
    row = connection.execute(
        "SELECT p.id, s.id, p.revision + 1 FROM session s JOIN space p ON p.id = s.space_id "
        "WHERE s.uid = ? AND p.name = ?",
        (session_uid, space),
    ).fetchone()
    if row is None:
        return None
    connection.execute(
        "UPDATE space SET revision = revision + 1, epoch = epoch + 1 WHERE id = ?", (row[0],)
    )
    return Owner(*row)


def ids_of(connection: sqlite3.Connection, uids: Iterable[str]) -> dict[str, int]:
    """Row ids of chunks by uid; what is gone is missing."""
    return dict(
        connection.execute(
            "SELECT c.uid, c.id FROM json_each(?) j JOIN chunk c ON c.uid = j.value",
            (json.dumps([*uids]),),
        )
    )


def is_read(connection: sqlite3.Connection, ids: Collection[int]) -> bool:
    """Whether one of some chunks was read, tried or leased, so that others may rest on it."""
    return bool(
        connection.execute(
            """SELECT EXISTS (SELECT 1 FROM json_each(?) j JOIN work w ON w.chunk_id = j.value
               WHERE w.state != 0 OR w.extractor IS NOT NULL OR w.lease IS NOT NULL
                 OR w.attempts > 0 OR w.outages > 0)""",
            (json.dumps([*ids]),),
        ).fetchone()[0]
    )


def leaks(connection: sqlite3.Connection, session_id: int, gone: Collection[int]) -> list[str]:
    """Uids of the session's other chunks out of which something was read that only these said."""
    forgotten, left = _texts(connection, session_id, gone)
    if not left:
        return []
    names: dict[str, list[str]] = {}
    parameters = {"session": session_id, "gone": json.dumps([*gone])}
    for uid, *said in connection.execute(_NAMES, parameters):
        names.setdefault(uid, []).extend(name for name in said if name)
    return leaking(only_in(forgotten, left), names)


def _texts(
    connection: sqlite3.Connection, session_id: int, gone: Collection[int]
) -> tuple[list[str], list[str]]:
    """The texts of a session's chunks with their speakers: those that go, and the others."""
    texts: tuple[list[str], list[str]] = ([], [])
    for text, stays in connection.execute(
        "SELECT coalesce(speaker, '') || ' ' || text, id NOT IN (SELECT value FROM json_each(?)) "
        "FROM chunk WHERE session_id = ?",
        (json.dumps([*gone]), session_id),
    ):
        texts[stays].append(text)
    return texts


def _drop_reasons(connection: sqlite3.Connection, owner: Owner, gone: Collection[int]) -> None:
    """Empty the reasons of users' words on facts that quote what is forgotten."""
    reasons = {
        uid: (reason, about)
        for uid, reason, about in connection.execute(_REASONS, (owner.space_id,))
    }
    if not reasons:
        return
    quotes = quoting(reasons, *_texts(connection, owner.session_id, gone))
    listed = json.dumps(quotes)
    connection.execute(
        """UPDATE state_ruling SET reason = ''
           WHERE space_id = ? AND uid IN (SELECT value FROM json_each(?))""",
        (owner.space_id, listed),
    )
    touched = succession.Touched(connection)
    touched.add(
        [
            id
            for (id,) in connection.execute(
                """SELECT coalesce(folded_into, id) FROM triple
                   WHERE uid IN (SELECT value FROM json_each(?))""",
                (listed,),
            )
        ]
    )
    succession.settle(connection, owner.space_id, touched)


def forget_derived(
    connection: sqlite3.Connection, space: str, owner: Owner, ids: Collection[int], now: int
) -> bool:
    """Delete what was read out of chunks, and only out of them; False if they were not read."""
    written.drop(connection, owner.space_id, ids)
    if not is_read(connection, ids):
        return False
    entity_map = SQLiteEntityMap(connection, space, owner.space_id, owner.revision, now)
    others = ids_of(connection, leaks(connection, owner.session_id, ids))
    affected = drop_support(connection, [*ids, *others.values()])
    entity_map.touched.add(affected.triples)
    facts = _uids_of_triples(connection, affected.triples)
    settle(entity_map, sorted(affected.renamed), prune_aliases(connection, affected))
    prune(connection, entity_map, space, owner.space_id, owner.revision, affected)
    _prune_spoken_of(connection, entity_map, affected)
    entity_map.touched.add(_drop_rulings(connection, owner.space_id, facts))
    succession.settle(connection, owner.space_id, entity_map.touched)
    return True


def _uids_of_triples(connection: sqlite3.Connection, ids: Collection[int]) -> list[str]:
    rows = connection.execute(
        "SELECT t.uid FROM json_each(?) j JOIN triple t ON t.id = j.value", (json.dumps([*ids]),)
    )
    return [uid for (uid,) in rows]


def _drop_rulings(
    connection: sqlite3.Connection, space_id: int, facts: Collection[str]
) -> set[int]:
    """Delete what users said of facts that are gone; return the facts that these had superseded."""
    rows = connection.execute(
        """WITH gone AS MATERIALIZED (SELECT value AS uid FROM json_each(?)
             WHERE NOT EXISTS (SELECT 1 FROM triple t WHERE t.uid = value))
           DELETE FROM state_ruling WHERE space_id = ?
             AND (uid IN (SELECT uid FROM gone) OR by_uid IN (SELECT uid FROM gone))
           RETURNING (SELECT id FROM triple t WHERE t.uid = state_ruling.uid)""",
        (json.dumps(sorted(facts)), space_id),
    )
    return {id for (id,) in rows.fetchall() if id is not None}


def _prune_spoken_of(
    connection: sqlite3.Connection, entity_map: EntityMap, affected: Affected
) -> None:
    """Delete entities that nothing mentions any more although a user merged or split them."""
    gone = entities_without_support(connection, affected.entities)
    if not gone:
        return
    entity_map.lift(entity_map.constraints(gone.keys()))
    connection.executemany(
        "DELETE FROM merge WHERE a_id = :id OR into_id = :id", [{"id": id} for id in gone.values()]
    )
    leave_groups(entity_map, gone)
    connection.executemany("DELETE FROM entity WHERE id = ?", [(id,) for id in gone.values()])


def delete_chunks(connection: sqlite3.Connection, ids: Collection[int]) -> None:
    """Delete chunks out of which nothing is read any more."""
    for table, column in (("work", "chunk_id"), ("chunk_index", "chunk_id"), ("chunk", "id")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(id,) for id in ids])


def refresh_session(
    connection: sqlite3.Connection, session_uid: str, owner: Owner, *, reread: bool
) -> None:
    """Bring a session up to date that has lost messages; delete it if it has none left."""
    session_id, revision = owner.session_id, owner.revision
    (left,) = connection.execute(
        "SELECT count(*) FROM chunk WHERE session_id = ?", (session_id,)
    ).fetchone()
    reread = bool(_drop_given_summaries(connection, session_id)) or reread
    if reread or not left:
        _drop_summary(connection, session_id)
    if not left:
        connection.execute("DELETE FROM behind WHERE session_id = ?", (session_id,))
        connection.execute("DELETE FROM session WHERE id = ?", (session_id,))
        return
    connection.execute(
        """UPDATE session SET changed = :changed, chunks = :chunks,
             messages = (SELECT count(*) FROM chunk WHERE session_id = :id AND part = 0),
             started_at = (SELECT min(at) FROM chunk WHERE session_id = :id),
             ended_at = (SELECT max(at) FROM chunk WHERE session_id = :id) WHERE id = :id""",
        {"id": session_id, "changed": revision, "chunks": left},
    )
    if reread:
        start_over(connection, session_uid)


def _drop_given_summaries(connection: sqlite3.Connection, session_id: int) -> int:
    """Delete what applications gave as the session's summary; return how many there were."""
    return connection.execute(
        """UPDATE message_data SET facts = json_remove(facts, '$.summary')
           WHERE chunk_id IN (SELECT id FROM chunk WHERE session_id = ? AND part = 0)
             AND json_type(facts, '$.summary') = 'text'""",
        (session_id,),
    ).rowcount


def _drop_summary(connection: sqlite3.Connection, session_id: int) -> None:
    """Delete a session's keys, themes and revisions: they may quote what was forgotten."""
    keys = connection.execute(
        "DELETE FROM session_key WHERE session_id = ? RETURNING key_id", (session_id,)
    ).fetchall()
    connection.executemany(
        "DELETE FROM key WHERE id = :id AND NOT EXISTS "
        "(SELECT 1 FROM session_key WHERE key_id = :id)",
        [{"id": id} for (id,) in keys],
    )
    for table in ("theme", "revision"):
        connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))
