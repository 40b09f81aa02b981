"""What an import reports while it runs, and at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import is.

    ``read`` is the number of messages read, ``stored`` of those that the memory now has (or would
    have, in a dry run). ``bytes`` of ``total_bytes`` were read; the total is ``None`` for a stream
    of unknown length. Of an archive, the bytes are those of the unpacked files.
    """

    read: int
    stored: int
    bytes: int
    total_bytes: int | None
    seconds: float

    @property
    def rate(self) -> float:
        """Messages a second."""
        return self.read / self.seconds if self.seconds else 0.0


ImportCallback = Callable[[ImportProgress], None]
"""Called after each transaction."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """What was left out, and why. ``position`` is such as ``line 7`` or ``a.md: line 3``."""

    position: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.position} {self.reason}"


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import has done, or what it would do if ``is_dry_run``.

    ``read`` messages of ``files`` files in the ``formats`` are ``new``, ``known`` (stored before),
    ``updated`` (stored before with another text), ``forgotten`` (stored and forgotten before, so
    they were not stored again), or bad: ``rejected_count``, of which ``rejected`` lists the first
    1,000. ``pruned`` is the number of messages that were forgotten because they are no longer in
    the notes. ``first_at`` and ``last_at`` are the earliest and latest time of messages with one.
    ``spaces`` are the names of the spaces that the messages are for.
    """

    formats: tuple[str, ...]
    files: int
    sessions: int
    read: int
    new: int
    known: int
    updated: int
    forgotten: int
    pruned: int
    rejected: tuple[BadRecord, ...]
    rejected_count: int
    notes: tuple[str, ...]
    first_at: datetime | None
    last_at: datetime | None
    seconds: float
    is_dry_run: bool
    spaces: tuple[str, ...] = ()

    @property
    def stored(self) -> int:
        """Number of messages read that the memory now has."""
        return self.new + self.known + self.updated
