"""Read where something is from noun phrases: "the Harbour Museum in Bremen"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from cognigraph.english import words
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.names import Name
from cognigraph.ingest.rules.noun_phrases import Voices, noun_phrase
from cognigraph.ingest.rules.statement import Statement

_PLACED = frozenset(("organization", "location", "event"))
_BEFORE_PLACE = word_set("the at to for from")
_LONGEST = 4
_ARTICLES = words.SPEAKER_POSSESSIVES | word_set("the a an")


def located(
    tokens: Sequence[Token], names: Mapping[int, Name], timed: Collection[int], voices: Voices
) -> Iterator[Statement]:
    """Yield that a named or definite place, organization or event is in a place with a name."""
    for index in range(1, len(tokens) - 1):
        place = names.get(index + 1)
        if tokens[index].low != "in" or place is None or index + 1 in timed:
            continue
        if place.type not in ("location", "object") or not place.text[:1].isupper():
            continue
        thing = _before(tokens, index, names, voices)
        if thing is not None and thing[0] != place.text:
            yield Statement(*thing, "is in", place.text, "location")


def is_told(place: Statement, told: Iterable[str]) -> bool:
    """Return whether an "is" says it already: "Helios is a bakery in Halle"."""
    return any(f"{place.subject} in {place.object}" in one for one in told)


def _before(
    tokens: Sequence[Token], end: int, names: Mapping[int, Name], voices: Voices
) -> tuple[str, str] | None:
    """Return the name and type of what stands right before a preposition, if it can be there."""
    name = next((one for one in names.values() if one.end == end), None)
    if name is not None:
        before = tokens[name.start - 1].low if name.start else ""
        definite = before in _BEFORE_PLACE or tokens[name.start].low == "the"
        placed = name.type in _PLACED or (name.type == "object" and definite)
        kind = name.type if name.type in _PLACED else "object"
        return (name.text, kind) if placed and name.text not in _people(voices) else None
    for start in range(max(0, end - _LONGEST), end - 1):
        if tokens[start].low not in _ARTICLES:
            continue
        phrase = noun_phrase(tokens, start, end, names, voices)
        if phrase is not None and phrase.type in _PLACED:
            return phrase.text, phrase.type
    return None


def _people(voices: Voices) -> tuple[str, str]:
    return voices.speaker, voices.other or ""
