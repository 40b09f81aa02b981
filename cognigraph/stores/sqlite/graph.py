"""``SQLiteGraph``: reads messages, sessions, entities, triples and counts, and runs Cypher.

What is read as of a time has statements of its own: those of the present read counts that are kept
with the rows, and need not look at each message.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from cognigraph.cypher.guard.query_limits import DEFAULT_LIMITS
from cognigraph.model import (
    Entity,
    Episode,
    Session,
    Stats,
    StoredMessage,
    Summary,
    Triple,
    Written,
)
from cognigraph.model.filters import TripleQuery
from cognigraph.settings import QuerySettings
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.messages import find_message
from cognigraph.stores.sqlite.rows import pattern_of
from cognigraph.stores.sqlite.search import (
    _SESSION,
    list_facts,
    session_at,
    sessions_by_id,
    sessions_of_rows,
)
from cognigraph.stores.sqlite.summaries import list_episodes, read_revisions, read_written
from cognigraph.times import to_micros

_SESSIONS = f"""{_SESSION}
WHERE space_id = ? ORDER BY ended_at DESC, id DESC LIMIT ? OFFSET ?"""
_SESSIONS_AT = """
SELECT s.name, max(c.at), sum(c.part = 0), count(*), s.id, s.ended_at
FROM session s JOIN chunk c ON c.session_id = s.id AND c.at <= :until
WHERE s.space_id = :space AND s.started_at <= :until
  AND (:ids IS NULL OR s.name IN (SELECT value FROM json_each(:ids)))
