"""Which parts of a message are the memory's own words coming back.

An agent is given a prompt block by ``Space.context`` and what it says next may contain it: quoted,
indented, in a code fence, cut off, or some of its lines without the marks. Learned again, each
recall would look like new evidence. The text is stored and shown as it came; index and extractors
get :func:`fresh`, the rest.

Recognised is the form of the block (``cognigraph.retrieve.assemble``), nothing else: an agent that
repeats a message in its own words, or word for word without its label, is heard as a speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# What quoting, lists and indentation put before a line.
_LEAD = r"[ \t\u00a0>|*+•-]*"
_PARTS = ("[/memory]", "Sessions:", "Facts:", "Messages:")


def _beginning(part: str) -> str:
    """A pattern for any beginning of a text, at least its first character."""
    pattern = re.escape(part[-1])
    for character in reversed(part[:-1]):
        pattern = f"{re.escape(character)}(?:{pattern})?"
    return pattern


_OPEN = re.compile(r"\[memory\]", re.IGNORECASE)
_CLOSE = re.compile(r"\[/memory\]", re.IGNORECASE)
_LABEL = re.compile(r"\[[STC]\d+\][ \t]")
_LABELLED = re.compile(rf"{_LEAD}\[[STC]\d+\](?:[ \t]|$)")
_HEADING = re.compile(rf"{_LEAD}(?:Sessions|Facts|Messages):[ \t]*\Z")
_OPENING = re.compile(rf"{_LEAD}\[memory\][ \t]*\Z", re.IGNORECASE)
_CLOSING = re.compile(rf"{_LEAD}\[/memory\][ \t]*\Z", re.IGNORECASE)
_FENCE = re.compile(rf"{_LEAD}(?:```|~~~)[\w-]*[ \t]*\Z")
_CUT = re.compile(
    rf"{_LEAD}(?:{'|'.join(_beginning(part) for part in _PARTS)}|\[[STC]\d*\]?)\Z", re.IGNORECASE
)
_QUOTED = re.compile(r"[ \t]*[>|]")

_Line = tuple[int, int, str]
"""Start, end, and what the line is."""

# A line that is an item even without the block around it: its label and its date in their places.
_ITEM = re.compile(
    rf"""{_LEAD}(?:
      \[C\d+\][ ]\d{{4}}-\d\d-\d\d[ ]\d\d:\d\d(?:[ ].*)?
    | \[T\d+\][ ].*\((?:[^()]*;[ ])?said[ ]\d{{4}}-\d\d-\d\d\)[ \t]*
    | \[S\d+\][ ](?:.*?[ ])?\(\d{{4}}-\d\d-\d\d\):(?:[ ].*)?
    )\Z""",
    re.VERBOSE,
)


def fresh(text: str) -> str:
    """The text without its recalled parts; the text itself if it has none."""
    spans = recalled(text)
    return _without(text, spans) if spans else text


def recalled(text: str) -> list[tuple[int, int]]:
    """Places (start, end) of recalled parts, in order, not touching each other. Linear time."""
    if "[" not in text:
        return []
    blocks = list(_blocks(text))
    edges = [0, *(place for span in blocks for place in span), len(text)]
    lines = [
        span
        for start, end in zip(edges[::2], edges[1::2], strict=True)
        for span in _lines(text, start, end)
    ]
    spans = _joined(sorted([*blocks, *lines]))
    return [_with_fence(text, start, end) for start, end in spans]


def fresh_pieces(text: str, pieces: list[str]) -> list[str | None]:
    """For each piece of a split text its own fresh part, ``None`` where that is all of it.

    A block may be cut by the splitting, so it is looked for in the whole text.
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
    """Whole blocks, from mark to mark, whatever became of the line breaks between."""
    place = 0
    while opening := _OPEN.search(text, place):
        closing = _CLOSE.search(text, opening.end())
        if closing is None:
            return
        # Of two opening marks in a row the last one is the block's.
        for later in _OPEN.finditer(text, opening.end(), closing.start()):
            opening = later
        if _LABEL.search(text, opening.end(), closing.start()):
            yield _with_lead(text, opening.start()), closing.end()
        place = closing.end()


def _with_lead(text: str, start: int) -> int:
    """The beginning of the line, if only quoting and indentation stand before the place."""
    line = text.rfind("\n", 0, start) + 1
    return line if re.fullmatch(_LEAD, text[line:start]) else start


def _lines(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Runs of lines, between whole blocks, of a block that lacks a mark, or both."""
    run: list[_Line] = []
    opened = False
    for line in text[start:stop].splitlines(keepends=True):
        end = start + len(line)
        kind = _kind(line.rstrip("\r\n"), opened=opened, last=end == len(text), run=run)
        if kind in ("", "open"):
            yield from _run(text, run)
            run, opened = [], kind == "open"
        if kind:
            run.append((start, end, kind))
        if kind == "close":
            yield from _run(text, run)
            run, opened = [], False
        start = end
    yield from _run(text, run)


def _kind(line: str, *, opened: bool, last: bool, run: list[_Line]) -> str:
    """What a line is in a block; empty for one that is none of it."""
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
        return "more"  # a mail program wraps long lines of what it quotes
    return ""


def _run(text: str, run: list[_Line]) -> Iterator[tuple[int, int]]:
    """The recalled part of a run of lines: all but headings after it, if an item is in it."""
    kinds = [kind for _, _, kind in run]
    if "item" not in kinds:
        return
    while run[-1][2] == "heading":
        run = run[:-1]
    start = run[0][0]
    if kinds[-1] == "close" and "open" not in kinds:
        # Cut off at its beginning: what comes first may be the rest of an item.
        before = text[:start].rstrip("\r\n")
        if "\n" not in before and not _CLOSE.search(before) and not before.rstrip().endswith(":"):
            start = 0
    yield start, run[-1][1]


def _with_fence(text: str, start: int, end: int) -> tuple[int, int]:
    """Take in a code fence that has nothing else inside."""
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
