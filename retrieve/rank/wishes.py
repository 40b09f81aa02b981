"""Whether a message says what its speaker wants: a rule, a taste, a limit.

A request to an assistant ("Suggest a dinner") shares no word with what the answer must respect ("no
cashews, I am allergic"). What such messages have in common is how they are put. Rules for English.
"""

from __future__ import annotations

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import TextWords

_WORDS = (
    "always never ever anymore",
    "prefer prefers preferred preference preferences favourite favorite like love enjoy hate "
    "loathe dislike rather instead",
    "allergy allergic allergies intolerant intolerance vegetarian vegan pescatarian diabetic "
    "celiac coeliac",
    "",
    "",
    "please skip avoid without must mustnt",
    "no not nothing none",
    "too under below max maximum budget limit cheap cheaper cheaply",
)
"""Eight kinds of words; a word is written as :func:`cognigraph.text.terms.words` returns it."""
_PAIRS = (
    "now on, in future, by default, every time, any more",
    "fan of, fond of, keen on",
    "afraid of",
    "cant stand, cant bear, cant eat, cant have, cant do, cant use, cannot stand, cannot bear, "
    "cannot eat, cannot have, cannot do, cannot use",
    "i dont, we dont, i wont, we wont, i only, we only, i use, we use, i avoid, "
    "we avoid, i want, we want, i need, we need",
    "keep it, stick to, make sure",
    "",
    "at most, at least",
)
"""The same kinds: pairs of words that follow one another."""
_KINDS = tuple(
    (frozenset(words.split()), tuple(tuple(pair.split()[:2]) for pair in pairs.split(", ") if pair))
    for words, pairs in zip(_WORDS, _PAIRS, strict=True)
)
_ENOUGH = 3


def wishes(text_words: TextWords) -> Floats:
    """Return how much each text sounds like a wish (texts,): 1 with three of the kinds of words."""
    index = {word: row for row, word in enumerate(text_words.different)}
    numbers = text_words.numbers
    owners = np.cumsum(numbers == 0) - 1
    kinds = np.zeros(text_words.text_count)
    for words, pairs in _KINDS:
        is_word = np.zeros(len(index), bool)
        is_word[[index[word] for word in words if word in index]] = True
        found = is_word[numbers]
        for first, second in pairs:
            if first in index and second in index:
                follows = (numbers[:-1] == index[first]) & (numbers[1:] == index[second])
                found[1:] |= follows
        held = np.zeros(text_words.text_count)
        held[owners[found]] = 1.0
        kinds += held
    return np.minimum(kinds / _ENOUGH, 1.0)
