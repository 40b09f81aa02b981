"""Vectors of names on SQLite, and which names lie near each other."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from cognigraph.ingest.groups import Pair
from cognigraph.ingest.nearness import Half
from cognigraph.ingest.resolve import Relation
from cognigraph.stores.arrays import Vector
from cognigraph.stores.sqlite.blocks import SQLiteBlocks

_HALF = np.dtype("<f2")


class SQLiteNames(SQLiteBlocks):
    """See :class:`cognigraph.ingest.nearness.NameLedger`."""

    def __init__(self, connection: sqlite3.Connection, space_id: int, embedder: str) -> None:
        super().__init__(connection, space_id)
        self.embedder = embedder

    def vectors(self, uids: Collection[str]) -> dict[str, Half]:
        """Vectors of names."""
        rows = self._in(
            "SELECT entity_id, vector FROM name_vector WHERE embedder = ? AND entity_id IN {}",
            self._id(uids),
            self.embedder,
        )
        joined = np.frombuffer(b"".join(vector for _, vector in rows), _HALF)
        vectors = joined.reshape(len(rows), -1) if rows else joined
        return {self._uids[id]: vector for (id, _), vector in zip(rows, vectors, strict=True)}

    def add_vectors(self, vectors: Mapping[str, Vector]) -> set[str]:
        """Keep vectors of names that have none; return the uids of these."""
        present = self._in(
            "SELECT entity_id FROM name_vector WHERE embedder = ? AND entity_id IN {}",
            self._id(vectors),
            self.embedder,
        )
        missing = vectors.keys() - {self._uids[id] for (id,) in present}
        self._connection.executemany(
            "INSERT INTO name_vector VALUES (?, ?, ?)",
            [
                (self._ids[uid], self.embedder, vectors[uid].astype(_HALF).tobytes())
                for uid in sorted(missing, key=lambda uid: self._ids[uid])
            ],
        )
        return missing

    def drop_vectors(self, uids: Collection[str]) -> None:
        """Delete vectors of names."""
        self._connection.executemany(
            "DELETE FROM name_vector WHERE entity_id = ? AND embedder = ?",
            [(id, self.embedder) for id in self._id(uids)],
        )

    def near(self, uids: Collection[str]) -> list[Pair]:
        """Every pair of near names with one of these ends."""
        rows = self._around("score, reason, embedder", "near", uids, "a_id", "b_id")
        return [
            Pair(a, b, Relation("near", score, False, reason))
            for a, b, score, reason, embedder in rows
            if embedder == self.embedder
        ]

    def write_near(self, pairs: Sequence[Pair]) -> None:
        """Insert or overwrite pairs of near names."""
        self._id({uid for pair in pairs for uid in pair.ends})
        self._connection.executemany(
            "INSERT OR REPLACE INTO near VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    self._ids[pair.a], self._ids[pair.b], self.embedder, self._space_id,
                    pair.relation.score, pair.relation.reason,
                )
                for pair in pairs
            ],
        )  # fmt: skip

    def drop_near(self, pairs: Sequence[Pair]) -> None:
        """Delete pairs of near names."""
        self._id({uid for pair in pairs for uid in pair.ends})
        self._connection.executemany(
            "DELETE FROM near WHERE a_id = ? AND b_id = ? AND embedder = ?",
            [(self._ids[pair.a], self._ids[pair.b], self.embedder) for pair in pairs],
        )

    def of_each_embedder(self, uids: Collection[str]) -> list[SQLiteNames]:
        """Ledgers for all whose vectors these names have."""
        found = self._in(
            "SELECT DISTINCT embedder FROM name_vector WHERE entity_id IN {}", self._id(uids)
        )
        return [
            SQLiteNames(self._connection, self._space_id, embedder)
            for (embedder,) in sorted({*found})
        ]
