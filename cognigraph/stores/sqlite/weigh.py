"""What would go with some messages, and what would stay because others said it too."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from cognigraph.model import Forgotten
from cognigraph.stores.protocols.housekeeping_store import Chosen
from cognigraph.stores.sqlite.forget import ids_of, is_read, leaks

_GONE = "WITH gone AS MATERIALIZED (SELECT value AS id FROM json_each(:gone))"

_TRIPLES = f"""{_GONE}
SELECT EXISTS (SELECT 1 FROM evidence o WHERE o.triple_id = t.triple_id
               AND o.chunk_id NOT IN (SELECT id FROM gone)) AS stays, count(*)
FROM (SELECT DISTINCT triple_id FROM evidence WHERE chunk_id IN (SELECT id FROM gone)) t
GROUP BY stays"""

_ENTITIES = f"""{_GONE},
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

_OF_SESSIONS = """
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


def weigh(connection: sqlite3.Connection, chosen: Sequence[Chosen]) -> Forgotten:
    """Count what would go, and what would stay."""
    gone: set[int] = set()
    untied: set[int] = set()
    reset: list[int] = []
    ended = 0
    for part in chosen:
        ids = set(ids_of(connection, part.chunks).values())
        session_id, chunks = connection.execute(
            "SELECT id, chunks FROM session WHERE uid = ?", (part.session_uid,)
        ).fetchone()
        gone |= ids
        ended += chunks == len(ids)
        if is_read(connection, ids):
            untied |= set(ids_of(connection, leaks(connection, session_id, ids)).values())
        if chunks == len(ids) or is_read(connection, ids):
            reset.append(session_id)
    triples, kept_triples = _counts(connection, _TRIPLES, gone | untied)
    entities, kept_entities = _counts(connection, _ENTITIES, gone | untied)
    keys, themes, revisions, reread = connection.execute(
        _OF_SESSIONS, {"sessions": json.dumps(reset), "gone": json.dumps([*gone])}
    ).fetchone()
    return Forgotten(
        messages=sum(len(part.messages) for part in chosen),
        chunks=len(gone),
        sessions=ended,
        triples=triples,
        entities=entities,
        keys=keys,
        themes=themes,
        revisions=revisions,
        kept_triples=kept_triples,
        kept_entities=kept_entities,
        reread=reread,
    )


def _counts(connection: sqlite3.Connection, query: str, ids: Iterable[int]) -> tuple[int, int]:
    """How many go and how many stay."""
    found = dict(connection.execute(query, {"gone": json.dumps([*ids])}).fetchall())
    return found.get(0, 0), found.get(1, 0)
