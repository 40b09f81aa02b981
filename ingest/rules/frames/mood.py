"""Which sentences state nothing of what is: wishes, plans, conditions, questions, fiction, jokes.

A frame reads a whole sentence at a glance, so it asks more than the clause reader: where any word
of a sentence makes it doubtful whether something *is* so, no frame is read in it.
"""

from __future__ import annotations

import re

from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set

_UNREAL = word_set(
    """if unless whether could would might may maybe perhaps possibly wish hope hoping hopefully
    want wants wanted dream dreamed dreamt dreaming imagine imagining pretend pretending suppose
    supposing considering consider tempted someday eventually joke joking jokes kidding lol haha
    hahaha jk offered offers offer suggests suggested recommends recommended rumour rumor rumours
    rumors allegedly supposedly thinks thought said says told claims claimed heard hear reckons
    almost nearly tried trying try planning plan plans hypothetically fictional novel book story
    movie film series episode character narrator protagonist song lyrics poem game roleplay
    translate translation quote quoted sentence phrase example fantasy literally basically
    should shall probably likely ought guess guessing unsure debating wondering wonder asked
    asks asking toying talked talking rather unlike pictured envy fancy goal aim target aiming
    convinced daydream daydreaming prank fool fools interviewed interviewing applied applying
    application_for recruiter recruiters headhunter used nonsense"""
) - {"literally", "basically", "rather", "plan", "plans", "offer", "eventually", "story", "game"}
_FUTURE = re.compile(
    r"\b(?:going to|gonna|will|shall|about to|next (?:year|month|summer)|need to|needs to|have to"
    r"|has to|must|had to|let us|let 's|what if|one day|some day|in theory|in my dreams|as a (?:kid"
    r"|child|student|teen|teenager)|back then|back when|in the past|for (?:a|one|two|the) (?:week"
    r"|weeks|weekend|day|days|month|months|night|couple)|for now|this week|on holiday|on vacation"
    r"|on a trip|for (?:lent|ramadan|advent|january|february|march|april|june|july"
    r"|august|september|october|november|december|dry january)"
    r"|visiting|temporarily|until|till|for (?:a|the|my) (?:conference|visit|trip|meeting"
    r"|holiday|wedding|interview|course|workshop)|house ?-?sitting|staying with|years ago)\b"
)
_ANNOUNCED = re.compile(
    r"\b(?:moved|pushed|extended|postponed|delayed|set|rescheduled|put|brought|shifted|changed"
    r"|slipped|bumped)\b.* (?:to|until|till) "
)
_EXACT = re.compile(r"\b(?:as of|from|starting|effective)\b")


def asserts(tokens: tuple[Token, ...]) -> bool:
    """Return whether a sentence may say what is so."""
    lows = [
        "" if token.text == "May" and index else token.low for index, token in enumerate(tokens)
    ]  # the month
    if lows[:2] == ["guess", "what"]:
        lows = lows[2:]
    if any(token.kind == "quoted" or token.text in '"“”' for token in tokens):
        return False
    if "?" in lows or any(low in _UNREAL for low in lows):
        return "used" in lows and _is_usage(lows) and not set(lows) & (_UNREAL - {"used"})
    text = " ".join(lows)
    if (found := _FUTURE.search(text)) is None:
        return True
    if found.group() in ("until", "till"):
        return _ANNOUNCED.search(text) is not None
    return found.group() == "will" and _EXACT.search(text) is not None


def _is_usage(lows: list[str]) -> bool:
    """Whether "used" is no "used to"."""
    return all(lows[at + 1 : at + 2] != ["to"] for at, low in enumerate(lows) if low == "used")
