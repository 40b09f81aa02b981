"""Words of change, which need more than one clause or the sentence before to be understood.

| said                                  | what is stated as well                                   |
|---------------------------------------|----------------------------------------------------------|
| "switched from Spotify to Tidal"      | what came in its place: switched to Tidal                |
| "raised my dose to 40 mg"             | the new value: my dose is 40 mg                          |
| "the landlord raised the rent to 900" | the new value: my rent is 900                            |
| "I use Tidal now", "... instead"      | that it replaces what was used before                    |
| "I meant Thursday, not Tuesday"       | the earlier statement with the right value               |
| "until 2028"                          | a stretch of time that ends then                         |
| "have lived there since the summer"   | a state of the present, not of the past                  |
| "I dreamed that I moved"              | nothing                                                  |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from cognigraph.english import verbs
from cognigraph.english.sentences import sentences
from cognigraph.english.times.find import find_times
from cognigraph.english.times.time_words import WEEKDAYS
from cognigraph.english.words import word_set
from cognigraph.ids import normalise
from cognigraph.ingest.rules.statement import Statement
from cognigraph.states.slots import is_attribute_noun

_FROM_TO = re.compile(
    r"\b(?:moved|switched|migrated|relocated|changed|transferred|went|upgraded)\b[^.;!?]*? from "
    r"(?P<old>[^.,;!?]+?) to (?P<new>(?:the |a |an )?[^\s.,;!?]+(?: [A-Z][^\s.,;!?]*)*)"
)
_SET_TO = re.compile(r"(?P<what>.+['’]s .+?)(?: from .+?)? to (?P<value>\S.*)")
_OWN_SET_TO = re.compile(r"(?P<what>[a-z]+) (?:from .+? )?to (?P<value>\S.*)")
_SETTERS = word_set("landlord landlady employer boss manager doctor gym bank insurer company")
"""Who sets what is the speaker's: "the landlord raised the rent" is about the speaker's rent."""
_SETTING = word_set(
    """raised increased lowered reduced cut changed moved pushed upped dropped set switched bumped
    extended updated decreased"""
)
_NOW = re.compile(r"\b(?:now(?! that)|instead|these days|from now on)\b")
_EXCLUSIVE = word_set("uses prefers drives wears attends runs rents")
"""Verbs whose object "now" replaces the one before, unless they say otherwise."""
_WHERE = word_set("at with on in by")
"""After one of these, a habit names where, when or with whom, which "now" replaces as well."""
_ADDING = re.compile(r"\b(?:also|as well|another|second|additionally|besides|both)\b|\btoo\W*$")
_CORRECTIONS = (
    re.compile(
        r"\b(?:i meant?|make (?:that|it)|it['’]s|it is|correction:?|should be) (?:on )?"
        r"(?P<new>[^,.;!?]+?),? not (?:on )?(?P<old>[^,.;!?]+)", re.IGNORECASE
    ),
    re.compile(r"^(?:sorry, |no, |oops, )?not (?:on )?(?P<old>[^,.;!?]+?),? (?:but |on )*"
               r"(?P<new>[^,.;!?]+)[.!]?$", re.IGNORECASE),
)  # fmt: skip
_UNTIL = re.compile(r"\b(?:until|till|through)\b", re.IGNORECASE)
_PERFECT = re.compile(r"\b(?:have|has|['’]ve|['’]s)\b.*\bsince\b", re.IGNORECASE)
_DREAM = re.compile(
    r"\b(?:dream(?:ed|t|ing)?|pretend(?:ed|ing)?|imagin(?:ed?|ing))\b(?: \w+)? (?:that )?"
    r"(?:i|we|he|she|they)\b", re.IGNORECASE
)  # fmt: skip


def with_changes(
    texts: Sequence[str],
    told: Sequence[Statement],
    at: datetime,
    earlier: Callable[[], Sequence[Statement]],
    speaker: str,
) -> list[Statement]:
    """Return the statements of a chunk with what its words of change add to them.

    ``texts`` are its sentences, said ``at`` a local time by ``speaker``. ``earlier`` gives the
    speaker's statements before them, newest first, and is called only for a correction.
    """
    found = list(told)
    for text in texts:
        if _DREAM.search(text):
            found = [one for one in found if not _is_from(one, text) or _is_dream(one)]
        if " from " in text:
            found += _destinations(text, found)
        if _NOW.search(text.lower()) and not _ADDING.search(text.lower()):
            found = [_replacing(one) if _is_from(one, text) else one for one in found]
        if _UNTIL.search(text):
            found = [_until(one, text, at) if one.when else one for one in found]
        if _PERFECT.search(text):
            found = [_present(one) if _is_from(one, text) else one for one in found]
        if " not " in f" {text.lower()}":
            found = _corrected(text, found, at, earlier)
    return found + [new for one in found if (new := _new_value(one, speaker)) is not None]


def _is_from(statement: Statement, text: str) -> bool:
    """Whether a sentence has the words of a statement's object."""
    return statement.object_type == "time" or normalise(statement.object) in normalise(text)


