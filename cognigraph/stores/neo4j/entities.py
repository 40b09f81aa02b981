"""``Neo4jResolution``: merges and splits by users, suspected duplicates, history of merges."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.errors import NotFoundError
from cognigraph.ids import normalise
from cognigraph.model import Merge, SuspectedDuplicate
from cognigraph.model.storage import AuditEntry, EmbedderIdentity
from cognigraph.resolution import incremental
from cognigraph.stores.neo4j.connection import Connection, Transaction
from cognigraph.stores.neo4j.entity_map import Neo4jEntityMap
from cognigraph.stores.neo4j.tokens import name_hash
from cognigraph.stores.neo4j.values import unpack_name_vectors
from cognigraph.stores.protocols import NamedEntity
from cognigraph.stores.records import EntityNames, merge_of, suspected_duplicate
from cognigraph.times import Clock

_BATCH = 200

_TRIPLES = 5000


class Neo4jResolution:
    """See :class:`cognigraph.stores.protocols.EntityResolution`."""

    def __init__(self, connection: Connection, embedder: EmbedderIdentity, clock: Clock) -> None:
        self._connection = connection
        self._embedder = embedder
        self._clock = clock

    def named(self, space: str, name: str) -> list[NamedEntity]:
        normalised = normalise(name)
        rows = self._connection.rows(
            "resolve/called",
            space=space,
            name_hash=name_hash(space, normalised),
            normalised=normalised,
        )
        return [NamedEntity(*row) for row in rows]

    def merge(self, space: str, uid: str, into: str, by: str | None = None) -> None:
        entry = AuditEntry(self._clock(), space, "merge", by, (uid, into))

        def work(tx: Transaction) -> None:
            entity_map, at = _begin(tx, space, self._clock())
            incremental.merge(entity_map, uid, into, at)
            entity_map.touched.decide()
            tx.audit(entry)

        self._connection.write(work)

    def split(
        self, space: str, uid: str, apart_from: str | None = None, by: str | None = None
    ) -> bool:
        subjects = (uid,) if apart_from is None else (uid, apart_from)
        entry = AuditEntry(self._clock(), space, "split", by, subjects)

        def work(tx: Transaction) -> bool:
            entity_map, at = _begin(tx, space, self._clock())
            split = incremental.split(entity_map, uid, at, apart_from)
            entity_map.touched.decide()
            if split:
                tx.audit(entry)
            return split

        return self._connection.write(work)

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        rows = self._connection.rows("resolve/suspected", space=space, skip=offset, limit=limit)
        return [suspected_duplicate(*row) for row in rows]

    def names(self, space: str) -> EntityNames:
        rows = self._connection.rows("resolve/names", space=space)
        state = self._connection.row("reindex/state")
        if state is not None:  # the vectors just read may be those of another embedder
            self._connection.check_generation(*state[:3])
        uids, names, normalised, types, canonical, blobs = (
            zip(*rows, strict=True) if rows else [()] * 6
        )
        return EntityNames(
            uids,
            names,
            normalised,
            types,
            canonical,
            unpack_name_vectors(blobs, self._embedder.dimension),
        )

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        known = set(uids)
        rows = self._connection.rows("resolve/judged", uids=[*uids])
        return {(a, b) for a, b in rows if b in known}

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        rows = self._connection.rows("resolve/merges", space=space, skip=offset, limit=limit)
        return [merge_of(*row) for row in rows]


def _begin(tx: Transaction, space: str, now: datetime) -> tuple[Neo4jEntityMap, int]:
    row = tx.row("resolve/begin", space=space)
    if row is None:
        raise NotFoundError(f"the space {space!r} has no entities")
    labels, at = row
    return Neo4jEntityMap(tx, space, labels, now), at


def resolve_all_entities(connection: Connection, now: datetime) -> None:
    """Resolve all entities of a database from a version without entity resolution.

    It runs in batches, each in a transaction of its own, and resumes after a crash.
    """
    while connection.write(lambda tx: tx.row("resolve/backfill_triples", limit=_TRIPLES)) != [0]:
        pass

    def work(tx: Transaction) -> bool:
        rows = tx.rows("resolve/backfill_entities", limit=_BATCH)
        for space, uids in sorted(rows):
            incremental.settle(_begin(tx, space, now)[0], uids)
        return bool(rows)

    while connection.write(work):
        pass
