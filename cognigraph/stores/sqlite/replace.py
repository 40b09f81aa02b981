"""Removing what was extracted from chunks, when they are extracted again or forgotten."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cognigraph.ids import normalise
from cognigraph.resolution.incremental import EntityMap, forget
from cognigraph.resolution.name_forms import UNSPELLED, first, given, instant
from cognigraph.stores.sqlite.entity_map import deduplicate
from cognigraph.times import from_micros

_MENTION_SPELLINGS = """
SELECT c.at, m.spelled FROM entity e
JOIN mention m ON m.entity_id = coalesce(e.shown_id, e.id) AND m.raw_id = e.id
JOIN chunk c ON c.id = m.chunk_id WHERE e.id = ?"""
_END_SPELLINGS = """
SELECT v.observed_at, v.spelled, 0 FROM entity e
JOIN triple t ON t.subject_id = coalesce(e.shown_id, e.id) AND t.raw_subject_id = e.id
JOIN evidence v ON v.raw_id = t.id WHERE e.id = :id
UNION ALL
SELECT v.observed_at, v.spelled, 2 FROM entity e
JOIN triple t ON t.object_id = coalesce(e.shown_id, e.id) AND t.raw_object_id = e.id
JOIN evidence v ON v.raw_id = t.id WHERE e.id = :id"""
_READ_WITH = """
((t.subject_id = coalesce(e.shown_id, e.id) AND t.raw_subject_id = e.id)
 OR (t.object_id = coalesce(e.shown_id, e.id) AND t.raw_object_id = e.id))"""
_SAID = "EXISTS (SELECT 1 FROM evidence WHERE raw_id = t.id)"
_MENTIONED = """
EXISTS (SELECT 1 FROM mention WHERE entity_id = coalesce(e.shown_id, e.id) AND raw_id = e.id)"""


@dataclass(slots=True)
class Affected:
    """Ids of extracted rows that lost evidence, a mention or a source, and may have none left."""

    triples: set[int] = field(default_factory=set)
    entities: set[int] = field(default_factory=set)
    aliases: set[int] = field(default_factory=set)
    renamed: set[str] = field(default_factory=set)
    """Uids of entities whose name changed, because the remaining chunks spell it differently."""


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
) -> dict[str, tuple[int, bool]]:
    """Those of some entities, by uid, that no mention and no triple refers to any longer.

    Each with its id, and whether a user merged it or kept it apart.
    """
    rows = connection.execute(
        f"""SELECT e.uid, e.id,
              EXISTS (SELECT 1 FROM ruling WHERE a_id = e.id)
              OR EXISTS (SELECT 1 FROM ruling WHERE b_id = e.id)
              OR EXISTS (SELECT 1 FROM merge WHERE a_id = e.id AND by = 'user')
              OR EXISTS (SELECT 1 FROM merge WHERE into_id = e.id AND by = 'user')
            FROM json_each(?) j JOIN entity e ON e.id = j.value
            WHERE NOT {_MENTIONED} AND NOT EXISTS (SELECT 1 FROM triple t WHERE {_READ_WITH})
            ORDER BY e.id""",
        (json.dumps(sorted(ids)),),
    )
    return {uid: (id, bool(spoken_of)) for uid, id, spoken_of in rows}


def delete_entities(
    connection: sqlite3.Connection, entity_map: EntityMap, gone: Mapping[str, int]
) -> None:
    """Delete entities, by uid and id, with the history of their merges."""
    forget(entity_map, gone)
    values = [{"id": id} for id in gone.values()]
    connection.executemany("DELETE FROM merge WHERE a_id = :id OR into_id = :id", values)
    connection.executemany("DELETE FROM entity WHERE id = :id", values)


def _prune_entities(
    connection: sqlite3.Connection, entity_map: EntityMap, affected: Affected
) -> bool:
    """Delete entities without mentions and triples, except those a user merged or kept apart."""
    found = entities_without_support(connection, affected.entities)
    gone = {uid: id for uid, (id, spoken_of) in found.items() if not spoken_of}
    delete_entities(connection, entity_map, gone)
    return bool(gone)


def respell(
    connection: sqlite3.Connection,
    chunk_ids: Sequence[int],
    *,
    triples: Iterable[int],
    entities: Iterable[int],
    aliases: Iterable[int],
) -> set[str]:
    """Recompute the spellings that these chunks determined; their evidence is deleted already.

    Each row takes the earliest spelling of the chunks that still mention it. Return the uids of the
    entities whose name changes.
    """
    given_by = _instants(connection, chunk_ids)
    for id in sorted(triples):
        _respell_triple(connection, given_by, id)
    for id in sorted(aliases):
        _respell_alias(connection, given_by, id)
    renamed = [_respell_entity(connection, given_by, id) for id in sorted(entities)]
    return {uid for uid in renamed if uid is not None}


def _instants(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> set[str]:
    return {
        instant(from_micros(at))
        for id in chunk_ids
        for (at,) in connection.execute("SELECT at FROM chunk WHERE id = ?", (id,))
    }


def _respell_entity(connection: sqlite3.Connection, given_by: set[str], id: int) -> str | None:
    """Recompute the spelling of an entity; return its uid if its name changes."""
    uid, name, normalised, spelled = connection.execute(
        "SELECT uid, name, normalised, spelled FROM entity WHERE id = ?", (id,)
    ).fetchone()
    if spelled[:19] not in given_by:
        return None
    spellings = [
        (at, given(text, [normalised], [name]))
        for at, text in connection.execute(_MENTION_SPELLINGS, (id,))
    ]
    for at, text, end in connection.execute(_END_SPELLINGS, {"id": id}):
        names = given(text, [normalised] * 3, [name] * 3)
        spellings.append((at, (names[end],)))
    if not spellings:
        return None
    spelled, (new,) = first(spellings)
    connection.execute("UPDATE entity SET name = ?, spelled = ? WHERE id = ?", (new, spelled, id))
    return str(uid) if new != name else None


def _respell_alias(connection: sqlite3.Connection, given_by: set[str], id: int) -> None:
    name, normalised, spelled = connection.execute(
        "SELECT name, normalised, spelled FROM alias WHERE id = ?", (id,)
    ).fetchone()
    if spelled[:19] not in given_by:
        return
    rows = connection.execute(
        "SELECT c.at, s.spelled FROM alias_source s JOIN chunk c ON c.id = s.chunk_id "
        "WHERE s.alias_id = ?",
        (id,),
    )
    if spellings := [(at, given(text, [normalised], [name])) for at, text in rows]:
        spelled, (name,) = first(spellings)
        connection.execute(
            "UPDATE alias SET name = ?, spelled = ? WHERE id = ?", (name, spelled, id)
        )


def _respell_triple(connection: sqlite3.Connection, given_by: set[str], id: int) -> None:
    # The vector need not change: it was made from the same words.
    spelled, subject, relation, object, normal_subject, normal_object = connection.execute(
        """SELECT t.spelled, t.subject, t.relation, t.object, s.normalised, o.normalised
           FROM triple t JOIN entity s ON s.id = t.raw_subject_id
           JOIN entity o ON o.id = t.raw_object_id WHERE t.id = ?""",
        (id,),
    ).fetchone()
    if spelled[:19] not in given_by:
        return
    names = subject, relation, object
    normal = normal_subject, normalise(relation), normal_object
    rows = connection.execute("SELECT observed_at, spelled FROM evidence WHERE raw_id = ?", (id,))
    if spellings := [(at, given(text, normal, names)) for at, text in rows]:
        spelled, (subject, relation, object) = first(spellings)
        connection.execute(
            "UPDATE triple SET spelled = ?, subject = ?, relation = ?, object = ? WHERE id = ?",
            (spelled, subject, relation, object, id),
        )