def _is_dream(statement: Statement) -> bool:
    return _DREAM.search(f"{statement.relation} i") is not None


def _destinations(text: str, told: Sequence[Statement]) -> list[Statement]:
    """Read "to Tidal" after "switched from Spotify"."""
    found = []
    for match in _FROM_TO.finditer(text):
        new = re.sub(r"^(?:the|an?) ", "", match["new"])
        for one in told:
            if one.relation.endswith(" from") and normalise(one.object) in normalise(match["old"]):
                relation = f"{one.relation.removesuffix(' from')} to"
                found.append(replace(one, relation=relation, object=new))
    return found


def _replacing(statement: Statement) -> Statement:
    said = statement.relation.split(" ")
    verb = verbs.known_verb(said[0])
    habit = len(said) > 1 and said[-1] in _WHERE and verb is not None and verb.form == "s"
    exclusive = (said[0] in _EXCLUSIVE or habit) and not statement.negated
    return replace(statement, replaces=True) if exclusive else statement


def _until(statement: Statement, text: str, at: datetime) -> Statement:
    """Make "until 2028" a stretch of time that begins on the day of saying."""
    day = f"{at:%Y-%m-%d}"
    tokens = [token for sentence in sentences(text) for token in sentence.tokens]
    for span in find_times(tokens, at):
        ends = any(_UNTIL.fullmatch(token.low) for token in tokens[span.start : span.end])
        if ends and span.when == statement.when and "/" not in span.when and day < span.when:
            return replace(statement, when=f"{day}/{span.when}")
    return statement


def _present(statement: Statement) -> Statement:
    """What has been so since some time is still so."""
    first, _, rest = statement.relation.partition(" ")
    verb = verbs.known_verb(first)
    if statement.when is None or verb is None or verb.form not in ("past", "part"):
        return statement
    return replace(statement, relation=f"{verbs.third_person(verb.base)} {rest}".strip())


def _corrected(
    text: str, told: Sequence[Statement], at: datetime, earlier: Callable[[], Sequence[Statement]]
) -> list[Statement]:
    """State again, with the right value, what a correction refers to."""
    match = next((found for one in _CORRECTIONS if (found := one.search(text)) is not None), None)
    if match is None:
        return list(told)
    old, new = _time(match["old"], at), _time(match["new"], at)
    for index, one in reversed([*enumerate(told)]):
        if (right := _with_value(one, match, old, new)) is not None:
            return [*told[:index], right, *told[index + 1 :]]
    right = next(
        (fixed for one in earlier() if (fixed := _with_value(one, match, old, new)) is not None),
        None,
    )
    return list(told) if right is None else [*told, right]


def _with_value(
    statement: Statement, match: re.Match[str], old: str | None, new: str | None
) -> Statement | None:
    if statement.when is not None and (day := _other_weekday(statement.when, match)) is not None:
        old, new = statement.when, day
    elif statement.when and old and new and statement.when[4:] == old[4:]:
        old, new = statement.when, statement.when[:4] + new[4:]  # the year goes without saying
    if old is not None and new is not None and statement.when == old:
        is_time = statement.object_type == "time"
        return replace(statement, object=new if is_time else statement.object, when=new)
    if old is None and new is None and normalise(statement.object) == normalise(match["old"]):
        return replace(statement, object=match["new"].strip())
    return None


def _other_weekday(when: str, match: re.Match[str]) -> str | None:
    """Return the day nearest to ``when``, a "Tuesday", for "Thursday, not Tuesday"."""
    weekdays = [WEEKDAYS.get(match[part].strip().lower()) for part in ("old", "new")]
    if len(when) != 10 or weekdays[0] is None or weekdays[1] is None:
        return None
    day = date.fromisoformat(when)
    ahead = (weekdays[1] - weekdays[0] + 3) % 7 - 3
    return (day + timedelta(days=ahead)).isoformat() if day.weekday() == weekdays[0] else None


def _time(text: str, at: datetime) -> str | None:
    tokens = [token for sentence in sentences(text.strip()) for token in sentence.tokens]
    return next((span.when for span in find_times(tokens, at) if span.when), None)


def _new_value(statement: Statement, speaker: str) -> Statement | None:
    """Read the new value of "raised my dose to 40 mg"."""
    match, what = _SET_TO.fullmatch(statement.object), ""
    if match is not None:
        what = match["what"]
    elif statement.subject in _SETTERS | {f"{speaker}'s {setter}" for setter in _SETTERS}:
        match = _OWN_SET_TO.fullmatch(statement.object)
        what = f"{speaker}'s {match['what']}" if match and is_attribute_noun(match["what"]) else ""
    setting = statement.relation.split(" ")[-1] in _SETTING
    if match is None or not (what and setting) or statement.negated:
        return None
    return replace(
        statement, subject=what, subject_type=statement.object_type, relation="is",
        object=match["value"], object_type="object",
    )  # fmt: skip
