"""Split a long message into chunks at its structure without losing a character."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from cognigraph.ingest.insert.outline import outline

# A sentence ends with its mark and closing quotes before white space; CJK marks need no space.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’)\]]{0,3}(?=\s)|[。！？]|\n")
_WORD_END = re.compile(r"\s")


class Part(NamedTuple):
    """A part of a message, and the path of headings under which it begins."""

    text: str
    heading: str | None = None


def split(text: str, limit: int) -> list[str]:
    """The texts of :func:`parts`."""
    return [part.text for part in parts(text, limit)]


def parts(text: str, limit: int) -> list[Part]:
    """Split ``text`` into parts of at most ``limit`` characters; joined, they equal the text.

    A cut is before the last heading or fenced block that leaves at least a quarter of ``limit``.
    Without one, it is in the second half of the part: before the last paragraph, else the last
    list item, log line or line of code, else after the last sentence, else at the last white space,
    else at a character boundary (never inside a combining sequence). Takes linear time.
    """
    if len(text) <= limit:
        return [Part(text)]
    found = outline(text, limit)
    cuts = ((found.headings, 4), (found.blocks, 4), (found.paragraphs, 2), (found.items, 2))
    done: list[Part] = []
    start = 0
    while len(text) - start > limit:
        end = _structural_cut(text, start, limit, cuts) or _cut(text, start, limit)
        done.append(Part(text[start:end], found.heading(start)))
        start = end
    done.append(Part(text[start:], found.heading(start)))
    return done


def _structural_cut(
    text: str, start: int, limit: int, cuts: Sequence[tuple[list[int], int]]
) -> int | None:
    """The last position of the strongest kind; each kind says which share must come before it."""
    for positions, share in cuts:
        index = bisect_right(positions, start + limit) - 1
        if index >= 0 and positions[index] >= start + max(limit // share, 1):
            end = positions[index]
            if not _joins(text, end):
                return end
    return None


def _cut(text: str, start: int, limit: int) -> int:
    middle, stop = start + limit // 2, start + limit
    for pattern in (_SENTENCE_END, _WORD_END):
        ends = [match.end() for match in pattern.finditer(text, middle, stop)]
        if ends:
            end = ends[-1]
            while end < stop and text[end].isspace():  # white space belongs to the sentence before
                end += 1
            if not _joins(text, end):
                return end
    end = stop
    while end > middle and _joins(text, end):
        end -= 1
    return end if end > middle else stop


def _joins(text: str, index: int) -> bool:
    """Whether a cut at ``index`` would split one visible character."""
    character, before = text[index], text[index - 1]
    if _is_flag(character) and _is_flag(before):
        start = index
        while start > 0 and _is_flag(text[start - 1]):
            start -= 1
        return (index - start) % 2 == 1
    return (
        unicodedata.category(character)[0] == "M"
        or character == "\u200d"
        or before == "\u200d"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
    )


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
