"""Decide whether a time expression lies in the past or the future, by the verbs near it.

A tense has a direction (-1 past, 1 future, 0 either) and a certainty:

- ``CERTAIN``: "will", "is leaving", "starts", "moved". It dates every expression.
- ``LIKELY``: "can", "call me", "have a class". It dates weekdays, but not "in May": "visit in May"
  is advice for any year.
- ``WEAK``: other forms of the present. It dates "on 3 May", but not "on Friday": "teaches on
  Friday" is a habit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cognigraph.english import verbs
from cognigraph.english.sentences import Token
from cognigraph.english.words import ADVERBS, word_set

WEAK, LIKELY, CERTAIN = 1, 2, 3


class Tense(NamedTuple):
    """-1 for the past, 1 for the future, 0 for either; and how certain the words make it."""

    direction: int
    certainty: int


UNKNOWN = Tense(0, 0)
_PAST = Tense(-1, CERTAIN)
_OPEN = Tense(0, CERTAIN)
_FUTURE = Tense(1, CERTAIN)
_LIKELY = Tense(1, LIKELY)
_PRESENT = Tense(1, WEAK)

_SCHEDULED = word_set(
    """start begin open reopen close end finish leave depart arrive fly move land launch resume
    return expire renew graduate retire"""
)
"""Verbs whose present tense is a plan: "the course starts in May"."""
ARRANGED = word_set(
    """booked scheduled planned reserved set expected signed registered enrolled invited slated
    postponed moved delayed extended rescheduled pushed due arranged promised agreed"""
)
"""Arrangements made in the past concern the future: "booked for Friday", "is planned for May"."""
_AGREED = word_set("agreed settled signed registered enrolled invited entered booked planned")
"""Verbs of the past after which a date may lie ahead: "agreed on 5 May", "signed up for"."""
RESCHEDULING = word_set(
    """move moves moved moving shift shifts shifted push pushes pushed delay delayed slip slips
    slipped postpone postpones postponed postponing reschedule rescheduled change changed bring
    brought extend extended"""
)
"""Verbs with which "from ... to ..." gives an old date and a new one."""
_SPOKEN = word_set(
    """said told mentioned discussed suggested asked heard reminded announced confirmed noted talked
    thought wrote emailed texted considered proposed recommended"""
)
"""Verbs of which the object may have a time of its own: "mentioned the meeting on Friday"."""
_TOLD = word_set("me you him her us them it i we on in at this last next that")
_DID = word_set("went came got used had began started managed tried forgot left drove happened")
_ONCE = word_set("once when after until unless if")
_MOVABLE = word_set("me it us them the my our this that")
"""What is moved to another date; "we moved to Graz" is a move."""
_GOING = word_set("going supposed planned scheduled meant expected to")
_WILL = word_set("will shall upcoming")
_CAN = word_set("can could should would might must")
_WANT = word_set("need needs want wants plan plans hope hopes intend intends")
_BE = word_set("am is are 's")
_HAVE = word_set("have has 's")
_WHO = word_set("i we you they who he she it")
_ADDRESSED = word_set("please pls us and then so just also kindly let")
_BEFORE_NOUN = word_set("the a an my your his her our their this that these those no any some of")
_BREAKS = word_set(", ; : ( ) - – — and but so because when while if that which who where or then")
_WALLS = word_set('; : ( ) - – — * | / [ ] > # • " “ ”')
"""Between these, nothing tells about the tense of what is on the other side."""
_SKIPPED = ADVERBS | word_set("not never")


def tense_of(tokens: Sequence[Token], start: int, end: int) -> Tense:
    """Return the tense at the expression ``[start, end)``.

    The verbs of its clause decide: the nearest before it, else the first after it. Without any,
    those of the clauses before it, then those after it, up to a colon or a dash.
    """
    lows = [token.low for token in tokens]
    if "if" in lows and ("had" in lows or "were" in lows):
        return _OPEN  # "if I had left on Monday"
    left, right = _within(lows, start, end, _BREAKS | _WALLS)
    first, last = _within(lows, start, end, _WALLS)
    for at in (
        *range(start - 1, left - 1, -1), *range(end, right),
        *range(left - 1, first - 1, -1), *range(right, last),
    ):  # fmt: skip
        if tokens[at].kind != "word" or (told := _told(tokens, lows, at, start)) is None:
            continue
        fronted = start == left and (end <= at < right or lows[end : end + 1] == [","])
        if left <= at < start or (fronted and at >= end):
            return told
        if told.direction >= 0:
            return told._replace(certainty=min(told.certainty, LIKELY))
        # "The flight on 12 June was confirmed": what was done to it is not when it is.
        tied = end <= at < right and not verbs.is_participle("".join(lows[at + 1 : at + 2]))
        return told._replace(certainty=LIKELY) if tied else UNKNOWN
    return UNKNOWN


def _within(lows: list[str], start: int, end: int, marks: frozenset[str]) -> tuple[int, int]:
    """Return the stretch around an expression up to the nearest of some marks."""
    first = next((at + 1 for at in range(start - 1, -1, -1) if lows[at] in marks), 0)
    return first, next((at for at in range(end, len(lows)) if lows[at] in marks), len(lows))


def _told(tokens: Sequence[Token], lows: list[str], at: int, start: int) -> Tense | None:
    """Return what the word tells about the tense; ``None`` if it is not a verb or not finite."""
    low = lows[at]
    after = next((word for word in lows[at + 1 : at + 4] if word not in _SKIPPED), "")
    if low in _WILL:
        return _FUTURE
    if low == "due":
        return _PAST if {"was", "were"} & set(lows[max(at - 2, 0) : at]) else _FUTURE
    if low in _CAN or (low == "may" and tokens[at].text == "may"):
        return _OPEN if "have" in lows[at + 1 : at + 4] else _LIKELY
    if low in _WANT and after == "to":
        return _FUTURE
    if low in ("was", "were"):
        return _OPEN if after in _GOING else _PAST
    if low in ("did", "had"):
        return _PAST
    if low in ("have", "has"):
        if _ONCE & set(lows[max(at - 4, 0) : at]):
            return _OPEN  # "once you have had the session on Friday"
        return _have(after)
    if low in _BE and not (at and lows[at - 1][-1:].isdigit()):  # "10 am"
        return _be(lows, at, after, start)
    return _verb(lows, at, start)


def _have(after: str) -> Tense:
    if after == "got":
        return _LIKELY
    if after == "been" or verbs.is_participle(after):
        return _PAST
    return _LIKELY if after in ("a", "an", "another", "to") else _PRESENT


def _be(lows: list[str], at: int, after: str, start: int) -> Tense | None:
    if lows[at] == "'s" and not (
        after in ("on", "at", "in", "due", "from", "going", "been") or verbs.is_ing(after)
    ):
        return None  # a possessive
    if after == "been":
        return _PAST
    if verbs.is_ing(after) or after in ARRANGED:
        return _FUTURE
    adjacent = all(word in _SKIPPED for word in lows[at + 1 : start])
    spoken = lows[at] == "am" or (at > 0 and lows[at - 1] == "we")
    return _LIKELY if adjacent or spoken else _PRESENT


def _verb(lows: list[str], at: int, start: int) -> Tense | None:
    """Return the tense of a full verb, which its auxiliaries decide where it has any."""
    low, before = lows[at], lows[at - 1] if at else ""
    found = verbs.guess_verb(low)
    if found is None and low.removesuffix("s") in _SCHEDULED:
        found = verbs.Verb(low.removesuffix("s"), "s" if low.endswith("s") else "base")
    if found is None or before in _BEFORE_NOUN:
        return None
    helpers = set(_helpers(lows, at))
    if helpers & _WILL:
        return _FUTURE
    if found.form == "ing":
        if helpers & {"was", "were", "been"}:
            return _PAST
        if before in _SPOKEN:
            return _OPEN
        ahead = at == 0 and (found.base in _SCHEDULED or low in ("going", "coming", "getting"))
        return _FUTURE if helpers & _BE or ahead else None
    if found.form in ("past", "part"):
        if low == "got" and helpers & _HAVE:
            return _LIKELY  # "I've got a review in May"
        if low in _SPOKEN and any(word not in _TOLD for word in lows[at + 1 : start]):
            return _OPEN  # "you mentioned the meeting on Friday"
        if helpers & {"been", "have", "has", "had"}:
            return _PAST
        if helpers & {"was", "were"}:
            return _OPEN if low in ARRANGED | _GOING else _PAST
        if helpers & _BE or "be" in helpers:
            return _FUTURE if low in ARRANGED else _PRESENT
        if low in ("agreed", "settled") and at + 1 == start:
            return _FUTURE
        if low in _AGREED and "".join(lows[at + 1 : at + 2]) in ("up", "for", "to", "in"):
            return _OPEN
        if low in RESCHEDULING and (low != "moved" or _MOVABLE & set(lows[at + 1 : at + 2])):
            return _OPEN
        return _PAST if found.form == "past" else None
    scheduled = found.base in _SCHEDULED
    if found.form == "s":
        sure = verbs.verb_only(low) or scheduled
        return (_FUTURE if scheduled else _PRESENT) if sure and before not in verbs.BE else None
    if before == "to" and _governed(lows, at - 1):
        return _OPEN
    if before == "to" or helpers & (verbs.MODALS | verbs.DO):
        return None  # the verb before it decides
    if before in _WHO:
        if verbs.past_of(found.base) == low:
            return _OPEN  # "I put it", "I read it": past or present
        return _FUTURE if scheduled else _PRESENT
    if at == 0 or before in _ADDRESSED or before in _BREAKS:
        if before == "and" and scheduled:
            return _FUTURE
        return _LIKELY
    return None


def _governed(lows: list[str], to: int) -> bool:
    """Return whether an infinitive tells what was to come: "agreed to give a talk on Friday"."""
    governor = next((low for low in reversed(lows[max(to - 3, 0) : to]) if low not in _TOLD), "")
    found = verbs.guess_verb(governor)
    past = found is not None and found.form in ("past", "part")
    return past and governor not in _DID


def _helpers(lows: list[str], at: int) -> Iterator[str]:
    """Yield the auxiliary verbs before a verb, over adverbs and the subject of a question."""
    for before in range(at - 1, max(at - 5, -1), -1):
        low = lows[before]
        if low in verbs.FINITE_AUX or low in ("be", "been", "being", "'s"):
            yield low
        elif low not in _SKIPPED and low not in _WHO:
            return
