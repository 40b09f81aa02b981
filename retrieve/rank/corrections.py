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
from cognigraph.stores.candidates import ChunkCandidates

Corrections = Sequence[tuple[int, Sequence[int]]]
"""The row of each correction, oldest first, with the rows of what it corrects."""

_MOST_STEPS = 8
_BARELY = 1e-9
_HEAD = 160
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
