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
_NOT_QUITE = word_set("almost nearly hardly barely scarcely")
_CHANGE = word_set("drop arrive start stop become grow fall turn switch join leave")
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
    """The auxiliaries of a verb group read so far; ``index`` is that of the next token."""

    index: int
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
        tokens[index].low in words.NEGATIONS and _low(tokens, index + 1, end) in ("just", "only")
        for index in range(start, min(end, start + 6))
    ):
        return None  # "is not just a job" does not deny that it is one
    if any(tokens[index].low in _NOT_QUITE for index in range(start, min(end, group.index))):
        return None  # "I nearly quit" says that it did not happen
    if group.be:
        return _with_be(tokens, group, end)
    if group.index >= end:
        return None
    if group.modal in ("can", "could") and group.negated:
        low = tokens[group.index].low
        if low == "wait" and group.modal == "can":
            return _cannot_wait(tokens, group, end)
        if low in ("stand", "bear") and group.index + 1 < end:
            return Relation("hates" if group.modal == "can" else "hated", group.index + 1, "hate")
    text = _finite(tokens[group.index].low, group, tokens, end)
    if text is None:
        return None
    verb = verbs.guess_verb(tokens[group.index].low)
    base = verb.base if verb is not None else tokens[group.index].low
    return _chain(tokens, group.index + 1, end, text, base, group)


def _low(tokens: Sequence[Token], index: int, end: int) -> str:
    return tokens[index].low if index < end else ""


def _auxiliaries(tokens: Sequence[Token], index: int, end: int) -> _Group:
    group = _Group(index)
    while group.index < end:
        low, following = tokens[group.index].low, _content(tokens, group.index + 1, end)
        if low in words.NEGATIONS:
            group.negated = True
        elif low == "no" and following == "longer":
            group.negated = True
            group.index += 1
        elif low in verbs.MODALS:
            group.modal = low
        elif low in verbs.DO and verbs.known_verb(following) is not None:
            group.do = low
        elif (low in verbs.HAVE and (verbs.is_participle(following) or following == "been")) or (
            low == "'s" and (following in ("been", "got") or _is_intransitive(following))
        ):
            group.perfect = True
        elif low in verbs.BE or low == "'s":
            group.be = low if low != "'s" else "is"
        elif not (is_manner(low) and low not in ("both", "all")):
            break
        group.index += 1
    return group


def _is_intransitive(participle: str) -> bool:
    """Return whether "'s" before a participle means "has": "Anna's moved", not "is closed"."""
    found = verbs.guess_verb(participle)
    return found is not None and found.form != "ing" and found.base in _MOTION | _CHANGE


def _content(tokens: Sequence[Token], index: int, end: int) -> str:
    """Return the next word that is neither an adverb nor a negation."""
    while index < end and (tokens[index].low in words.NEGATIONS or is_manner(tokens[index].low)):
        index += 1
    return _low(tokens, index, end)


def _cannot_wait(tokens: Sequence[Token], group: _Group, end: int) -> Relation | None:
    index = group.index + 1
    if _low(tokens, index, end) == "for":
        return Relation("looks forward to", index + 1, "look")
    if _low(tokens, index, end) != "to" or not _verb_like(_low(tokens, index + 1, end)):
        return None
    base = tokens[index + 1].low
    positive = _Group(group.index)
    return _chain(tokens, index + 2, end, f"looks forward to {verbs.ing_of(base)}", base, positive)


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


def _verb_at(tokens: Sequence[Token], index: int, end: int) -> bool:
    """Return whether the token can be a verb; a name ("going to Lisbon") cannot."""
    return index < end and tokens[index].text[0].islower() and _verb_like(tokens[index].low)


def _takes_object(tokens: Sequence[Token], index: int, end: int) -> bool:
    """Return whether an object follows: in "go to see the doctor", but not "go to work on"."""
    following = _low(tokens, index + 1, end)
    named = index + 1 < end and tokens[index + 1].text[0].isupper()
    return (
        following in words.DETERMINERS
        or following in words.POSSESSIVES
        or following in words.OBJECT_PRONOUNS
        or named
    )


