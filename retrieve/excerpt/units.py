"""Units of a message that can be shown without the rest: cut, judged by their words, and written.

A unit is a sentence, a list item (or one sentence of a long item), a heading, a line of fenced code
or a row of a table. Units do not overlap and are in the order of the text. A unit knows which
others it needs to be understood: a list item its heading and the item it is nested in, a later
sentence of an item its first, a row the header of its table. A sentence and one that corrects it
("30 June. Hmm, actually 14 July.") are one unit, with what stands between them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Literal, NamedTuple

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed.word_vectors import TextWords, word_vectors
from cognigraph.english.sentences import sentence_spans
from cognigraph.english.words import PLEASANTRIES
from cognigraph.retrieve.question.analyse import Analysis, form_features
from cognigraph.retrieve.rank.signals import may_correct
from cognigraph.text.marks import INDENT, one_line, same_lines
from cognigraph.text.terms import START, STOP_WORDS, is_question, is_source_code, remembered

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


def segment(text: str) -> tuple[Unit, ...]:
    """The units of a text. Everything but white space, fences and rules of tables is in one."""
    return remembered(("units", hash(text), len(text)), lambda: tuple(_Reader(text).read()))


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


# How likely each unit of a message is to answer a question, from its words alone.
#
# The signals are late interaction over static word vectors (the mean best match of the question's
# words, weighted by idf), absolute and relative to the best unit of the message; names, numbers and
# the expected form of the answer; and two marks of what is asked rather than told: a question, and
# the last sentence of a user, which is mostly a request. Vectors of sentences add nothing to them
# (bench/TRIED.md). The weights were learned on ``bench/labels/answers.jsonl``.

_MATCH, _RELATIVE, _NAMES, _FORM, _DIGITS = 6.5, 6.2, 0.9, 0.45, 0.5
_ASKS, _REQUEST, _SHORT = -1.2, -0.9, -0.6
_BIAS = -1.5
_ENOUGH_WORDS = 5.0


@dataclass(frozen=True, slots=True)
class MessageUnits:
    """The texts of the units of one message; ``user`` says whether its role is user."""

    texts: tuple[str, ...]
    user: bool = False


def unit_worths(
    messages: Sequence[MessageUnits], analysis: Analysis, idf: Mapping[str, float]
) -> list[Floats]:
    """For each message the probability of each of its units to answer; (units,) in (0, 1).

    ``idf`` holds the weights of the question's terms; a term without one weighs as much as the
    heaviest.
    """
    texts = [text for message in messages for text in message.texts]
    if not texts:
        return [np.zeros(0) for _ in messages]
    said = word_vectors().read(texts)
    match = _match(said, analysis, idf)
    form = form_features(texts, said, ("user", "assistant"), analysis.form)
    telling = _telling(said)
    score = _MATCH * match + _NAMES * form["names"] + _DIGITS * _have_digits(texts)
    score += _FORM * form.get("answer form", np.zeros(len(texts)))
    score += _ASKS * np.array([is_question(text) for text in texts], float)
    score += _SHORT * np.maximum(0.0, np.log1p(_ENOUGH_WORDS) - np.log1p(telling)) + _BIAS
    score[telling == 0] -= 4.0
    sizes = [len(message.texts) for message in messages]
    ends = np.cumsum(sizes)
    filled = [row for row, size in enumerate(sizes) if size]
    best = np.maximum.reduceat(match, [ends[row] - sizes[row] for row in filled])
    score += _RELATIVE * (match - np.repeat(best, [sizes[row] for row in filled]))
    requests = [ends[row] - 1 for row in filled if messages[row].user and sizes[row] > 1]
    score[requests] += _REQUEST
    return np.split(1 / (1 + np.exp(-score)), ends[:-1])


def best_worths(
    messages: Sequence[MessageUnits], analyses: Sequence[Analysis], idf: Mapping[str, float]
) -> list[Floats]:
    """As :func:`unit_worths`, for the query that each unit answers best."""
    worths = [unit_worths(messages, analysis, idf) for analysis in analyses]
    return [np.maximum.reduce(own) for own in zip(*worths, strict=True)]


def matches(texts: Sequence[str], analysis: Analysis, idf: Mapping[str, float]) -> Floats:
    """Late interaction of the question with each text (n,), in [0, 1]."""
    return _match(word_vectors().read(texts), analysis, idf)


def _match(said: TextWords, analysis: Analysis, idf: Mapping[str, float]) -> Floats:
    heaviest = max(idf.values(), default=1.0)
    weights = np.array([idf.get(term, heaviest) for term in analysis.terms])
    similar = word_vectors().best_matches(analysis.words, said)
    return np.asarray(similar @ weights / max(float(weights.sum()), 1e-9))


def _telling(said: TextWords) -> Floats:
    """Number of words (n,) of each text that are neither stop words nor pleasantries."""
    tells = said.vocabulary.marks("tells", _tells)
    return said.count(tells[said.rows]).astype(float)


def _tells(word: str) -> bool:
    return word not in STOP_WORDS and word not in PLEASANTRIES and word != START


def _have_digits(texts: Sequence[str]) -> Floats:
    return np.array([any(map(str.isdigit, text)) for text in texts], float)


# Write the chosen units of a message as the lines of one item of the prompt block.
#
# Prose is one line. Code keeps its line breaks and indentation in a fence, a table its rows; these
# lines, and what follows them, are indented by two spaces, so that no text of a message stands at
# the beginning of a line. ``…`` stands for what is left out before, between and after units.

GAP = "…"
_FENCE_RUN = re.compile(r"`{3,}|~{3,}")
_BACKTICKS = re.compile(r"`{3,}")


@dataclass(slots=True)
class _Piece:
    """Consecutive units of one look: prose, the lines of a fence, or the rows of a table."""

    kind: str
    block: int
    language: str = ""
    parts: list[str] = field(default_factory=list)


def shown_text(head: str, text: str, units: Sequence[Unit], chosen: Sequence[int]) -> str:
    """The item: ``head`` and the chosen units of ``text``, in their order; all if all are chosen.

    ``head`` is made safe together with the text, so that no mark can be put together from both.
    """
    if len(chosen) == len(units) and all(unit.kind not in ("code", "row") for unit in units):
        return prose(f"{head}{text}")
    lines: list[str] = []
    for piece in _shown_pieces(text, units, chosen):
        if piece.kind == "prose":
            joined = " ".join(piece.parts)
            lines.append(f"{INDENT}{prose(joined)}" if lines else prose(f"{head}{joined}"))
            continue
        if not lines:
            lines.append(prose(head))
        written = _fenced(piece) if piece.kind == "code" else same_lines("\n".join(piece.parts))
        lines.extend(f"{INDENT}{line}" for line in written)
    return "\n".join(line.rstrip() for line in lines)


def prose(text: str) -> str:
    """The text in one safe line; longer runs of backticks or tildes are cut to two.

    Otherwise a sentence cut out of its message could open a fence.
    """
    if "```" in text or "~~~" in text:
        text = _FENCE_RUN.sub(lambda run: run[0][:2], text)
    return one_line(text)


def _shown_pieces(text: str, units: Sequence[Unit], chosen: Sequence[int]) -> Iterator[_Piece]:
    current: _Piece | None = None
    before, end = -1, 0
    for index in chosen:
        unit = units[index]
        kind = unit.kind if unit.kind in ("code", "row") else "prose"
        same = current is not None and current.kind == kind
        if kind != "prose" and current is not None:
            same = same and current.block == unit.block
        if index > before + 1:
            if current is None:
                current = _Piece("prose", unit.block, parts=[GAP])
                same = kind == "prose"
            elif kind == "prose" and not same:  # a gap before prose begins the prose
                yield current
                current = _Piece(kind, unit.block, parts=[GAP])
                same = True
            else:
                current.parts.append(GAP)
        if current is None or not same:
            if current is not None:
                yield current
            current = _Piece(kind, unit.block, unit.language)
        elif kind == "code" and index == before + 1:  # empty lines between them stay
            current.parts.extend([""] * (text.count("\n", end, unit.start) - 1))
        current.parts.append(text[unit.start : unit.end])
        before, end = index, unit.end
    if current is None:
        return
    if before < len(units) - 1 and current.kind != "prose":
        yield current
        current = _Piece("prose", 0)
    if before < len(units) - 1:
        current.parts.append(GAP)
    yield current


def _fenced(piece: _Piece) -> Iterator[str]:
    lines = same_lines("\n".join(piece.parts))
    longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=2)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{piece.language}"
    yield from lines
    yield fence
