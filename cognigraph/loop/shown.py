"""How evidence is written into a prompt: one line for each item, which cannot close its section."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import tzinfo

from cognigraph.loop.data import Evidence
from cognigraph.retrieve.block_lines import day
from cognigraph.retrieve.block_marks import one_line

TAGS = (
    "question",
    "history",
    "sent",
    "entries",
    "facts",
    "summaries",
    "earlier_answers",
    "asked_before",
    "answer",
)
"""The tags that the prompts of the loop put around text that was written by others."""

_TAG = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)
_MOST_HISTORY = 12
_LONGEST_TURN = 500
NONE = "(none)"


def shielded(text: str) -> str:
    """Return a text on one line that imitates neither a tag of a prompt nor a mark of a block."""
    return _TAG.sub("(", one_line(text))


def evidence_lines(items: Iterable[Evidence], zone: tzinfo) -> str:
    """One line for each item: its label, its day, and its text."""
    lines = [f"[{item.label}] {day(item.at, zone)} {shielded(item.text)}" for item in items]
    return "\n".join(lines) or NONE


def history_lines(history: Sequence[str]) -> str:
    """The last turns of the conversation in which the question is asked, oldest first."""
    lines = [f"- {shielded(turn)[:_LONGEST_TURN]}" for turn in history[-_MOST_HISTORY:]]
    return "\n".join(lines) or NONE


def bullet_lines(texts: Sequence[str]) -> str:
    """One line for each text."""
    return "\n".join(f"- {shielded(text)}" for text in texts) or NONE
