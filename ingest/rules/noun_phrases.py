"""Read a noun phrase as an entity: resolve possessives, trim function words, determine the type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cognigraph.english import words
from cognigraph.english.sentences import Token
from cognigraph.english.verbs import BE, FINITE_AUX, known_verb
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.names import Name, phrase_type
from cognigraph.ingest.rules.relations import is_manner

MAX_WORDS = 8
_DROPPED_FIRST = (
    words.DETERMINERS
    | words.CONJUNCTIONS
    | {"of", "'s"}
    | word_set("his her their its your own such quite so very")
)
_DROPPED_LAST = (
    words.TRAILING
    | words.PREPOSITIONS
    | words.DETERMINERS
    | words.CONJUNCTIONS
    | words.POSSESSIVES
    | FINITE_AUX
    | word_set("to not")
)
_WORDY = ("s", "ing", "tion", "ness", "ment", "ity", "ance", "ence", "ism", "ship", "ure")
_COMMON = (
    words.LIGHT
    | words.SENTIMENT
    | words.SOFT
    | words.PERSON_NOUNS
    | words.PLACE_NOUNS
    | words.EVENT_NOUNS
    | words.ORGANIZATION_NOUNS
    | words.ADVERBS
)
_POINTING = word_set("this that these those such")
_FINITE_BE = word_set("am is are was were")
_PARTS_OF_TIME = word_set("day night week weekend month morning evening afternoon")
_PLAIN = frozenset(("location", "person", "organization"))
_EMPTY = (
    words.LIGHT - {"course"}
    | words.DETERMINERS
    | words.PRONOUNS
    | words.OBJECT_PRONOUNS
    | words.POSSESSIVES
    | words.PREPOSITIONS
    | words.CONJUNCTIONS
    | words.ADVERBS
    | words.INTERJECTIONS
    | BE
    | FINITE_AUX
    | word_set("""to not 's be get go come make agree each other out up you they""")
)


