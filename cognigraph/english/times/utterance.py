"""A sentence with the time it was said, as the readers of time expressions see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from cognigraph.english import words
from cognigraph.english.sentences import Token
from cognigraph.english.times.tense import tense_at

Found = tuple[int, str] | None
"""End of the expression and its canonical text."""


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence and the local time at which it was said."""

    tokens: Sequence[Token]
    at: datetime

    @property
    def today(self) -> date:
        """The speaker's day."""
        return self.at.date()

    def low(self, place: int) -> str:
        """The token's lower case, empty beyond the ends."""
        return self.tokens[place].low if 0 <= place < len(self.tokens) else ""

    def tense(self, place: int) -> int:
        """Which side of now the words at a place speak of."""
        return tense_at(self.tokens, place)

    def bare(self, place: int) -> bool:
        """Tell whether nothing follows that the words before could describe."""
        low = self.low(place)
        return (
            place >= len(self.tokens)
            or self.tokens[place].kind == "mark"
            or low in words.PREPOSITIONS
            or low in words.CONJUNCTIONS
            or low in words.PRONOUNS
            or low in words.POSSESSIVES
            or low in words.DETERMINERS
            or low in words.ADVERBS
            or low in words.TRAILING
        )
