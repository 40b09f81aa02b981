"""Parse the lines of a model's answer: ``name | type | aliases`` and ``turns | subject | ...``.

Only the form is checked here; :mod:`cognigraph.ingest.model.validate` checks the content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cognigraph.ids import normalise
from cognigraph.ingest.extraction import ENTITY_TYPES
from cognigraph.ingest.model.transcript import WindowName
from cognigraph.text.terms import printable
from cognigraph.times import parse_when

_SYNONYMS = {
    "human": "person", "people": "person", "individual": "person", "character": "person",
    "org": "organization", "organisation": "organization", "company": "organization",
    "institution": "organization", "place": "location", "city": "location", "country": "location",
    "town": "location", "gpe": "location", "loc": "location", "per": "person",
    "thing": "object", "item": "object", "product": "object", "date": "time", "idea": "concept",
    "topic": "concept", "activity": "event",
}  # fmt: skip
_FIELDS = range(4, 8)
_NUMBER = re.compile(r"\[?#?(\d{1,6})\]?")
_SPAN = re.compile(r"\[?(\d{1,6})\]?\s?[-–]\s?\[?(\d{1,6})\]?")
_LONGEST_SPAN = 20
_REPLACES = re.compile(r"(?:replaces|replaced|yes|true)", re.IGNORECASE)
_AROUND_NUMBERS = frozenset({"", "turn", "turns", "and"})


@dataclass(frozen=True, slots=True)
class FactLine:
    """A parsed but unchecked fact. ``turns`` are the cited turn numbers, which may not exist.

    ``turns`` is empty if any part of the citation is unreadable: a partial citation is no evidence.
    """

    turns: tuple[int, ...]
    subject: str
    relation: str
    object: str
    words: str = ""
    date: str = ""
    source: str = ""
    replaces: bool = False


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
    """Parse a line such as ``2,3 | Vera | not eats | fish | last Friday = 2031-03-07 | Olle``."""
    parts = [clean(part) for part in line.split("|")]
    while len(parts) > _FIELDS.start and not parts[-1]:
        parts.pop()
    if len(parts) not in _FIELDS:
        return None
    turns, subject, relation, object, time, source, replaces = (*parts, "", "", "")[:7]
    if replaces and not _REPLACES.fullmatch(replaces):
        return None
    words, date = _time(time)
    return FactLine(
        turn_numbers(turns), subject, relation, object, words, date, source, bool(replaces)
    )


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
