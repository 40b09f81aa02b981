"""Forgetting: messages with all that was read out of them, or whole spaces; and new texts.

Messages of a session go in one transaction. What other messages said too stays. The session's other
chunks are read again if one of the forgotten ones was read, because what was read out of them may
rest on it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from cognigraph.ids import session_uid
from cognigraph.model import Forgotten
from cognigraph.resolution.incremental import EntityMap, settle
from cognigraph.stores.forgetting import Counts, Preview, leaking, only_in, quoting
from cognigraph.stores.protocols import Chosen, Selection
from cognigraph.stores.records import MessageRow, with_uid
from cognigraph.stores.sqlite.entity_map import SQLiteEntityMap
from cognigraph.stores.sqlite.erase import begin_erasing
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.messages import Owner, bump, end_import, write_chunks
from cognigraph.stores.sqlite.queue import start_over
from cognigraph.stores.sqlite.replace import (
    Affected,
    delete_entities,
    drop_support,
    entities_without_support,
    prune,
    prune_aliases,
)
from cognigraph.stores.sqlite.rows import space_id
from cognigraph.stores.sqlite.search import entities_called
from cognigraph.stores.sqlite.states import TouchedFacts
from cognigraph.stores.sqlite.summaries import drop_written, sessions_made_of
from cognigraph.times import from_micros, micros, to_micros

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

_OF_MESSAGE = "SELECT 1 FROM message_data d WHERE d.chunk_id = c.id - c.part"
_TAGGED = f"""EXISTS ({_OF_MESSAGE} AND EXISTS (
  SELECT 1 FROM json_each(d.tags) WHERE value = :tag))"""
_EXPIRED = f"EXISTS ({_OF_MESSAGE} AND d.expires <= :expired)"

_CRITERIA = {
    "message": "c.message_id = :message",
    "session": "s.name = :session",
    "speaker": "c.speaker = :speaker",
    "before": "c.at < :before",
    "entities": _ABOUT,
    "role": "coalesce(c.role, 'person') = :role",
    "tag": _TAGGED,
    "expired": _EXPIRED,
}

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

_GONE = "WITH gone AS MATERIALIZED (SELECT value AS id FROM json_each(:gone))"

_TRIPLE_COUNTS = f"""{_GONE}
SELECT EXISTS (SELECT 1 FROM evidence o WHERE o.triple_id = t.triple_id
               AND o.chunk_id NOT IN (SELECT id FROM gone)) AS stays, count(*)
FROM (SELECT DISTINCT triple_id FROM evidence WHERE chunk_id IN (SELECT id FROM gone)) t
GROUP BY stays"""

_ENTITY_COUNTS = f"""{_GONE},
touched AS (
  SELECT entity_id AS id FROM mention WHERE chunk_id IN (SELECT id FROM gone)
  UNION SELECT t.subject_id FROM evidence v JOIN triple t ON t.id = v.triple_id
        WHERE v.chunk_id IN (SELECT id FROM gone)
  UNION SELECT t.object_id FROM evidence v JOIN triple t ON t.id = v.triple_id
        WHERE v.chunk_id IN (SELECT id FROM gone))
SELECT EXISTS (SELECT 1 FROM mention m WHERE m.entity_id = e.id
               AND m.chunk_id NOT IN (SELECT id FROM gone))
  OR EXISTS (SELECT 1 FROM triple t JOIN evidence v ON v.triple_id = t.id
             WHERE t.subject_id = e.id AND v.chunk_id NOT IN (SELECT id FROM gone))
  OR EXISTS (SELECT 1 FROM triple t JOIN evidence v ON v.triple_id = t.id
             WHERE t.object_id = e.id AND v.chunk_id NOT IN (SELECT id FROM gone)) AS stays,
  count(*)
