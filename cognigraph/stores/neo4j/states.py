"""A user's word on facts of a Neo4j database, and what is known of their slots."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.errors import NotFoundError
from cognigraph.ids import normalise
from cognigraph.model import Triple
from cognigraph.states.succession import NewRuling, Ruling, Standing
from cognigraph.stores.neo4j.connection import Connection, Transaction
from cognigraph.stores.neo4j.index.fulltext import name_hash
from cognigraph.stores.neo4j.row_values import triple_of
from cognigraph.stores.neo4j.succession import Touched, settle, standings_at
from cognigraph.stores.readings import NamedRuling, ruling_of
from cognigraph.times import Clock, to_micros


class Neo4jStates:
    """See :class:`cognigraph.stores.protocols.StateStore`."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    def rule(self, space: str, *rulings: NewRuling) -> None:
        """Record what a user said of facts, and decide their slots again."""
        recorded = to_micros(self._clock())

        def work(tx: Transaction) -> None:
            touched = Touched(tx)
            for one in rulings:
                row = tx.row(
                    "states/rule", space=space, uid=one.uid, kind=one.kind, superseded_by=one.by,
                    at=one.at, reason=one.reason, recorded=recorded,
                )  # fmt: skip
                if row is None:
                    raise NotFoundError(f"there is no triple with the uid {one.uid!r}")
                touched.add([row[0]])
            settle(tx, touched)

        self._connection.write(work)

    def rulings(self, space: str) -> list[NamedRuling]:
        """What users said of facts."""
        return [ruling_of(row) for row in self._connection.rows("states/all", space=space)]

    def keep(self, space: str, rulings: Sequence[Ruling]) -> None:
        """Record what users said before."""
        rows = [
            {"uid": one.uid, "kind": one.kind, "superseded_by": one.by, "at": one.at,
             "reason": one.reason, "recorded": one.order}
            for one in rulings
        ]  # fmt: skip

        def work(tx: Transaction) -> None:
            tx.rows("insert/space", space=space)
            touched = Touched(tx)
            touched.add([row[0] for row in tx.rows("states/keep", space=space, rows=rows)])
            settle(tx, touched)

        self._connection.write(work)

    def standings_at(self, space: str, uids: Sequence[str], as_of: datetime) -> dict[str, Standing]:
        """What was known at ``as_of`` of facts; ``uids`` are of this space."""
        return standings_at(self._connection, uids, as_of)

    def of_entity(self, space: str, entity: str) -> list[Triple]:
        """Facts about slots of an entity, and those a user ruled on, oldest first."""
        normalised = normalise(entity)
        rows = self._connection.rows(
            "states/of_entity",
            space=space,
            name_hash=name_hash(space, normalised),
            normalised=normalised,
        )
        return self._triples(space, [row[0] for row in rows])

    def contested(self, space: str, limit: int) -> list[list[Triple]]:
        """Current facts that share a slot of one value with others, by slot."""
        rows = self._connection.rows("states/contested", space=space, limit=limit)
        found = {t.uid: t for t in self._triples(space, [uid for row in rows for uid in row[0]])}
        return [[found[uid] for uid in row[0] if uid in found] for row in rows]

    def _triples(self, space: str, uids: list[str]) -> list[Triple]:
        rows = self._connection.rows("read/triples_by_uid", space=space, uids=uids)
        found = {row[0]: triple_of(row) for row in rows}
        return [found[uid] for uid in uids if uid in found]
