"""Which facts of a Neo4j database are current: decided in the transaction that changes a slot."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cognigraph.states.slots import FactForm, claim_of, family, replaceable
from cognigraph.states.succession import Ruling, Standing
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.state_rows import Slot, StateRow, changed
from cognigraph.times import from_micros

_BATCH = 1000


class Touched:
    """Facts whose slots must be decided again before the transaction ends."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.uids: set[str] = set()
        self.slots: set[Slot[str]] = set()

    def add(self, uids: Collection[str]) -> None:
        """Note facts that change, and the slots they have now; call it before they do, too."""
        if not uids:
            return
        self.uids.update(uids)
        families = set()
        for holder, slot, replaces in self._tx.rows("states/slots", uids=sorted(uids)):
            self.slots.add((holder, slot))
            if replaces:
                families.add((holder, family(slot)))
        if families:
            rows = self._tx.rows("states/family", families=[list(one) for one in sorted(families)])
            self.slots.update((holder, slot) for holder, slots in rows for slot in slots)


def settle(tx: Transaction, touched: Touched) -> None:
    """Decide every slot that was touched, and write what is new."""
    touched.uids = _name_slots(tx, touched.uids)  # without those that were deleted meanwhile
    touched.add(touched.uids)
    uids = _facts_of(tx, touched)
    if not uids:
        return
    rows = [_state_row(row) for row in tx.rows("states/facts", uids=uids)]
    rulings = [
        Ruling(kind, uid, recorded, by, _time(at), reason)
        for kind, uid, recorded, by, at, reason in tx.rows("states/rulings", uids=uids)
    ]
    new = changed(rows, touched.slots, rulings)
    if new:
        tx.rows("states/write", rows=[_written(uid, one) for uid, one in sorted(new.items())])


def settle_all(connection: Connection) -> None:
    """Decide every slot of a database that was written before there were any.

    Some facts at a time, each in a transaction of its own: after a crash it goes on. A slot is
    decided again with every batch that has a fact about it.
    """

    def work(tx: Transaction) -> bool:
        rows = tx.rows("states/backfill", limit=_BATCH)
        for _, uids in sorted(rows):
            touched = Touched(tx)
            touched.add(uids)
            settle(tx, touched)
        return bool(rows)

    while connection.write(work):
        pass


def _name_slots(tx: Transaction, uids: Collection[str]) -> set[str]:
    """Store the slots of facts, which depend on how these are spelled, and what replaces others.

    Return the uids of the facts that exist.
    """
    new = []
    found = tx.rows("states/forms", uids=sorted(uids)) if uids else []
    for row in found:
        uid, subject, kind, relation, object, object_kind, negated, *known, one, other, says = row
        claim = claim_of(FactForm(subject, kind, relation, object, object_kind, negated))
        slot = holder = None
        if claim is not None:
            slot, holder = claim.slot, other if claim.on_object else one
        replaces = (says and slot is not None and replaceable(slot)) or None
        if [slot, holder, replaces] != known:
            new.append({"uid": uid, "slot": slot, "holder": holder, "replaces": replaces})
    if new:
        tx.rows("states/name", rows=new)
    return {row[0] for row in found}


def _facts_of(tx: Transaction, touched: Touched) -> list[str]:
    """Uids of all facts that decide about the slots, and of those without a slot that are ruled."""
    found: set[str] = set()
    if slots := sorted(touched.slots):
        found.update(row[0] for row in tx.rows("states/in_slots", slots=[list(s) for s in slots]))
        families = sorted({(holder, family(slot)) for holder, slot in slots if "|" in slot})
        if families:
            rows = tx.rows("states/replacing", families=[list(one) for one in families])
            found.update(row[0] for row in rows)
    if touched.uids:
        found.update(row[0] for row in tx.rows("states/ruled", uids=sorted(touched.uids)))
    return sorted(found)


def _state_row(row: Row) -> StateRow[str]:
    uid, subject, subject_type, relation, object, object_type, negated, *rest = row
    canonical_subject, canonical_object, when, slot, holder, replaces, said, *standing = rest
    status, valid_from, valid_to, by, at, decided_by, reason = standing
    return StateRow(
        key=uid,
        uid=uid,
        form=FactForm(subject, subject_type, relation, object, object_type, negated),
        subject=canonical_subject,
        object=canonical_object,
        when=when,
        slot=slot,
        holder=holder,
        replaces=replaces,
        said=tuple(from_micros(one) for one in sorted(said)),
        standing=Standing(
            status, _time(valid_from), _time(valid_to), by, _time(at), decided_by, reason
        ),
    )


def _time(micros: int | None) -> Any:
    return None if micros is None else from_micros(micros)


def _written(uid: str, standing: Standing) -> dict[str, Any]:
    properties = {
        "status": standing.status,
        "valid_from": standing.valid_from,
        "valid_to": standing.valid_to,
        "superseded_at": standing.superseded_at,
        "decided_by": standing.by,
        "reason": standing.reason,
    }
    return {"uid": uid, "properties": properties, "superseded_by": standing.superseded_by}