FROM touched e GROUP BY stays"""

_SESSION_COUNTS = """
WITH lost AS MATERIALIZED (SELECT value AS id FROM json_each(:sessions))
SELECT
  (SELECT count(DISTINCT key_id) FROM session_key k WHERE session_id IN (SELECT id FROM lost)
   AND NOT EXISTS (SELECT 1 FROM session_key o WHERE o.key_id = k.key_id
                   AND o.session_id NOT IN (SELECT id FROM lost))),
  (SELECT count(*) FROM theme WHERE session_id IN (SELECT id FROM lost)),
  (SELECT count(*) FROM revision WHERE session_id IN (SELECT id FROM lost)),
  (SELECT count(*) FROM chunk c JOIN work w ON w.chunk_id = c.id
   WHERE c.session_id IN (SELECT id FROM lost) AND c.part = 0 AND w.state = 1
     AND c.id NOT IN (SELECT value FROM json_each(:gone)))"""

_CHUNKS = """
SELECT c.id, c.uid, c.text, c.digest FROM chunk c JOIN session s ON s.id = c.session_id
WHERE s.uid = ? AND c.message_id = ? AND c.space_id = s.space_id ORDER BY c.part"""

_VERSIONS = """
SELECT v.text, v.replaced_at FROM session s
JOIN chunk c ON c.session_id = s.id AND c.message_id = ? AND c.part = 0
JOIN version v ON v.uid = c.uid WHERE s.uid = ? ORDER BY v.number"""
_OF_CHUNKS = "chunk_id IN (SELECT id FROM chunk WHERE space_id = ?)"
_OF_SESSIONS = "session_id IN (SELECT id FROM session WHERE space_id = ?)"
_OF_ENTITIES = "a_id IN (SELECT id FROM entity WHERE space_id = ?)"
_EMPTY_SPACE = (
    f"DELETE FROM evidence WHERE {_OF_CHUNKS}",
    "DELETE FROM written WHERE space_id = ?",
    f"DELETE FROM mention WHERE {_OF_CHUNKS}",
    f"DELETE FROM alias_source WHERE {_OF_CHUNKS}",
    "DELETE FROM alias WHERE space_id = ?",
    "DELETE FROM block WHERE space_id = ?",
    "DELETE FROM pair WHERE space_id = ?",
    f"DELETE FROM ruling WHERE {_OF_ENTITIES}",
    "DELETE FROM merge WHERE space_id = ?",
    "DELETE FROM state_ruling WHERE space_id = ?",
    "DELETE FROM triple_index WHERE space_id = ?",
    "DELETE FROM triple WHERE space_id = ?",
    "UPDATE entity SET shown_id = NULL WHERE space_id = ? AND shown_id IS NOT NULL",
    "DELETE FROM entity WHERE space_id = ?",
    f"DELETE FROM session_key WHERE {_OF_SESSIONS}",
    "DELETE FROM key WHERE space_id = ?",
    f"DELETE FROM covers WHERE theme_id IN (SELECT id FROM theme WHERE {_OF_SESSIONS})",
    f"DELETE FROM theme WHERE {_OF_SESSIONS}",
    f"DELETE FROM revision WHERE {_OF_SESSIONS}",
    "DELETE FROM behind WHERE space_id = ?",
    "DELETE FROM work WHERE space_id = ?",
    "DELETE FROM chunk_index WHERE space_id = ?",
    "DELETE FROM chunk WHERE space_id = ?",
    "DELETE FROM session WHERE space_id = ?",
    "DELETE FROM version WHERE space_id = ?",
)
"""From what refers to other rows to what is referred to."""


class SQLiteForgetting:
    """The part of housekeeping that deletes and replaces: see ``HousekeepingStore``."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def choose(self, space: str, selection: Selection) -> list[Chosen]:
        return self._file.query(space, [], lambda c, s: _choose(c, s, selection))

    def preview_forget(self, space: str, chosen: Sequence[Chosen]) -> Forgotten:
        return self._file.query(space, Forgotten(), lambda c, _: _preview(c, chosen))

    def forget(self, space: str, chosen: Chosen, *, remember: bool) -> None:
        with self._file.write() as connection:
            begin_erasing(connection, space)
            owner = _begin(connection, space, chosen.session_uid)
            ids = _ids_of(connection, chosen.chunks).values()
            if owner is None or not ids:
                return
            if remember:
                _remember(connection, owner.space_id, chosen.messages)
            was_read = _forget_derived(connection, space, owner, ids, self._now())
            _drop_reasons(connection, owner, ids)
            _delete_chunks(connection, ids)
            connection.executemany(
                "DELETE FROM version WHERE uid = ?", [(uid,) for uid in chosen.messages]
            )
            _refresh_session(connection, chosen.session_uid, owner, reread=was_read)

    def forget_all(self, space: str, *, remember: bool) -> None:
        with self._file.write() as connection:
            begin_erasing(connection, space)
            id = space_id(connection, space)
            if id is not None:
                empty_space(connection, id, remember=remember)

    def remove_space(self, space: str) -> None:
        with self._file.write() as connection:
            begin_erasing(connection, space)
            end_import(connection, space)
            id = space_id(connection, space)
            if id is not None:
                empty_space(connection, id, remember=False)
                connection.execute("DELETE FROM forgotten WHERE space_id = ?", (id,))
                connection.execute("DELETE FROM space WHERE id = ?", (id,))

    def remember(self, space: str, uids: Sequence[str]) -> None:
        with self._file.write() as connection:
            id, _ = bump(connection, space)
            _remember(connection, id, uids)

    def forgotten(self, space: str) -> list[str]:
        query = "SELECT uid FROM forgotten WHERE space_id = ? ORDER BY uid"
        return [uid for (uid,) in self._file.select(space, query)]

    def update(self, space: str, message: MessageRow, at: datetime) -> bool:
        with self._file.write_vectors() as connection:
            old = connection.execute(_CHUNKS, (message.session_uid, message.id)).fetchall()
            if not old or old[0][3] == message.digest:
                return False
            owner = _begin(connection, space, message.session_uid)
            assert owner is not None
            uid, ids = old[0][1], [row[0] for row in old]
            connection.execute(
                """INSERT INTO version
                   SELECT :uid, 1 + (SELECT count(*) FROM version WHERE uid = :uid),
                          :space, :now, :text, :digest""",
                {
                    "uid": uid, "space": owner.space_id, "now": to_micros(at),
                    "text": "".join(row[2] for row in old), "digest": old[0][3],
                },
            )  # fmt: skip
            was_read = _forget_derived(connection, space, owner, ids, to_micros(at))
            _delete_chunks(connection, ids)
            first = ids[0] if len(message.chunks) <= len(ids) else None
            new = with_uid(message, uid)
            write_chunks(connection, self._file.vectors, owner, new, first)
            _refresh_session(connection, message.session_uid, owner, reread=was_read)
            return True

    def versions(self, space: str, session: str, id: str) -> list[tuple[str, datetime]]:
        with self._file.read() as connection:
            rows = connection.execute(_VERSIONS, (id, session_uid(space, session)))
            return [(text, from_micros(at)) for text, at in rows]

    def versioned(self, space: str) -> set[str]:
        query = "SELECT DISTINCT uid FROM version WHERE space_id = ?"
        return {uid for (uid,) in self._file.select(space, query)}

    def _now(self) -> int:
        return to_micros(self._file.clock())


