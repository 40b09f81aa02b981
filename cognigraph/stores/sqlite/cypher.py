"""Runs Cypher on a SQLite file: loads a space as a graph and queries that."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from cognigraph.cypher.deadline import time_limit
from cognigraph.cypher.guard.query_limits import check_call
from cognigraph.cypher.local.graph import EdgeRow, Graph, NodeRow, build_graph
from cognigraph.cypher.local.run_locally import Needed, run_on_graph, translate
from cognigraph.settings import QuerySettings
from cognigraph.stores.sqlite.rows import JOIN_DATA, space_id
from cognigraph.times import from_micros

_STATES = {0: "pending", 1: "done", 2: "failed"}

# One query per label: the uid first, then the properties named by their columns.
_NODES = {
    "Session": """SELECT uid, name AS id, started_at, ended_at, messages, chunks, version
                  FROM session WHERE space_id = :space""",
    "Chunk": f"""SELECT c.uid, c.message_id, s.name AS session, c.speaker, c.role, c.at, c.text,
                       c.part, c.parts, c.heading, d.tags, d.metadata, w.state
                FROM chunk c JOIN session s ON s.id = c.session_id {JOIN_DATA}
                JOIN work w ON w.chunk_id = c.id WHERE c.space_id = :space""",
    "Entity": """SELECT uid, name, type FROM entity
                 WHERE space_id = :space AND (shown_id IS NULL OR shown_id = id)""",
    "Alias": """SELECT uid, name, type FROM entity WHERE space_id = :space AND shown_id != id
                UNION ALL SELECT a.uid, a.name, e.type FROM alias a
                JOIN entity e ON e.id = a.entity_id WHERE a.space_id = :space""",
    # A triple whose subject and object are the same entity keeps the names in the text.
    "Triple": """SELECT t.uid, t.relation,
                        CASE WHEN s.shown_id IS NULL OR s.id = o.id THEN t.subject ELSE s.name END
                          AS subject,
                        CASE WHEN o.shown_id IS NULL OR s.id = o.id THEN t.object ELSE o.name END
                          AS object,
                        t.when_text AS "when", t.valid_from, t.valid_to, t.negated,
                        t.first_observed, t.last_observed, t.status
                 FROM triple t JOIN entity s ON s.id = t.subject_id
                 JOIN entity o ON o.id = t.object_id
                 WHERE t.space_id = :space AND t.folded_into IS NULL""",
    "Key": "SELECT uid, name FROM key WHERE space_id = :space",
    "Theme": """SELECT uid, title, summary, started_at, ended_at, reason
                FROM theme WHERE space_id = :space""",
    "Profile": """SELECT uid, version, text, at FROM written
                  WHERE space_id = :space AND kind = 'profile'""",
    "Procedure": """SELECT uid, version, title, steps, text AS context, at FROM written
                    WHERE space_id = :space AND kind = 'procedure'""",
    "Revision": """SELECT r.uid, r.version, r.at, r.extractor, r.keys
                   FROM revision r JOIN session s ON s.id = r.session_id
                   WHERE s.space_id = :space""",
}

_EDGES = {
    "HAS_CHUNK": """SELECT s.uid, c.uid FROM chunk c JOIN session s ON s.id = c.session_id
                    WHERE c.space_id = :space""",
    "NEXT": """SELECT uid, following FROM (SELECT uid, lead(uid) OVER
                 (PARTITION BY session_id ORDER BY at, id) AS following
               FROM chunk WHERE space_id = :space) WHERE following IS NOT NULL""",
    "HAS_KEY": """SELECT s.uid, k.uid, weight FROM session_key
                  JOIN session s ON s.id = session_id JOIN key k ON k.id = key_id
                  WHERE s.space_id = :space""",
    "HAS_THEME": """SELECT s.uid, t.uid FROM theme t JOIN session s ON s.id = t.session_id
                    WHERE t.space_id = :space""",
    "COVERS": """SELECT t.uid, c.uid, v.place AS "index" FROM covers v
                 JOIN theme t ON t.id = v.theme_id JOIN chunk c ON c.id = v.chunk_id
                 WHERE t.space_id = :space""",
    "HAS_REVISION": """SELECT s.uid, r.uid FROM revision r JOIN session s ON s.id = r.session_id
                       WHERE s.space_id = :space""",
    "SUBJECT": """SELECT t.uid, e.uid FROM triple t JOIN entity e ON e.id = t.subject_id
                  WHERE t.space_id = :space AND t.folded_into IS NULL""",
    "OBJECT": """SELECT t.uid, e.uid FROM triple t JOIN entity e ON e.id = t.object_id
                 WHERE t.space_id = :space AND t.folded_into IS NULL""",
    "EVIDENCE": """SELECT DISTINCT t.uid, c.uid, e.observed_at, e.said_by FROM evidence e
                   JOIN triple t ON t.id = e.triple_id JOIN chunk c ON c.id = e.chunk_id
                   WHERE t.space_id = :space
                   UNION ALL SELECT w.uid, c.uid, NULL, NULL FROM written_source v
                   JOIN written w ON w.id = v.written_id JOIN chunk c ON c.id = v.chunk_id
                   WHERE w.space_id = :space""",
    "DERIVED_FROM": """SELECT t.uid, s.uid FROM derived_from d
                       JOIN theme t ON t.id = d.theme_id JOIN theme s ON s.uid = d.source_uid
                       WHERE t.space_id = :space""",
    "SUPERSEDES": """SELECT n.uid, t.uid, t.superseded_at AS at, t.decided_by AS by, t.reason
                     FROM triple t JOIN triple n ON n.uid = t.superseded_by
                     WHERE t.space_id = :space AND t.folded_into IS NULL
                       AND n.folded_into IS NULL
                     UNION ALL SELECT n.uid, o.uid, NULL, NULL, NULL FROM written n
                     JOIN written o ON o.space_id = n.space_id AND o.chain = n.chain
                       AND o.version = n.version - 1 WHERE n.space_id = :space""",
    "IN_SESSION": """SELECT DISTINCT t.uid, s.uid FROM evidence e
                     JOIN triple t ON t.id = e.triple_id JOIN chunk c ON c.id = e.chunk_id
                     JOIN session s ON s.id = c.session_id WHERE t.space_id = :space""",
    "MENTIONS": """SELECT DISTINCT c.uid, e.uid FROM mention m JOIN chunk c ON c.id = m.chunk_id
                   JOIN entity e ON e.id = m.entity_id WHERE c.space_id = :space""",
    "SAME_AS": """SELECT a.uid, e.uid FROM entity a JOIN entity e ON e.id = a.shown_id
                  WHERE a.space_id = :space AND a.shown_id != a.id
                  UNION ALL SELECT a.uid, s.uid FROM alias a JOIN entity e ON e.id = a.entity_id
                  JOIN entity s ON s.id = coalesce(e.shown_id, e.id) WHERE a.space_id = :space""",
    "RESEMBLES": """SELECT a.uid, b.uid, p.score, p.kind, p.reason, p.verdict FROM pair p
                    JOIN entity a ON a.id = p.a_id JOIN entity b ON b.id = p.b_id
                    WHERE p.space_id = :space""",
    "STATED_IN": """SELECT a.uid, c.uid FROM alias_source s JOIN alias a ON a.id = s.alias_id
                    JOIN chunk c ON c.id = s.chunk_id WHERE a.space_id = :space""",
    "RULED": """SELECT a.uid, b.uid, r.verdict FROM ruling r
                JOIN entity a ON a.id = r.a_id JOIN entity b ON b.id = r.b_id
                WHERE a.space_id = :space""",
}

_TIMES = {
    "started_at", "ended_at", "at", "valid_from", "valid_to",
    "first_observed", "last_observed", "observed_at",
}  # fmt: skip

_EVERYTHING = Needed(None, relationships=True)


def export_graph(connection: sqlite3.Connection, space: str, needed: Needed = _EVERYTHING) -> Graph:
    """Export what is needed of a space as a graph; an unknown space is an empty graph."""
    id = space_id(connection, space)
    if id is None:
        return build_graph([], [])
    labels = _NODES.keys() if needed.labels is None else needed.labels & _NODES.keys()
    nodes = list(_nodes(connection, id, space, labels))
    if not needed.relationships:
        return build_graph(nodes, [])
    edges = _edges(connection, id)
    if needed.labels is not None:
        known = {node.uid for node in nodes}
        edges = (edge for edge in edges if edge.start in known and edge.end in known)
    return build_graph(nodes, edges)


def _nodes(
    connection: sqlite3.Connection, id: int, space: str, labels: Collection[str]
) -> Iterator[NodeRow]:
    for label, query in _NODES.items():
        if label not in labels:
            continue
        cursor = connection.execute(query, {"space": id})
        names = [column[0] for column in cursor.description]
        for row in cursor:
            properties = dict(map(_property, names, row))
            yield NodeRow(row[0], label, {"space": space, **properties})


def _edges(connection: sqlite3.Connection, id: int) -> Iterator[EdgeRow]:
    for type, query in _EDGES.items():
        cursor = connection.execute(query, {"space": id})
        names = [column[0] for column in cursor.description][2:]
        for start, end, *values in cursor:
            yield EdgeRow(start, type, end, dict(map(_property, names, values)))


def _property(name: str, value: Any) -> tuple[str, Any]:
    if value is not None:
        if name in _TIMES:
            value = from_micros(value)
        elif name == "state":
            value = _STATES[value]
        elif name in ("keys", "tags", "steps"):
            value = json.loads(value)
        elif name == "negated":
            value = bool(value)
    return name, value


def run_cypher(
    connect: Callable[[], AbstractContextManager[sqlite3.Connection]],
    space: str,
    query: str,
    parameters: Mapping[str, Any],
    limit: int,
    timeout: float,
    limits: QuerySettings,
) -> list[dict[str, Any]]:
    """Run a read-only query on a space; ``timeout`` (seconds) includes the export."""
    check_call(limit, timeout)
    started = time.monotonic()
    with time_limit(timeout):
        # Refuse an unsupported query before the space is read.
        plan = translate(query, parameters, limits)
        with connect() as connection:
            exported = export_graph(connection, space, plan.needed)
        remaining = max(timeout - (time.monotonic() - started), 0.001)
        return run_on_graph(exported, query, parameters, limit, remaining, limits)
