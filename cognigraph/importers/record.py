"""What a reader yields: messages with their positions in the file, and what it could not read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from cognigraph.importers.sniff import Head
from cognigraph.importers.source import Input


@dataclass(frozen=True, slots=True)
class Position:
    """Where in a file a message is: ``line 7``, or ``item 3, message 2``. Counts begin at 1."""

    number: int
    unit: str = "line"
    message: int | None = None

    def __str__(self) -> str:
        inner = "" if self.message is None else f", message {self.message}"
        return f"{self.unit} {self.number}{inner}"

    def inside(self, message: int) -> Position:
        """The position of a message in the conversation at this position."""
        return Position(self.number, self.unit, message)


@dataclass(frozen=True, slots=True)
class Bad:
    """What is not a message. ``problem`` continues a sentence that begins "line 7"."""

    problem: str


@dataclass(frozen=True, slots=True)
class Record:
    """One message as a mapping that :meth:`cognigraph.Message.of` takes, or what is wrong there."""

    position: Position
    value: dict[str, Any] | Bad


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file.

    ``session`` is the session of messages whose file names no session; in a format that has
    conversations it is the session of all messages. ``speaker`` is the speaker of messages that
    have neither a speaker nor a role. ``columns`` says which field or column holds what:
    ``{"text": "body"}``. Dates of notes, and times in dumps, are taken to be in ``zone`` (UTC if
    absent) if they have no offset.
    """

    session: str | None = None
    speaker: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """One format.

    Args:
        name: its name for ``--format``.
        what: one line for the help.
        sniff: whether a file that begins so is in this format.
        read: the messages of a file, in order.
        suffixes: file names of this format in a folder.
        can_change: whether a message may have another text when the file is read again; then its
            text is replaced, and is not an error.
    """

    name: str
    what: str
    sniff: Callable[[Head], bool]
    read: Callable[[Input, ReadOptions], Iterator[Record]]
    suffixes: tuple[str, ...] = (".json", ".jsonl")
    can_change: bool = False
