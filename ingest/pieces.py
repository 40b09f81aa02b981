"""Cut a message into the pieces that are indexed: at its structure, and without recalled blocks.

No character of a message is lost: its pieces, joined, are its text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
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
    found = _Outline(text, limit)
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


class _Outline:
    """Where a text may be cut into parts, and the headings over each position. Takes linear time.

    The lists hold positions in rising order: ``headings`` before headings and the definitions of
    a source file, ``blocks`` before and after fenced code, ``paragraphs`` after blank lines,
    ``items`` before list items, log lines, rows of tables and lines of code. There are none within
    fenced code that fits into a part of ``limit`` characters.
    """

    def __init__(self, text: str, limit: int) -> None:
        self.headings: list[int] = []
        self.blocks: list[int] = []
        self.paragraphs: list[int] = []
        self.items: list[int] = []
        self._limit = limit
        self._is_code = "```" not in text and _is_code(text)
        self._starts: list[int] = []
        self._paths: list[str] = []
        # What is open at the line that is read.
        self._fence = ""
        self._fence_start = 0
        self._titles: list[tuple[int, str]] = []
        self._definitions: list[tuple[int, str]] = []
        self._after_blank = False
        self._lead: int | None = None
        """Start of the comments and decorators just before this line."""
        for start, line in _lines(text):
            self._line(start, line)
            self._after_blank = not line.strip()

    def heading(self, position: int) -> str | None:
        """The path of headings over a position: "Setup > Database"."""
        index = bisect_right(self._starts, position) - 1
        return (self._paths[index] or None) if index >= 0 else None

    def _line(self, start: int, line: str) -> None:
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and line.strip(" \t>`~\r\n") == "":
                self._close(start + len(line))
            else:
                self._code(start, line)
        elif fence and not self._is_code:
            self._fence, self._fence_start = fence[1], start
            self.blocks.append(start)
        elif self._is_code:
            self._code(start, line)
        else:
            self._prose(start, line)

    def _close(self, end: int) -> None:
        self._fence, self._lead = "", None
        if end - self._fence_start <= self._limit:
            for positions in (self.headings, self.blocks, self.paragraphs, self.items):
                while positions and positions[-1] > self._fence_start:
                    positions.pop()
        self.blocks.append(end)
        if self._definitions:
            self._definitions = []
            self._set_path(end)

    def _prose(self, start: int, line: str) -> None:
        heading = _HEADING.match(line)
        if heading:
            level = len(heading[1])
            self._titles = [item for item in self._titles if item[0] < level]
            self._titles.append((level, _title(heading[2].rstrip(" \t\r#"))))
            self.headings.append(start)
            self._set_path(start)
        elif self._after_blank and line.strip():
            self.paragraphs.append(start)
        elif _ITEM.match(line) or _LOG.match(line) or _is_row(line):
            self.items.append(start)

    def _code(self, start: int, line: str) -> None:
        if not line.strip():
            self._lead = None
            return
        definition = _DEFINITION.match(line)
        if definition is None:
            (self.paragraphs if self._after_blank else self.items).append(start)
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
        outer = self.blocks if self._fence else self.headings
        (self.paragraphs if indent else outer).append(begin)
        self._set_path(begin)

    def _set_path(self, position: int) -> None:
        """Record the headings that hold from a position on; the innermost ones say most."""
        titles = [title for _, title in self._titles + self._definitions]
        while len(_BETWEEN.join(titles)) > _MOST_PATH and len(titles) > 1:
            titles = titles[1:]
        self._starts.append(position)
        self._paths.append(_BETWEEN.join(titles))


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
    """Whether enough lines look like code for the text to be a source file."""
    lines = [line for _, line in _lines(text) if line.strip()]
    like_code = sum(_CODE.match(line) is not None for line in lines)
    return like_code >= max(_CODE_SHARE * len(lines), 3)


# Find the parts of a message that repeat a prompt block from the memory itself.
#
# An agent receives a prompt block from ``Space.context``, and its next message may contain the
# block: quoted, indented, in a code fence, truncated, or only some of its lines without the marks.
# If it were indexed again, each recall would look like new evidence. The full text is stored and
# displayed; the index and the extractors get only the remaining text (:func:`fresh`).
#
# Only the form of the block (``cognigraph.retrieve.assemble``) is recognised. A message that an
# agent repeats in its own words, or verbatim but without its label, counts as new.

# Prefixes of a line from quoting, lists and indentation.
_PREFIX = r"[ \t\u00a0>|*+•-]*"
_PARTS = ("[/memory]", "Episodes:", "Sessions:", "Facts:", "Messages:")


def _beginning(part: str) -> str:
    """A pattern for any non-empty prefix of a text."""
    pattern = re.escape(part[-1])
    for character in reversed(part[:-1]):
        pattern = f"{re.escape(character)}(?:{pattern})?"
    return pattern


_OPEN = re.compile(r"\[memory\]", re.IGNORECASE)
_CLOSE = re.compile(r"\[/memory\]", re.IGNORECASE)
_LABEL = re.compile(r"\[[ESTC]\d+\][ \t]")
_LABELLED = re.compile(rf"{_PREFIX}\[[ESTC]\d+\](?:[ \t]|$)")
_BLOCK_HEADING = re.compile(rf"{_PREFIX}(?:Episodes|Sessions|Facts|Messages):[ \t]*\Z")
_OPENING = re.compile(rf"{_PREFIX}\[memory\][ \t]*\Z", re.IGNORECASE)
_CLOSING = re.compile(rf"{_PREFIX}\[/memory\][ \t]*\Z", re.IGNORECASE)
_LONE_FENCE = re.compile(rf"{_PREFIX}(?:```|~~~)[\w-]*[ \t]*\Z")
_CUT = re.compile(
    rf"{_PREFIX}(?:{'|'.join(_beginning(part) for part in _PARTS)}|\[[ESTC]\d*\]?|[ ])\Z",
    re.IGNORECASE,
)
_CODE_OF_ITEM = re.compile(rf"{_PREFIX}[ ]{{2}}(`{{3,}})[\w+#.-]*[ \t]*\Z")
_ROW = re.compile(rf"{_PREFIX}[ ]{{2}}\|")
_INDENTED = re.compile(rf"{_PREFIX}[ ]{{2}}\S")
_QUOTED = re.compile(r"[ \t]*[>|]")

_Line = tuple[int, int, str]
"""Start, end and kind of a line."""

# A line that is an item even outside a block: its label and its date are in the right positions.
_WHOLE_ITEM = re.compile(
    rf"""{_PREFIX}(?:
      \[C\d+\][ ](?:\d{{4}}-\d\d-\d\d[ ])?\d\d:\d\d(?:[ ].*)?
    | \[T\d+\][ ].*\((?:[^()]*;[ ])?said[ ]\d{{4}}-\d\d-\d\d\)[ \t]*
    | \[[ES]\d+\][ ](?:.*?[ ])?\(\d{{4}}-\d\d-\d\d\):(?:[ ].*)?
    )\Z""",
    re.VERBOSE,
)


def fresh(text: str) -> str:
    """The text without its recalled parts."""
    spans = recalled(text)
    return _without(text, spans) if spans else text


def recalled(text: str) -> list[tuple[int, int]]:
    """Spans (start, end) of the recalled parts, in order and disjoint. Takes linear time."""
    if "[" not in text:
        return []
    blocks = list(_blocks(text))
    edges = [0, *(index for span in blocks for index in span), len(text)]
    lines = [
        span
        for start, end in zip(edges[::2], edges[1::2], strict=True)
        for span in _runs_of_lines(text, start, end)
    ]
    spans = _joined(sorted([*blocks, *lines]))
    return [_with_fence(text, start, end) for start, end in spans]


def fresh_pieces(text: str, pieces: list[str]) -> list[str | None]:
    """For each piece of a split text, the text left without its recalled parts.

    It is ``None`` for a piece without any recalled part, and empty if nothing is left.
    Blocks are searched for in the whole text, because splitting may have cut them.
    """
    spans = recalled(text)
    found: list[str | None] = []
    start = 0
    for piece in pieces:
        end = start + len(piece)
        inside = [
            (max(a, start) - start, min(b, end) - start) for a, b in spans if a < end and b > start
        ]
        found.append(_without(piece, inside) if inside else None)
        start = end
    return found


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    kept, end = [], 0
    for start, stop in spans:
        kept.append(text[end:start])
        end = stop
    kept.append(text[end:])
    rest = "".join(kept)
    return rest if rest.strip() else ""


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Whole blocks from opening to closing mark, regardless of line breaks."""
    index = 0
    while opening := _OPEN.search(text, index):
        closing = _CLOSE.search(text, opening.end())
        if closing is None:
            return
        # Of several opening marks in a row, the last one begins the block.
        for later in _OPEN.finditer(text, opening.end(), closing.start()):
            opening = later
        if _LABEL.search(text, opening.end(), closing.start()):
            yield _with_lead(text, opening.start()), closing.end()
        index = closing.end()


