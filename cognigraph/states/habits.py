"""Slots of habits and wishes: how often, how much, at what hour, and how an assistant answers.

========================================  ==================================================
a fact                                    its slot
========================================  ==================================================
"Ann runs three times a week"             ``runs|how often``
"Ann drinks four coffees a day"           ``drinks|coffee``, so that "coffee" alone is the same
"the standup is 9:30"                     ``hour``, apart from the day
"Ann always wants to answer in German"    ``language of answers``; likewise format, length, tone
"Ann always wants to use metric units"    ``units``
========================================  ==================================================
"""

from __future__ import annotations

import re

from cognigraph.english import verbs
from cognigraph.english.words import NUMBERS
from cognigraph.states.slot_table import Says

Told = tuple[str, Says, str]
"""Slot, holds or ends, and value."""

_NUMBER = rf"(?:\d+(?:[-–]\d+)?|{'|'.join(NUMBERS)})"
_EACH = r"(?:a|per|each|every) (?:day|week|month|year|night|morning|weekend)"
OFTEN = rf"(?:(?:once|twice|{_NUMBER} times) {_EACH}|daily|weekly|every (?:single )?day)"
"""How often something is done, as a regular expression."""
_OFTEN = re.compile(OFTEN)
_RATE = re.compile(
    rf"(?:(?:about|around|roughly|maybe) )?(?:{_NUMBER}|a few|several) "
    rf"(?:(?:cups?|glass(?:es)?|bottles?|packs?|cans?|pints?) of )?(?P<what>[a-z-]+) {_EACH}"
)
CLOCK = re.compile(
    r"(?:\d{1,2}[:.]\d\d|\d{1,2}(?=[ ap]))(?: ?[ap]\.?m\.?)?|noon|midnight|half past \w+"
    r"|(?:a )?quarter (?:past|to) \w+"
)
"""An hour as it is said."""
_ANSWERS = re.compile(
    r"(?:always )?wants (?:answers|to (?:answer|reply|respond|write|speak|talk|format)) in"
)
_LANGUAGES = (
    "english|german|french|spanish|italian|portuguese|dutch|flemish|swedish|norwegian|danish"
    "|finnish|polish|czech|russian|ukrainian|greek|turkish|arabic|hebrew|hindi|urdu|bengali"
    "|chinese|mandarin|cantonese|japanese|korean|vietnamese|thai|indonesian|malay|romanian"
    "|hungarian|bulgarian|croatian|serbian|slovak|catalan|latin|welsh|irish|swahili|persian|farsi"
)
_FORMATS = (
    r"(?:short |numbered |plain |flowing |full |simple )*(?:bullet points?|bullets|paragraphs?"
    r"|prose|sentences|tables?|lists?|markdown|plain text|text|json|html|latex|yaml)"
)
_KINDS = (
    (re.compile(rf"(?:{_LANGUAGES})"), "language of answers"),
    (re.compile(_FORMATS), "format of answers"),
)
_WANTED = (
    (
        re.compile(
            r"(?:short|shorter|brief|briefer|concise|terse|long|longer|detailed|in-depth|thorough)"
            r"(?:,? (?:and )?[a-z-]+)? (?:answers|replies|responses|explanations)"
        ),
        "length of answers",
    ),
    (
        re.compile(
            r"(?:an? )?(?:more )?(?:formal|informal|casual|friendly|professional|serious|playful"
            r"|neutral)(?: (?:and )?[a-z-]+)? (?:tone|style|answers|replies|language)"
        ),
        "tone of answers",
    ),
    (re.compile(r"(?:metric|imperial|si|us|american|us customary)(?: units?)?"), "units"),
    (re.compile(r"(?:degrees )?(?:celsius|fahrenheit|kelvin)"), "unit of temperature"),
)
_WANTS = re.compile(r"(?:always )?wants(?: (?:to use|to answer with|to reply with|in))?")


def answer_slot(object: str) -> str | None:
    """Return whether a language or a format of answers is named, as a slot."""
    return next((slot for words, slot in _KINDS if words.fullmatch(object)), None)


def told_of_habit(relation: str, object: str) -> Told | None:
    """Return what a relation and its object, in small letters, say of a habit or a wish."""
    if _ANSWERS.fullmatch(relation) and (slot := answer_slot(object)) is not None:
        return slot, "holds", object
    if _WANTS.fullmatch(relation):
        wanted = (slot for words, slot in _WANTED if words.fullmatch(object))
        slot = next(wanted, None)
        return None if slot is None else (slot, "holds", object)
    verb = verbs.known_verb(relation.partition(" ")[0])
    if verb is None or verb.form != "s":
        return None
    if _OFTEN.fullmatch(object):
        return f"{relation}|how often", "holds", object
    relation = re.sub(r" (?:about|around|roughly)$", "", relation)
    rate = None if " " in relation else _RATE.fullmatch(object)
    return None if rate is None else (f"{relation}|{_single(rate['what'])}", "holds", object)


def same_of_several(slot: str, one: str, other: str) -> bool:
    """Whether one of two values of such a slot is the thing alone: "coffee", "mysql"."""
    what = slot.partition("|")[2]
    return bool(what) and what in (one, other)


def _single(noun: str) -> str:
    """Return "coffee" for "coffees"; "cigarettes" are always several."""
    return noun[:-1] if noun in ("coffees", "teas", "beers", "wines", "sodas", "cokes") else noun
