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
    index = {word: row for row, word in enumerate(text_words.different)}
    numbers = text_words.numbers
    owners = np.cumsum(numbers == 0) - 1
    count = np.zeros(text_words.text_count)
    for each in kinds:
        is_word = np.zeros(len(index), bool)
        is_word[[index[word] for word in each.words if word in index]] = True
        found = is_word[numbers]
        for first, second in each.pairs:
            if first in index and second in index:
                follows = (numbers[:-1] == index[first]) & (numbers[1:] == index[second])
                found[1:] |= follows
        held = np.zeros(text_words.text_count)
        held[owners[found]] = 1.0
        count += held
    return count
