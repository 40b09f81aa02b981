"""The merge ledger on SQLite: pairs, rulings and merges of one space."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence

from cognigraph.ingest.groups import Link, Pair, Ruling
from cognigraph.ingest.resolve import Relation
from cognigraph.stores.sqlite.blocks import SQLiteBlocks
from cognigraph.stores.sqlite.fold import show


class SQLiteLedger(SQLiteBlocks):
    """See :class:`cognigraph.ingest.merging.Ledger`. ``now`` is microseconds since 1970."""

    def __init__(
        self, connection: sqlite3.Connection, space: str, space_id: int, revision: int, now: int
    ) -> None:
        super().__init__(connection, space_id)
        self._space = space
        self._revision = revision
        self._now = now

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        """Every pair with one of these ends."""
        columns = "kind, score, likely, reason, reading_a, reading_b, verdict"
        return [
            Pair(a, b, Relation(kind, score, bool(likely), reason, *readings), verdict)
            for a, b, kind, score, likely, reason, *readings, verdict in self._around(
                columns, "pair", uids, "a_id", "b_id"
            )
        ]

    def write_pairs(self, pairs: Sequence[Pair]) -> None:
        """Insert or overwrite pairs."""
        self._id({uid for pair in pairs for uid in pair.ends})
        self._connection.executemany(
            "INSERT OR REPLACE INTO pair VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    self._ids[pair.a], self._ids[pair.b], self._space_id, of.kind, of.score,
                    of.likely, of.reason, of.reading_a, of.reading_b, pair.verdict,
                )
                for pair in pairs
                for of in [pair.relation]
            ],
        )  # fmt: skip

    def drop_pairs(self, pairs: Sequence[Pair]) -> None:
        """Delete pairs."""
        self._id({uid for pair in pairs for uid in pair.ends})
        self._connection.executemany(
            "DELETE FROM pair WHERE a_id = ? AND b_id = ?",
            [(self._ids[pair.a], self._ids[pair.b]) for pair in pairs],
        )

    def rulings(self, uids: Collection[str]) -> list[Ruling]:
        """Every ruling with one of these ends."""
        rows = self._around("verdict, into_id, at", "ruling", uids, "a_id", "b_id")
        return [Ruling(a, b, verdict, self._uids[into], at) for a, b, verdict, into, at in rows]

    def rule(self, rulings: Sequence[Ruling]) -> None:
        """Insert or overwrite rulings."""
        self._id({uid for rule in rulings for uid in (rule.a, rule.b)})
        self._connection.executemany(
            "INSERT OR REPLACE INTO ruling VALUES (?, ?, ?, ?, ?)",
            [(self._ids[r.a], self._ids[r.b], r.verdict, self._ids[r.into], r.at) for r in rulings],
        )

    def unrule(self, rulings: Sequence[Ruling]) -> None:
        """Delete rulings."""
        self._id({uid for rule in rulings for uid in (rule.a, rule.b)})
        self._connection.executemany(
            "DELETE FROM ruling WHERE a_id = ? AND b_id = ?",
            [(self._ids[rule.a], self._ids[rule.b]) for rule in rulings],
        )

    def groups(self, uids: Collection[str]) -> dict[str, str]:
        """Members of the groups these entities are in."""
        return dict(
            self._in(
                "SELECT e.uid, s.uid FROM entity e JOIN entity s ON s.id = e.shown_id "
                "WHERE e.shown_id IN (SELECT shown_id FROM entity WHERE id IN {})",
                self._id(uids),
            )
        )

    def links(self, uids: Collection[str]) -> list[Link]:
        """Merges in force with one of these ends."""
        rows = self._around("by, reason, score, undone_at", "merge", uids, "a_id", "into_id")
        return [Link(*row[:5]) for row in rows if row[5] is None]

    def relink(self, gone: Sequence[Link], new: Sequence[Link]) -> None:
        """Record that merges ended and began."""
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
                    self._space_id, self._ids[link.a], self._ids[link.into], link.by, link.reason,
                    link.score, self._now,
                )
                for link in new
            ],
        )  # fmt: skip

    def regroup(self, shown: Mapping[str, str | None]) -> None:
        """Show entities as others, with all their facts."""
        self._id({*shown, *(uid for uid in shown.values() if uid is not None)})
        show(
            self._connection,
            self._space,
            self._revision,
            {
                self._ids[uid]: None if other is None else self._ids[other]
                for uid, other in shown.items()
            },
        )
