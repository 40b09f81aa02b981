"""Messages that correct what the same speaker said just before.

"Sorry, the 25th, I can't count" shares no word with "When is the wedding?", but whoever finds the
message that it corrects must find it too, and first. So a correction ranks at least as well as what
it corrects. Rules for English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import TextWords
from cognigraph.english.times.time_words import COUNTS, MONTHS, ORDINALS, SIMPLE, WEEKDAYS
from cognigraph.stores.candidates import ChunkCandidates
from cognigraph.text.clean import is_question
from cognigraph.text.numbers import stated_numbers
from cognigraph.text.terms import STOP_WORDS, words

Corrections = Sequence[tuple[int, Sequence[int]]]
"""The row of each correction, oldest first, with the rows of what it corrects."""

_MOST_STEPS = 8
_BARELY = 1e-9
_HEAD = 160
MOST_WORDS = 12
"""A longer message says something of its own."""
_FIGURES = frozenset((*COUNTS, *ORDINALS, *MONTHS, *WEEKDAYS, *SIMPLE, "noon", "midnight")) - {
    "a", "an", "may", "march", "mar", "sun", "sat", "one", "second",
}  # fmt: skip
"""Words that stand for a number or a time, and mostly for nothing else."""
_NAME = re.compile(r"(?<=[\w,;:] )[^\W\d_a-zß-öø-ÿ][\w'’-]+")
_EXCLAIMED = re.compile(r"\w+[,.!:;… –—-]{1,3}\s?(?=\w)")
_MARKS = frozenset(
    "sorry correction typo mistake bad misread mistyped misspoke misheard miscounted misremembered "
    "mixed meant scratch".split()
)
"""One of these words is in every correction, as :func:`cognigraph.text.terms.words` returns it."""
_OPENING = (
    r"(?:^|[.!?]\s+)(?:(?:oh|ah|argh|oops|wait|no|ok|okay|um|er|and|but|actually|hang on|hold on)"
    r"[,.! ]+)*"
)
_PLAIN = re.compile(
    _OPENING + r"(?:(?:small |one |quick )?correction\b(?! fluid)|typo\b|my (?:bad|mistake)\b"
    r"|scratch that\b|i (?:meant(?! to)|mis(?:read|typed|spoke|heard|counted|remembered)"
    r"|mixed (?:that|those|them|it|these|the \w+) up)\b)",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"(?:(?:oh|ah|argh|oops|hm+|um|er|uh|well|ok|okay|and|but|edit|update|wait|no|nein|ach)\b"
    r"[^\w\n]{1,4}){0,4}(?:(?:actually|wait|sorry|correction|korrektur|quatsch|moment)\b"
    r"|no[,:.]|nein[,:.]|(?:make (?:that|it)|scratch that|strike that|or rather|on second thoughts?"
    r"|i meant?|ich meinte?|doch nicht)\b|不对|更正|说错|搞错|我是说)",
    re.IGNORECASE,
)
_SORRY = re.compile(_OPENING + r"sorry\b(?P<rest>[^.!?]*[.!?]?[^.!?]*)", re.IGNORECASE)
_WRONG = re.compile(
    r"\bnot (?:(?:the|on|in|at|for|from|to|until|till) )*(?:[£$€]?\d|[A-Z][a-z])"
    r"|\b(?i:meant(?! to)|mis(?:read|typed|spoke|heard|counted|remembered)|mixed|muddled|typo"
    r"|mistake|wrong|(?:i|we) (?:said|wrote|told you)|should (?:be|read|say|have (?:been|said))"
    r"|instead of|rather than|can['’]?t (?:count|read|type|spell|add up))\b"
)


def corrections(texts: Sequence[str], text_words: TextWords) -> Floats:
    """Return 1 for each text that corrects an earlier one, 0 for the others (texts,).

    ``text_words`` are the words of the texts, and of any other texts after them.
    """
    said = text_words.first(len(texts))
    marked = said.holding(said.vocabulary.marks("correction", _MARKS.__contains__)[said.rows])
    found = np.zeros(len(texts))
    for row in np.flatnonzero(marked).tolist():
        found[row] = float(is_correction(texts[row]))
    return found


def is_correction(text: str) -> bool:
    """Whether a text begins by correcting something. Never raises on any text."""
    head = text[:_HEAD]
    if _PLAIN.search(head):
        return True
    sorry = _SORRY.search(head)
    return sorry is not None and _WRONG.search(sorry["rest"]) is not None


def may_correct(text: str) -> bool:
    """Whether a sentence begins as if it corrected the one before; some that do not correct do so.

    For where it costs little to keep both together, in English, German and Chinese.
    """
    return _MAY.match(text) is not None


def what_is_corrected(chunks: ChunkCandidates, corrects: Floats) -> Corrections:
    """Return what each correction corrects: the last that the same speaker said in the session.

    ``corrects`` (n,) is 1 for corrections. An assistant that apologises is no correction of a user.
    """
    rows = [
        row
        for row in np.flatnonzero(corrects == 1.0).tolist()
        if chunks.roles[row] in (None, "user")
    ]
    rows.sort(key=chunks.at.__getitem__)
    return [(row, before) for row in rows if (before := _said_before(chunks, row))]


def _said_before(chunks: ChunkCandidates, row: int) -> list[int]:
    """The rows of the last chunks in a row of the same speaker, with others between at most."""
    speaker, found = chunks.speakers[row], list[int]()
    before = row
    for _ in range(_MOST_STEPS):
        before = int(chunks.previous[before])
        if before < 0 or (found and chunks.speakers[before] != speaker):
            break
        if chunks.speakers[before] == speaker:
            found.append(before)
    return found


def lifts(scores: Floats, corrected: Corrections) -> Floats:
    """Return what to add to the scores (n,), so that no correction ranks below what it corrects."""
    lifted = scores.copy()
    for row, before in corrected:
        lifted[row] = max(lifted[row], lifted[list(before)].max() + _BARELY)
    return np.asarray(lifted - scores)


def corrects(text: str, before: str, *, at_once: bool) -> bool:
    """Whether a text corrects another one that the same speaker said just before it.

    It is short and gives a number, a time or a name in the place of one of the same kind. Where it
    does not begin as a correction does, it must have been said ``at_once``, with nobody between,
    and say nothing else but a word at its beginning: "Pardon, le 25".
    """
    own = words(text)
    if not own or len(own) > MOST_WORDS or is_question(text):
        return False
    said = frozenset(words(before))
    values = zip(_values(text), _values(before), strict=True)
    replaces = any(bool(new - old and old) for new, old in values)
    if may_correct(text) or is_correction(text):
        told = {word for word in own if not _is_figure(word)} - STOP_WORDS - _MARKS
        return replaces or not said.isdisjoint(told)
    if not (at_once and replaces):
        return False
    opening = _EXCLAIMED.match(text)
    more = own[1:] if opening else own
    named = {word for name in _names(text) for word in words(name)}
    return all(word in said or word in named or _is_figure(word) for word in more)


def _values(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The numbers and times of a text, and its names."""
    figures = {word: stated_numbers(word) for word in words(text) if _is_figure(word)}
    values = (numbers or {word} for word, numbers in figures.items())
    return frozenset(value for own in values for value in own), _names(text)


def _is_figure(word: str) -> bool:
    return word in _FIGURES or not set(word).isdisjoint("0123456789")


def _names(text: str) -> frozenset[str]:
    """What is written with a capital letter within a sentence."""
    return frozenset(match[0].casefold() for match in _NAME.finditer(text)) - _FIGURES
