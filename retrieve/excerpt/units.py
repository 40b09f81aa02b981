"""Segment a message into units that can be shown without the rest of it.

A unit is a sentence, a list item (or one sentence of a long item), a heading, a line of fenced code
or a row of a table. Units do not overlap and are in the order of the text. A unit knows which
others it needs to be understood: a list item its heading and the item it is nested in, a later
sentence of an item its first, a row the header of its table. A sentence and one that corrects it
("30 June. Hmm, actually 14 July.") are one unit, with what stands between them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from threading import Lock
from typing import Literal, NamedTuple

from cognigraph.english.sentences import sentence_spans
from cognigraph.retrieve.rank.signals import may_correct
from cognigraph.text.terms import is_source_code

Kind = Literal["sentence", "item", "heading", "code", "row"]

LONGEST = 400
"""A sentence with more characters is cut into pieces at white space: a unit must fit somewhere."""
_LONG_ITEM = 160
_LONGEST_HEADING = 200

_FENCE = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]*)[^`\n]*\Z")
_HEADING = re.compile(
    r"[ ]{0,3}#{1,6}[ \t]+\S|[ ]{0,3}(?:\*\*|__)[^*_\n]{1,120}(?:\*\*|__):?[ \t]*\Z"
)
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+•–]|\(?\d{1,3}[.)]|[A-Za-z][.)])[ \t]+(?=\S)")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*\Z")
_RULE = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*\|?[ \t]*\Z")
_BLANK = " \t\r\f\v>"
"""A line of these alone separates paragraphs, in a quotation too."""
_DIGIT = re.compile(r"\d")
_MOST_BETWEEN = 4
"""Units before a correction among which the one that it corrects is looked for."""
_BREAK = re.compile(r"[\s,;，、；]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a text, ``text[start:end]``.

    ``needs`` are the indexes of the units that must be shown with it. ``block`` numbers the
    paragraph, list, table or fence it belongs to, and ``language`` is that of a fence.
    """

    start: int
    end: int
    kind: Kind
    block: int
    needs: tuple[int, ...] = ()
    language: str = ""


class _Line(NamedTuple):
    start: int
    end: int
    text: str


_MOST_REMEMBERED = 4096
_remembered: OrderedDict[tuple[int, int], tuple[Unit, ...]] = OrderedDict()
_lock = Lock()


def segment(text: str) -> tuple[Unit, ...]:
    """The units of a text. Everything but white space, fences and rules of tables is in one.

    Results are remembered, because the same messages are shown again and again; by a 64-bit hash
    and not by the text, which may be deleted in the meantime.
    """
    key = hash(text), len(text)
    with _lock:
        if key in _remembered:
            _remembered.move_to_end(key)
            return _remembered[key]
    units = tuple(_Reader(text).read())
    with _lock:
        _remembered[key] = units
        if len(_remembered) > _MOST_REMEMBERED:
            _remembered.popitem(last=False)
    return units