GROUP BY s.id ORDER BY max(c.at) DESC, s.id DESC LIMIT :limit OFFSET :offset"""

_CANONICAL = "(shown_id IS NULL OR shown_id = id)"
_MATCHING = r"""AND e.id IN (
  SELECT coalesce(shown_id, id) FROM entity
  WHERE space_id = :space AND normalised LIKE :pattern ESCAPE '\'
  UNION SELECT coalesce(e.shown_id, e.id) FROM alias a JOIN entity e ON e.id = a.entity_id
        WHERE a.space_id = :space AND a.normalised LIKE :pattern ESCAPE '\')"""
_ENTITIES = f"""
SELECT * FROM (SELECT e.name, e.type,
    (SELECT count(*) FROM triple WHERE subject_id = e.id AND folded_into IS NULL {{seen}})
    + (SELECT count(*) FROM triple WHERE object_id = e.id AND subject_id != e.id
       AND folded_into IS NULL {{seen}}) AS n,
    (SELECT count(DISTINCT m.chunk_id) FROM mention m {{said}} WHERE m.entity_id = e.id) AS m,
    e.id, e.normalised
  FROM entity e WHERE space_id = :space AND {_CANONICAL} {{matching}})
{{some}} ORDER BY n DESC, m DESC, normalised, type LIMIT :limit OFFSET :offset"""
_NOW = {"seen": "", "said": "", "some": ""}
_AT = {
    "seen": "AND first_observed <= :until",
    "said": "JOIN chunk c ON c.id = m.chunk_id AND c.at <= :until",
    "some": "WHERE n > 0 OR m > 0",
}
_ALIASES = """
SELECT e.shown_id, e.name FROM entity e
WHERE e.shown_id IN (SELECT value FROM json_each(:ids)) AND e.id != e.shown_id
UNION SELECT coalesce(e.shown_id, e.id), a.name FROM entity e JOIN alias a ON a.entity_id = e.id
WHERE e.id IN (SELECT value FROM json_each(:ids))
   OR e.shown_id IN (SELECT value FROM json_each(:ids))"""
_ALIASES_AT = """
SELECT r.shown_id, r.name FROM entity r
WHERE r.shown_id IN (SELECT value FROM json_each(:ids)) AND r.id != r.shown_id
  AND (EXISTS (SELECT 1 FROM mention m JOIN chunk c ON c.id = m.chunk_id
               WHERE m.entity_id = r.shown_id AND m.raw_id = r.id AND c.at <= :until)
       OR EXISTS (SELECT 1 FROM triple t WHERE t.subject_id = r.shown_id
                  AND t.raw_subject_id = r.id AND t.first_observed <= :until)
       OR EXISTS (SELECT 1 FROM triple t WHERE t.object_id = r.shown_id
                  AND t.raw_object_id = r.id AND t.first_observed <= :until))
UNION SELECT coalesce(e.shown_id, e.id), a.name FROM entity e JOIN alias a ON a.entity_id = e.id
WHERE (e.id IN (SELECT value FROM json_each(:ids))
       OR e.shown_id IN (SELECT value FROM json_each(:ids)))
  AND EXISTS (SELECT 1 FROM alias_source x JOIN chunk c ON c.id = x.chunk_id
              WHERE x.alias_id = a.id AND c.at <= :until)"""

_COUNTS = f"""
SELECT (SELECT count(*) FROM session WHERE space_id = :space),
  (SELECT coalesce(sum(messages), 0) FROM session WHERE space_id = :space),
  (SELECT coalesce(sum(chunks), 0) FROM session WHERE space_id = :space),
  (SELECT count(*) FROM entity WHERE space_id = :space AND {_CANONICAL}),
  (SELECT count(*) FROM triple WHERE space_id = :space AND folded_into IS NULL),
  (SELECT count(*) FROM key WHERE space_id = :space),
  (SELECT count(*) FROM work WHERE space_id = :space AND state = 0),
  (SELECT count(*) FROM session s CROSS JOIN chunk c ON c.session_id = s.id
   CROSS JOIN work w ON w.chunk_id = c.id AND w.lease = s.lease
   WHERE s.space_id = :space AND s.lease IS NOT NULL AND s.lease_until > :now AND w.state = 0),
  (SELECT count(*) FROM work WHERE space_id = :space AND state = 1),
  (SELECT count(*) FROM work WHERE space_id = :space AND state = 2),
  (SELECT count(*) FROM behind WHERE space_id = :space AND state = 0),
  (SELECT count(*) FROM behind WHERE space_id = :space AND state = 2),
  (SELECT count(*) FROM work WHERE space_id = :space AND unembedded)"""
_COUNTS_AT = f"""
SELECT count(DISTINCT c.session_id), coalesce(sum(c.part = 0), 0), count(*),
  (SELECT count(*) FROM entity e WHERE space_id = :space AND {_CANONICAL}
   AND (EXISTS (SELECT 1 FROM triple WHERE subject_id = e.id AND first_observed <= :until)
        OR EXISTS (SELECT 1 FROM triple WHERE object_id = e.id AND first_observed <= :until)
        OR EXISTS (SELECT 1 FROM mention m JOIN chunk c ON c.id = m.chunk_id
                   WHERE m.entity_id = e.id AND c.at <= :until))),
  (SELECT count(*) FROM triple
   WHERE space_id = :space AND folded_into IS NULL AND first_observed <= :until),
  (SELECT count(*) FROM (
     SELECT k.name FROM session s JOIN session_key h ON h.session_id = s.id
     JOIN key k ON k.id = h.key_id WHERE s.space_id = :space AND s.ended_at <= :until
     UNION SELECT j.value FROM session s JOIN revision r ON r.session_id = s.id,
       json_each(r.keys) j
     WHERE s.space_id = :space AND s.started_at <= :until AND s.ended_at > :until AND r.version =
       (SELECT max(version) FROM revision WHERE session_id = s.id AND at <= :until))),
  coalesce(sum(w.state = 0), 0), 0, coalesce(sum(w.state = 1), 0), coalesce(sum(w.state = 2), 0)
FROM chunk c JOIN work w ON w.chunk_id = c.id WHERE c.space_id = :space AND c.at <= :until"""


class SQLiteGraph:
    """See :class:`cognigraph.stores.protocols.GraphReader`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def message(self, space: str, id: str, session: str | None = None) -> StoredMessage | None:
        return self._file.query(space, None, lambda c, s: find_message(c, s, id, session))

    def sessions(
        self,
        space: str,
        *,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[Session]:

        def work(connection: sqlite3.Connection, space_id: int) -> list[Session]:
            if as_of is None:
                return sessions_of_rows(
                    connection, connection.execute(_SESSIONS, (space_id, limit, offset))
                )
            until = to_micros(as_of)
            listed = None if ids is None else json.dumps([*ids])
            rows = connection.execute(
                _SESSIONS_AT,
                {
                    "until": until,
                    "space": space_id,
                    "limit": limit,
                    "offset": offset,
                    "ids": listed,
                },
            ).fetchall()
            whole = sessions_by_id(connection, space_id, [row[0] for row in rows])
            return [session_at(connection, whole[row[0]], row[1:], until) for row in rows]

        return self._file.query(space, [], work)

    def entities(
        self,
        space: str,
        *,
        match: str | None = None,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
    ) -> list[Entity]:

        def work(connection: sqlite3.Connection, space_id: int) -> list[Entity]:
            values = {
                "space": space_id, "limit": limit, "offset": offset,
                "pattern": None if match is None else pattern_of(match),
                "until": None if as_of is None else to_micros(as_of),
            }  # fmt: skip
            others, said = (_ALIASES, _NOW) if as_of is None else (_ALIASES_AT, _AT)
            statement = _ENTITIES.format(matching="" if match is None else _MATCHING, **said)
            rows = connection.execute(statement, values).fetchall()
            aliases: dict[int, set[str]] = {}
            listed = json.dumps([row[4] for row in rows])
            for id, name in connection.execute(others, {"ids": listed, "until": values["until"]}):
                aliases.setdefault(id, set()).add(name)
            return [
                Entity(
                    name, type, triples, mentions, tuple(sorted(aliases.get(id, set()) - {name}))
                )
                for name, type, triples, mentions, id, *_ in rows
            ]

        return self._file.query(space, [], work)

    def triples(self, space: str, query: TripleQuery) -> list[Triple]:
        return self._file.query(space, [], lambda c, s: list_facts(c, s, query))

    def summaries(self, space: str, session: str) -> list[Summary]:
        return self._file.query(space, [], lambda c, s: read_revisions(c, s, session))

    def episodes(
        self, space: str, *, session: str | None = None, limit: int, offset: int = 0
    ) -> list[Episode]:
        return self._file.query(space, [], lambda c, s: list_episodes(c, s, session, limit, offset))

    def written(self, space: str) -> list[Written]:
        return self._file.query(space, [], read_written)

    def stats(self, space: str, *, as_of: datetime | None = None) -> Stats:
        """Counts of a space; zeros for one that does not exist.

        As of a time, those of what had been said; of the queue, those of these messages that wait
        now.
        """

        def work(connection: sqlite3.Connection, space_id: int) -> Stats:
            if as_of is not None:
                values = {"space": space_id, "until": to_micros(as_of)}
                return Stats(space, *connection.execute(_COUNTS_AT, values).fetchone())
            values = {"space": space_id, "now": to_micros(self._file.clock())}
            counts = Stats(space, *connection.execute(_COUNTS, values).fetchone())
            return replace(counts, pending=counts.pending - counts.leased)

        return self._file.query(space, Stats(space, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), work)

    def cypher(
        self,
        space: str,
        query: str,
        parameters: Mapping[str, Any],
        *,
        limit: int,
        timeout: float,
        limits: QuerySettings = DEFAULT_LIMITS,
    ) -> list[dict[str, Any]]:
        """Load the space as a graph and run the query, a subset of Cypher, on it."""
        from cognigraph.stores.sqlite.cypher import run_cypher

        return run_cypher(self._file.read, space, query, parameters, limit, timeout, limits)
