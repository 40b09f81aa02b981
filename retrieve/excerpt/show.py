"""Write the chosen units of a message as the lines of one item of the prompt block.

Prose is one line. Code keeps its line breaks and indentation in a fence, a table its rows; these
lines, and what follows them, are indented by two spaces, so that no text of a message stands at the
beginning of a line. ``[...]`` stands for what is left out before, between and after units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cognigraph.retrieve.excerpt.units import Unit
from cognigraph.text.marks import INDENT, one_line, same_lines

GAP = "[...]"
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
    for piece in _pieces(text, units, chosen):
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
    return one_line(_FENCE_RUN.sub(lambda run: run[0][:2], text))


def _pieces(text: str, units: Sequence[Unit], chosen: Sequence[int]) -> Iterator[_Piece]:
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
