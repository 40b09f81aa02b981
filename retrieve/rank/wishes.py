"""Whether a message says what its speaker wants: a rule, a taste, a limit.

A request to an assistant ("Suggest a dinner") shares no word with what the answer must respect ("no
cashews, I am allergic"). What such messages have in common is how they are put. Rules for English.
"""

from __future__ import annotations

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import TextWords
from cognigraph.retrieve.rank.kinds_of_words import kind, kinds_held

_KINDS = (
    kind("always never ever anymore", "now on, in future, by default, every time, any more"),
    kind(
        "prefer prefers preferred preference preferences favourite favorite like love enjoy hate "
        "loathe dislike rather instead",
        "fan of, fond of, keen on",
    ),
    kind(
        "allergy allergic allergies intolerant intolerance vegetarian vegan pescatarian diabetic "
        "celiac coeliac",
        "afraid of",
    ),
    kind(
        "",
        "cant stand, cant bear, cant eat, cant have, cant do, cant use, cannot stand, cannot bear, "
        "cannot eat, cannot have, cannot do, cannot use",
    ),
    kind(
        "",
        "i dont, we dont, i wont, we wont, i only, we only, i use, we use, i avoid, we avoid, "
        "i want, we want, i need, we need",
    ),
    kind("please skip avoid without must mustnt", "keep it, stick to, make sure"),
    kind("no not nothing none"),
    kind("too under below max maximum budget limit cheap cheaper cheaply", "at most, at least"),
)
_ENOUGH = 3


def wishes(text_words: TextWords) -> Floats:
    """Return how much each text sounds like a wish (texts,): 1 with three of the kinds of words."""
    return np.minimum(kinds_held(text_words, _KINDS) / _ENOUGH, 1.0)
