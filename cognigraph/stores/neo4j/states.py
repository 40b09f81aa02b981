"""Which facts are current: decided in the transaction that changes a slot, or what users say."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from cognigraph.errors import NotFoundError
from cognigraph.ids import normalise
from cognigraph.model import Triple
from cognigraph.states.slots import FactForm
from cognigraph.states.succession import NewRuling, Ruling, Standing
from cognigraph.stores import state_rows
from cognigraph.stores.model_rows import state_row
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.tokens import name_hash
from cognigraph.stores.neo4j.values import periods, triple_of
from cognigraph.stores.readings import NamedRuling, ruling_of
from cognigraph.stores.records import ruling_entry
from cognigraph.stores.state_rows import Slot, SlotForm, StateRow
from cognigraph.times import Clock, moment, to_micros

_BATCH = 1000


def _rule(tx: Transaction, space: str, ruling: NewRuling, recorded: int) -> str | None:
    """Record a ruling; returns the uid of the canonical triple, ``None`` if there is no triple."""
    row = tx.row(
        "states/rule", space=space, uid=ruling.uid, kind=ruling.kind, superseded_by=ruling.by,
        at=ruling.at, reason=ruling.reason, recorded=recorded,
    )  # fmt: skip
    return None if row is None else str(row[0])


def rule_unruled(
    tx: Transaction, space: str, rulings: Sequence[NewRuling], recorded: int
) -> list[str]:
    """Record rulings on facts that exist and have none; returns the uids of these facts."""
    uids = sorted({ruling.uid for ruling in rulings})
    taken = {uid for (uid,) in tx.rows("states/has_ruling", uids=uids)}
    ruled = [_rule(tx, space, item, recorded) for item in rulings if item.uid not in taken]
    return [uid for uid in ruled if uid is not None]


class Neo4jStates:
    """See :class:`cognigraph.stores.protocols.StateStore`."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    def rule(self, space: str, *rulings: NewRuling, by: str | None = None) -> None:
        now = self._clock()

        def work(tx: Transaction) -> None:
            touched = TouchedFacts(tx)
            for ruling in rulings:
                uid = _rule(tx, space, ruling, to_micros(now))
                if uid is None:
                    raise NotFoundError(f"there is no triple with the uid {ruling.uid!r}")
                touched.add([uid])
                tx.audit(ruling_entry(ruling, now, space, by))
            touched.decide()

        self._connection.write(work)

    def rulings(self, space: str) -> list[NamedRuling]:
        return [ruling_of(row) for row in self._connection.rows("states/all", space=space)]

    def keep(self, space: str, rulings: Sequence[Ruling]) -> None:
        rows = [
            {"uid": ruling.uid, "kind": ruling.kind, "superseded_by": ruling.by, "at": ruling.at,
             "reason": ruling.reason, "recorded": ruling.order}
            for ruling in rulings
        ]  # fmt: skip

        def work(tx: Transaction) -> None:
            tx.rows("insert/space", space=space)
            touched = TouchedFacts(tx)
            touched.add([row[0] for row in tx.rows("states/keep", space=space, rows=rows)])
            touched.decide()

        self._connection.write(work)

    def standings_at(self, space: str, uids: Sequence[str], as_of: datetime) -> dict[str, Standing]:
        """What was known at ``as_of`` of facts; ``uids`` are of this space."""
        touched = TouchedFacts(self._connection)
        touched.add(uids)
        return touched.standings_at(as_of)

    def of_entity(self, space: str, entity: str) -> list[Triple]:
        normalised = normalise(entity)
        rows = self._connection.rows(
            "states/of_entity",
            space=space,
            name_hash=name_hash(space, normalised),
            normalised=normalised,
        )
        uids = [row[0] for row in rows]
        facts = self._facts(space, uids)
        return [facts[uid] for uid in uids if uid in facts]

    def contested(self, space: str, limit: int) -> list[list[Triple]]:
        rows = self._connection.rows("states/contested", space=space, limit=limit)
        facts = self._facts(space, [uid for row in rows for uid in row[0]])
        return [[facts[uid] for uid in row[0] if uid in facts] for row in rows]

    def _facts(self, space: str, uids: list[str]) -> dict[str, Triple]:
        rows = self._connection.rows("read/triples_by_uid", space=space, uids=uids)
        return {row[0]: triple_of(row) for row in rows}