def _with_lead(text: str, start: int) -> int:
    """The start of the line if only quoting and indentation precede ``start``, else ``start``."""
    line = text.rfind("\n", 0, start) + 1
    return line if re.fullmatch(_PREFIX, text[line:start]) else start


def _runs_of_lines(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Runs of lines between whole blocks that belong to a block without one or both marks."""
    run: list[_Line] = []
    opened = False
    lines = text[start:stop].splitlines(keepends=True)
    continued = 0  # index of the line after those that continue an item
    for index, line in enumerate(lines):
        end = start + len(line)
        bare = line.rstrip("\r\n")
        if index < continued:
            kind = "more"
        else:
            kind = _kind(bare, opened=opened, last=end == len(text), run=run)
        if kind in ("", "open"):
            yield from _run(text, run)
            run, opened = [], kind == "open"
        if kind:
            run.append((start, end, kind))
        if kind == "item":
            continued = _after_item(lines, index + 1, opened)
        if kind == "close":
            yield from _run(text, run)
            run, opened = [], False
        start = end
    yield from _run(text, run)


def _after_item(lines: list[str], index: int, opened: bool) -> int:
    """Index of the first line, from ``index`` on, that does not continue the item before it.

    Code in an indented fence and rows of a table continue an item, and so does one line of prose
    after them. Behind an opening mark every line that is indented as they are does.
    """
    prose = opened
    while index < len(lines):
        line = lines[index].rstrip("\r\n")
        fence = _CODE_OF_ITEM.match(line)
        if fence is not None:
            after = _after_fence(lines, index + 1, fence[1])
            if after is None:
                return len(lines) if opened else index
            index, prose = after, True
        elif _ROW.match(line):
            index, prose = index + 1, True
        elif prose and _INDENTED.match(line):
            index, prose = index + 1, opened
        else:
            break
    return index


def _after_fence(lines: list[str], index: int, fence: str) -> int | None:
    """Index of the line after the one that closes a fence; ``None`` if none does."""
    closing = re.compile(rf"{_PREFIX}{fence}[ \t]*\Z")
    for position in range(index, len(lines)):
        if closing.match(lines[position].rstrip("\r\n")):
            return position + 1
    return None


def _kind(line: str, *, opened: bool, last: bool, run: list[_Line]) -> str:
    """The kind of a line within a block; empty if the line is not part of one."""
    if _WHOLE_ITEM.match(line):
        return "item"
    if _OPENING.match(line):
        return "open"
    if _CLOSING.match(line):
        return "close"
    if _BLOCK_HEADING.match(line):
        return "cut" if opened and last and run else "heading"
    if opened and _LABELLED.match(line):
        return "item"  # cut off in the middle, or wrapped after its label
    if opened and last and run and _CUT.match(line):
        return "cut"
    if opened and _QUOTED.match(line) and run and run[-1][2] in ("item", "more"):
        return "more"  # mail programs wrap long quoted lines
    return ""


def _run(text: str, run: list[_Line]) -> Iterator[tuple[int, int]]:
    """The recalled part of a run of lines: all but trailing headings, if it has an item."""
    kinds = [kind for _, _, kind in run]
    if "item" not in kinds:
        return
    while run[-1][2] == "heading":
        run = run[:-1]
    start = run[0][0]
    if kinds[-1] == "close" and "open" not in kinds:
        # The beginning of the block is missing: the text before may be the rest of an item.
        before = text[:start].rstrip("\r\n")
        if "\n" not in before and not _CLOSE.search(before) and not before.rstrip().endswith(":"):
            start = 0
    yield start, run[-1][1]


def _with_fence(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a span to an enclosing code fence that contains nothing else."""
    before = text.rfind("\n", 0, max(start - 1, 0)) + 1
    after = text.find("\n", end + 1 if text[end : end + 1] == "\n" else end)
    after = len(text) if after < 0 else after + 1
    if _LONE_FENCE.match(text[before:start].rstrip("\r\n")) and _LONE_FENCE.match(
        text[end:after].strip("\r\n")
    ):
        return before, after
    return start, end


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