class _Reader:
    """Reads a text line by line; holds what the lines before have opened."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = list(_lines(text))
        self._units: list[Unit] = []
        self._block = 0
        self._items: list[tuple[int, int]] = []  # indentation and first unit of the open items
        self._list_heading: tuple[int, ...] = ()

    def read(self) -> list[Unit]:
        """Return all units."""
        if "```" not in self._text and "~~~" not in self._text and is_source_code(self._text):
            return self._source()
        index = 0
        while index < len(self._lines):
            index = self._next(index)
        return self._units

    def _source(self) -> list[Unit]:
        """Read a source file, or what splitting left of one."""
        for index, line in enumerate(self._lines):
            if line.text.strip():
                self._add_line(index, "code", indented=True)
        return self._units

    def _next(self, index: int) -> int:
        """Read what begins in a line; return the index of the line after it."""
        line = self._lines[index].text
        if not line.strip(_BLANK):
            self._block += 1
            return index + 1
        fence = _FENCE.match(line)
        if fence:
            return self._code(index, fence["marks"], fence["language"])
        if _ROW.match(line):
            return self._table(index)
        item = _ITEM.match(line)
        if item and not _is_rule(line):
            return self._item(index, len(item["indent"].expandtabs(4)))
        if self._items and line[:1].isspace():  # goes on with the last item
            self._sentences(index, index + 1, needs=(self._items[-1][1],))
            return index + 1
        self._items = []
        if _HEADING.match(line):
            self._add_line(index, "heading")
            self._block += 1
            return index + 1
        self._sentences(index, index + 1)
        return index + 1

    def _code(self, index: int, marks: str, language: str) -> int:
        self._block += 1
        closing = re.compile(rf"[ \t]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*\Z")
        index += 1
        while index < len(self._lines) and not closing.match(self._lines[index].text):
            if self._lines[index].text.strip():
                self._add_line(index, "code", language=language, indented=True)
            index += 1
        self._block += 1
        return index + 1

    def _table(self, index: int) -> int:
        self._items = []
        self._block += 1
        header: tuple[int, ...] = ()
        first = index
        while index < len(self._lines) and _ROW.match(self._lines[index].text):
            if not _RULE.match(self._lines[index].text):
                self._add_line(index, "row", needs=header)
            elif index == first + 1:
                header = (len(self._units) - 1,)
            index += 1
        self._block += 1
        return index

    def _item(self, index: int, indent: int) -> int:
        if not self._items:
            self._list_heading = self._heading_before()
            self._block += 1
        while self._items and self._items[-1][0] >= indent:
            self._items.pop()
        needs = (self._items[-1][1],) if self._items else self._list_heading
        self._items.append((indent, len(self._units)))
        line = self._lines[index]
        if line.end - line.start <= _LONG_ITEM:
            self._add_line(index, "item", needs=needs)
            return index + 1
        first = len(self._units)
        marker = _ITEM.match(line.text)
        skip = marker.end() if marker else 0
        for start, end in _pieces(self._text, line.start + skip, line.end):
            if len(self._units) == first:
                start = line.start + len(line.text) - len(line.text.lstrip())
                self._add(start, end, "item", needs)
            else:
                self._add(start, end, "sentence", (first,))
        return index + 1

    def _heading_before(self) -> tuple[int, ...]:
        """The heading or the sentence with a colon that directly precedes a list."""
        if not self._units:
            return ()
        last = self._units[-1]
        said = self._text[last.start : last.end].rstrip("*_ ")
        introduces = last.kind == "sentence" and said.endswith((":", "："))
        if last.end - last.start > _LONGEST_HEADING or not (last.kind == "heading" or introduces):
            return ()
        return (len(self._units) - 1,)

    def _sentences(self, index: int, stop: int, needs: tuple[int, ...] = ()) -> None:
        for line in self._lines[index:stop]:
            for start, end in _pieces(self._text, line.start, line.end):
                self._add(start, end, "sentence", needs)

    def _add_line(
        self,
        index: int,
        kind: Kind,
        needs: tuple[int, ...] = (),
        language: str = "",
        *,
        indented: bool = False,
    ) -> None:
        line = self._lines[index]
        lead = 0 if indented else len(line.text) - len(line.text.lstrip())
        end = line.start + len(line.text.rstrip())
        self._add(line.start + lead, end, kind, needs, language)

    def _add(
        self, start: int, end: int, kind: Kind, needs: tuple[int, ...] = (), language: str = ""
    ) -> None:
        corrected = self._corrected(start, end) if kind == "sentence" else None
        if corrected is not None:
            self._units[corrected:] = [replace(self._units[corrected], end=end)]
            return
        self._units.append(Unit(start, end, kind, self._block, needs, language))

    def _corrected(self, start: int, end: int) -> int | None:
        """The unit that a sentence corrects, if it does: the one before it.

        If the sentence has a number, it is the last one with a number, where one is near.
        """
        if not (self._units and may_correct(self._text[start:end])):
            return None
        near = range(len(self._units) - 1, max(len(self._units) - 1 - _MOST_BETWEEN, -1), -1)
        said = [self._units[at] for at in near]
        prose = list(takewhile(lambda unit: unit.kind in ("sentence", "item"), said))
        if not prose:
            return None
        has_number = [_DIGIT.search(self._text, unit.start, unit.end) for unit in prose]
        if _DIGIT.search(self._text, start, end):
            return next((at for at, has in zip(near, has_number, strict=False) if has), near[0])
        return near[0]


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start, start + len(line), line.rstrip("\r"))
        start += len(line) + 1


def _is_rule(line: str) -> bool:
    """Whether a line is a horizontal rule, such as ``- - -``."""
    marks = "".join(line.split())
    return len(marks) >= 3 and marks in ("-" * len(marks), "*" * len(marks))


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of ``text[start:end]``, those that are too long in pieces."""
    for first, last in sentence_spans(text[start:end]):
        yield from _short(text, start + first, start + last)


def _short(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while end - start > LONGEST:
        cut = _cut(text, start)
        yield start, start + len(text[start:cut].rstrip())
        start = cut + len(text[cut:end]) - len(text[cut:end].lstrip())
    if start < end:
        yield start, end


def _cut(text: str, start: int) -> int:
    """Where to end a piece: after the last white space or comma in its second half, if any."""
    stop = start + LONGEST
    breaks = [match.end() for match in _BREAK.finditer(text, start + LONGEST // 2, stop)]
    if breaks:
        return breaks[-1]
    while stop > start + 1 and (
        unicodedata.category(text[stop])[0] == "M" or "\u200d" in text[stop - 1 : stop + 1]
    ):
        stop -= 1
    return stop
