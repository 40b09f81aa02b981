"""Proper names in texts, judging by capital letters."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from cognigraph.arrays import Ints

_NAME = re.compile(r"[^\W\d_]{2,}")
_OPENING = np.array([ord(mark) for mark in '"“('])
_ENDING = np.array([ord(mark) for mark in ' .!?…"”)\n\r\t'])


def names_in(texts: Sequence[str]) -> list[tuple[int, str]]:
    """The different names in each text as they are spelled, as (index of the text, name).

    A name has two letters or more and a capital after a word or an opening mark, not after a full
    stop. The texts are in their order, the names of a text in any order.
    """
    joined = "\n".join(texts)
    starts = _inner_capitals(joined)
    owners = np.searchsorted(np.cumsum([len(text) + 1 for text in texts]), starts, side="right")
    found = dict[tuple[int, str], None]()
    for owner, start in zip(owners.tolist(), starts.tolist(), strict=True):
        name = _NAME.match(joined, start)
        if name and name[0][0].isupper():
            found[owner, name[0]] = None
    return [*found]


def _inner_capitals(text: str) -> Ints:
    """Return the positions of possible capitals after a word or opening mark, not a full stop."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    at = np.flatnonzero(((codes >= ord("A")) & (codes <= ord("Z"))) | (codes >= ord("À")))
    at = at[at > 0]
    before, further = codes[at - 1], codes[np.maximum(at - 2, 0)]
    spaced = (before == ord(" ")) & np.isin(further, _ENDING, invert=True)
    return np.asarray(at[spaced | np.isin(before, _OPENING)], np.int64)
