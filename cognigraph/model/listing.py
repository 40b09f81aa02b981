"""Pages of messages, and what they are selected by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, overload

from cognigraph.model.filters import Filter
from cognigraph.model.graph import Status
from cognigraph.model.messages import StoredMessage

MessageOrder = Literal["oldest", "newest"]
"""Which messages of a listing come first."""


@dataclass(frozen=True, slots=True)
class MessagePage(Sequence[StoredMessage]):
    """Some messages of a listing, in order.

    ``cursor`` stands for the position after the last of them: ``messages(after=page.cursor)``
    gives the next page. It stays valid when messages are added or forgotten.
    """

    messages: tuple[StoredMessage, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[StoredMessage]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self.messages)

    @overload
    def __getitem__(self, index: int) -> StoredMessage: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[StoredMessage, ...]: ...

    def __getitem__(self, index: int | slice) -> StoredMessage | tuple[StoredMessage, ...]:
        return self.messages[index]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a message is in the order of all: its time in microseconds, then its arrival."""

    at: int
    arrival: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TripleQuery:
    """Which facts to list; ``None`` stands for all.

    ``text`` and ``slot`` are normalised. ``where`` is what at least one source must pass.
    ``status`` and ``valid_at`` are compared with what is known now, whatever ``as_of`` is.
    """

    entity: str | None = None
    limit: int = 100
    offset: int = 0
    as_of: datetime | None = None
    valid_at: datetime | None = None
    status: Status | None = None
    slot: str | None = None
    text: str | None = None
    where: Filter | None = None


@dataclass(frozen=True, slots=True)
class MessageQuery:
    """What to list. ``since`` is inclusive, ``until`` exclusive; ``None`` stands for all.

    The times of ``where`` are in UTC.
    """

    session: str | None = None
    speaker: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    newest_first: bool = False
    limit: int = 100
    after: Position | None = None
    where: Filter | None = None
