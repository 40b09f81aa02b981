"""Keep only the prose of a message: no headings, tables, quoted lines, list marks or emphasis.

What stands in a heading or a table row is no statement, and a quoted line is somebody else's.
Code is removed with the rest of the cleaning (:func:`cognigraph.english.sentences.clean`).
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_QUOTED = re.compile(r"\"[^\"]{80,4000}\"|“[^“”]{80,4000}”")
"""A long quotation: a letter or a passage of a book that somebody pasted."""
_DROPPED_LINE = re.compile(
    r"[ \t]*(?:"
    r"\#{1,6}\s.*"  # a heading
    r"|>.*"  # a quotation
    r"|\|.*\|[ \t]*"  # a table row
    r"|[*_]{2}[^*_\n]{1,80}[*_]{2}[:.]?[ \t]*"  # a line in bold: a heading as well
    r"|[-=*_]{3,}[ \t]*"  # a rule
    r")"
)
_LIST_MARK = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)]|[a-z]\))[ \t]+(?:\[[ xX]\][ \t]+)?")
_LABEL = re.compile(r"[*_]{2}[^*_\n]{1,60}(?:[.:][*_]{2}|[*_]{2}:)[ \t]+(?=\S)")
_EMPHASIS = re.compile(r"(?<!\w)[*]{1,3}(?=\S)|(?<=\S)[*]{1,3}(?!\w)")


def prose(text: str) -> str:
    """Return the lines of a text that can hold statements, without Markdown marks."""
    if not any(mark in text for mark in '#>|*_`~-+•0123456789"“'):
        return text
    text = _QUOTED.sub("\n", _FENCE.sub("\n", text))
    return "\n".join(_plain(line) for line in text.split("\n") if not _is_dropped(line))


def without_code(text: str) -> str:
    """Return a text without what stands between fences."""
    return _FENCE.sub("\n", text) if "```" in text or "~~~" in text else text


def _is_dropped(line: str) -> bool:
    return len(line) < 2000 and _DROPPED_LINE.fullmatch(line) is not None


def _plain(line: str) -> str:
    item = _LIST_MARK.match(line)
    if item is not None and line.strip() != item[0].strip():
        line = line[item.end() :]
        line = _LABEL.sub("", line, count=1) if line.startswith(("**", "__")) else line
    return _EMPHASIS.sub("", line) if "*" in line else line
