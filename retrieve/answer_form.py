"""What an answer would look like: a number, a time, a name. Rules for English, no model.

"How many" is answered by a turn with a number in it, "when" by one that says a time, "who" and
"where" by one that names somebody or somewhere; and turns that name things answer more questions
of any kind than turns that do not (bench/TRIED.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.embed.word_vectors import Said
from cognigraph.english.times.lexicon import COUNTS, MONTHS, SIMPLE, UNITS, WEEKDAYS
from cognigraph.retrieve.question_time import Asks
from cognigraph.text.terms import words

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
_NAME = re.compile(r"[^\W\d_]{2,}")
_OPENING = np.array([ord(mark) for mark in '"“('])
_ENDING = np.array([ord(mark) for mark in ' .!?…"”)\n\r\t'])
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
    texts: Sequence[str], said: Said, speakers: Iterable[str | None], form: Form | None
) -> dict[str, Floats]:
    """How much each text names, and whether it holds what the question expects; (n,) in [0, 1].

    ``said`` are the words of the texts, and of any others after them. The ``speakers`` are no
    names, nor is the month that one is called by a time: they stand in many texts.
    """
    called = {word for name in speakers if name for word in words(name)}
    names = _names(texts, _DATES | called)
    features = {"names": np.minimum(names, _MANY_NAMES) / _MANY_NAMES}
    if form == "name":
        features["answer form"] = (names > 0).astype(float)
    elif form is not None:
        features["answer form"] = _holding(said, form, called)[: len(texts)]
    return features


def _names(texts: Sequence[str], ignored: Collection[str]) -> Floats:
    """How many different proper names each text has, as far as capitals tell."""
    joined = "\n".join(texts)
    starts = _inner_capitals(joined)
    owners = np.searchsorted(np.cumsum([len(text) + 1 for text in texts]), starts, side="right")
    found = set()
    for owner, start in zip(owners.tolist(), starts.tolist(), strict=True):
        name = _NAME.match(joined, start)
        if name and name[0][0].isupper() and name[0].casefold() not in ignored:
            found.add((owner, name[0]))
    counted = np.array([owner for owner, _ in found], np.int64)
    return np.bincount(counted, minlength=len(texts)).astype(float)


def _inner_capitals(text: str) -> Ints:
    """Where a letter that may be a capital follows a word or an opening mark, not a full stop."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    at = np.flatnonzero(((codes >= ord("A")) & (codes <= ord("Z"))) | (codes >= ord("À")))
    at = at[at > 0]
    before, further = codes[at - 1], codes[np.maximum(at - 2, 0)]
    spaced = (before == ord(" ")) & np.isin(further, _ENDING, invert=True)
    return np.asarray(at[spaced | np.isin(before, _OPENING)], np.int64)


def _holding(said: Said, form: Form, ignored: Collection[str]) -> Floats:
    """Which texts hold a number or a time."""
    digits = _DIGITS[form]
    held = _WORDS[form].intersection(said.different)
    held |= {word for word in said.different if word[0].isdigit() and digits.fullmatch(word)}
    held -= set(ignored)
    holds = np.fromiter(map(held.__contains__, said.different), bool, len(said.different))
    owners = np.cumsum(said.numbers == 0) - 1
    holding = np.zeros(said.text_count)
    holding[owners[holds[said.numbers]]] = 1.0
    return holding
