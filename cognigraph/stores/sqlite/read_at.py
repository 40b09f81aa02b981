"""SQL that reads sessions, entities and counts as they were known at a time (microseconds)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cognigraph.model import Entity, Session, Stats, Theme
from cognigraph.stores.sqlite import read
from cognigraph.times import from_micros


def sessions(
    connection: sqlite3.Connection,
    space: int,
    limit: int,
    offset: int,
    until: int,
    ids: Sequence[str] | None,
) -> list[Session]:
    """Sessions that had begun, newest first, with the keys and summary of that time."""
    some = "" if ids is None else "AND s.name IN (SELECT value FROM json_each(:ids))"
    rows = connection.execute(
        f"""SELECT s.name, max(c.at), sum(c.part = 0), count(*), s.id, s.ended_at
           FROM session s JOIN chunk c ON c.session_id = s.id AND c.at <= :until
           WHERE s.space_id = :space AND s.started_at <= :until {some}
           GROUP BY s.id ORDER BY max(c.at) DESC, s.id DESC LIMIT :limit OFFSET :offset""",
        {
            "until": until,
            "space": space,
            "limit": limit,
            "offset": offset,
            "ids": json.dumps([*(ids or ())]),
        },
    ).fetchall()
    whole = read.sessions_by_id(connection, space, [row[0] for row in rows])
    return [_session(connection, whole[row[0]], row[1:], until) for row in rows]


def _session(
    connection: sqlite3.Connection, session: Session, row: tuple[Any, ...], until: int
) -> Session:
    last, messages, chunks, id, ended = row
    if ended <= until:
        return session
    cut = replace(
        session, ended_at=from_micros(last), messages=messages, chunks=chunks,
        keys=(), themes=(), version=0,
    )  # fmt: skip
    revision = connection.execute(
        """SELECT version, keys, themes FROM revision WHERE session_id = ? AND at <= ?
           ORDER BY version DESC LIMIT 1""",
        (id, until),
    ).fetchone()
    if revision is None:
        return cut
    version, keys, themes = revision
    told = tuple(Theme(*theme) for theme in json.loads(themes))
    return replace(cut, keys=tuple(json.loads(keys)), themes=told, version=version)


def entities(
    connection: sqlite3.Connection,
    space: int,
    match: str | None,
    limit: int,
    offset: int,
    until: int,
) -> list[Entity]:
    """Canonical entities that had been spoken of, with what had been said of them."""
    matching, pattern = "", ""
    if match is not None:
        matching, pattern = f"AND e.id IN ({_MATCHING})", read.pattern_of(match)
    rows = connection.execute(
        f"""SELECT * FROM (SELECT e.name, e.type,
              (SELECT count(*) FROM triple WHERE subject_id = e.id AND folded_into IS NULL
                 AND first_observed <= :until)
              + (SELECT count(*) FROM triple WHERE object_id = e.id AND subject_id != e.id
                 AND folded_into IS NULL AND first_observed <= :until) AS n,
              (SELECT count(DISTINCT m.chunk_id) FROM mention m JOIN chunk c ON c.id = m.chunk_id
               WHERE m.entity_id = e.id AND c.at <= :until) AS m, e.id, e.normalised
            FROM entity e
            WHERE space_id = :space AND (shown_id IS NULL OR shown_id = id) {matching})
            WHERE n > 0 OR m > 0
            ORDER BY n DESC, m DESC, normalised, type LIMIT :limit OFFSET :offset""",
        {"until": until, "space": space, "pattern": pattern, "limit": limit, "offset": offset},
    ).fetchall()
    aliases = _aliases(connection, [row[4] for row in rows], until)
    return [
        Entity(name, type, triples, mentions, tuple(sorted(aliases.get(id, set()) - {name})))
        for name, type, triples, mentions, id, _ in rows
    ]


_MATCHING = r"""
SELECT coalesce(shown_id, id) FROM entity
WHERE space_id = :space AND normalised LIKE :pattern ESCAPE '\'
UNION SELECT coalesce(e.shown_id, e.id) FROM alias a JOIN entity e ON e.id = a.entity_id
      WHERE a.space_id = :space AND a.normalised LIKE :pattern ESCAPE '\'"""


