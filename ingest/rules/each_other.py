"""What two people do with each other: "Karl and I got divorced" says it of both of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from cognigraph.english import words
from cognigraph.english.sentences import Token
from cognigraph.ingest.rules.relations import Relation

_WITH = {
    "married": "", "got married": "to", "is married": "to",
    "got engaged": "to", "is engaged": "to",
    "divorced": "", "got divorced": "from", "is divorced": "from",
    "separated": "from", "is separated": "from",
    "broke up": "with", "split up": "with",
    "is dating": "", "started dating": "", "got together": "with", "is together": "with",
}  # fmt: skip
"""What two people do -> the preposition before the one with whom the other does it."""


def of_each_other(
    tokens: Sequence[Token], timed: Collection[int], relation: Relation, end: int
) -> Relation | None:
    """Return the relation of each of two subjects to the other one, if this is what is said."""
    text, start = relation.text, relation.end
    while start < end and tokens[start].low in words.ADVERBS:
        start += 1
    if relation.copula and start < end:
        text, start = f"{text} {tokens[start].low}", start + 1
    first, _, last = text.rpartition(" ")
    if text not in _WITH and last in words.PREPOSITIONS:
        text = first  # "got divorced over [the summer]"
    if text not in _WITH or not all(
        index in timed or tokens[index].low in words.ADVERBS | words.PREPOSITIONS
        for index in range(start, end)
    ):
        return None
    return replace(relation, text=f"{text} {_WITH[text]}".strip(), copula=False)
