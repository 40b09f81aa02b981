"""Tell source code that stands without a fence: a file, or a function cut out of one."""

from __future__ import annotations

import re

_FEWEST_LINES = 3
_SHARE = 0.7
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+•>|]|\d{1,3}[.)])[ \t]")
_CODE = re.compile(
    r".*[;{}]\s*\Z"  # an end of a statement or a block
    r"|[ \t]*(?:def|class|func|fn|function)\b.*[:{(,]\s*\Z"
    r"|[ \t]*(?:if|for|while|with|try|else|elif|except)\b.*:\s*\Z"
    r"|(?:from [\w.]+ import |import [\w.]+\s*(?:as \w+\s*)?\Z|#include\b|package \w+\s*\Z|@\w+)"
    r"|[ \t]*(?:const|let|var)\s+\w+\s*[:=]"
    r"|[ \t]+return\b"
)
_INDENTED = re.compile(r"(?:\t| {2,})\S")


def is_source_code(text: str) -> bool:
    """Whether nearly all lines are code or stand indented under code, and some are code for sure.

    An indented list is none, nor is an indented paragraph.
    """
    if text.count("\n") < _FEWEST_LINES - 1:
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < _FEWEST_LINES or any(_LIST_ITEM.match(line) for line in lines):
        return False
    sure = [_CODE.match(line) is not None for line in lines]
    likely = sum(
        code or _INDENTED.match(line) is not None for code, line in zip(sure, lines, strict=True)
    )
    return any(sure) and likely >= _SHARE * len(lines)
