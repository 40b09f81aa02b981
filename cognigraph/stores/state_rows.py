"""Facts as a store reads them to decide which are current, and the decision about them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, Literal, TypeVar

from cognigraph.ids import normalise
from cognigraph.model import Source
from cognigraph.states.slots import Claim, FactForm, both_sides, claim_of, family, in_one
from cognigraph.states.succession import Ruling, Standing, Statement, decide
from cognigraph.times import from_micros, parse_when, to_micros

K = TypeVar("K", bound=Hashable)
"""How a store identifies a row: an id or a uid."""

Slot = tuple[K, str]
"""A slot of an entity: its key and the slot's name."""


@dataclass(frozen=True, slots=True)
class StateRow(Generic[K]):
    """A stored fact as far as its standing matters; ``slot`` is the one that is stored with it.

    ``form`` is the fact as it was said; ``subject`` and ``object`` are the canonical names.
    ``standing`` is what is stored, and ``said`` may be empty where a fact has its slot alone.
    """

    key: K
    uid: str
    form: FactForm
    subject: str
    object: str
    when: str | None
    slot: str | None
    holder: K
    """The entity whose slot it is."""
    replaces: bool
    said: tuple[datetime, ...]
    standing: Standing

    @property
    def statement(self) -> Statement:
        """The fact as the decision takes it; merged entities count as one value."""
        return Statement(self.uid, self._claim(), self.said, parse_when(self.when), self.replaces)

    def _claim(self) -> Claim | None:
        claim = claim_of(self.form)
        if claim is None or not claim.single:
            return claim
        said, now = self.form.object, self.object
        if claim.on_object:
            said, now = self.form.subject, self.subject
        return replace(claim, value=normalise(now)) if claim.value == normalise(said) else claim


def source_of(at: int, id: str, session: str, said_by: str, stated: bool) -> Source:
    """A source of a fact, of a row of a store; ``stated`` says that an application stated it."""
    provenance: Literal["text", "user"] = "user" if stated else "text"
    return Source(id, session, from_micros(at), said_by or None, provenance)


def on_both_sides(holder: K, slot: str) -> Iterable[Slot[K]]:
    """Yield a slot and its twin: "Ann's boss is Lars" and "Lars is Ann's boss" are about one."""
    return ((holder, one) for one in both_sides(slot))


def changed(
    rows: Sequence[StateRow[K]], slots: Iterable[Slot[K]], rulings: Sequence[Ruling]
) -> dict[K, Standing]:
    """Decide the facts of some slots, and those without a slot; return what is not yet stored.

    ``rows`` hold all facts of these slots and those that replace others of their families.
    """
    decided = _decided(rows, slots, rulings)
    return {row.key: standing for row, standing in decided if standing != row.standing}


def standings_at(
    rows: Sequence[StateRow[K]],
    slots: Iterable[Slot[K]],
    rulings: Sequence[Ruling],
    as_of: datetime,
) -> dict[str, Standing]:
    """Decide facts by what had been said at ``as_of``, by uid; later ones are missing.

    A user's word counts from when it was given, except that a retracted fact counts as never said.
    """
    known = [replace(row, said=tuple(at for at in row.said if at <= as_of)) for row in rows]
    until = to_micros(as_of)
    given = [one for one in rulings if one.kind == "retract" or one.order <= until]
    decided = _decided([row for row in known if row.said], slots, given)
    return {row.uid: standing for row, standing in decided}


def _decided(
    rows: Sequence[StateRow[K]], slots: Iterable[Slot[K]], rulings: Sequence[Ruling]
) -> Iterable[tuple[StateRow[K], Standing]]:
    for rows_of_slot, wanted in _groups(rows, slots):
        standings = decide([row.statement for row in rows_of_slot], rulings)
        for row in wanted:
            yield row, standings[row.uid]


def _groups(
    rows: Sequence[StateRow[K]], slots: Iterable[Slot[K]]
) -> Iterable[tuple[list[StateRow[K]], list[StateRow[K]]]]:
    """Yield for every slot the rows that decide about it, and its own rows."""
    by_slot: dict[Slot[K], list[StateRow[K]]] = {}
    replacing: dict[Slot[K], list[StateRow[K]]] = {}
    for row in rows:
        if row.slot is None:
            yield [row], [row]
            continue
        by_slot.setdefault((row.holder, in_one(row.slot)), []).append(row)
        if row.replaces and "|" in row.slot:
            replacing.setdefault((row.holder, family(row.slot)), []).append(row)
    wanted = {(holder, in_one(slot)) for holder, slot in slots}
    for holder, slot in sorted(wanted & by_slot.keys(), key=repr):
        own = by_slot[holder, slot]
        others = replacing.get((holder, family(slot)), []) if "|" in slot else []
        yield [*own, *(row for row in others if row.slot != slot)], own
