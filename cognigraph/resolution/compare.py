"""Decide whether two entities are the same, by their names, types and stated aliases. Pure.

A wrong merge is worse than a missed one, so an ambiguous pair is only *suspected* and stays
separate. :func:`relate` compares two entities by themselves. :func:`judge` also considers the
rest of the space, in the form of how many entities each of the two names could denote there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from cognigraph.resolution.name_forms import (
    COUNTED_TYPES,
    GENERIC_TYPES,
    NAME_TYPE,
    NameForm,
    acronym,
    block_keys,
    form,
    is_relational,
)

Verdict = Literal["same", "suspected"]

_PREFIXES = ("un", "non", "anti", "dis", "ex", "in", "im", "mis", "de", "counter", "pseudo")
_OPPOSITES = frozenset(
    frozenset(pair.split())
    for pair in (
        "like hate;love hate;like dislike;with without;pro anti;pre post;left right;north south;"
        "east west;northern southern;eastern western;upper lower;inner outer;old new;big small;"
        "male female;brother sister;mother father;mom dad;son daughter;husband wife;uncle aunt;"
        "nephew niece;buy sell;start end;start stop;win lose;hot cold;before after;more less;"
        "always never;accept reject;allow forbid;true false;positive negative"
    ).split(";")
)
_UNIQUE = frozenset(("person", "location"))
_ONE_NAME = "the same name; only one says what it names"
_GENDERED = ({"mr", "sir"}, {"mrs", "ms", "madam"})
_TYPO_SCORE = 90.0
_TYPO_TOTAL, _TYPO_WORD, _TYPO_FIRST_NAME = 10, 7, 8
_MIDDLE = 2
"""Letters at either end of a word that must agree: a differing ending is rarely a typing error."""


@dataclass(frozen=True, slots=True)
class EntityName:
    """An entity to compare; ``name`` and ``aliases`` are normalised.

    ``proper`` is whether its canonical spelling is that of a proper name.
    """

    uid: str
    name: str
    type: str
    aliases: frozenset[str] = frozenset()
    proper: bool = True


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """How two names are related, regardless of everything else in the space.

    ``reading_a`` identifies what the first name denotes according to this relation, if the name
    can denote several entities; None if it is unambiguous. ``reading_b`` is the same for the second
    name. ``likely`` is whether the relation suffices for a merge if neither name has another
    reading.
    """

    kind: str
    score: float
    likely: bool
    reason: str
    reading_a: str | None = None
    reading_b: str | None = None


def judge(relation: PairVerdict, readings_a: int = 1, readings_b: int = 1) -> Verdict:
    """Decide on a relation, given how many entities of the space either name could denote."""
    sides = ((relation.reading_a, readings_a), (relation.reading_b, readings_b))
    unambiguous = all(reading is None or count <= 1 for reading, count in sides)
    return "same" if relation.likely and unambiguous else "suspected"


def conflict(a: EntityName, b: EntityName) -> str | None:
    """Return why two entities cannot be the same, despite any evidence; None if they can."""
    if a.type != b.type and not {a.type, b.type} & GENERIC_TYPES and _untyped(a, b) is None:
        return f"their types differ ({', '.join(sorted((a.type, b.type)))})"
    one, other = form(a.name, a.type), form(b.name, b.type)
    if one.numbers != other.numbers:
        return "their numbers differ"
    if one.signs != other.signs:
        return "their signs differ"
    if one.negations != other.negations or _opposed(one, other):
        return "one denies or opposes the other"
    men, women = _GENDERED
    for first, second in ((one.titles, other.titles), (other.titles, one.titles)):
        if first & men and second & women:
            return "their titles differ"
    return None


def _untyped(a: EntityName, b: EntityName) -> PairVerdict | None:
    """Return how two entities of one name are related if only one says what it names.

    A generic type stands for any other. An "object" may stand for a person or a place only:
    products are often named as the company that makes them. What somebody is called is never the
    one who is called so.
    """
    if (
        a.type == b.type
        or a.name != b.name
        or a.proper != b.proper
        or NAME_TYPE in (a.type, b.type)
    ):
        return None
    generic = a.type in GENERIC_TYPES, b.type in GENERIC_TYPES
    if any(generic):
        vague, score = generic, 0.88
        if all(generic) or "object" in (a.type, b.type):
            # Neither says much, so neither stands in the way of a real type.
            return PairVerdict("untyped name", 0.8, True, _ONE_NAME)
    elif "object" in (a.type, b.type) and {a.type, b.type} & _UNIQUE and a.proper:
        vague, score = (a.type == "object", b.type == "object"), 0.9
    else:
        return None
    reading = b.type if vague[0] else a.type
    return PairVerdict(
        "untyped name", score, True, _ONE_NAME,
        reading if vague[0] else None, reading if vague[1] else None,
    )  # fmt: skip


def _opposed(one: NameForm, other: NameForm) -> bool:
    left, right = set(one.words) - set(other.words), set(other.words) - set(one.words)
    return any(
        frozenset((x, y)) in _OPPOSITES or any(longer == prefix + shorter for prefix in _PREFIXES)
        for x in left
        for y in right
        for shorter, longer in [sorted((x, y), key=len)]
    )


def relate(a: EntityName, b: EntityName) -> PairVerdict | None:
    """Return how the names of two entities are related, or None if they are not."""
    if a.uid == b.uid:
        return None
    relation = _relation(a, b)
    # Most pairs are unrelated, so the check for a conflict comes last.
    return relation if relation is not None and conflict(a, b) is None else None


def _relation(a: EntityName, b: EntityName) -> PairVerdict | None:
    one, other = form(a.name, a.type), form(b.name, b.type)
    if a.type != b.type:
        # Compare both names under the more specific of the two types.
        types = sorted((a.type, b.type), key=lambda type: type in GENERIC_TYPES)
        one, other = form(a.name, types[0]), form(b.name, types[0])
        meet = block_keys(a.name, a.type) & block_keys(b.name, b.type)
        if untyped := _untyped(a, b):
            return untyped
        if meet and one.singular and one.singular == other.singular:
            return PairVerdict("untyped", 0.3, False, "the same name, one without a real type")
        return None
    return (
        _variant(a, one, other)
        or _stated(a, b, one, other)
        or (_of_person(one, other, a.proper and b.proper) if a.type == "person" else None)
        or _slip(a.type, one, other)
        or _acronym(one, other)
    )


def _variant(a: EntityName, one: NameForm, other: NameForm) -> PairVerdict | None:
    if not one.squash:
        return None
    if one.squash == other.squash:
        if one.titles == other.titles or len(one.words) > 1:
            return PairVerdict("variant", 1.0, True, "the same name, written another way")
        untitled = not one.titles, not other.titles
        if not any(untitled):
            return PairVerdict("title", 0.85, False, "the same name under another title")
        return PairVerdict(
            "title", 0.9, True, "the same name with and without a title",
            _titled(other) if untitled[0] else None, _titled(one) if untitled[1] else None,
        )  # fmt: skip
    if a.type in COUNTED_TYPES and one.singular == other.singular:
        # An event is a single occurrence: "meetings" are not "the meeting".
        return PairVerdict("plural", 0.95, a.type != "event", "singular and plural")
    return None


def _titled(one: NameForm) -> str:
    return " ".join([*sorted(one.titles), one.squash])


def _stated(a: EntityName, b: EntityName, one: NameForm, other: NameForm) -> PairVerdict | None:
    if b.name in a.aliases or a.name in b.aliases:
        # The reading belongs to the name that could also denote somebody else: a relational name
        # ("Tom's sister"), else the shorter one, else the alias.
        alias_is_b = b.name in a.aliases
        if is_relational(a.name) != is_relational(b.name):
            alias_is_b = is_relational(b.name)
        elif len(one.words) != len(other.words):
            alias_is_b = len(other.words) < len(one.words)
        elif b.name in a.aliases and a.name in b.aliases:
            alias_is_b = a.name < b.name
        return PairVerdict(
            "stated", 0.97, True, "the text says that both names are meant",
            None if alias_is_b else other.squash, one.squash if alias_is_b else None,
        )  # fmt: skip
    return None


def _of_person(one: NameForm, other: NameForm, proper: bool) -> PairVerdict | None:
    if not (one.is_name and other.is_name):
        return None
    short, long = sorted((one, other), key=lambda own: (len(own.words), own.squash))
    reading_a = long.squash if short is one else None
    reading_b = long.squash if short is other else None
    if len(short.words) == 1 and 2 <= len(long.words) <= 3:
        if short.words[0] == long.words[0] and len(short.words[0]) > 1 and not short.titles:
            return PairVerdict(
                "first name", 0.85, proper, "first name and full name", reading_a, reading_b
            )
        return None
    if len(short.words) < 2 or one.words[-1] != other.words[-1]:
        return None
    firsts = sorted((one.words[0], other.words[0]), key=len)
    if len(firsts[0]) == 1 < len(firsts[1]) and firsts[1].startswith(firsts[0]):
        initialled = one if one.words[0] == firsts[0] else other
        meant = other if initialled is one else one
        return PairVerdict(
            "initial", 0.8, proper, "initial and full name",
            meant.squash if initialled is one else None,
            meant.squash if initialled is other else None,
        )  # fmt: skip
    if one.words[0] == other.words[0] and len(one.words) != len(other.words):
        return PairVerdict(
            "middle name", 0.75, False, "one has a middle name", reading_a, reading_b
        )
    return None


def _slip(type: str, one: NameForm, other: NameForm) -> PairVerdict | None:
    """Relate long names that differ by one edit (or swapped letters) in a single word."""
    if min(len(one.squash), len(other.squash)) < _TYPO_TOTAL - 1 or one.titles != other.titles:
        return None
    if len(one.words) != len(other.words):
        return None
    differing = [index for index, word in enumerate(one.words) if word != other.words[index]]
    if len(differing) != 1:
        return None
    index = differing[0]
    x, y = one.words[index], other.words[index]
    if min(len(x), len(y)) < 6 or OSA.distance(x, y, score_cutoff=1) > 1:
        return None
    score = fuzz.ratio(" ".join(one.words), " ".join(other.words))
    person = type == "person"
    needed = _TYPO_FIRST_NAME if person and index == 0 else _TYPO_WORD
    likely = (
        type in ("person", "organization", "location")
        and not (person and len(one.words) == 1)
        and min(len(x), len(y)) >= needed
        and min(len(one.squash), len(other.squash)) >= _TYPO_TOTAL
        and score >= _TYPO_SCORE
        and x[:_MIDDLE] == y[:_MIDDLE]
        and x[-_MIDDLE:] == y[-_MIDDLE:]
    )
    return PairVerdict(
        "slip", round(min(score / 100, 0.94), 3), likely, "spelled nearly alike",
        other.squash, one.squash,
    )  # fmt: skip


def _acronym(one: NameForm, other: NameForm) -> PairVerdict | None:
    short, long = sorted((one, other), key=lambda own: len(own.words))
    letters = acronym(short)
    if len(short.words) == 1 < len(long.words) and letters and letters == acronym(long):
        return PairVerdict("acronym", 0.6, False, "initials and full name")
    return None
