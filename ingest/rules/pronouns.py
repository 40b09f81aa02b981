"""Pronoun resolution: which pronouns an entity allows, and which entity a pronoun refers to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cognigraph.english import words
from cognigraph.english.first_names import FIRST_NAMES, MEN, WOMEN
from cognigraph.english.verbs import is_ing
from cognigraph.english.words import word_set

_MASCULINE, _FEMININE = frozenset(("he", "him")), frozenset(("she", "her"))
_PLURAL, _SINGULAR = frozenset(("they", "them")), frozenset(("it",))
_MANY = word_set("kids children parents friends people men women")
_SUBJECT_FORM = {"him": "he", "them": "they", "her": "she"}


@dataclass(frozen=True, slots=True)
class Referent:
    """A recently mentioned entity. ``fits`` are the pronouns that can refer to it.

    A referent that is not ``solid`` (a phrase that is part of no fact) is never what a pronoun
    resolves to, but it makes a pronoun that fits it ambiguous.
    """

    name: str
    type: str
    fits: frozenset[str]
    solid: bool = True


def referent(name: str, type_: str, *, solid: bool = True) -> Referent:
    """Create a referent; the head of its name determines which pronouns can refer to it."""
    said = name.lower().split()
    if said and is_ing(said[0]):
        # An activity such as "cooking for many" is not "they".
        return Referent(name, type_, frozenset(), solid)
    breaks = (index for index, word in enumerate(said) if word in words.PREPOSITIONS)
    head = said[max(next(breaks, len(said)) - 1, 0)] if said else ""
    return Referent(name, type_, _fits(head, type_, said), solid)


def _by_first_name(first: str) -> frozenset[str]:
    if first in WOMEN:
        return _FEMININE
    return _MASCULINE if first in MEN else _FEMININE | _MASCULINE


def _fits(head: str, type_: str, said: Sequence[str]) -> frozenset[str]:
    first = said[0] if said else ""
    if type_ == "person":
        if head in _MANY or (len(said) > 1 and head.endswith("s") and first not in FIRST_NAMES):
            return _PLURAL
        gender = words.KIN.get(head, "")
        return {"f": _FEMININE, "m": _MASCULINE}.get(gender, _by_first_name(first))
    if type_ == "animal":
        return _FEMININE | _MASCULINE | _SINGULAR
    if type_ in ("time", "concept"):
        return frozenset()
    return _PLURAL if head.endswith("s") and not head.endswith("ss") else _SINGULAR


def resolve(pronoun: str, referents: Iterable[Referent]) -> Referent | None:
    """Return the referent that fits the pronoun; ``None`` if none fits or several do."""
    form = _SUBJECT_FORM.get(pronoun, pronoun)
    fitting = {item.name: item for item in referents if form in item.fits}
    only = next(iter(fitting.values())) if len(fitting) == 1 else None
    return only if only is not None and only.solid else None
