"""SQL that reads the graph for display; each function runs inside one read transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from cognigraph.ids import normalise
from cognigraph.model import Entity, Session, Stats, Theme, Triple
from cognigraph.stores.sqlite.fact_sources import NO_SOURCES, FactSources, sources_of
from cognigraph.stores.sqlite.in_list import select_in
from cognigraph.stores.sqlite.succession import periods
from cognigraph.times import from_micros, parse_when


def space_id(connection: sqlite3.Connection, space: str) -> int | None:
    """Row id of a space; None if nothing was ever added to it."""
    row = connection.execute("SELECT id FROM space WHERE name = ?", (space,)).fetchone()
    return None if row is None else int(row[0])


def sessions(connection: sqlite3.Connection, space: int, limit: int, offset: int) -> list[Session]:
    """Sessions, newest first."""
    rows = connection.execute(
        f"{_SESSION} WHERE space_id = ? ORDER BY ended_at DESC, id DESC LIMIT ? OFFSET ?",
        (space, limit, offset),
    ).fetchall()
    return _sessions(connection, rows)


def sessions_by_id(
    connection: sqlite3.Connection, space: int, ids: Sequence[str]
) -> dict[str, Session]:
    """Sessions by the caller's id."""
    rows = select_in(connection, f"{_SESSION} WHERE space_id = ? AND name IN ({{}})", ids, space)
    return {session.id: session for session in _sessions(connection, rows)}


_SESSION = "SELECT id, name, started_at, ended_at, messages, chunks, version FROM session"


