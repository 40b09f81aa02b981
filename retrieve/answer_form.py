"""What an answer would look like: a number, a time, a name. Rules for English, no model.

"How many" is answered by a turn with a number in it, "when" by one that says a time, "who" and
"where" by one that names somebody or somewhere; and turns that name things answer more questions
of any kind than turns that do not (bench/TRIED.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from cognigraph.ingest.timelexicon import COUNTS, MONTHS, SIMPLE, UNITS, WEEKDAYS
from cognigraph.lexical import words
from cognigraph.retrieve.question_time import Asks
from cognigraph.stores.arrays import Floats

Form = Literal["number", "time", "name"]

_MANY_NAMES = 3
_PLACES = frozenset(
    "city cities country countries state states town towns place places island region".split()
)
_WORDS: dict[Form, frozenset[str]] = {
    "number": frozenset(COUNTS).union(
        "once twice couple dozen few several hundred hundreds thousand thousands".split()
    ),
    "time": frozenset({*SIMPLE, *UNITS, *WEEKDAYS, *MONTHS}).union(
        "ago last next since recently soon".split()
    ),
}
_DIGITS: dict[Form, re.Pattern[str]] = {
    "number": re.compile(r"\d+"),
    "time": re.compile(r"(?:19|20)\d\d|\d+(?:st|nd|rd|th)"),
}
# A word with a capital that no sentence begins with. The letter is looked for first, then what
# stands before it: the other way round takes five times as long.
_NAME = re.compile(r"[^\W\d_a-z](?:(?<=[^\W_] .)|(?<=[,;:] .)|(?<=[\"“(].))[^\W\d_]+")
_DATES = frozenset({*WEEKDAYS, *MONTHS})


def expected_form(asked: Sequence[str], asks: Asks | None) -> Form | None:
    """What the answer to a question holds, from its words and from what it asks about time."""
    if asks is not None:
        return "time"
    if asked[:2] in (["how", "many"], ["how", "much"]):
        return "number"
    if asked[:1] in (["who"], ["whom"], ["whose"], ["where"]) or _PLACES.intersection(asked):
        return "name"
    return None


def form_features(
    texts: Sequence[str], speakers: Collection[str | None], form: Form | None
) -> dict[str, Floats]:
    """How much each text names, and whether it holds what the question expects; (n,) in [0, 1].

    The ``speakers`` themselves are no names: everybody calls everybody by theirs.
    """
    ignored = _DATES.union(*(name.casefold().split() for name in speakers if name))
    names = np.array([_names(text, ignored) for text in texts])
    features = {"names": np.minimum(names, _MANY_NAMES) / _MANY_NAMES}
    if form == "name":
        features["answer form"] = (names > 0).astype(float)
    elif form is not None:
        features["answer form"] = np.array([float(_holds(text, form)) for text in texts])
    return features


def _holds(text: str, form: Form) -> bool:
    said, digits = words(text), _DIGITS[form]
    return not _WORDS[form].isdisjoint(said) or any(
        word[0].isdigit() and digits.fullmatch(word) for word in said
    )


def _names(text: str, ignored: Collection[str]) -> int:
    """How many different proper names, as far as capitals tell."""
    found = {name for name in _NAME.findall(text) if name[0].isupper()}
    return sum(name.casefold() not in ignored for name in found)
