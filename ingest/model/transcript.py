"""A conversation as a model reads it: numbered turns under their dates, and what it may cite.

One turn is one line, and no turn can write a tag of ours, so a turn can neither pretend to be
another nor end the part it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo

from cognigraph.stores.records import WorkChunk
from cognigraph.text.token_estimate import estimate_tokens

ANONYMOUS = "user"
"""Who "I" is when a message has no speaker."""
TAGS = ("known", "context", "turns", "keys", "themes")
"""The tags that prompts put around text of others."""
_TAG = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Turn:
    """One chunk with its speaker and its time where the speakers are."""

    speaker: str
    at: datetime
    text: str

    @classmethod
    def of(cls, chunk: WorkChunk, zone: tzinfo | None) -> Turn:
        """Show a chunk; without a zone its day is that of UTC."""
        return cls(one_line(chunk.speaker or "") or ANONYMOUS, local(chunk.at, zone), chunk.text)

    @property
    def line(self) -> str:
        """Time, speaker and text on one line."""
        return f"{self.at:%H:%M} {self.speaker}: {one_line(self.text)}"

    @property
    def tokens(self) -> int:
        """Estimated tokens of the line with its number."""
        return estimate_tokens(self.line) + 3


def local(at: datetime, zone: tzinfo | None) -> datetime:
    """A time where the speakers are; times at the calendar's ends stay in UTC."""
    try:
        return at.astimezone(zone or UTC)
    except OverflowError:
        return at


def one_line(text: str) -> str:
    """A text as data within a prompt: one line, and none of our tags in it."""
    return _TAG.sub("‹", " ".join(text.replace("\x00", " ").split()))


def numbered(turns: Sequence[Turn]) -> str:
    """Lines ``[1] 09:30 Ann: ...``, under a line with weekday and date where the day changes."""
    return "\n".join(_lines(turns, number=True)) or "-"


def unnumbered(turns: Sequence[Turn]) -> str:
    """The same without numbers, for what may not be cited."""
    return "\n".join(_lines(turns, number=False)) or "-"


def _lines(turns: Sequence[Turn], *, number: bool) -> list[str]:
    lines: list[str] = []
    day: date | None = None
    for place, turn in enumerate(turns, 1):
        if turn.at.date() != day:
            day = turn.at.date()
            lines.append(f"# {day:%A} {day.isoformat()}")
        lines.append(f"[{place}] {turn.line}" if number else turn.line)
    return lines


def split(turns: Sequence[Turn], limit: int) -> list[range]:
    """Cut turns into parts of at most ``limit`` tokens, each beginning with the last turn before.

    A part has at least one turn of its own, however long that is, so one may exceed the limit.
    """
    parts: list[range] = []
    start, tokens = 0, 0
    for place, turn in enumerate(turns):
        if tokens + turn.tokens > limit and place > start + 1:
            parts.append(range(start, place))
            start = place - 1
            tokens = turns[start].tokens
        tokens += turn.tokens
    return [*parts, range(start, len(turns))] if turns else []


def halves(part: range) -> tuple[range, range] | None:
    """A part in two that share a turn; ``None`` if that would not make both smaller."""
    if len(part) < 3:
        return None
    middle = part.start + len(part) // 2
    return range(part.start, middle + 1), range(middle, part.stop)
