"""Names of slots: which end of a fact one belongs to, and which slots belong together."""

from __future__ import annotations

from cognigraph.states.slot_table import NEVER_REPLACED

OBJECT_SIDE = "<"
"""A slot that begins with this is one of the fact's object: "Klara is Ann's boss"."""

VALUE = "value"
"""The slot of an attribute or a role: "Ann's rent is 9,000", "Ann's boss is Lars"."""


def in_one(slot: str) -> str:
    """Return one name for a slot of an entity, whichever end of a fact the entity is."""
    return slot.removeprefix(OBJECT_SIDE)


def both_sides(slot: str) -> tuple[str, ...]:
    """Return the slot and its twin, if it has one: a role is told from both ends of a fact."""
    return (VALUE, OBJECT_SIDE + VALUE) if in_one(slot) == VALUE else (slot,)


def family(slot: str) -> str:
    """Return the slots that a fact which ``replaces`` others shares with them: their prefix."""
    return slot.partition("|")[0] + "|"


def replaceable(slot: str) -> bool:
    """Whether what an extraction states to replace others may do so: not for likes, has, plays."""
    first = slot.partition("|")[0]
    return "|" in slot and first.split(" ")[0] not in NEVER_REPLACED and not first.startswith("is ")
