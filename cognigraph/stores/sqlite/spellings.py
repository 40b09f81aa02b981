"""Recomputes canonical spellings from the remaining chunks when a chunk is extracted again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from cognigraph.ids import normalise
from cognigraph.resolution.spelling import first, given, instant
from cognigraph.times import from_micros

_MENTIONS = """
SELECT c.at, m.spelled FROM entity e
JOIN mention m ON m.entity_id = coalesce(e.shown_id, e.id) AND m.raw_id = e.id
JOIN chunk c ON c.id = m.chunk_id WHERE e.id = ?"""
_ENDS = """
SELECT v.observed_at, v.spelled, 0 FROM entity e
JOIN triple t ON t.subject_id = coalesce(e.shown_id, e.id) AND t.raw_subject_id = e.id
JOIN evidence v ON v.raw_id = t.id WHERE e.id = :id
UNION ALL
SELECT v.observed_at, v.spelled, 2 FROM entity e
JOIN triple t ON t.object_id = coalesce(e.shown_id, e.id) AND t.raw_object_id = e.id
JOIN evidence v ON v.raw_id = t.id WHERE e.id = :id"""


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
        (at, given(text, [normalised], [name])) for at, text in connection.execute(_MENTIONS, (id,))
    ]
    for at, text, end in connection.execute(_ENDS, {"id": id}):
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
