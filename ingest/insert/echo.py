"""Detect parts of a message that repeat a prompt block from the memory itself.

An agent receives a prompt block from ``Space.context``, and its next message may contain the block:
quoted, indented, in a code fence, truncated, or only some of its lines without the marks. If it
were indexed again, each recall would look like new evidence. The full text is stored and displayed;
the index and the extractors get only the remaining text (:func:`fresh`).

Only the form of the block (``cognigraph.retrieve.assemble``) is recognised. A message that an agent
repeats in its own words, or verbatim but without its label, counts as new.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Prefixes of a line from quoting, lists and indentation.
_LEAD = r"[ \t\u00a0>|*+•-]*"
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
_LABELLED = re.compile(rf"{_LEAD}\[[ESTC]\d+\](?:[ \t]|$)")
_HEADING = re.compile(rf"{_LEAD}(?:Episodes|Sessions|Facts|Messages):[ \t]*\Z")
_OPENING = re.compile(rf"{_LEAD}\[memory\][ \t]*\Z", re.IGNORECASE)
_CLOSING = re.compile(rf"{_LEAD}\[/memory\][ \t]*\Z", re.IGNORECASE)
_FENCE = re.compile(rf"{_LEAD}(?:```|~~~)[\w-]*[ \t]*\Z")
_CUT = re.compile(
    rf"{_LEAD}(?:{'|'.join(_beginning(part) for part in _PARTS)}|\[[ESTC]\d*\]?|[ ])\Z",
    re.IGNORECASE,
)
_CODE = re.compile(rf"{_LEAD}[ ]{{2}}(`{{3,}})[\w+#.-]*[ \t]*\Z")
_ROW = re.compile(rf"{_LEAD}[ ]{{2}}\|")
_INDENTED = re.compile(rf"{_LEAD}[ ]{{2}}\S")
_QUOTED = re.compile(r"[ \t]*[>|]")

_Line = tuple[int, int, str]
"""Start, end and kind of a line."""

# A line that is an item even outside a block: its label and its date are in the right positions.
_ITEM = re.compile(
    rf"""{_LEAD}(?:
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
        for span in _lines(text, start, end)
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
    return line if re.fullmatch(_LEAD, text[line:start]) else start


def _lines(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
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
        fence = _CODE.match(line)
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
    closing = re.compile(rf"{_LEAD}{fence}[ \t]*\Z")
    for position in range(index, len(lines)):
        if closing.match(lines[position].rstrip("\r\n")):
            return position + 1
    return None


def _kind(line: str, *, opened: bool, last: bool, run: list[_Line]) -> str:
    """The kind of a line within a block; empty if the line is not part of one."""
    if _ITEM.match(line):
        return "item"
    if _OPENING.match(line):
        return "open"
    if _CLOSING.match(line):
        return "close"
    if _HEADING.match(line):
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
    if _FENCE.match(text[before:start].rstrip("\r\n")) and _FENCE.match(
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