def _sessions(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[Session]:
    ids = [row[0] for row in rows]
    keys: dict[int, list[str]] = {}
    for session, name, _ in select_in(
        connection,
        "SELECT session_id, name, weight FROM session_key JOIN key ON key.id = key_id "
        "WHERE session_id IN ({}) ORDER BY weight DESC, name",
        ids,
    ):
        keys.setdefault(session, []).append(name)
    themes: dict[int, list[Theme]] = {}
    for session, title, summary, uid in select_in(
        connection,
        "SELECT session_id, title, summary, uid FROM theme WHERE session_id IN ({}) ORDER BY place",
        ids,
    ):
        themes.setdefault(session, []).append(Theme(title, summary, uid))
    return [
        Session(
            id=row[1],
            started_at=from_micros(row[2]),
            ended_at=from_micros(row[3]),
            messages=row[4],
            chunks=row[5],
            keys=tuple(keys.get(row[0], ())),
            themes=tuple(themes.get(row[0], ())),
            version=row[6],
        )
        for row in rows
    ]


def entities(
    connection: sqlite3.Connection, space: int, match: str | None, limit: int, offset: int
) -> list[Entity]:
    """Canonical entities, most triples first; merged entities are among their aliases."""
    matching = ""
    parameters: list[int | str] = [space]
    if match is not None:
        pattern = pattern_of(match)
        matching = f"AND e.id IN ({_MATCHING})"
        parameters += [space, pattern, space, pattern]
    rows = connection.execute(
        f"""SELECT e.name, e.type,
              (SELECT count(*) FROM triple WHERE subject_id = e.id AND folded_into IS NULL)
              + (SELECT count(*) FROM triple WHERE object_id = e.id AND subject_id != e.id
                 AND folded_into IS NULL) AS n,
              (SELECT count(DISTINCT chunk_id) FROM mention WHERE entity_id = e.id) AS m, e.id
            FROM entity e WHERE space_id = ? AND (shown_id IS NULL OR shown_id = id) {matching}
            ORDER BY n DESC, m DESC, normalised, type LIMIT ? OFFSET ?""",
        (*parameters, limit, offset),
    ).fetchall()
    aliases = _aliases(connection, [row[4] for row in rows])
    return [
        Entity(name, type, triples, mentions, tuple(sorted(aliases.get(id, set()) - {name})))
        for name, type, triples, mentions, id in rows
    ]


_MATCHING = r"""
SELECT coalesce(shown_id, id) FROM entity WHERE space_id = ? AND normalised LIKE ? ESCAPE '\'
UNION SELECT coalesce(e.shown_id, e.id) FROM alias a JOIN entity e ON e.id = a.entity_id
      WHERE a.space_id = ? AND a.normalised LIKE ? ESCAPE '\'"""


def _aliases(connection: sqlite3.Connection, canonical: Sequence[int]) -> dict[int, set[str]]:
    aliases: dict[int, set[str]] = {}
    for query in (
        "SELECT shown_id, name FROM entity WHERE shown_id IN ({}) AND id != shown_id",
        "SELECT entity_id, name FROM alias WHERE entity_id IN ({})",
        "SELECT e.shown_id, a.name FROM entity e JOIN alias a ON a.entity_id = e.id "
        "WHERE e.shown_id IN ({}) AND e.id != e.shown_id",
    ):
        for id, name in select_in(connection, query, canonical):
            aliases.setdefault(id, set()).add(name)
    return aliases


def entities_called(connection: sqlite3.Connection, space: int, name: str) -> list[int]:
    """Ids of the canonical entities that a name or alias stands for."""
    normalised = normalise(name)
    rows = connection.execute(
        "SELECT coalesce(shown_id, id) FROM entity WHERE space_id = ? AND normalised = ? "
        "UNION SELECT coalesce(e.shown_id, e.id) FROM alias a JOIN entity e ON e.id = a.entity_id "
        "WHERE a.space_id = ? AND a.normalised = ?",
        (space, normalised, space, normalised),
    )
    return [row[0] for row in rows]


def pattern_of(match: str) -> str:
    """The pattern of LIKE for normalised names that contain a text."""
    return f"%{escape_like(normalise(match))}%"


def escape_like(text: str) -> str:
    """Escape the wildcards of LIKE by backslashes."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


TRIPLE = """
SELECT t.id, t.uid,
       CASE WHEN s.shown_id IS NULL OR s.id = o.id THEN t.subject ELSE s.name END, s.type,
       t.relation,
       CASE WHEN o.shown_id IS NULL OR s.id = o.id THEN t.object ELSE o.name END, o.type,
       t.when_text, t.negated,
       t.first_observed, t.last_observed,
       t.status, t.valid_from, t.valid_to, t.superseded_by, t.superseded_at, t.reason, t.earlier
FROM triple t JOIN entity s ON s.id = t.subject_id JOIN entity o ON o.id = t.object_id"""


def states_of(connection: sqlite3.Connection, space: int, entity: str) -> list[Triple]:
    """Facts about slots of an entity, and others that a user ruled on."""
    ids = json.dumps(entities_called(connection, space, entity))
    rows = connection.execute(
        f"""{TRIPLE} WHERE t.folded_into IS NULL AND (
              t.subject_id IN (SELECT value FROM json_each(:ids))
                AND (t.slot IS NOT NULL OR t.decided_by IS NOT NULL)
              OR t.object_id IN (SELECT value FROM json_each(:ids)) AND t.slot >= '<'
                AND t.slot < '=')
            ORDER BY t.first_observed, t.uid""",
        {"ids": ids},
    ).fetchall()
    return to_triples(connection, rows)


def contested(connection: sqlite3.Connection, space: int, limit: int) -> list[list[Triple]]:
    """Current facts that share a slot of one value with others, by slot."""
    slots = connection.execute(
        """SELECT group_concat(id) FROM triple
           WHERE space_id = ? AND slot IS NOT NULL AND instr(slot, '|') = 0
             AND status = 'current' AND folded_into IS NULL
           GROUP BY CASE WHEN slot >= '<' AND slot < '=' THEN object_id ELSE subject_id END,
             ltrim(slot, '<')
           HAVING count(*) > 1 ORDER BY max(last_observed) DESC, slot LIMIT ?""",
        (space, limit),
    ).fetchall()
    groups = [[int(id) for id in row[0].split(",")] for row in slots]
    rows = select_in(
        connection, f"{TRIPLE} WHERE t.id IN ({{}})", [id for ids in groups for id in ids]
    )
    found = {row[0]: triple for row, triple in zip(rows, to_triples(connection, rows), strict=True)}
    return [[found[id] for id in sorted(ids)] for ids in groups]


def to_triples(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> list[Triple]:
    """Rows of ``TRIPLE`` with all their sources."""
    sources = sources_of(connection, [row[0] for row in rows], None)
    return [triple_of(row, sources.get(row[0], NO_SOURCES)) for row in rows]


def triple_of(row: tuple[Any, ...], sources: FactSources) -> Triple:
    """The fact of a row of ``TRIPLE``."""
    _, uid, subject, subject_type, relation, object, object_type, when, negated, *rest = row
    first, last, status, valid_from, valid_to, superseded_by, superseded_at, reason, earlier = rest
    return Triple(
        uid, subject, subject_type, relation, object, object_type, parse_when(when), bool(negated),
        from_micros(first), from_micros(last), sources.listed, None, status,
        None if valid_from is None else from_micros(valid_from),
        None if valid_to is None else from_micros(valid_to),
        superseded_by,
        None if superseded_at is None else from_micros(superseded_at),
        reason, periods(earlier), sources.older,
    )  # fmt: skip


def stats(connection: sqlite3.Connection, name: str, now_micros: int) -> Stats:
    """Counts of a space."""
    space = space_id(connection, name)
    if space is None:
        return Stats(name, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    def count(query: str) -> int:
        return int(connection.execute(query, (space,)).fetchone()[0])

    sessions, messages, chunk_count = connection.execute(
        "SELECT count(*), coalesce(sum(messages), 0), coalesce(sum(chunks), 0) FROM session "
        "WHERE space_id = ?",
        (space,),
    ).fetchone()
    states = dict(
        connection.execute(
            "SELECT state, count(*) FROM work WHERE space_id = ? GROUP BY state", (space,)
        )
    )
    leased = connection.execute(
        """SELECT count(*) FROM session s CROSS JOIN chunk c ON c.session_id = s.id
           CROSS JOIN work w ON w.chunk_id = c.id AND w.lease = s.lease
           WHERE s.space_id = ? AND s.lease IS NOT NULL AND s.lease_until > ? AND w.state = 0""",
        (space, now_micros),
    ).fetchone()[0]
    return Stats(
        space=name,
        sessions=sessions,
        messages=messages,
        chunks=chunk_count,
        entities=count(
            "SELECT count(*) FROM entity WHERE space_id = ? AND (shown_id IS NULL OR shown_id = id)"
        ),
        triples=count("SELECT count(*) FROM triple WHERE space_id = ? AND folded_into IS NULL"),
        keys=count("SELECT count(*) FROM key WHERE space_id = ?"),
        pending=states.get(0, 0) - leased,
        leased=leased,
        done=states.get(1, 0),
        failed=states.get(2, 0),
        summaries_pending=count("SELECT count(*) FROM behind WHERE space_id = ? AND state = 0"),
        summaries_failed=count("SELECT count(*) FROM behind WHERE space_id = ? AND state = 2"),
    )
