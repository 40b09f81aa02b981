"""How evidence is written into a prompt: one line for each item, which cannot close its section."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo

from cognigraph.loop.data import Evidence
from cognigraph.retrieve.block_lines import day
from cognigraph.text.marks import one_line

_MOST_HISTORY = 12
_LONGEST_TURN = 500
NONE = "(none)"


def evidence_lines(items: Iterable[Evidence], zone: tzinfo) -> str:
    """One line for each item: its label, its day, and its text."""
    lines = [f"[{item.label}] {day(item.at, zone)} {one_line(item.text)}" for item in items]
    return "\n".join(lines) or NONE


def history_lines(history: Sequence[str]) -> str:
    """The last turns of the conversation in which the question is asked, oldest first."""
    lines = [f"- {one_line(turn)[:_LONGEST_TURN]}" for turn in history[-_MOST_HISTORY:]]
    return "\n".join(lines) or NONE


def bullet_lines(texts: Sequence[str]) -> str:
    """One line for each text."""
    return "\n".join(f"- {one_line(text)}" for text in texts) or NONE
