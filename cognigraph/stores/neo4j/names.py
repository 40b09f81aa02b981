"""Vectors of names on Neo4j, and which names lie near each other."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cognigraph.ingest.groups import Pair
from cognigraph.ingest.nearness import Half
from cognigraph.ingest.resolve import Relation
from cognigraph.stores.arrays import Vector
from cognigraph.stores.neo4j.blocks import Neo4jBlocks
from cognigraph.stores.neo4j.connection import Row, Transaction, vector_property

_HALF = np.dtype("<f2")
_BY = "_by"


@dataclass(frozen=True, slots=True)
class Slot:
    """The property with the vector of a name by one embedder (dimension and name)."""

    vector: str
    embedder: str

    @property
    def by(self) -> str:
        """The property that says whose it is."""
        return self.vector + _BY


class Neo4jNames(Neo4jBlocks):
    """See :class:`cognigraph.ingest.nearness.NameLedger`."""

    def __init__(self, tx: Transaction, space: str, slot: Slot) -> None:
        super().__init__(tx, space)
        self._slot = slot

    @property
    def embedder(self) -> str:
        """Whose vectors are meant."""
        return self._slot.embedder

    def _in_slot(self, name: str, **parameters: Any) -> list[Row]:
        slot = self._slot
        return self._rows(
            name, property=slot.vector, by=slot.by, embedder=slot.embedder, **parameters
        )

    def vectors(self, uids: Collection[str]) -> dict[str, Half]:
        """Vectors of names."""
        rows = self._in_slot("vectors", uids=sorted(uids))
        return {uid: np.frombuffer(found, _HALF) for uid, found in rows}

    def add_vectors(self, vectors: Mapping[str, Vector]) -> set[str]:
        """Keep vectors of names that have none; return the uids of these."""
        rows = [
            {"uid": uid, "vector": vector.astype(_HALF).tobytes()}
            for uid, vector in sorted(vectors.items(), key=lambda item: item[0])
        ]
        return {row[0] for row in self._in_slot("add_vectors", rows=rows)}

    def drop_vectors(self, uids: Collection[str]) -> None:
        """Delete vectors of names."""
        self._in_slot("drop_vectors", uids=sorted(uids))

    def near(self, uids: Collection[str]) -> list[Pair]:
        """Every pair of near names with one of these ends."""
        return [
            Pair(a, b, Relation("near", score, False, reason))
            for a, b, score, reason in self._rows("near", uids=sorted(uids), embedder=self.embedder)
        ]

    def write_near(self, pairs: Sequence[Pair]) -> None:
        """Insert or overwrite pairs of near names."""
        rows = [
            {"a": p.a, "b": p.b, "score": p.relation.score, "reason": p.relation.reason}
            for p in sorted(pairs, key=lambda pair: pair.ends)
        ]
        self._rows("write_near", pairs=rows, embedder=self.embedder)

    def drop_near(self, pairs: Sequence[Pair]) -> None:
        """Delete pairs of near names."""
        ends = [list(pair.ends) for pair in pairs]
        self._rows("drop_near", pairs=ends, embedder=self.embedder)

    def of_each_embedder(self, uids: Collection[str]) -> list[Neo4jNames]:
        """Ledgers for all whose vectors these names have."""
        by = [vector_property(generation) + _BY for generation in (1, 2)]
        return [
            Neo4jNames(self._tx, self._space, Slot(found.removesuffix(_BY), embedder))
            for found, embedder in self._rows("embedders", uids=sorted(uids), by=by)
        ]
