"""Facts as a store reads them to decide which are current, and the decision about them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from cognigraph.ids import normalise
from cognigraph.states.slots import (
    Claim,
    FactForm,
    base_slot,
    both_sides,
    claim_of,
    family,
    replaceable,
)
from cognigraph.states.succession import Ruling, Standing, Statement, decide
from cognigraph.times import parse_when, to_micros

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


@dataclass(frozen=True, slots=True)
class SlotForm(Generic[K]):
    """A stored fact as far as its slot matters.

    ``slot``, ``holder`` and ``replaces`` are what is stored with it; ``claims_to_replace`` says
    whether a source states it to replace others. A store that does not keep holders gives none.
    """

    key: K
    form: FactForm
    slot: str | None
    replaces: bool
    claims_to_replace: bool
    holder: K | None = None
    subject: K | None = None
    object: K | None = None

    def renamed(self) -> SlotForm[K] | None:
        """The same with its right slot; ``None`` if that is stored already."""
        claim = claim_of(self.form)
        slot = holder = None
        if claim is not None:
            slot, holder = claim.slot, self.object if claim.on_object else self.subject
        replaces = self.claims_to_replace and slot is not None and replaceable(slot)
        if (slot, holder, replaces) == (self.slot, self.holder, self.replaces):
            return None
        return replace(self, slot=slot, holder=holder, replaces=replaces)


class TouchedFacts(ABC, Generic[K]):
    """Facts whose slots must be decided again before the transaction ends."""

    def __init__(self) -> None:
        self.keys: set[K] = set()
        self.slots: set[Slot[K]] = set()

    def add(self, keys: Collection[K]) -> None:
        """Note facts that change, and the slots they have now; call it before they do, too."""
        if not keys:
            return
        self.keys.update(keys)
        families: set[Slot[K]] = set()
        for holder, slot, replaces in self._read_slots(keys):
            # "Ann's boss is Lars" and "Lars is Ann's boss" are about one slot.
            self.slots.update((holder, side) for side in both_sides(slot))
            if replaces:
                families.add((holder, family(slot)))
        if families:
            self.slots.update(self._slots_of_families(families))

    def decide(self) -> None:
        """Decide every slot that was touched, and write what is new."""
        self.keys = self.name_slots(self.keys)  # without those that were deleted meanwhile
        self.add(self.keys)
        rows, rulings = self._read_facts()
        decided = _decided(rows, self.slots, rulings)
        changed = {row.key: standing for row, standing in decided if standing != row.standing}
        if changed:
            self._write(changed)

    def name_slots(self, keys: Collection[K]) -> set[K]:
        """Store the slots of facts as they are spelled now; return which of them exist."""
        forms = self._read_forms(keys) if keys else []
        new = [renamed for form in forms if (renamed := form.renamed()) is not None]
        if new:
            self._write_slots(new)
        return {form.key for form in forms}

    def standings_at(self, as_of: datetime) -> dict[str, Standing]:
        """What was known at a time of the facts and of all that share a slot with them, by uid.

        Later facts are missing. A user's word counts from when it was given, except that a
        retracted fact counts as never said.
        """
        rows, rulings = self._read_facts()
        known = [replace(row, said=tuple(at for at in row.said if at <= as_of)) for row in rows]
        until = to_micros(as_of)
        given = [ruling for ruling in rulings if ruling.kind == "retract" or ruling.order <= until]
        decided = _decided([row for row in known if row.said], self.slots, given)
        return {row.uid: standing for row, standing in decided}

    @property
    def families(self) -> list[Slot[K]]:
        """Holders and prefixes of the slots in which a fact can replace others of its family."""
        return sorted({(holder, family(slot)) for holder, slot in self.slots if "|" in slot})

    @abstractmethod
    def _read_slots(self, keys: Collection[K]) -> Iterable[tuple[K, str, bool]]:
        """Holder, slot, and whether it replaces others, of the facts that have a slot."""

    @abstractmethod
    def _slots_of_families(self, families: Collection[Slot[K]]) -> Iterable[Slot[K]]:
        """All slots that begin with one of these prefixes."""

    @abstractmethod
    def _read_forms(self, keys: Collection[K]) -> Sequence[SlotForm[K]]:
        """The facts that exist, as they are spelled."""

    @abstractmethod
    def _write_slots(self, forms: Sequence[SlotForm[K]]) -> None:
        """Store slots, which depend on how facts are spelled, and which facts replace others."""

    @abstractmethod
    def _read_facts(self) -> tuple[Sequence[StateRow[K]], Sequence[Ruling]]:
        """All facts that decide about the slots, and what users said of them.

        These are all facts of the slots, those that replace others of the families, and of the
        facts themselves those without a slot that a user ruled on.
        """

    @abstractmethod
    def _write(self, standings: Mapping[K, Standing]) -> None:
        """Store new standings."""


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
        by_slot.setdefault((row.holder, base_slot(row.slot)), []).append(row)
        if row.replaces and "|" in row.slot:
            replacing.setdefault((row.holder, family(row.slot)), []).append(row)
    wanted = {(holder, base_slot(slot)) for holder, slot in slots}
    for holder, slot in sorted(wanted & by_slot.keys(), key=repr):
        own = by_slot[holder, slot]
        others = replacing.get((holder, family(slot)), []) if "|" in slot else []
        yield [*own, *(row for row in others if row.slot != slot)], own
