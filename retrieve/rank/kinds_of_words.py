"""Count which kinds of words a text contains, where a kind is a few words and pairs of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import TextWords


@dataclass(frozen=True, slots=True)
class KindOfWords:
    """Words of one kind, and pairs of words that follow one another.

    A word is written as :func:`cognigraph.text.terms.words` returns it.
    """

    words: frozenset[str]
    pairs: tuple[tuple[str, str], ...]


def kind(words: str, pairs: str = "") -> KindOfWords:
    """Return the kind with these words, separated by spaces, and these pairs, by commas."""
    both = [pair.split() for pair in pairs.split(",") if pair.strip()]
    return KindOfWords(frozenset(words.split()), tuple((first, second) for first, second in both))


def kinds_held(text_words: TextWords, kinds: Sequence[KindOfWords]) -> Floats:
    """Return how many of the kinds each text contains (texts,)."""
    vocabulary, rows = text_words.vocabulary, text_words.rows
    count = np.zeros(text_words.text_count)
    for each in kinds:
        found = np.isin(rows, vocabulary.rows(each.words))
        for pair in each.pairs:
            first, second = map(vocabulary.row, pair)
            if first >= 0 and second >= 0:
                found[1:] |= (rows[:-1] == first) & (rows[1:] == second)
        count += text_words.holding(found)
    return count
