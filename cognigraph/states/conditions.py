"""Slots of plain words: what somebody uses, eats, or in what state a thing is."""

from __future__ import annotations

import re

from cognigraph.english import verbs
from cognigraph.english.words import word_set
from cognigraph.states.kinds import kind_named, kind_of
from cognigraph.states.slot_table import Says

DIETS = word_set(
    """vegan vegetarian pescatarian pescetarian flexitarian omnivore carnivore keto paleo
    gluten-free lactose-free dairy-free plant-based low-carb halal kosher"""
)
STATUSES = frozenset(
    """in review|under review|review|in progress|progress|on hold|in testing|testing|in staging
    |staging|in production|production|in qa|qa|in design|in beta|beta|in development|blocked|open
    |reopened|closed|merged|done|finished|complete|completed|deployed|live|shipped|released|fixed
    |resolved|paid|unpaid|approved|rejected|cancelled|canceled|pending|paused|signed|submitted|sold
    |archived|deprecated|stable|broken|delayed|delivered|published|abandoned|overdue|draft|a draft
    |up and running|back up|down|offline|online|stuck|unblocked|not started|in the works|accepted"""
    .replace("\n    ", "").split("|")
)  # fmt: skip
"""States of a thing of which it has one at a time."""
_USING = {
    "uses": "", "is using": "", "drives": "car", "rides": "", "runs on": "", "relies on": "",
    "works with": "", "is with": "",
}  # fmt: skip
"""Relations of using something -> its kind, where the relation tells it."""
_LEADING = re.compile(r"^(?:(?:the|an?|my|our|new|old|used) )+|^(?:19|20)\d\d (?=\w)")
_AS = re.compile(
    r"(?P<what>.+) as (?:(?:my|our|the|his|her|their|an?|\S+['’]s) )?(?P<noun>[\w -]+)"
)
_EATEN = {"meat": "omnivore", "fish": "pescatarian", "chicken": "omnivore"}

_NOT_NOW = verbs.MODALS | word_set("was were had did been")
_NO_STATE = word_set("mentions says thinks seems looks sounds feels means goes comes gets makes")

Told = tuple[str, Says, str, bool]
"""Slot, holds or ends, value, and whether it is a change."""


def is_present(relation: str) -> bool:
    """Return whether a relation tells what is so, as far as that can be told.

    One that begins with no English verb is taken to do so: it may be in any language.
    """
    first = relation.split(" ")[0]
    verb = verbs.known_verb(first)
    if verb is None or first in ("is", "are", "has"):
        return first not in _NOT_NOW
    return verb.form == "s" and first not in _NO_STATE


def use(relation: str, object: str) -> tuple[str, str] | None:
    """Return the name and the kind of what is used, "" if unknown; ``None`` for no use."""
    if relation not in _USING:
        return None
    as_kind = _AS.fullmatch(object)
    said = object if as_kind is None else as_kind["what"]
    name = used_name(said)
    noun = None if as_kind is None else kind_named(as_kind["noun"])
    kind = noun or kind_of(name) or _USING[relation]
    if relation in ("works with", "is with", "relies on", "rides") and not kind:
        return None
    return name, kind


def used_name(said: str) -> str:
    """Return a name without an article and a year: "a 2012 Corolla"."""
    name = said
    while (shorter := _LEADING.sub("", name, count=1)) != name and shorter:
        name = shorter
    return name


def unversioned(name: str) -> str:
    """Return a name without a version: "mysql" for "mysql 8"."""
    return re.sub(r" v?\d[\d.]*(?: lts)?$", "", name)


def told_of_condition(relation: str, object: str, *, person: bool) -> Told | None:
    """Return what "is vegan" and "is in review" say."""
    value = object.removeprefix("a ").removeprefix("an ")
    diet = value.removesuffix(" diet")
    if person and diet in DIETS and relation in ("is", "became", "follows", "is on"):
        return "diet", "holds", diet, relation == "became"
    if person and relation in ("resumed eating", "started eating") and object in _EATEN:
        return "diet", "holds", _EATEN[object], True
    if not person and relation in ("is", "is in", "is on", "is under") and object in STATUSES:
        return "status", "holds", object, False
    return None
