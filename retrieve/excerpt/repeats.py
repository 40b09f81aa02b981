"""Which texts say the same: equal content words, numbers and polarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cognigraph.english.words import PLEASANTRIES
from cognigraph.text.terms import STOP_WORDS, words

_COMPARED = 400
_SIMILAR_LENGTH = 0.5

SAME = 0.9
"""Share of common content words from which two texts say the same."""

_NEGATIONS = frozenset("not no never none neither nor cannot without hardly".split())


class Content(NamedTuple):
    """What a text says: its content words, and what makes two texts with the same words differ."""

    words: frozenset[str]
    exact: frozenset[str]


def content(text: str) -> Content:
    """Content words of a text; numbers and negations are compared exactly."""
    found = frozenset(words(text))
    exact = frozenset(
        word for word in found if not word.isalpha() or word in _NEGATIONS or word.endswith("nt")
    )
    return Content(found - STOP_WORDS - PLEASANTRIES or found, exact)


def says_the_same(one: Content, other: Content) -> bool:
    """Whether two texts are near-duplicates of each other."""
    if one.exact != other.exact:
        return False
    union = len(one.words | other.words)
    return union == 0 or len(one.words & other.words) >= SAME * union


def repeated(messages: Sequence[tuple[str, str]]) -> list[int]:
    """For each message (speaker, text) the index of the first one that says the same, or its own.

    Only what one speaker says is compared. Of long texts the beginning and the length are.
    """
    first: list[int] = []
    seen: dict[str, list[tuple[int, int, Content]]] = {}
    for index, (speaker, text) in enumerate(messages):
        own, size, said = content(text[:_COMPARED]), len(text), seen.setdefault(speaker, [])
        same = (
            other
            for other, length, before in said
            if abs(length - size) <= _SIMILAR_LENGTH * max(length, size)
            and says_the_same(own, before)
        )
        first.append(next(same, index))
        if first[-1] == index:
            said.append((index, size, own))
    return first


def is_said_by(text: Content, fact: Content) -> bool:
    """Whether a fact says all that a text does."""
    if not text.words or not text.exact <= fact.exact:
        return False
    return len(text.words & fact.words) >= SAME * len(text.words)