@dataclass(frozen=True, slots=True)
class Voices:
    """The speaker, and the person addressed if exactly two people take part in the conversation."""

    speaker: str
    other: str | None = None
    to_assistant: bool = False
    """Whether the speaker is the user of an assistant."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """An entity read from a noun phrase. ``alias`` is the description before a name.

    "my sister Anna", said by Tom, is the phrase ``Anna`` with the alias ``Tom's sister``.
    """

    text: str
    type: str
    alias: str | None = None
    proper: bool = False
    noun: bool = False
    """Whether a determiner shows that the phrase is a noun and no adjective."""
    deictic: bool = False
    """Whether the phrase only points at something: "this series"."""
    definite: bool = False
    """Whether the phrase begins with "the"."""


def is_empty(tokens: Sequence[Token]) -> bool:
    """Return whether the tokens are function words, vague words and punctuation marks only."""
    return all(token.kind == "mark" or token.low in _EMPTY for token in tokens)


def noun_phrase(
    tokens: Sequence[Token], start: int, end: int, names: Mapping[int, Name], voices: Voices
) -> Phrase | None:
    """Read tokens ``[start, end)`` as an entity; ``None`` if no informative word remains."""
    first = tokens[start].low if start < end else ""
    determined = first in words.DETERMINERS or first in words.POSSESSIVES
    opening = start
    start, end = _trim(tokens, start, end, names)
    if opening < start < end and tokens[start - 1].low == "your" and voices.other is not None:
        start -= 1
    if start >= end or is_empty(tokens[start:end]) or tokens[start].low in _FINITE_BE:
        return None  # "Dan, that is her partner"
    name = names.get(start)
    if name is not None and name.end >= end:
        return Phrase(name.text, name.type, proper=True)
    if tokens[start].low == "you" and voices.other is None:
        return None
    if name is not None and name.type in _PLAIN and tokens[name.end].low in words.PREPOSITIONS:
        return Phrase(name.text, name.type, proper=True)  # "Oslo with my sister" -> Oslo
    owner = _owner(tokens[start].low, voices)
    if owner is None and tokens[start].low in words.POSSESSIVES:
        start += 1
    kin = _kin_name(tokens, start, end, names)
    if owner is not None and kin is not None:
        # "my uncle Henrik for fifty euros" -> Henrik
        relation = " ".join(token.low for token in tokens[start + 1 : kin.start])
        kind = "animal" if tokens[kin.start - 1].low in words.PETS else "person"
        return Phrase(kin.text, kind, f"{owner}'s {relation}", proper=True)
    end = _shorten(tokens, start, _without_purpose(tokens, start, end), names)
    shown = [_shown(tokens, index, start, names, voices) for index in range(start, end)]
    text = " ".join(shown).replace(" 's", "'s").strip(" '\"“”-")
    if not text:
        return None
    return Phrase(
        text,
        _type(tokens[start:end]),
        noun=determined,
        deictic=first in _POINTING,
        definite=first == "the",
    )


def _trim(
    tokens: Sequence[Token], start: int, end: int, names: Mapping[int, Name]
) -> tuple[int, int]:
    while (
        start < end
        and start not in names
        and (tokens[start].kind == "mark" or tokens[start].low in _DROPPED_FIRST)
    ):
        start += 1
    while end > start and (
        tokens[end - 1].kind == "mark"
        or (
            (tokens[end - 1].low in _DROPPED_LAST or is_manner(tokens[end - 1].low))
            and not tokens[end - 1].text.isupper()
        )
    ):
        end -= 1
    if end - start > 2 and tokens[end - 1].low in _PARTS_OF_TIME and tokens[end - 2].low == "the":
        return _trim(tokens, start, end - 2, names)  # "the day" of "the day before yesterday"
    return start, end


def _without_purpose(tokens: Sequence[Token], start: int, end: int) -> int:
    """Cut an infinitive without an object, or "in it", from the end: "the strength to go"."""
    if (
        end - start > 2
        and tokens[end - 1].low in ("it", "them")
        and (tokens[end - 2].low in words.PREPOSITIONS or tokens[end - 2].low == "onto")
    ):
        return end - 2
    bare = end - start > 2 and tokens[end - 2].low == "to" and known_verb(tokens[end - 1].low)
    return end - 2 if bare and tokens[end - 1].text.islower() else end


def _shorten(tokens: Sequence[Token], start: int, end: int, names: Mapping[int, Name]) -> int:
    """Limit a phrase to ``MAX_WORDS`` words, but do not end on a function word or inside a name."""
    if end - start <= MAX_WORDS:
        return end
    cut = start + MAX_WORDS
    for name in names.values():
        if name.start < cut < name.end:
            cut = name.start if name.start > start else cut
    return max(_trim(tokens, start, cut, names)[1], start + 1)


def _kin_name(
    tokens: Sequence[Token], start: int, end: int, names: Mapping[int, Name]
) -> Name | None:
    """Return the name in a phrase such as "my older sister Anna"."""
    for index in range(start + 1, min(start + 4, end)):
        name = names.get(index)
        if name is None or not _introduces(tokens[index - 1].low, name):
            continue
        if name.end == end or tokens[name.end].low in words.PREPOSITIONS:
            return name
    return None


def _introduces(low: str, name: Name) -> bool:
    """Return whether the word before a name describes it: "boss Dr. Berg", "singer Rosa"."""
    related = low in words.KIN or low in words.PETS
    return related or (low in words.PERSON_NOUNS and name.type == "person")


def _owner(low: str, voices: Voices) -> str | None:
    if low in words.SPEAKER_POSSESSIVES:
        return voices.speaker
    return voices.other if low == "your" else None


def _shown(
    tokens: Sequence[Token], index: int, start: int, names: Mapping[int, Name], voices: Voices
) -> str:
    low = tokens[index].low
    owner = _owner(low, voices)
    if owner is not None:
        return f"{owner}'s"
    if low in ("me", "us", "i", "myself"):
        return voices.speaker
    if low == "you" and voices.other is not None:
        return voices.other
    text = tokens[index].text
    if tokens[index].kind == "quoted":
        return text.strip('"“” .,')
    if index == start and index not in names and text[1:].islower() and _plain(low):
        return low
    return text


def _plain(low: str) -> bool:
    """Return whether the first word of a sentence is certainly not a name and can be lowered."""
    return known_verb(low) is not None or low.endswith(_WORDY) or low in _COMMON


def _type(tokens: Sequence[Token]) -> str:
    if tokens and tokens[0].low in ("who", "someone", "everyone"):
        return "person"
    if any(token.low == "'s" for token in tokens):
        last = max(index for index, token in enumerate(tokens) if token.low == "'s")
        return phrase_type(tokens[last + 1 :])
    return phrase_type(tokens)
