"""Entity resolution on Neo4j: a user's merges and splits, what is suspected, the history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.errors import NotFoundError
from cognigraph.ids import normalise
from cognigraph.model import Merge, SuspectedDuplicate
from cognigraph.resolution import incremental
from cognigraph.stores.merge_records import merge_of, suspicion
from cognigraph.stores.neo4j.connection import Connection, Transaction
from cognigraph.stores.neo4j.entity_map import Neo4jLedger
from cognigraph.stores.neo4j.index.fulltext import name_hash
from cognigraph.stores.neo4j.values import unpacked
from cognigraph.stores.protocols import NamedEntity
from cognigraph.stores.records import Names

_BATCH = 200
_TRIPLES = 5000


def named(connection: Connection, space: str, name: str) -> list[NamedEntity]:
    """Entities as they were read, by name, and those the text gives it as an alias."""
    normalised = normalise(name)
    rows = connection.rows(
        "resolve/called",
        space=space,
        name_hash=name_hash(space, normalised),
        normalised=normalised,
    )
    return [NamedEntity(*row) for row in rows]


def merge(connection: Connection, space: str, uid: str, into: str, now: datetime) -> None:
    """Record a user's word that two entities are one."""

    def work(tx: Transaction) -> None:
        ledger, at = _begin(tx, space, now)
        incremental.merge(ledger, uid, into, at)

    connection.write(work)


def split(
    connection: Connection, space: str, uid: str, apart_from: str | None, now: datetime
) -> bool:
    """Take a merge back, or keep an entity apart from its group or from one other."""

    def work(tx: Transaction) -> bool:
        ledger, at = _begin(tx, space, now)
        return incremental.split(ledger, uid, at, apart_from)

    return connection.write(work)


def _begin(tx: Transaction, space: str, now: datetime) -> tuple[Neo4jLedger, int]:
    row = tx.row("resolve/begin", space=space)
    if row is None:
        raise NotFoundError(f"the space {space!r} has no entities")
    labels, at = row
    return Neo4jLedger(tx, space, labels, now), at


def suspected(
    connection: Connection, space: str, limit: int, offset: int
) -> list[SuspectedDuplicate]:
    """Pairs that may be one but are shown apart, unless a user said that they are not."""
    rows = connection.rows("resolve/suspected", space=space, skip=offset, limit=limit)
    return [suspicion(*row) for row in rows]


def names(connection: Connection, space: str, dimension: int) -> Names:
    """Entities as they were read whose names have vectors."""
    rows = connection.rows("resolve/names", space=space)
    state = connection.row("reindex/state")
    if state is not None:  # vectors of another embedder may have been read
        connection.check_generation(*state[:3])
    uids, names, normalised, types, shown, blobs = zip(*rows, strict=True) if rows else [()] * 6
    return Names(uids, names, normalised, types, shown, unpacked(blobs, dimension))


def judged(connection: Connection, uids: Sequence[str]) -> set[tuple[str, str]]:
    """Pairs of entities that letters or a user say something of."""
    known = set(uids)
    rows = connection.rows("resolve/judged", uids=[*uids])
    return {(a, b) for a, b in rows if b in known}


def merges(connection: Connection, space: str, limit: int, offset: int) -> list[Merge]:
    """The history of merges, newest first."""
    rows = connection.rows("resolve/merges", space=space, skip=offset, limit=limit)
    return [merge_of(*row) for row in rows]


def settle_all(connection: Connection, now: datetime) -> None:
    """Resolve every entity of a database that was written before entities were resolved.

    Some at a time, each in a transaction of its own: after a crash it goes on.
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
