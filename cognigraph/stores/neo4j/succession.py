"""Which facts of a Neo4j database are current: decided in the transaction that changes a slot."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Protocol

from cognigraph.states.slots import FactForm, claim_of, family, replaceable
from cognigraph.states.succession import Ruling, Standing
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.row_values import periods
from cognigraph.stores.state_rows import Slot, StateRow, changed, on_both_sides
from cognigraph.stores.state_rows import standings_at as decided_at
from cognigraph.times import from_micros, to_micros

_BATCH = 1000


class Reader(Protocol):
    """Runs statements, in one transaction or each by itself."""

    def rows(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> list[Row]:
        """Run a statement."""
        ...


class Touched:
    """Facts whose slots must be decided again before the transaction ends."""

    def __init__(self, tx: Reader) -> None:
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
            self.slots.update(on_both_sides(holder, slot))
            if replaces:
                families.add((holder, family(slot)))
        if families:
            rows = self._tx.rows("states/family", families=[list(one) for one in sorted(families)])
            self.slots.update((holder, slot) for holder, slots in rows for slot in slots)


def settle(tx: Transaction, touched: Touched) -> None:
    """Decide every slot that was touched, and write what is new."""
    touched.uids = _name_slots(tx, touched.uids)  # without those that were deleted meanwhile
    touched.add(touched.uids)
    rows, rulings = _facts_and_rulings(tx, touched)
    new = changed(rows, touched.slots, rulings)
    if new:
        tx.rows("states/write", rows=[_written(uid, one) for uid, one in sorted(new.items())])


def standings_at(reader: Reader, uids: Collection[str], as_of: datetime) -> dict[str, Standing]:
    """What was known at ``as_of`` of facts and of all that shares a slot with them, by uid."""
    touched = Touched(reader)
    touched.add(uids)
    rows, rulings = _facts_and_rulings(reader, touched)
    return decided_at(rows, touched.slots, rulings, as_of)


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


def settle_again(connection: Connection) -> None:
    """Decide every fact again, because the table of slots or the order of statements has changed.

    Some facts at a time, each in a transaction of its own; after a crash it begins anew.
    """
    for (space,) in connection.rows("read/spaces"):
        after = -1

        def work(tx: Transaction, space: str = space) -> int | None:
            rows = tx.rows("states/next", space=space, after=after, limit=_BATCH)
            touched = Touched(tx)
            touched.add([uid for uid, _ in rows])
            settle(tx, touched)
            return rows[-1][1] if rows else None

        while (last := connection.write(work)) is not None:
            after = last


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


def _facts_and_rulings(
    reader: Reader, touched: Touched
) -> tuple[list[StateRow[str]], list[Ruling]]:
    """All facts that decide about the slots, and what users said of them."""
    uids = _facts_of(reader, touched)
    if not uids:
        return [], []
    rows = [_state_row(row) for row in reader.rows("states/facts", uids=uids)]
    rulings = [
        Ruling(kind, uid, recorded, by, _time(at), reason)
        for kind, uid, recorded, by, at, reason in reader.rows("states/rulings", uids=uids)
    ]
    return rows, rulings


def _facts_of(tx: Reader, touched: Touched) -> list[str]:
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
    status, valid_from, valid_to, by, at, decided_by, reason, earlier = standing
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
            status, _time(valid_from), _time(valid_to), by, _time(at), decided_by, reason,
            periods(earlier),
        ),
    )  # fmt: skip


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
        "earlier": [to_micros(at) for period in standing.earlier for at in period] or None,
    }
    return {"uid": uid, "properties": properties, "superseded_by": standing.superseded_by}
