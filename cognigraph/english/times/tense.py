"""Decide whether a time expression lies in the past or the future, by the tense of nearby verbs."""

from __future__ import annotations

from collections.abc import Sequence

from cognigraph.english import verbs
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set

_AHEAD = verbs.MODALS | word_set("hope hopes wish wishes plan plans soon upcoming going")
_WEAK = word_set("planning hoping looking excited coming wait upcoming soon going")
_PRESENT = word_set("am is are has have 's do does")
_ARRANGED = word_set(
    """signed booked scheduled planned registered invited promised reserved enrolled agreed
    enroled arranged set entered"""
)
"""Arrangements made in the past usually concern the future: "signed up for the race on June 29"."""
_RESCHEDULING = word_set(
    """move shift shifted push delay slip slipped postponed rescheduled reschedule postpone change
    bring extend extended"""
)
"""Verbs with which "to" and a date give a new date, which lies ahead: "slipped to January"."""
_WAS = word_set("was were had did been")
_WHO = word_set("i we they you who")


def tense_at(tokens: Sequence[Token], index: int) -> int:
    """Return -1 if the expression at ``index`` is past, 1 if future, 0 if it may be either.

    The nearest verb before the expression decides, then the nearest one after it.
    """
    before = tokens[index - 1].low if index else ""
    if before == "since":
        return -1
    if before in ("to", "until", "till") and any(
        _reschedules(token.low) for token in tokens[:index]
    ):
        return 1
    if before == "by" and not any(token.low in _WAS for token in tokens[:index]):
        return 1
    for at in (*range(index - 1, -1, -1), *range(index + 1, len(tokens))):
        told = _told(tokens, at)
        if told is not None:
            return told
    if any(_ahead(token.low) for token in tokens):
        return 1
    open_ = verbs.is_ing(tokens[0].low) or any(token.low == "'s" for token in tokens[:index])
    return 0 if open_ else -1


def _reschedules(low: str) -> bool:
    found = verbs.guess_verb(low)
    return found is not None and (found.base in _RESCHEDULING or low in _RESCHEDULING)


def _ahead(low: str) -> bool:
    """Weaker signs of the future: "planning a trip in May", "the course runs from May to July"."""
    found = verbs.known_verb(low) or verbs.known_verb(low.removeprefix("re"))
    return low in _WEAK or (found is not None and found.form == "s")


def _told(tokens: Sequence[Token], index: int) -> int | None:
    low = tokens[index].low
    before = tokens[index - 1].low if index else ""
    following = tokens[index + 1].low if index + 1 < len(tokens) else ""
    if low == "going":
        return None if before in _WAS else 1
    if low == "coming" and following == "up":
        return 1
    if low == "got" and before in ("has", "have", "'s"):
        return 1
    if low == "may" and tokens[index].text[0].isupper():
        return None
    if low in _AHEAD:
        return 1
    if low in _WAS:
        return -1
    if low in _ARRANGED and (low != "signed" or following == "up"):
        return 0
    if verbs.is_past(low):
        return None if before in _PRESENT and before not in ("has", "have", "'s") else -1
    if low in _PRESENT:
        return _present(low, following)
    found = verbs.known_verb(low)
    if found is not None and found.form == "base" and _did(tokens, index):
        return -1
    present = found is not None and (
        (found.form == "base" and (before in _WHO or before.endswith("s")))
        or (found.form == "s" and verbs.verb_only(low))
    )
    return 1 if present else None


def _did(tokens: Sequence[Token], index: int) -> bool:
    """Return whether "did" precedes the subject: "did I say", "did the two of them go"."""
    return any(token.low == "did" for token in tokens[max(index - 5, 0) : index])


def _present(low: str, following: str) -> int | None:
    """Read the present tense with a date as the future, and the present perfect as the past."""
    if low == "'s":
        return 1 if following in ("on", "at", "in", "due", "from") else None
    if low in ("has", "have") and verbs.is_participle(following):
        return -1
    return 1
