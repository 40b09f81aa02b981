"""Extracting chunks again: requeues them, and removes the facts extracted from them before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from cognigraph.resolution.incremental import EntityMap, forget
from cognigraph.resolution.spelling import UNSPELLED
from cognigraph.stores.sqlite.canonical import deduplicate
from cognigraph.stores.sqlite.spellings import respell
from cognigraph.times import system_clock, to_micros

_OF_SESSION = "chunk_id IN (SELECT id FROM chunk WHERE session_id = ?)"


def extractors(connection: sqlite3.Connection, space_id: int) -> dict[str, int]:
    """The number of done chunks of each extractor."""
    rows = connection.execute(
        "SELECT extractor, count(*) FROM work WHERE space_id = ? AND state = 1 GROUP BY extractor",
        (space_id,),
    )
    return {name: count for name, count in rows if name is not None}


def read_by(connection: sqlite3.Connection, space_id: int, extractors: Sequence[str]) -> list[str]:
    """Uids of the sessions with a done chunk of one of these extractors."""
    marks = ",".join("?" * len(extractors))
    rows = connection.execute(
        f"""SELECT s.uid FROM work w JOIN session s ON s.id = w.session_id
            WHERE w.space_id = ? AND w.state = 1 AND w.extractor IN ({marks})
            GROUP BY s.id ORDER BY min(w.chunk_id)""",
        (space_id, *extractors),
    )
    return [row[0] for row in rows]


def requeue(connection: sqlite3.Connection, space_id: int, extractors: Sequence[str]) -> int:
    """Requeue the done chunks of the sessions that these extractors have processed."""
    sessions = read_by(connection, space_id, extractors)
    return sum(start_over(connection, uid) for uid in sessions)


def start_over(connection: sqlite3.Connection, session_uid: str) -> int:
    """Requeue the done chunks of a session, end its lease, and return the number of chunks."""
    (session_id,) = connection.execute(
        """UPDATE session SET renew = 1, state = '', lease = NULL, lease_until = 0 WHERE uid = ?
           RETURNING id""",
        (session_uid,),
    ).fetchone()
    connection.execute("DELETE FROM behind WHERE session_id = ?", (session_id,))
    connection.execute(f"UPDATE work SET lease = NULL WHERE {_OF_SESSION}", (session_id,))
    # The extractor stays: it tells the next derivation that there are facts to replace.
    return connection.execute(
        f"""UPDATE work SET state = 0, attempts = 0, outages = 0, deaths = 0, retry_at = 0,
              reason = NULL, since = ? WHERE {_OF_SESSION} AND state = 1""",
        (to_micros(system_clock()), session_id),
    ).rowcount


@dataclass(slots=True)
class Affected:
    """Ids of extracted rows that lost evidence, a mention or a source, and may have none left."""

    triples: set[int] = field(default_factory=set)
    entities: set[int] = field(default_factory=set)
    aliases: set[int] = field(default_factory=set)
    renamed: set[str] = field(default_factory=set)
    """Uids of entities whose name changed, because the remaining chunks spell it differently."""


_READ_WITH = """
((t.subject_id = coalesce(e.shown_id, e.id) AND t.raw_subject_id = e.id)
 OR (t.object_id = coalesce(e.shown_id, e.id) AND t.raw_object_id = e.id))"""
_SAID = "EXISTS (SELECT 1 FROM evidence WHERE raw_id = t.id)"
_MENTIONED = """
EXISTS (SELECT 1 FROM mention WHERE entity_id = coalesce(e.shown_id, e.id) AND raw_id = e.id)"""


def drop_support(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> Affected:
    """Delete the evidence, mentions and alias sources of chunks.

    A row that other chunks support takes their earliest spelling. A row that none supports is
    marked as unspelled, so that the next chunk that mentions it determines its spelling.
    """
    affected = Affected()
    if not chunk_ids:
        return affected
    for rows, table, column in (
        (affected.triples, "evidence", "raw_id"),
        (affected.entities, "mention", "raw_id"),
        (affected.aliases, "alias_source", "alias_id"),
    ):
        for chunk_id in chunk_ids:
            gone = connection.execute(
                f"DELETE FROM {table} WHERE chunk_id = ? RETURNING {column}", (chunk_id,)
            )
            rows.update(row[0] for row in gone.fetchall())
    for id in affected.triples:
        affected.entities.update(
            connection.execute(
                "SELECT raw_subject_id, raw_object_id FROM triple WHERE id = ?", (id,)
            ).fetchone()
        )
    connection.executemany(
        f"UPDATE triple AS t SET spelled = '{UNSPELLED}' WHERE id = ? AND NOT {_SAID}",
        [(id,) for id in affected.triples],
    )
    connection.executemany(
        f"""UPDATE entity AS e SET spelled = '{UNSPELLED}' WHERE id = ? AND NOT {_MENTIONED}
            AND NOT EXISTS (SELECT 1 FROM triple t WHERE {_READ_WITH} AND {_SAID})""",
        [(id,) for id in affected.entities],
    )
    connection.executemany(
        f"""UPDATE alias SET spelled = '{UNSPELLED}' WHERE id = ?
            AND NOT EXISTS (SELECT 1 FROM alias_source WHERE alias_id = alias.id)""",
        [(id,) for id in affected.aliases],
    )
    affected.renamed = respell(
        connection,
        chunk_ids,
        triples=affected.triples,
        entities=affected.entities,
        aliases=affected.aliases,
    )
    return affected


def prune_aliases(connection: sqlite3.Connection, affected: Affected) -> dict[str, set[str]]:
    """Delete aliases that no chunk states any more; return them by the uid of their entity."""
    lost: dict[str, set[str]] = {}
    for id in sorted(affected.aliases):
        row = connection.execute(
            """DELETE FROM alias WHERE id = :id
                 AND NOT EXISTS (SELECT 1 FROM alias_source WHERE alias_id = :id)
               RETURNING (SELECT uid FROM entity WHERE id = entity_id), normalised""",
            {"id": id},
        ).fetchone()
        if row is not None:
            lost.setdefault(row[0], set()).add(row[1])
    return lost


def prune(
    connection: sqlite3.Connection,
    entity_map: EntityMap,
    space: str,
    space_id: int,
    revision: int,
    affected: Affected,
) -> None:
    """Delete rows without support, and update the observed times of the other triples."""
    gone = _prune_triples(connection, space, revision, affected)
    gone = _prune_entities(connection, entity_map, affected) or gone
    if gone:  # in-memory indexes look for deleted rows when the epoch has grown
        connection.execute("UPDATE space SET epoch = epoch + 1 WHERE id = ?", (space_id,))


def _prune_triples(
    connection: sqlite3.Connection, space: str, revision: int, affected: Affected
) -> bool:
    gone = [
        id
        for id in sorted(affected.triples)
        if connection.execute("SELECT 1 FROM evidence WHERE raw_id = ?", (id,)).fetchone() is None
    ]
    changed = affected.triples.difference(gone)
    for id in gone:
        # Its duplicates must not point to it, nor count it among themselves.
        changed.update(
            row[0]
            for row in connection.execute(
                "SELECT id FROM triple WHERE fold = (SELECT fold FROM triple WHERE id = ?)", (id,)
            )
        )
        connection.execute("UPDATE triple SET fold = NULL, folded_into = NULL WHERE id = ?", (id,))
    deduplicate(connection, space, revision, changed.difference(gone))
    for id in gone:
        connection.execute("DELETE FROM triple_index WHERE triple_id = ?", (id,))
        connection.execute("DELETE FROM triple WHERE id = ?", (id,))
    return bool(gone)


def entities_without_support(
    connection: sqlite3.Connection, ids: Collection[int]
) -> dict[str, int]:
    """Those of some entities, by uid, that no mention and no triple refers to any longer."""
    return dict(
        connection.execute(
            f"""SELECT e.uid, e.id FROM json_each(?) j JOIN entity e ON e.id = j.value
                WHERE NOT {_MENTIONED}
                  AND NOT EXISTS (SELECT 1 FROM triple t WHERE {_READ_WITH})""",
            (json.dumps(sorted(ids)),),
        )
    )


def _prune_entities(
    connection: sqlite3.Connection, entity_map: EntityMap, affected: Affected
) -> bool:
    """Delete entities without mentions and triples, except those a user merged or kept apart."""
    gone: dict[str, int] = {}
    for id in sorted(affected.entities):
        row = connection.execute(
            f"""SELECT e.uid FROM entity e WHERE e.id = :id AND NOT {_MENTIONED}
                  AND NOT EXISTS (SELECT 1 FROM triple t WHERE {_READ_WITH})
                  AND NOT EXISTS (SELECT 1 FROM ruling WHERE a_id = :id)
                  AND NOT EXISTS (SELECT 1 FROM ruling WHERE b_id = :id)
                  AND NOT EXISTS (SELECT 1 FROM merge WHERE a_id = :id AND by = 'user')
                  AND NOT EXISTS (SELECT 1 FROM merge WHERE into_id = :id AND by = 'user')""",
            {"id": id},
        ).fetchone()
        if row is not None:
            gone[row[0]] = id
    forget(entity_map, gone)
    for id in gone.values():
        connection.execute("DELETE FROM merge WHERE a_id = :id OR into_id = :id", {"id": id})
        connection.execute("DELETE FROM entity WHERE id = ?", (id,))
    return bool(gone)
