"""A sentence and its time, with the lookups that the grammar of time expressions needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from cognigraph.english import words
from cognigraph.english.sentences import Token
from cognigraph.english.times.tense import tense_at

Found = tuple[int, str] | None
"""End (exclusive token index) of an expression and its canonical text; ``None`` if none."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """The tokens of a sentence and the speaker's local time."""

    tokens: Sequence[Token]
    at: datetime

    @property
    def today(self) -> date:
        """The speaker's current date."""
        return self.at.date()

    def low(self, index: int) -> str:
        """Return the token in lower case, or "" outside the sentence."""
        return self.tokens[index].low if 0 <= index < len(self.tokens) else ""

    def tense(self, index: int) -> int:
        """Return the tense at a token; see :func:`~cognigraph.english.times.tense.tense_at`."""
        return tense_at(self.tokens, index)

    def bare(self, index: int) -> bool:
        """Return whether no noun follows that the words before the token could modify.

        "in summer |" is a time, "in summer | clothes" is not.
        """
        low = self.low(index)
        return (
            index >= len(self.tokens)
            or self.tokens[index].kind == "mark"
            or low in words.PREPOSITIONS
            or low in words.CONJUNCTIONS
            or low in words.PRONOUNS
            or low in words.POSSESSIVES
            or low in words.DETERMINERS
            or low in words.ADVERBS
            or low in words.TRAILING
        )
