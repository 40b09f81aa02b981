"""Names, types and relations as models write them, brought into one form.

Only the form is checked here; :mod:`cognigraph.ingest.model.validate` checks the content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from cognigraph.english.verbs import DO, MODALS, VERBS, past_of, third_person, verb_only
from cognigraph.english.words import word_set
from cognigraph.ids import normalise
from cognigraph.ingest.extraction import ENTITY_TYPES
from cognigraph.ingest.model.transcript import WindowName
from cognigraph.text.terms import printable, replace_surrogates
from cognigraph.times import parse_when

_SYNONYMS = {
    "human": "person", "people": "person", "individual": "person", "character": "person",
    "org": "organization", "organisation": "organization", "company": "organization",
    "institution": "organization", "place": "location", "city": "location", "country": "location",
    "town": "location", "gpe": "location", "loc": "location", "per": "person",
    "thing": "object", "item": "object", "product": "object", "date": "time", "idea": "concept",
    "topic": "concept", "activity": "event",
}  # fmt: skip
_FIELDS = range(3, 8)
_NUMBER = re.compile(r"\[?#?(\d{1,6})\]?")
_SPAN = re.compile(r"\[?(\d{1,6})\]?\s?[-–]\s?\[?(\d{1,6})\]?")
_LONGEST_SPAN = 20
_REPLACES = re.compile(r"(?:replaces|replaced|yes|true)", re.IGNORECASE)
_AROUND_NUMBERS = frozenset({"", "turn", "turns", "and"})


@dataclass(frozen=True, slots=True)
class FactLine:
    """A parsed but unchecked fact. ``turns`` are the cited turn numbers, which may not exist.

    ``turns`` is empty if any part of the citation is unreadable: a partial citation is no evidence.
    ``supersedes`` are uids of known facts; no line names them.
    """

    turns: tuple[int, ...]
    subject: str
    relation: str
    object: str
    words: str = ""
    date: str = ""
    source: str = ""
    replaces: bool = False
    supersedes: tuple[str, ...] = ()


def entity_line(line: str) -> WindowName | None:
    """Parse a line such as ``Vera | person | my aunt; Vee``; ``None`` if it is malformed."""
    name, *rest = (clean(part) for part in line.split("|"))
    if not name or len(rest) > 2:
        return None
    aliases = rest[1].split(";") if len(rest) == 2 else []
    return WindowName(
        name,
        entity_type(rest[0]) if rest else "concept",
        tuple(alias for raw in aliases if (alias := clean(raw))),
    )


def fact_line(line: str) -> FactLine | None:
    """Parse a line such as ``2,3 | Vera | not eats | fish | last Friday = 2031-03-07 | Olle``.

    The object is empty if the verb needs none: ``2 | Vera | retires``.
    """
    parts = [clean(part) for part in line.split("|")]
    while len(parts) > _FIELDS.start and not parts[-1]:
        parts.pop()
    if len(parts) not in _FIELDS:
        return None
    turns, subject, relation, object, time, source, replaces = (*parts, "", "", "", "")[:7]
    numbers = turn_numbers(turns)
    if (replaces and not _REPLACES.fullmatch(replaces)) or not (object or numbers):
        return None  # three parts without numbers are a fact with an object, and without its turns
    words, date = _time(time)
    return FactLine(numbers, subject, relation, object, words, date, source, bool(replaces))


def turn_numbers(text: str) -> tuple[int, ...]:
    """Turn numbers separated by commas or spaces, in brackets or not, and spans such as ``3-5``.

    Empty if any part is unreadable.
    """
    numbers: list[int] = []
    for part in re.split(r"[,;]\s*|(?<![-–])\s+(?![-–])", text):
        if number := _NUMBER.fullmatch(part):
            numbers.append(int(number[1]))
        elif span := _SPAN.fullmatch(part):
            first, last = int(span[1]), int(span[2])
            if not first <= last < first + _LONGEST_SPAN:
                return ()
            numbers += range(first, last + 1)
        elif part.lower() not in _AROUND_NUMBERS:
            return ()
    return tuple(numbers)


def _time(text: str) -> tuple[str, str]:
    """The words and the date in ``last Friday = 2031-03-07``; either may be missing."""
    words, equals, date = text.partition("=")
    if equals:
        return words.strip(), date.strip()
    return ("", text) if parse_when(text) or text[:4].isdecimal() else (text, "")


def clean(name: str) -> str:
    """A name on one line, without control characters and enclosing quotes."""
    return " ".join(printable(name).split()).strip("\"'`“”‘’").strip()


def entity_type(text: str) -> str:
    """A type of the closed vocabulary, or another single word; ``concept`` for anything else."""
    type_ = normalise(text)
    type_ = _SYNONYMS.get(type_, type_)
    if type_ in ENTITY_TYPES:
        return type_
    return type_ if type_.isalpha() and len(type_) <= 24 else "concept"


# Normalise the spelling, tense and negation of relation names written by a model.
#
# ``Works_At``, "is working at" and "work at" become ``works at``; "doesn't eat" becomes ``eats``
# and a negation. A tense that carries meaning is kept: "lived in" stays, because "lives in" would
# be another fact, whereas "bought" and "buys" describe the same purchase and become ``buys``.
#
# Only relations from a model are normalised here: a model is asked for the present tense but varies
# its spelling. The rules take the tense from the sentence
# (:mod:`cognigraph.ingest.rules.statements`) and keep it; normalising their relations would change
# the time of a quarter of the facts in the sample ("is going to Lisbon" would become "goes to
# Lisbon"), leaving 74 of 98 correct.

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
_NOT = re.compile(r"\b(?:(ca|wo)|(\w+))n['’]t\b")
_WHOLE = {"ca": "can not", "wo": "will not"}
_CONTRACTED = {"cannot": "can not", "i'm": "is", "'m": "is", "'re": "is", "'s": "is", "'ll": "will"}
_EDGES = " \"'`‘’“”.,;:!?()[]{}<>-–—"
_STATES = word_set(
    """live work have own like love know believe want need hope belong keep hate prefer study teach
    enjoy think feel look seem mean remember depend wear speak wish expect trust consider use"""
)
"""Verbs of state: their past tense implies that the state may have ended."""
_DROPPED = word_set("really just also currently now actually still already recently always")
_BE = {"am": "is", "are": "is", "be": "is", "were": "was"}
_ROUNDS = 6


class RelationForm(NamedTuple):
    """A normalised relation, and whether it was negated."""

    text: str
    negated: bool


def normalise_relation(text: str) -> RelationForm:
    """Normalise a relation. Idempotent; the text is empty if nothing is left of it."""
    spaced = _CAMEL.sub(" ", replace_surrogates(text)[0]).replace("_", " ").replace("\x00", " ")
    spaced = " ".join(spaced.lower().split())
    spaced = _NOT.sub(lambda match: _WHOLE[match[1]] if match[1] else f"{match[2]} not", spaced)
    found, negated = spaced.strip(_EDGES), False
    for _ in range(_ROUNDS):
        words, denied = _positive(found.split())
        negated = negated or denied
        shorter = " ".join(_present(words)).strip(_EDGES)
        if shorter == found:
            break
        found = shorter
    return RelationForm(found, negated)


def _positive(words: list[str]) -> tuple[list[str], bool]:
    """The words without negations and adverbs that add nothing, and whether it was negated."""
    words = [part for word in words for part in _CONTRACTED.get(word, word).split()]
    kept: list[str] = []
    denied = False
    for index, word in enumerate(words):
        if word in ("not", "never"):
            denied = True
        elif word == "longer" and words[index - 1 : index] == ["no"]:
            kept.pop()
            denied = True
        elif word not in _DROPPED or len(words) == 1:
            kept.append(word)
    return kept, denied


def _present(words: list[str]) -> list[str]:
    """Put the leading verb group into the present tense, unless its tense carries meaning."""
    if not words:
        return words
    first, rest = words[0], words[1:]
    second = VERBS.get(rest[0]) if rest else None
    if first in MODALS or words[:2] == ["used", "to"]:
        return words
    if words[:3] == ["is", "going", "to"] and len(words) > 3:
        return ["will", *words[3:]]
    if first == "to" and second is not None and second.form == "base":
        return _present(rest)
    if first in DO and second is not None and second.form == "base":
        past = first == "did" and second.base in _STATES
        return [past_of(second.base) if past else third_person(second.base), *rest[1:]]
    if first in ("has", "have") and second is not None and _is_perfect(rest[0], second.form):
        return [third_person(second.base), *rest[1:]]
    first = _BE.get(first, first)
    if first in ("is", "was") and second is not None and second.form == "ing":
        past = first == "was" and second.base in _STATES
        return [past_of(second.base) if past else third_person(second.base), *rest[1:]]
    return [_finite(first, rest), *rest]


def _is_perfect(word: str, form: str) -> bool:
    return form in ("past", "part") and verb_only(word)


def _finite(first: str, rest: list[str]) -> str:
    verb = VERBS.get(first)
    if verb is None or (not verb_only(first) and rest[:1] == ["of"]):
        return first  # a noun, as in "plan of" and "friend of"
    if verb.form == "base" or (verb.form == "past" and verb.base not in _STATES):
        return third_person(verb.base)
    return first