class TouchedFacts(state_rows.TouchedFacts[str]):
    """Facts whose slots must be decided again before the transaction ends."""

    def __init__(self, reader: Connection | Transaction) -> None:
        super().__init__()
        self._rows = reader.rows

    def _read_slots(self, keys: Collection[str]) -> Iterator[tuple[str, str, bool]]:
        rows = self._rows("states/slots", uids=sorted(keys))
        return ((holder, slot, replaces) for holder, slot, replaces in rows)

    def _slots_of_families(self, families: Collection[Slot[str]]) -> Iterator[Slot[str]]:
        for holder, slots in self._rows("states/family", families=_listed(families)):
            yield from ((holder, slot) for slot in slots)

    def _read_forms(self, keys: Collection[str]) -> list[SlotForm[str]]:
        forms = []
        for uid, subject, type, relation, object, other, negated, *rest in self._rows(
            "states/forms", uids=sorted(keys)
        ):
            slot, holder, replaces, subject_uid, object_uid, claims = rest
            form = FactForm(subject, type, relation, object, other, negated)
            stored = slot, bool(replaces), claims, holder
            forms.append(SlotForm(uid, form, *stored, subject_uid, object_uid))
        return forms

    def _write_slots(self, forms: Sequence[SlotForm[str]]) -> None:
        rows = [
            {
                "uid": form.key,
                "slot": form.slot,
                "holder": form.holder,
                "replaces": form.replaces or None,
            }
            for form in forms
        ]
        self._rows("states/name", rows=rows)

    def _read_facts(self) -> tuple[list[StateRow[str]], list[Ruling]]:
        found: set[str] = set()
        if self.slots:
            found.update(uid for (uid,) in self._rows("states/in_slots", slots=_listed(self.slots)))
        if families := self.families:
            rows = self._rows("states/replacing", families=_listed(families))
            found.update(uid for (uid,) in rows)
        if self.keys:
            found.update(uid for (uid,) in self._rows("states/ruled", uids=sorted(self.keys)))
        if not found:
            return [], []
        uids = sorted(found)
        rulings = [
            Ruling(kind, uid, recorded, by, moment(at), reason)
            for kind, uid, recorded, by, at, reason in self._rows("states/rulings", uids=uids)
        ]
        return [_state_row(row) for row in self._rows("states/facts", uids=uids)], rulings

    def _write(self, standings: Mapping[str, Standing]) -> None:
        rows = [_standing_row(uid, new) for uid, new in sorted(standings.items())]
        self._rows("states/write", rows=rows)


def _listed(slots: Collection[Slot[str]]) -> list[list[str]]:
    return [list(slot) for slot in sorted(slots)]


def _state_row(row: Row) -> StateRow[str]:
    *fact, holder, replaces, said = row[:14]
    *standing, earlier = row[14:]
    return state_row(row[0], holder, (*fact, replaces, *standing), said, periods(earlier))


def _standing_row(uid: str, standing: Standing) -> dict[str, Any]:
    properties = {
        "status": standing.status,
        "valid_from": standing.valid_from,
        "valid_to": standing.valid_to,
        "superseded_at": standing.superseded_at,
        "decided_by": standing.by,
        "reason": standing.reason,
        "earlier": [to_micros(at) for period in standing.earlier for at in period] or None,
    }
    return {"uid": uid, "properties": properties, "superseded_by": standing.superseded_by}


# Migrations


def decide_first(connection: Connection) -> None:
    """Decide every slot of a database that was written before there were any.

    Some facts at a time, each in a transaction of its own: after a crash it goes on. A slot is
    decided again with every batch that has a fact about it.
    """

    def work(tx: Transaction) -> bool:
        rows = tx.rows("states/backfill", limit=_BATCH)
        for _, uids in sorted(rows):
            _decide(tx, uids)
        return bool(rows)

    while connection.write(work):
        pass


def decide_again(connection: Connection) -> None:
    """Decide every fact again, because the table of slots or the order of statements has changed.

    Some facts at a time, each in a transaction of its own; after a crash it begins anew.
    """
    for (space,) in connection.rows("read/spaces"):
        after: int | None = -1
        while after is not None:

            def work(tx: Transaction, space: str = space, after: int = after) -> int | None:
                rows = tx.rows("states/next", space=space, after=after, limit=_BATCH)
                _decide(tx, [uid for uid, _ in rows])
                return rows[-1][1] if rows else None

            after = connection.write(work)


def _decide(tx: Transaction, uids: Collection[str]) -> None:
    touched = TouchedFacts(tx)
    touched.add(uids)
    touched.decide()
