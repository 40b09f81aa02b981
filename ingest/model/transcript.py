"""Format a conversation for a prompt, as numbered turns under date headings, and split it.

A turn is exactly one line and cannot contain a tag of the prompt, so it can neither imitate another
turn nor close the section it is in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo

from cognigraph.model.roles import ANONYMOUS, Role, role_of
from cognigraph.stores.records import WorkChunk
from cognigraph.text.marks import one_line
from cognigraph.text.token_estimate import estimate_tokens


@dataclass(frozen=True, slots=True)
class Turn:
    """One chunk with its speaker, and its time in the speakers' timezone."""

    speaker: str
    at: datetime
    text: str
    role: Role | None = None
    uid: str = ""
    """That of the chunk; empty for a turn that was remembered by an older version."""

    @classmethod
    def of(cls, chunk: WorkChunk, zone: tzinfo | None) -> Turn:
        """The turn for a chunk; without a timezone its time is in UTC."""
        name = one_line(chunk.speaker or "") or ANONYMOUS
        role = chunk.role or role_of(name)
        return cls(name, local(chunk.at, zone), chunk.text, role, chunk.uid)

    @property
    def line(self) -> str:
        """Time, speaker with the role if the name does not give it, and text on one line."""
        marked = self.role is not None and self.speaker.lower() != self.role
        shown = f"{self.speaker} ({self.role})" if marked else self.speaker
        return f"{self.at:%H:%M} {shown}: {one_line(self.text)}"

    @property
    def tokens(self) -> int:
        """Estimated tokens of the line with its number."""
        return estimate_tokens(self.line) + 3


def local(at: datetime, zone: tzinfo | None) -> datetime:
    """A time in the speakers' timezone; a time at the limits of the calendar stays in UTC."""
    try:
        return at.astimezone(zone or UTC)
    except OverflowError:
        return at


def numbered(turns: Sequence[Turn]) -> str:
    """Lines ``[1] 09:30 Ann: ...``, with a heading of weekday and date at each change of day."""
    return "\n".join(_lines(turns, number=True)) or "-"


def unnumbered(turns: Sequence[Turn]) -> str:
    """The same lines without numbers, for turns that must not be cited."""
    return "\n".join(_lines(turns, number=False)) or "-"


def _lines(turns: Sequence[Turn], *, number: bool) -> list[str]:
    lines: list[str] = []
    day: date | None = None
    for index, turn in enumerate(turns, 1):
        if turn.at.date() != day:
            day = turn.at.date()
            lines.append(f"# {day:%A} {day.isoformat()}")
        lines.append(f"[{index}] {turn.line}" if number else turn.line)
    return lines


def split(turns: Sequence[Turn], limit: int) -> list[range]:
    """Split turns into parts of at most ``limit`` tokens that overlap by one turn.

    A part has at least one turn of its own, so a very long turn can exceed the limit.
    """
    parts: list[range] = []
    start, tokens = 0, 0
    for index, turn in enumerate(turns):
        if tokens + turn.tokens > limit and index > start + 1:
            parts.append(range(start, index))
            start = index - 1
            tokens = turns[start].tokens
        tokens += turn.tokens
    return [*parts, range(start, len(turns))] if turns else []


def halves(part: range) -> tuple[range, range] | None:
    """Two halves of a part that overlap by one turn; ``None`` if it is too short to split."""
    if len(part) < 3:
        return None
    middle = part.start + len(part) // 2
    return range(part.start, middle + 1), range(middle, part.stop)
