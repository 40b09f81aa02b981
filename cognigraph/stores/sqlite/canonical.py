"""Keeps canonical entities and duplicate triples up to date after entities merge or split.

A triple keeps the entities it was extracted with (``raw_subject_id``, ``raw_object_id``) and points
to their canonical entities (``subject_id``, ``object_id``). Of the triples that are then equal, the
one with the smallest uid gets all evidence and the others are its duplicates. Merges and splits are
the same computation.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from cognigraph import ids

HIDDEN = (1 << 63) - 1
"""First observed time of a duplicate triple in the search index: later than any ``as_of``."""

_MOST_VARIABLES = 400


def set_canonical(
    connection: sqlite3.Connection,
    space: str,
    revision: int,
    canonical: Mapping[int, int | None],
    touch: Callable[[Collection[int]], None],
) -> None:
    """Set the canonical entity of extracted entities, and move their mentions and triples there.

    ``None`` takes an entity out of its group: it is canonical itself.

    ``touch`` gets the triples that change, before they do.
    """
    triples: set[int] = set()
    for raw, new in canonical.items():
        (old,) = connection.execute(
            "SELECT coalesce(shown_id, id) FROM entity WHERE id = ?", (raw,)
        ).fetchone()
        triples.update(
            row[0]
            for row in connection.execute(
                "SELECT id FROM triple WHERE subject_id = ? AND raw_subject_id = ? "
                "UNION SELECT id FROM triple WHERE object_id = ? AND raw_object_id = ?",
                (old, raw, old, raw),
            )
        )
        connection.execute(
            "UPDATE mention SET entity_id = ? WHERE entity_id = ? AND raw_id = ?",
            (raw if new is None else new, old, raw),
        )
    touch(triples)
    connection.executemany(
        "UPDATE entity SET shown_id = ? WHERE id = ?",
        [(new, raw) for raw, new in canonical.items()],
    )
    deduplicate(connection, space, revision, triples)


def deduplicate(
    connection: sqlite3.Connection, space: str, revision: int, triples: Collection[int]
) -> None:
    """Recompute the canonical subject, object and duplicates of some triples."""
    alone: list[int] = []
    keys: set[str] = set()
    for row in _in(connection, _ENDS, triples):
        id, old, relation, when, negated, subject, object, subject_id, object_id, merged = row
        key = ids.triple_uid(space, subject, relation, object, when, bool(negated))
        keys.update(key for key in (old, key if merged else None) if key is not None)
        if not merged:
            alone.append(id)
        connection.execute(
            "UPDATE triple SET subject_id = ?, object_id = ?, fold = ? WHERE id = ?",
            (subject_id, object_id, key if merged else None, id),
        )
    into = dict(zip(alone, alone, strict=True))
    members: dict[str, list[int]] = {}
    for key, id in _in(
        connection, "SELECT fold, id FROM triple WHERE fold IN ({}) ORDER BY uid", sorted(keys)
    ):
        members.setdefault(key, []).append(id)
    for group in members.values():
        into.update(dict.fromkeys(group, group[0]))
    for id, canonical in into.items():
        connection.execute(
            "UPDATE triple SET folded_into = ? WHERE id = ?",
            (None if canonical == id else canonical, id),
        )
        connection.execute(
            "UPDATE evidence SET triple_id = ? WHERE raw_id = ? AND triple_id != ?",
            (canonical, id, canonical),
        )
    for id, canonical in into.items():
        observe(connection, revision, id, duplicate=canonical != id)


def observe(connection: sqlite3.Connection, revision: int, id: int, *, duplicate: bool) -> None:
    """Set a triple's observed times from its evidence, in its row and in the search index."""
    column = "raw_id" if duplicate else "triple_id"
    first, last = connection.execute(
        f"SELECT min(observed_at), max(observed_at) FROM evidence WHERE {column} = ?", (id,)
    ).fetchone()
    subject, object, first, last = connection.execute(
        # A triple without evidence keeps its times: it is about to be deleted.
        "UPDATE triple SET first_observed = coalesce(?, first_observed), "
        "last_observed = coalesce(?, last_observed) WHERE id = ? "
        "RETURNING subject_id, object_id, first_observed, last_observed",
        (first, last, id),
    ).fetchone()
    connection.execute(
        "UPDATE triple_index SET changed = ?, subject_id = ?, object_id = ?, first_observed = ?, "
        "last_observed = ? WHERE triple_id = ?",
        (revision, subject, object, HIDDEN if duplicate else first, last, id),
    )


_ENDS = """
SELECT t.id, t.fold, t.relation, t.when_text, t.negated, ss.uid, so.uid, ss.id, so.id,
       s.shown_id IS NOT NULL OR o.shown_id IS NOT NULL
FROM triple t
JOIN entity s ON s.id = t.raw_subject_id JOIN entity ss ON ss.id = coalesce(s.shown_id, s.id)
JOIN entity o ON o.id = t.raw_object_id JOIN entity so ON so.id = coalesce(o.shown_id, o.id)
WHERE t.id IN ({})"""


def _in(connection: sqlite3.Connection, query: str, values: Iterable[Any]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    listed = list(values)
    for start in range(0, len(listed), _MOST_VARIABLES):
        part = listed[start : start + _MOST_VARIABLES]
        rows += connection.execute(query.format(",".join("?" * len(part))), part).fetchall()
    return rows