def _aliases(
    connection: sqlite3.Connection, canonical: Sequence[int], until: int
) -> dict[int, set[str]]:
    """Names of merged entities that had been spoken of, and aliases that had been stated."""
    found: dict[int, set[str]] = {}
    rows = connection.execute(
        """SELECT r.shown_id, r.name FROM entity r
           WHERE r.shown_id IN (SELECT value FROM json_each(:ids)) AND r.id != r.shown_id
             AND (EXISTS (SELECT 1 FROM mention m JOIN chunk c ON c.id = m.chunk_id
                          WHERE m.entity_id = r.shown_id AND m.raw_id = r.id AND c.at <= :until)
                  OR EXISTS (SELECT 1 FROM triple t WHERE t.subject_id = r.shown_id
                             AND t.raw_subject_id = r.id AND t.first_observed <= :until)
                  OR EXISTS (SELECT 1 FROM triple t WHERE t.object_id = r.shown_id
                             AND t.raw_object_id = r.id AND t.first_observed <= :until))
           UNION SELECT coalesce(e.shown_id, e.id), a.name
           FROM entity e JOIN alias a ON a.entity_id = e.id
           WHERE (e.id IN (SELECT value FROM json_each(:ids))
                  OR e.shown_id IN (SELECT value FROM json_each(:ids)))
             AND EXISTS (SELECT 1 FROM alias_source x JOIN chunk c ON c.id = x.chunk_id
                         WHERE x.alias_id = a.id AND c.at <= :until)""",
        {"ids": json.dumps([*canonical]), "until": until},
    )
    for id, name in rows:
        found.setdefault(id, set()).add(name)
    return found


def stats(connection: sqlite3.Connection, name: str, until: int) -> Stats:
    """Counts of what had been said; of the queue, those of these messages that wait now."""
    space = read.space_id(connection, name)
    if space is None:
        return Stats(name, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    values = {"space": space, "until": until}
    counts = connection.execute(
        f"""SELECT count(DISTINCT c.session_id), coalesce(sum(c.part = 0), 0), count(*),
              {_ENTITIES}, {_TRIPLES}, {_KEYS}, coalesce(sum(w.state = 0), 0), 0,
              coalesce(sum(w.state = 1), 0), coalesce(sum(w.state = 2), 0)
            FROM chunk c JOIN work w ON w.chunk_id = c.id
            WHERE c.space_id = :space AND c.at <= :until""",
        values,
    ).fetchone()
    return Stats(name, *counts)


_TRIPLES = """(SELECT count(*) FROM triple
 WHERE space_id = :space AND folded_into IS NULL AND first_observed <= :until)"""
_ENTITIES = """(SELECT count(*) FROM entity e
 WHERE space_id = :space AND (shown_id IS NULL OR shown_id = id)
   AND (EXISTS (SELECT 1 FROM triple WHERE subject_id = e.id AND first_observed <= :until)
        OR EXISTS (SELECT 1 FROM triple WHERE object_id = e.id AND first_observed <= :until)
        OR EXISTS (SELECT 1 FROM mention m JOIN chunk c ON c.id = m.chunk_id
                   WHERE m.entity_id = e.id AND c.at <= :until)))"""
_KEYS = """(SELECT count(*) FROM (
 SELECT k.name FROM session s JOIN session_key h ON h.session_id = s.id
 JOIN key k ON k.id = h.key_id
 WHERE s.space_id = :space AND s.ended_at <= :until
 UNION SELECT j.value FROM session s JOIN revision r ON r.session_id = s.id, json_each(r.keys) j
 WHERE s.space_id = :space AND s.started_at <= :until AND s.ended_at > :until
   AND r.version = (SELECT max(version) FROM revision WHERE session_id = s.id AND at <= :until)))"""