def _remember(connection: sqlite3.Connection, space: int, uids: Iterable[str]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO forgotten VALUES (?, ?)", [(uid, space) for uid in uids]
    )


def _choose(connection: sqlite3.Connection, space: int, selection: Selection) -> list[Chosen]:
    """Messages that match all criteria, by session."""
    entities = selection.entity
    values = {
        "message": selection.message,
        "session": selection.session,
        "speaker": selection.speaker,
        "before": micros(selection.before),
        "entities": entities and json.dumps(entities_called(connection, space, entities)),
        "role": selection.role,
        "tag": selection.tag,
        "expired": micros(selection.expired),
    }
    where = [text for name, text in _CRITERIA.items() if values[name] is not None]
    rows = connection.execute(
        _CHOSEN.format(conditions=" AND ".join(["", *where])), {"space": space, **values}
    )
    return Chosen.by_session(rows)


def _begin(connection: sqlite3.Connection, space: str, session_uid: str) -> Owner | None:
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


def _ids_of(connection: sqlite3.Connection, uids: Iterable[str]) -> dict[str, int]:
    """Row ids of chunks by uid; what is gone is missing."""
    return dict(
        connection.execute(
            "SELECT c.uid, c.id FROM json_each(?) j JOIN chunk c ON c.uid = j.value",
            (json.dumps([*uids]),),
        )
    )


def _is_read(connection: sqlite3.Connection, ids: Collection[int]) -> bool:
    """Whether one of some chunks was read, tried or leased, so that others may rest on it."""
    return bool(
        connection.execute(
            """SELECT EXISTS (SELECT 1 FROM json_each(?) j JOIN work w ON w.chunk_id = j.value
               WHERE w.state != 0 OR w.extractor IS NOT NULL OR w.lease IS NOT NULL
                 OR w.attempts > 0 OR w.outages > 0)""",
            (json.dumps([*ids]),),
        ).fetchone()[0]
    )


def _leaks(connection: sqlite3.Connection, session_id: int, gone: Collection[int]) -> list[str]:
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
    connection.execute(
        """UPDATE state_ruling SET reason = ''
           WHERE space_id = ? AND uid IN (SELECT value FROM json_each(?))""",
        (owner.space_id, json.dumps(quotes)),
    )
    touched = TouchedFacts(connection, owner.space_id)
    touched.add_uids(quotes)
    touched.decide()


