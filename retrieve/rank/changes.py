"""Whether a message says that something has changed.

The newest word on a thing mostly says that it changed: "we moved", "it is 41 now instead of 58",
"the op has been brought forward". A question about how things are ("What do I pay?") looks for such
messages. Rules for English.
"""

from __future__ import annotations

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import TextWords
from cognigraph.retrieve.rank.kinds_of_words import kind, kinds_held

_KINDS = (
    kind("now currently nowadays", "these days, the moment, as of, from now, so were, so im"),
    kind(
        "change changes changed changing switch switched switching swap swapped replaced "
        "replacing instead",
        "rather than, other than",
    ),
    kind(
        "moved moving shift shifts shifted postponed delayed rescheduled raised increased upped "
        "reduced lowered dropped cut",
        "brought forward, put back, put up, down to, up to, went up, went down",
    ),
    kind(
        "stopped quit quits cancelled canceled ended ends left sold lost broke broken anymore",
        "no longer, any more, gave up, given up, done with, used to",
    ),
    kind("new started starts began begun joined became become turned got bought arrived since"),
    kind(
        "finally final decided agreed settled confirmed fixed signed",
        "at last, after all, the end",
    ),
    kind("back again", "going back, gone back"),
    kind("update updated correction actually sorry", "was meant, meant to, supposed to"),
)
_ENOUGH = 3


def changes(text_words: TextWords) -> Floats:
    """Return how much each text tells of a change (texts,): 1 with three of the kinds of words."""
    return np.minimum(kinds_held(text_words, _KINDS) / _ENOUGH, 1.0)
