"""``SQLiteEntityMap``: blocks, pairs, constraints and groups of entities, and their facts.

A triple keeps the entities it was extracted with (``raw_subject_id``, ``raw_object_id``) and points
to their canonical entities (``subject_id``, ``object_id``). Of the triples that are then equal, the
one with the smallest uid gets all evidence and the others are its duplicates. Merges and splits are
the same computation.

Lists are passed to statements as JSON, so that each statement is compiled once for any length.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from cognigraph import ids
from cognigraph.resolution.cluster import Constraint, Link, Pair
from cognigraph.resolution.compare import EntityName, PairVerdict
from cognigraph.resolution.incremental import MOST_IN_BLOCK
from cognigraph.resolution.name_forms import is_proper
from cognigraph.stores.sqlite.rows import select_in
from cognigraph.stores.sqlite.states import TouchedFacts

HIDDEN = (1 << 63) - 1
"""First observed time of a duplicate triple in the search index: later than any ``as_of``."""
_ENDS = """
SELECT t.id, t.fold, t.relation, t.when_text, t.negated, ss.uid, so.uid, ss.id, so.id,
       s.shown_id IS NOT NULL OR o.shown_id IS NOT NULL
FROM triple t
JOIN entity s ON s.id = t.raw_subject_id JOIN entity ss ON ss.id = coalesce(s.shown_id, s.id)
JOIN entity o ON o.id = t.raw_object_id JOIN entity so ON so.id = coalesce(o.shown_id, o.id)
WHERE t.id IN ({})"""
_ROW = "SELECT id, uid, normalised, type, name FROM entity"
_ENTER = """
INSERT OR IGNORE INTO block SELECT ?, key.value, entity.key
FROM json_each(?) entity, json_each(entity.value) key RETURNING key"""
_LEAVE = """
DELETE FROM block WHERE (space_id, key, entity_id) IN
  (SELECT ?, key.value, CAST(entity.key AS INTEGER)
   FROM json_each(?) entity, json_each(entity.value) key) RETURNING key"""
_SIZES = """
SELECT value, (SELECT count(*) FROM
  (SELECT 1 FROM block WHERE space_id = ? AND key = value LIMIT ?)) FROM json_each(?)"""


class SQLiteEntityMap:
    """See :class:`cognigraph.resolution.incremental.EntityMap`; ``now`` is in microseconds."""

    def __init__(
        self, connection: sqlite3.Connection, space: str, space_id: int, revision: int, now: int
    ) -> None:
        self._connection = connection
        self._space = space
        self.space_id = space_id
        self._revision = revision
        self._now = now
        self._ids: dict[str, int] = {}
        self._uids: dict[int, str] = {}
        self._rows: dict[int, Sequence[str]] = {}
        self.touched = TouchedFacts(connection, space_id)
        """Facts whose ends have changed."""

    def _in(self, query: str, values: Iterable[Any], *first: Any) -> list[tuple[Any, ...]]:
        """Run a query in which ``{}`` stands for a list; ``first`` are the parameters before it."""
        listed = list(values)
        if not listed:
            return []
        filled = query.replace("{}", "(SELECT value FROM json_each(?))")
        return self._connection.execute(filled, (*first, json.dumps(listed))).fetchall()

    def _id(self, uids: Collection[str]) -> list[int]:
        missing = [uid for uid in uids if uid not in self._ids]
        self._know(self._in(f"{_ROW} WHERE uid IN {{}}", missing))
        return [self._ids[uid] for uid in uids]

    def _uid(self, ids: Collection[int]) -> Mapping[int, str]:
        missing = [id for id in ids if id not in self._uids]
        self._know(self._in(f"{_ROW} WHERE id IN {{}}", missing))
        return self._uids

    def _know(self, rows: Iterable[tuple[Any, ...]]) -> None:
        for id, *row in rows:
            self._ids[row[0]] = id
            self._uids[id] = row[0]
            self._rows[id] = row

    def _around(
        self, columns: str, table: str, uids: Collection[str], *ends: str
    ) -> list[tuple[Any, ...]]:
        """Rows of ``table`` that have one of the entities in one of their two ``ends`` columns.

        A row holds the uids of both ends, then the ``columns``. Rows are sorted by their first
        three values.
        """
        ids, where = self._id(uids), "SELECT {}, {}, {} FROM {} WHERE {} IN {}"
        rows = {
            row
            for end in ends
            for row in self._in(where.format(*ends, columns, table, end, "{}"), ids)
        }
        known = self._uid({id for row in rows for id in row[:2]})
        found = [(known[row[0]], known[row[1]], *row[2:]) for row in rows]
        return sorted(found, key=lambda row: row[:3])

    def named(self, uids: Collection[str]) -> list[EntityName]:
        aliases: dict[int, set[str]] = {}
        ids = self._id(uids)
        for id, alias in self._in(
            "SELECT entity_id, normalised FROM alias WHERE entity_id IN {}", ids
        ):
            aliases.setdefault(id, set()).add(alias)
        return [
            EntityName(uid, name, type, frozenset(aliases.get(id, ())), is_proper(spelling))
            for id in ids
            for uid, name, type, spelling in [self._rows[id]]
        ]

    def enter(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        new = self._change(_ENTER, keys)
        sizes = self.sizes({key for own in keys.values() for key in own}, new)
        return {key: (size, new[key]) for key, size in sizes.items()}

    def leave(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        gone = self._change(_LEAVE, keys)
        sizes = self.sizes(gone)
        return {key: (sizes.get(key, 0), count) for key, count in gone.items()}

    def _change(self, statement: str, keys: Mapping[str, Collection[int]]) -> Counter[int]:
        """Run a statement that changes blocks; count the changed rows by key."""
        self._id(keys)
        listed = json.dumps({self._ids[uid]: sorted(own) for uid, own in keys.items() if own})
        rows = self._connection.execute(statement, (self.space_id, listed)).fetchall()
        return Counter(key for (key,) in rows)

    def sizes(self, keys: Collection[int], new: Mapping[int, int] | None = None) -> dict[int, int]:
        """Sizes of blocks, counted only as far as they matter.

        A block that was too large before the ``new`` entries need not be counted to its end.
        """
        most = MOST_IN_BLOCK + 1 + max((new or {}).values(), default=0)
        rows = self._connection.execute(_SIZES, (self.space_id, most, json.dumps([*keys])))
        return {key: size for key, size in rows if size}

    def blocks(self, keys: Collection[int]) -> dict[int, list[str]]:
        rows = self._in(
            "SELECT key, entity_id FROM block WHERE space_id = ? AND key IN {}",
            keys,
            self.space_id,
        )
        known = self._uid({id for _, id in rows})
        found: dict[int, list[str]] = {key: [] for key in keys}
        for key, id in rows:
            found[key].append(known[id])
        return found

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        columns = "kind, score, likely, reason, reading_a, reading_b, verdict"
        return [
            Pair(a, b, PairVerdict(kind, score, bool(likely), reason, *readings), verdict)
            for a, b, kind, score, likely, reason, *readings, verdict in self._around(
                columns, "pair", uids, "a_id", "b_id"
            )
        ]

    def write_pairs(self, pairs: Sequence[Pair]) -> None:
        self._id({uid for pair in pairs for uid in pair.ends})
        self._connection.executemany(
            "INSERT OR REPLACE INTO pair VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    self._ids[pair.a], self._ids[pair.b], self.space_id, of.kind, of.score,
                    of.likely, of.reason, of.reading_a, of.reading_b, pair.verdict,
                )
                for pair in pairs
                for of in [pair.relation]
            ],
        )  # fmt: skip

    def drop_pairs(self, pairs: Sequence[Pair]) -> None:
        self._id({uid for pair in pairs for uid in pair.ends})
        self._connection.executemany(
            "DELETE FROM pair WHERE a_id = ? AND b_id = ?",
            [(self._ids[pair.a], self._ids[pair.b]) for pair in pairs],
        )

    def constraints(self, uids: Collection[str]) -> list[Constraint]:
        rows = self._around("verdict, into_id, at", "ruling", uids, "a_id", "b_id")
        return [Constraint(a, b, verdict, self._uids[into], at) for a, b, verdict, into, at in rows]

    def constrain(self, constraints: Sequence[Constraint]) -> None:
        self._id({uid for rule in constraints for uid in (rule.a, rule.b)})
        self._connection.executemany(
            "INSERT OR REPLACE INTO ruling VALUES (?, ?, ?, ?, ?)",
            [
                (self._ids[r.a], self._ids[r.b], r.verdict, self._ids[r.into], r.at)
                for r in constraints
            ],
        )

    def lift(self, constraints: Sequence[Constraint]) -> None:
        self._id({uid for rule in constraints for uid in (rule.a, rule.b)})
        self._connection.executemany(
            "DELETE FROM ruling WHERE a_id = ? AND b_id = ?",
            [(self._ids[rule.a], self._ids[rule.b]) for rule in constraints],
        )

    def groups(self, uids: Collection[str]) -> dict[str, str]:
        return dict(
            self._in(
                "SELECT e.uid, s.uid FROM entity e JOIN entity s ON s.id = e.shown_id "
                "WHERE e.shown_id IN (SELECT shown_id FROM entity WHERE id IN {})",
                self._id(uids),
            )
        )

    def links(self, uids: Collection[str]) -> list[Link]:
        rows = self._around("by, reason, score, undone_at", "merge", uids, "a_id", "into_id")
        return [Link(*row[:5]) for row in rows if row[5] is None]

    def relink(self, gone: Sequence[Link], new: Sequence[Link]) -> None:
        self._id({uid for link in [*gone, *new] for uid in (link.a, link.into)})
        self._connection.executemany(
            "UPDATE merge SET undone_at = ? WHERE a_id = ? AND into_id = ? AND by = ? "
            "AND undone_at IS NULL",
            [(self._now, self._ids[link.a], self._ids[link.into], link.by) for link in gone],
        )
        self._connection.executemany(
            "INSERT INTO merge (space_id, a_id, into_id, by, reason, score, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    self.space_id, self._ids[link.a], self._ids[link.into], link.by, link.reason,
                    link.score, self._now,
                )
                for link in new
            ],
        )  # fmt: skip

    def regroup(self, canonical: Mapping[str, str | None]) -> None:
        self._id({*canonical, *(uid for uid in canonical.values() if uid is not None)})
        set_canonical(
            self._connection,
            self._space,
            self._revision,
            {
                self._ids[uid]: None if other is None else self._ids[other]
                for uid, other in canonical.items()
            },
            self.touched.add,
        )


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
    for row in select_in(connection, _ENDS, [*triples]):
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
    for key, id in select_in(
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
