"""Read the verb group of a clause as a short relation ("am going to start" -> "will start")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cognigraph.english import verbs, words
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set

_NOT_MANNER = word_set(
    """family only fly rely apply supply reply early daily weekly monthly lovely friendly
    lonely silly"""
)
_AFTER_NO_PREPOSITION = word_set("well least last first all once")
_GET_DONE = word_set(
    "married engaged divorced promoted hired fired accepted rejected injured invited arrested sick"
)
_MOTION = word_set("go come get travel move return")
_NOT_VERB = (
    words.PREPOSITIONS
    | words.DETERMINERS
    | words.POSSESSIVES
    | words.PRONOUNS
    | words.CONJUNCTIONS
    | words.OBJECT_PRONOUNS
    | words.PARTICLES
    | words.SENTIMENT
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation; its object starts at token ``end``. ``main`` is the base of the main verb."""

    text: str
    end: int
    main: str
    modal: str = ""
    negated: bool = False
    copula: bool = False


@dataclass(slots=True)
class _Group:
    """The auxiliaries of a verb group read so far; ``place`` is the next token."""

    place: int
    negated: bool = False
    modal: str = ""
    do: str = ""
    perfect: bool = False
    be: str = ""


def is_manner(low: str) -> bool:
    """Return whether a word is an adverb: one in -ly or in the word list."""
    return low in words.ADVERBS or (len(low) > 4 and low.endswith("ly") and low not in _NOT_MANNER)


def read_relation(tokens: Sequence[Token], start: int, end: int) -> Relation | None:
    """Read the verb group that starts at ``start``; ``None`` if no verb is recognised there."""
    group = _auxiliaries(tokens, start, end)
    if group.negated and any(
        tokens[place].low in words.NEGATIONS and _low(tokens, place + 1, end) in ("just", "only")
        for place in range(start, min(end, start + 6))
    ):
        return None  # "is not just a job" does not deny that it is one
    if group.be:
        return _with_be(tokens, group, end)
    if group.place >= end:
        return None
    if group.modal in ("can", "could") and group.negated:
        low = tokens[group.place].low
        if low == "wait" and group.modal == "can":
            return _cannot_wait(tokens, group, end)
        if low in ("stand", "bear") and group.place + 1 < end:
            return Relation("hates" if group.modal == "can" else "hated", group.place + 1, "hate")
    text = _finite(tokens[group.place].low, group, tokens, end)
    if text is None:
        return None
    verb = verbs.guess_verb(tokens[group.place].low)
    base = verb.base if verb is not None else tokens[group.place].low
    return _chain(tokens, group.place + 1, end, text, base, group)


def _low(tokens: Sequence[Token], place: int, end: int) -> str:
    return tokens[place].low if place < end else ""


def _auxiliaries(tokens: Sequence[Token], place: int, end: int) -> _Group:
    group = _Group(place)
    while group.place < end:
        low, following = tokens[group.place].low, _content(tokens, group.place + 1, end)
        if low in words.NEGATIONS:
            group.negated = True
        elif low == "no" and following == "longer":
            group.negated = True
            group.place += 1
        elif low in verbs.MODALS:
            group.modal = low
        elif low in verbs.DO and verbs.known_verb(following) is not None:
            group.do = low
        elif (low in verbs.HAVE and (verbs.is_participle(following) or following == "been")) or (
            low == "'s" and following in ("been", "got")
        ):
            group.perfect = True
        elif low in verbs.BE or low == "'s":
            group.be = low if low != "'s" else "is"
        elif not (is_manner(low) and low not in ("both", "all")):
            break
        group.place += 1
    return group


def _content(tokens: Sequence[Token], place: int, end: int) -> str:
    """Return the next word that is neither an adverb nor a negation."""
    while place < end and (tokens[place].low in words.NEGATIONS or is_manner(tokens[place].low)):
        place += 1
    return _low(tokens, place, end)


def _cannot_wait(tokens: Sequence[Token], group: _Group, end: int) -> Relation | None:
    place = group.place + 1
    if _low(tokens, place, end) == "for":
        return Relation("looks forward to", place + 1, "look")
    if _low(tokens, place, end) != "to" or not _verb_like(_low(tokens, place + 1, end)):
        return None
    base = tokens[place + 1].low
    positive = _Group(group.place)
    return _chain(tokens, place + 2, end, f"looks forward to {verbs.ing_of(base)}", base, positive)


def _finite(low: str, group: _Group, tokens: Sequence[Token], end: int) -> str | None:
    """Return the main verb in the third person, in the tense and mood of its auxiliaries."""
    verb = verbs.guess_verb(low)
    if verb is None and not _verb_like(low):
        return None
    base = verb.base if verb is not None else low
    if group.modal:
        return f"{group.modal} {low}" if not group.perfect else None
    if group.do:
        return verbs.past_of(base) if group.do == "did" else verbs.third_person(base)
    if group.perfect:
        return "has" if low == "got" else verbs.simple_past(low)
    if verb is None:
        return low if low.endswith("s") else verbs.third_person(low)
    if verb.form == "base":
        return verbs.third_person(base)
    if verb.form == "ing":
        return f"is {low}"
    return verbs.simple_past(low) if verb.form == "part" else low