def _forget_derived(
    connection: sqlite3.Connection, space: str, owner: Owner, ids: Collection[int], now: int
) -> bool:
    """Delete what was read out of chunks, and only out of them; False if they were not read."""
    drop_written(connection, owner.space_id, ids)
    if not _is_read(connection, ids):
        return False
    entity_map = SQLiteEntityMap(connection, space, owner.space_id, owner.revision, now)
    others = _ids_of(connection, _leaks(connection, owner.session_id, ids))
    affected = drop_support(connection, [*ids, *others.values()])
    entity_map.touched.add(affected.triples)
    facts = _uids_of_triples(connection, affected.triples)
    settle(entity_map, sorted(affected.renamed), prune_aliases(connection, affected))
    prune(connection, entity_map, space, owner.space_id, owner.revision, affected)
    _prune_spoken_of(connection, entity_map, affected)
    entity_map.touched.add(_drop_rulings(connection, owner.space_id, facts))
    entity_map.touched.decide()
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
    found = entities_without_support(connection, affected.entities)
    if found:
        entity_map.lift(entity_map.constraints(found.keys()))
        delete_entities(connection, entity_map, {uid: id for uid, (id, _) in found.items()})


def _delete_chunks(connection: sqlite3.Connection, ids: Collection[int]) -> None:
    """Delete chunks out of which nothing is read any more."""
    for table, column in (("work", "chunk_id"), ("chunk_index", "chunk_id"), ("chunk", "id")):
        connection.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(id,) for id in ids])


def _refresh_session(
    connection: sqlite3.Connection, session_uid: str, owner: Owner, *, reread: bool
) -> None:
    """Bring a session up to date that has lost messages; delete it if it has none left."""
    session_id, revision = owner.session_id, owner.revision
    (left,) = connection.execute(
        "SELECT count(*) FROM chunk WHERE session_id = ?", (session_id,)
    ).fetchone()
    reread = bool(_drop_given_summaries(connection, session_id)) or reread
    if reread or not left:
        for other_id, other in sessions_made_of(connection, session_id):
            _drop_summary(connection, other_id)
            start_over(connection, other)
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


def _preview(connection: sqlite3.Connection, chosen: Sequence[Chosen]) -> Forgotten:
    """Count what would go, and what would stay; somebody else may have deleted some of it."""
    preview = Preview()
    for part in chosen:
        id_of = _ids_of(connection, part.chunks)
        if id_of:
            session_id, chunks = connection.execute(
                "SELECT id, chunks FROM session WHERE uid = ?", (part.session_uid,)
            ).fetchone()
            is_read = _is_read(connection, id_of.values())
            leaks = _leaks(connection, session_id, id_of.values()) if is_read else []
            preview.add(part, id_of, chunks, leaks, is_read)
    ids = _ids_of(connection, preview.gone | preview.leaks).values()
    sessions = connection.execute(
        "SELECT s.id FROM json_each(?) j JOIN session s ON s.uid = j.value",
        (json.dumps(preview.reset),),
    )
    lost = {
        "sessions": json.dumps([id for (id,) in sessions]),
        "gone": json.dumps([*_ids_of(connection, preview.gone).values()]),
    }
    return preview.forgotten(
        _counts(connection, _TRIPLE_COUNTS, ids),
        _counts(connection, _ENTITY_COUNTS, ids),
        connection.execute(_SESSION_COUNTS, lost).fetchone(),
    )


def _counts(connection: sqlite3.Connection, query: str, ids: Iterable[int]) -> Counts:
    """How many go and how many stay."""
    found = dict(connection.execute(query, {"gone": json.dumps([*ids])}).fetchall())
    return found.get(0, 0), found.get(1, 0)


def empty_space(connection: sqlite3.Connection, space: int, *, remember: bool) -> None:
    """Delete the messages of a space with all that was read out of them."""
    if remember:
        connection.execute(
            "INSERT OR IGNORE INTO forgotten "
            "SELECT uid, space_id FROM chunk WHERE space_id = ? AND part = 0",
            (space,),
        )
    connection.execute("PRAGMA defer_foreign_keys = ON")  # triples refer to each other
    for statement in _EMPTY_SPACE:
        connection.execute(statement, (space,))
    connection.execute(
        "UPDATE space SET revision = revision + 1, epoch = epoch + 1 WHERE id = ?", (space,)
    )
