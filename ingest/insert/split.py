"""Split a long message into chunks at its structure without losing a character."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cognigraph.text.terms import printable

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


# Find the structure of a long text: headings, fenced code, definitions, list items, log lines.
#
# Markdown, code and logs are recognised by their lines, without a parser. What is not recognised is
# prose, which has no structure but its paragraphs.

_MOST_TITLE, _MOST_PATH = 80, 240
_BETWEEN = " > "
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)]|\[[ xX]\])[ \t]+\S")
_LOG = re.compile(
    r"[\[(]?(?:\d{4}-\d\d-\d\d[T ,]|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:)"
    r"|\[?(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|TRACE)\b"
)
_DEFINITION = re.compile(
    r"([ \t]*)(?:(?:export|default|public|private|protected|static|final|abstract|async|pub|"
    r"override|inline|unsafe)[ \t]+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|module|namespace|type)\b"
    r"[ \t*]*(?:\([^)]*\)[ \t]*)?([A-Za-z_$][\w$]*)"
)
_LEAD = re.compile(r"[ \t]*(?:@|#|//|/\*|\*|--)")
_CODE = re.compile(
    r".*[;{}]\s*\Z|.*[)\]\w\"']:\s*\Z|[ \t]+(?:return|self\.|this\.|if |for |while )|"
    r"(?:import|from|package|using|#include|def|class|function|func|fn|const|let|var|return|@)\b"
)
_CODE_SHARE = 0.3


@dataclass(slots=True)
class Outline:
    """Where a text may be cut, and the headings over each position.

    The lists hold positions in rising order: ``headings`` before headings and the definitions of
    a source file, ``blocks`` before and after fenced code, ``paragraphs`` after blank lines,
    ``items`` before list items, log lines, rows of tables and lines of code. There are none within
    fenced code that fits into a part.
    """

    headings: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    paragraphs: list[int] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)
    _paths: list[str] = field(default_factory=list)

    def heading(self, position: int) -> str | None:
        """The path of headings over a position: "Setup > Database"."""
        index = bisect_right(self._starts, position) - 1
        return (self._paths[index] or None) if index >= 0 else None

    def drop_after(self, position: int) -> None:
        """Forget where the text after a position may be cut."""
        for positions in (self.headings, self.blocks, self.paragraphs, self.items):
            while positions and positions[-1] > position:
                positions.pop()

    def set_path(self, position: int, titles: list[str]) -> None:
        """Record the headings that hold from a position on."""
        path = _BETWEEN.join(titles)
        while len(path) > _MOST_PATH and len(titles) > 1:
            titles = titles[1:]  # the innermost headings say most
            path = _BETWEEN.join(titles)
        self._starts.append(position)
        self._paths.append(path)


def outline(text: str, limit: int) -> Outline:
    """Find the structure of a text for parts of at most ``limit`` characters, in linear time."""
    return _Reader(limit, is_code="```" not in text and _is_code(text)).read(text)


class _Reader:
    """Reads line after line, knowing the headings and definitions that are open."""

    def __init__(self, limit: int, *, is_code: bool) -> None:
        self._found = Outline()
        self._limit = limit
        self._is_code = is_code
        self._fence = ""
        self._fence_start = 0
        self._headings: list[tuple[int, str]] = []
        self._definitions: list[tuple[int, str]] = []
        self._after_blank = False
        self._lead: int | None = None
        """Start of the comments and decorators just before this line."""

    def read(self, text: str) -> Outline:
        for start, line in _lines(text):
            self._line(start, line)
            self._after_blank = not line.strip()
        return self._found

    def _line(self, start: int, line: str) -> None:
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and line.strip(" \t>`~\r\n") == "":
                self._close(start + len(line))
            else:
                self._code(start, line)
        elif fence and not self._is_code:
            self._fence, self._fence_start = fence[1], start
            self._found.blocks.append(start)
        elif self._is_code:
            self._code(start, line)
        else:
            self._prose(start, line)

    def _close(self, end: int) -> None:
        self._fence, self._lead = "", None
        if end - self._fence_start <= self._limit:
            self._found.drop_after(self._fence_start)
        self._found.blocks.append(end)
        if self._definitions:
            self._definitions = []
            self._set_path(end)

    def _prose(self, start: int, line: str) -> None:
        heading = _HEADING.match(line)
        if heading:
            level = len(heading[1])
            self._headings = [item for item in self._headings if item[0] < level]
            self._headings.append((level, _title(heading[2].rstrip(" \t\r#"))))
            self._found.headings.append(start)
            self._set_path(start)
        elif self._after_blank and line.strip():
            self._found.paragraphs.append(start)
        elif _ITEM.match(line) or _LOG.match(line) or _is_row(line):
            self._found.items.append(start)

    def _code(self, start: int, line: str) -> None:
        if not line.strip():
            self._lead = None
            return
        definition = _DEFINITION.match(line)
        if definition is None:
            (self._found.paragraphs if self._after_blank else self._found.items).append(start)
            if not _LEAD.match(line):
                self._lead = None
            elif self._lead is None:
                self._lead = start
            return
        indent = len(definition[1].expandtabs(4))
        self._definitions = [item for item in self._definitions if item[0] < indent]
        self._definitions.append((indent, _title(definition[2])))
        begin = start if self._lead is None else self._lead
        self._lead = None
        outer = self._found.blocks if self._fence else self._found.headings
        (self._found.paragraphs if indent else outer).append(begin)
        self._set_path(begin)

    def _set_path(self, position: int) -> None:
        self._found.set_path(position, [title for _, title in self._headings + self._definitions])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield start, text[start:end]
        start = end


def _is_row(line: str) -> bool:
    line = line.strip()
    return len(line) > 1 and line[0] == line[-1] == "|"


def _title(text: str) -> str:
    return " ".join(printable(text[: 4 * _MOST_TITLE]).split())[:_MOST_TITLE].rstrip()


def _is_code(text: str) -> bool:
    """Whether so many lines look like code that the text is a source file."""
    lines = [line for _, line in _lines(text) if line.strip()]
    like_code = sum(_CODE.match(line) is not None for line in lines)
    return like_code >= max(_CODE_SHARE * len(lines), 3)
