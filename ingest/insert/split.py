"""Split a long message into chunks at sentence ends without losing a character."""

from __future__ import annotations

import re
import unicodedata

# A sentence ends with its mark and closing quotes before white space; CJK marks need no space.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]+[\"'”’)\]]{0,3}(?=\s)|[。！？]|\n")
_WORD_END = re.compile(r"\s")


def split(text: str, limit: int) -> list[str]:
    """Split ``text`` into pieces of at most ``limit`` characters; joined, they equal the text.

    A cut is at the last sentence end in the second half of a piece, else at the last white space
    there, else at a character boundary (never inside a combining sequence). Takes linear time.
    """
    pieces: list[str] = []
    start = 0
    while len(text) - start > limit:
        end = _cut(text, start, limit)
        pieces.append(text[start:end])
        start = end
    pieces.append(text[start:])
    return pieces


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