def _verb_like(low: str) -> bool:
    return low.isalpha() and low.isascii() and len(low) > 1 and low not in _NOT_VERB


def _verb_at(tokens: Sequence[Token], place: int, end: int) -> bool:
    """Return whether the token can be a verb; a name ("going to Lisbon") cannot."""
    return place < end and tokens[place].text[0].islower() and _verb_like(tokens[place].low)


def _takes_object(tokens: Sequence[Token], place: int, end: int) -> bool:
    """Return whether an object follows: in "go to see the doctor", but not "go to work on"."""
    following = _low(tokens, place + 1, end)
    named = place + 1 < end and tokens[place + 1].text[0].isupper()
    return (
        following in words.DETERMINERS
        or following in words.POSSESSIVES
        or following in words.OBJECT_PRONOUNS
        or named
    )


def _surely_verb(tokens: Sequence[Token], place: int, end: int) -> bool:
    """Return whether the token is a verb: in "ready to leave", but not "allergic to walnuts"."""
    found = verbs.known_verb(tokens[place].low)
    if found is not None:
        return found.form == "base"
    following = _low(tokens, place + 1, end)
    return following in words.DETERMINERS or following in words.POSSESSIVES


def _be_form(group: _Group) -> str:
    if group.modal:
        return f"{group.modal} be"
    if group.perfect:
        return "has been"
    return "was" if group.be in ("was", "were") else "is"


def _with_be(tokens: Sequence[Token], group: _Group, end: int) -> Relation:
    low, following = _low(tokens, group.place, end), _low(tokens, group.place + 1, end)
    second = _low(tokens, group.place + 2, end)
    be = _be_form(group)
    verb_ahead = following == "to" and _verb_at(tokens, group.place + 2, end)
    if verb_ahead and low in ("going", "about", "able"):
        return _going_to(tokens, group, end, be)
    if verbs.is_ing(low) and verbs.guess_verb(low) is not None and following != "'s":
        verb = verbs.guess_verb(low)
        base = verb.base if verb is not None else low
        return _chain(tokens, group.place + 1, end, f"{be} {low}", base, group)
    if verbs.is_participle(low) and following in words.PREPOSITIONS:
        return Relation(f"{be} {low} {following}", group.place + 2, low, group.modal, group.negated)
    adjective = low and low not in _NOT_VERB | {"part"} and low.isalpha()
    if adjective and verb_ahead and _surely_verb(tokens, group.place + 2, end):
        text = f"{be} {low} to {second}"
        return _chain(tokens, group.place + 3, end, text, second, group)
    if (adjective or low in ("part", "good", "bad", "new", "best")) and (
        following in words.RELATION_PREPOSITIONS
    ):
        return Relation(
            f"{be} {low} {following}", group.place + 2, low, group.modal, group.negated, copula=True
        )
    if low in words.PREPOSITIONS and following:
        return Relation(f"{be} {low}", group.place + 1, "be", group.modal, group.negated)
    return Relation(be, group.place, "be", group.modal, group.negated, copula=True)


def _going_to(tokens: Sequence[Token], group: _Group, end: int, be: str) -> Relation:
    kind, verb = tokens[group.place].low, tokens[group.place + 2].low
    if kind == "able":
        text = f"{'could' if be == 'was' else 'can'} {verb}"
    elif be == "was":
        text = f"was going to {verb}"
    else:
        text = f"will {verb}"
    return _chain(tokens, group.place + 3, end, text, verb, group)


def _chain(
    tokens: Sequence[Token], place: int, end: int, text: str, base: str, group: _Group
) -> Relation:
    """Extend the relation by an infinitive, a gerund, a particle and a preposition."""
    if base == "get" and _low(tokens, place, end) in _GET_DONE:
        base, text = tokens[place].low, f"{text} {tokens[place].low}"
        place += 1
    for _ in range(2):
        low, following = _low(tokens, place, end), _low(tokens, place + 1, end)
        if base not in verbs.CATENATIVE:
            break
        if (
            low == "to"
            and _verb_at(tokens, place + 1, end)
            and (base not in _MOTION or _takes_object(tokens, place + 1, end))
            and following not in verbs.FINITE_AUX - {"do", "have"}
        ):
            text, base, place = f"{text} to {following}", following, place + 2
        elif verbs.is_ing(low) and verbs.guess_verb(low) is not None and following != "'s":
            verb = verbs.guess_verb(low)
            text, base, place = f"{text} {low}", verb.base if verb else low, place + 1
        else:
            break
    while place < end and tokens[place].low in ("really", "just", "also", "even", "recently"):
        place += 1
    low = _low(tokens, place, end)
    if low in words.PARTICLES and (low not in ("home", "in", "on", "over", "around", "through")):
        text, place = f"{text} {low}", place + 1
        low = _low(tokens, place, end)
    if low in words.PREPOSITIONS and _low(tokens, place + 1, end) not in _AFTER_NO_PREPOSITION:
        text, place = f"{text} {low}", place + 1
    return Relation(text, place, base, group.modal, group.negated)
