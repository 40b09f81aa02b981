"""The values of frames: their patterns by class, which texts fit, and how they are named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from cognigraph.english import words
from cognigraph.english.times.find import TimeSpan
from cognigraph.english.words import NUMBERS, word_set
from cognigraph.ingest.rules.frames.lexicon import WORDS
from cognigraph.states.habits import OFTEN
from cognigraph.states.kinds import KIND_NOUNS, kind_of
from cognigraph.states.slot_table import ATTRIBUTES, ROLES, TITLES

_EVENTS = (
    "appointment|meeting|interview|exam|flight|train|call|demo|checkup|check-up|wedding|dinner"
    "|lunch|party|session|class|lesson|review|presentation|surgery|operation|delivery|launch"
    "|release|trip|conference|viewing|test|audit|deadline|hearing|tour|concert|race|marathon|game"
    "|move|workshop|webinar|standup|stand-up|scrum|retro|retrospective|sync|kickoff|kick-off"
    "|go-live|migration|shift|rehearsal|practice|lecture|seminar|check-in|one-on-one|all-hands"
)
_DOING = {
    "launching": "launch", "releasing": "release", "shipping": "release", "moving": "move",
    "flying": "flight", "getting married": "wedding", "marrying": "wedding", "meeting": "meeting",
    "presenting": "presentation", "going live": "launch", "leaving": "departure",
    "starting": "start", "opening": "opening", "deploying": "deployment", "travelling": "trip",
    "traveling": "trip", "meet": "meeting", "meets": "meeting", "playing": "game",
    "demoing": "demo", "recording": "recording",
}  # fmt: skip
"""What is done on a day -> the event."""
_SPORTS = (
    "work out|run|swim|cycle|jog|train|exercise|meditate|climb|row|hike|ski|dance|journal|skate"
    "|surf|practise|practice|stretch|bike"
)
_COUNT = rf"(?:\d+|{'|'.join(NUMBERS)})"
GROUPS: dict[str, str] = {
    **WORDS,
    "ORG": WORDS["NAMED"],
    "TOOL": WORDS["NAMED"],
    "JOBTITLE": WORDS["JOB"],
    "ANYTHING": (
        r"(?:(?:the|our|my|his|her|a|an) )?(?:[a-z0-9-]+ ){0,2}?"
        rf"(?:{WORDS['NAMED']}|[a-z][\w-]+)"
    ),
    "PLAN": r"[A-Za-z][\w+-]*",
    "VERSION": r"v?\d+(?:\.\d+)*|[A-Z][\w.]*(?: \d[\d.]*)+",
    "NOUN": r"[a-z][\w-]+(?: [a-z][\w-]+)?",
    "AGE": rf"\d{{1,3}}|{'|'.join(word for word, count in NUMBERS.items() if count > 1)}",
    "FOOD": "meat|fish|dairy|gluten|eggs|sugar|cheese|chicken",
    "EVENT": rf"(?:[a-z][\w-]+ ){{0,3}}(?:{_EVENTS})",
    "MARITAL": "single|divorced|widowed|separated|engaged|married",
    "HAPPENING": rf"(?:the|our|my|this) (?:[a-z][\w-]+ ){{0,3}}?(?:{_EVENTS})",
    "DOING_EVENT": "|".join(_DOING),
    "DWELLING": "(?:flat|apartment|house|room|place|studio|condo)",
    "EACH": "(?:a|per|each|every) (?:month|week|year)",
    "ROLE": r"(?:[a-z]+ ){0,2}?(?:" + "|".join(sorted(ROLES)) + ")",
    "FAVOURITE": r"favou?rite (?:[a-z]+ ){0,2}?[a-z]+",
    "ATTRIBUTE": r"(?:[a-z]+ ){0,2}?(?:" + "|".join(sorted(ATTRIBUTES)) + ")",
    "OFTEN": OFTEN,
    "DRINKS": rf"{_COUNT} (?:coffees?|beers?|teas?|cups? of [a-z]+|glass(?:es)? of [a-z]+) a day",
    "SMOKES": rf"{_COUNT} (?:cigarettes?|packs?) a day",
    "MEET": "meets?",
    "SPORT": rf"(?:{_SPORTS})s?|works out",
    "VENUE": "(?:the )?(?:gym|pool|church|yoga|therapy|physio|library|sauna|mosque|synagogue|spa)",
    "SPORTING": r"[a-z]{2,}ing",
    "WEEKDAYS": (
        r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
        r"(?: (?:mornings?|afternoons?|evenings?|nights?))?"
    ),
    "KIND": "|".join(sorted(KIND_NOUNS, key=len, reverse=True)),
}  # fmt: skip
"""The classes of values, as regular expressions."""

_END = (
    r"(?= *(?:$|[,;:.!?()–—](?!\d)|-(?: |$)|⟦\d+⟧|\b(?:and|but|so|because|since|as|after|when|while"
    r"|for|with|which|who|until|due|thanks|at|in|on|from|via|every|each|by|if|though|although|cause"
    r"|where|who|before|plus|or|again|there|here|per|twice|once|daily|yesterday|today|this)\b))"
)
_NO_PERSON = word_set(
    """i we he she they it the a an this that there my our his her today yesterday tomorrow monday
    tuesday wednesday thursday friday saturday sunday god ok okay yes no hi hey thanks sorry please
    everyone everybody nobody somebody people who what when where why how guess new rent legal
    mondays tuesdays wednesdays thursdays fridays saturdays sundays weekend weekends
    january february march april may june july august september october november december"""
)


def boundary() -> str:
    """Return what must follow a frame: the end of the clause, or a word that adds to it."""
    return _END


def valid(name: str, text: str, types: Mapping[str, str]) -> bool:
    """Return whether the text of a value fits its name."""
    check = _CHECKS.get(name)
    return check is None or check(text, types)


def _is_person(text: str, types: Mapping[str, str]) -> bool:
    low = text.lower()
    if low in _NO_PERSON or low.split(" ")[0] in _NO_PERSON:
        return False
    return types.get(text, "person") in ("person", "object", "organization", "location") and (
        kind_of(text) is None
    )


def _is_who(text: str, types: Mapping[str, str]) -> bool:
    low = text.lower()
    if low in ("i", "we", "he", "she") or low.startswith(("my ", "our ")):
        return True
    return low.split(" ")[0] not in _NO_PERSON and types.get(text, "object") in (
        "person", "object", "location",
    )  # fmt: skip


def _is_place(text: str, types: Mapping[str, str]) -> bool:
    if not text[:1].isupper() or text.lower().split(" ")[0] in _NO_PERSON or kind_of(text):
        return False
    return types.get(text, "location") in ("location", "object", "organization")


def _is_organization(text: str, types: Mapping[str, str]) -> bool:
    low = text.lower()
    return (
        text[:1].isupper() or any(letter.isupper() for letter in text)
    ) and low.split(" ")[0] not in _NO_PERSON and types.get(text, "organization") in (
        "organization", "object", "location", "person",
    )  # fmt: skip


def _is_surely_organization(text: str, types: Mapping[str, str]) -> bool:
    if kind_of(text) is not None:
        return False
    return _is_organization(text, types) and types.get(text) not in ("person", "location")


def _is_tool(text: str, types: Mapping[str, str]) -> bool:
    if kind_of(text) is not None:
        return True
    return _is_organization(text, types) and types.get(text) not in ("person", "location")


def _is_job(text: str, types: Mapping[str, str]) -> bool:
    said = re.split(r" (?:of|for|at|in|on) ", text)[0].lower().split(" ")
    if said[0] in words.POSSESSIVES | words.DETERMINERS:
        return False
    return said[-1] in TITLES or re.match(r"head of ", text) is not None


def _is_thing(text: str, types: Mapping[str, str]) -> bool:
    low = text.lower().split(" ")
    if _OTHERS.intersection(low):
        return False  # "my old company", "our other service"
    if text[:1].isupper():
        return True
    return len(low) > 1 and low[-1] not in words.PERSON_NOUNS and low[-1] not in _NOT_THINGS


_OTHERS = word_set("old former previous ex other another last their his her")
_NOT_DRUGS = word_set("dose dosage rent salary weight price speed medication meds daily")
_NOT_ATTRIBUTES = word_set("name nickname username password pin goal target")
_NOT_THINGS = word_set("only one thing time way day week month year rest same it what bit lot")


def _is_plan(text: str, types: Mapping[str, str]) -> bool:
    return text.lower() not in ("my", "our", "this", "that", "same", "new", "a", "the", "meal")


def _is_product(text: str, types: Mapping[str, str]) -> bool:
    return is_tool(text)


def _is_exchanged(text: str, types: Mapping[str, str]) -> bool:
    low = text.lower().split(" ")
    return low[0] not in _NO_PERSON - {"the", "my", "our", "his", "her", "a", "an"} and (
        types.get(text) != "time" and low[-1] not in _NO_PERSON
    )


def _is_drug(text: str, types: Mapping[str, str]) -> bool:
    return text.lower() not in _NOT_DRUGS


def _is_attribute(text: str, types: Mapping[str, str]) -> bool:
    return text.lower() not in _NOT_ATTRIBUTES


def _is_activity(text: str, types: Mapping[str, str]) -> bool:
    return text not in ("going", "being", "doing", "having", "getting", "nothing", "something")


_CHECKS: Mapping[str, Callable[[str, Mapping[str, str]], bool]] = {
    "who": _is_who, "other": _is_person, "one": _is_person, "place": _is_place,
    "org": _is_surely_organization, "tool": _is_tool, "job": _is_job, "thing": _is_thing,
    "plan": _is_plan, "firm": _is_organization, "product": _is_product, "drug": _is_drug,
    "does": _is_activity, "what": _is_attribute, "old": _is_exchanged, "new": _is_exchanged,
}  # fmt: skip


def is_tool(name: str) -> bool:
    """Return whether a name is one of a known product."""
    return kind_of(name) is not None


def tool_name(text: str) -> str:
    """Return the name of what is used without an article, "my" and its year."""
    name = re.sub(r"^(?:(?:the|our|my|his|her|a|an|new|old) )+", "", text.strip())
    return re.sub(r"^(?:19|20)\d\d (?=\w)", "", name)


def thing_name(text: str, speaker: str, *, own: bool) -> str | None:
    """Return the name of a thing: "our release" is the release, "my flight" the speaker's."""
    if text in _DOING:
        return _DOING[text]
    article, _, rest = text.partition(" ")
    if own:
        return f"{speaker}'s {text}"
    if article.lower() == "my":
        return f"{speaker}'s {rest}"
    name = rest if article.lower() in ("the", "our", "this", "that") else text
    if name == text and text[:1].isupper():
        name = text[:1].lower() + text[1:]
    return re.sub(r" (?:due date|date|appointment date)$", "", name) or None


def told_day(text: str, times: Sequence[TimeSpan]) -> tuple[str, str, str | None] | None:
    """Return the day or hour that a text names, its type, and its canonical form."""
    sign = re.search(r"⟦(\d+)⟧", text)
    if sign is not None:
        when = times[int(sign[1])].when
        return (when, "time", when) if when else None
    said = re.sub(r"^(?:(?:on|at|every|in|for) )+", "", text.strip())
    return (said, "object", None) if said else None
