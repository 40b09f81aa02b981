"""Read the names of relatives, friends and pets: "with my wife Mary", "our dog is called Rex"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cognigraph.english import words
from cognigraph.english.sentences import Token
from cognigraph.ingest.rules.names import Name
from cognigraph.ingest.rules.noun_phrases import Phrase, Voices, noun_phrase

_FURTHEST = 5
"""A name stands at most so many tokens after "my"."""
_CALLED = (("is", "called"), ("is", "named"), ("'s", "name", "is"), ("'s", "name", "'s"))


def in_passing(
    tokens: Sequence[Token], names: Mapping[int, Name], voices: Voices
) -> Iterator[Phrase]:
    """Yield whoever is named with what they are to the speaker, anywhere: "with my wife Mary"."""
    for start, name in _owned(tokens, names):
        phrase = noun_phrase(tokens, start, name.end, names, voices)
        if phrase is not None and phrase.alias is not None:
            yield phrase


def called(
    tokens: Sequence[Token], names: Mapping[int, Name], voices: Voices
) -> Iterator[tuple[int, Phrase]]:
    """Yield whose name a clause tells, and where it begins: "my wife's name is Mary"."""
    for start, name in _owned(tokens, names):
        for said in _CALLED:
            head = name.start - len(said) - 1
            between = tuple(token.low for token in tokens[head + 1 : name.start])
            relative = tokens[head].low
            if head <= start or between != said:
                continue
            if relative in words.PETS or relative in words.PERSON_NOUNS:
                kind = "animal" if relative in words.PETS else "person"
                relation = " ".join(token.low for token in tokens[start + 1 : head + 1])
                alias = f"{voices.speaker}'s {relation}"
                yield start, Phrase(name.text, kind, alias, proper=True)


def _owned(tokens: Sequence[Token], names: Mapping[int, Name]) -> Iterator[tuple[int, Name]]:
    """Yield each "my" or "our" with the first name soon after it."""
    for index, token in enumerate(tokens):
        if token.low in words.SPEAKER_POSSESSIVES:
            near = range(index + 2, min(index + 2 + _FURTHEST, len(tokens)))
            name = next((names[at] for at in near if at in names), None)
            if name is not None:
                yield index, name