def _surely_verb(tokens: Sequence[Token], index: int, end: int) -> bool:
    """Return whether the token is a verb: in "ready to leave", but not "allergic to walnuts"."""
    found = verbs.known_verb(tokens[index].low)
    if found is not None:
        return found.form == "base"
    following = _low(tokens, index + 1, end)
    return following in words.DETERMINERS or following in words.POSSESSIVES


def _be_form(group: _Group) -> str:
    if group.modal:
        return f"{group.modal} be"
    if group.perfect:
        return "has been"
    return "was" if group.be in ("was", "were") else "is"


def _with_be(tokens: Sequence[Token], group: _Group, end: int) -> Relation:
    low, following = _low(tokens, group.index, end), _low(tokens, group.index + 1, end)
    second = _low(tokens, group.index + 2, end)
    be = _be_form(group)
    verb_ahead = following == "to" and _verb_at(tokens, group.index + 2, end)
    if verb_ahead and low in ("going", "about", "able"):
        return _going_to(tokens, group, end, be)
    if verbs.is_ing(low) and verbs.guess_verb(low) is not None and following != "'s":
        verb = verbs.guess_verb(low)
        base = verb.base if verb is not None else low
        return _chain(tokens, group.index + 1, end, f"{be} {low}", base, group)
    if verbs.is_participle(low) and following in words.PREPOSITIONS:
        return Relation(f"{be} {low} {following}", group.index + 2, low, group.modal, group.negated)
    adjective = low and low not in _NOT_VERB | {"part"} and low.isalpha()
    if adjective and verb_ahead and _surely_verb(tokens, group.index + 2, end):
        text = f"{be} {low} to {second}"
        return _chain(tokens, group.index + 3, end, text, second, group)
    if (adjective or low in ("part", "good", "bad", "new", "best")) and (
        following in words.RELATION_PREPOSITIONS
    ):
        return Relation(
            f"{be} {low} {following}", group.index + 2, low, group.modal, group.negated, copula=True
        )
    if low in words.PREPOSITIONS and following:
        return Relation(f"{be} {low}", group.index + 1, "be", group.modal, group.negated)
    return Relation(be, group.index, "be", group.modal, group.negated, copula=True)


def _going_to(tokens: Sequence[Token], group: _Group, end: int, be: str) -> Relation:
    kind, verb = tokens[group.index].low, tokens[group.index + 2].low
    if kind == "able":
        text = f"{'could' if be == 'was' else 'can'} {verb}"
    elif be == "was":
        text = f"was going to {verb}"
    else:
        text = f"will {verb}"
    return _chain(tokens, group.index + 3, end, text, verb, group)


def _chain(
    tokens: Sequence[Token], index: int, end: int, text: str, base: str, group: _Group
) -> Relation:
    """Extend the relation by an infinitive, a gerund, a particle and a preposition."""
    if base == "get" and _low(tokens, index, end) in _GET_DONE:
        base, text = tokens[index].low, f"{text} {tokens[index].low}"
        index += 1
    for _ in range(2):
        low, following = _low(tokens, index, end), _low(tokens, index + 1, end)
        if base not in verbs.CATENATIVE:
            break
        if (
            low == "to"
            and _verb_at(tokens, index + 1, end)
            and (base not in _MOTION or _takes_object(tokens, index + 1, end))
            and following not in verbs.FINITE_AUX - {"do", "have"}
        ):
            text, base, index = f"{text} to {following}", following, index + 2
        elif verbs.is_ing(low) and verbs.guess_verb(low) is not None and following != "'s":
            verb = verbs.guess_verb(low)
            text, base, index = f"{text} {low}", verb.base if verb else low, index + 1
        else:
            break
    while index < end and tokens[index].low in ("really", "just", "also", "even", "recently"):
        index += 1
    low = _low(tokens, index, end)
    if low in words.PARTICLES and (low not in ("home", "in", "on", "over", "around", "through")):
        text, index = f"{text} {low}", index + 1
        low = _low(tokens, index, end)
    if low in words.PREPOSITIONS and _low(tokens, index + 1, end) not in _AFTER_NO_PREPOSITION:
        text, index = f"{text} {low}", index + 1
    return Relation(text, index, base, group.modal, group.negated)
