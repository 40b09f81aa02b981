"""What goes in: messages, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from cognigraph.errors import InvalidMessageError

DEFAULT_SPACE = "default"
DEFAULT_SESSION = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One thing said. Only ``text`` is needed.

    ``id`` makes redelivery harmless; ``session`` groups one conversation; ``at`` is when it was
    said (an aware datetime or ISO 8601 string; the clock's now if absent).
    """

    text: str
    session: str = DEFAULT_SESSION
    speaker: str | None = None
    at: datetime | str | None = None
    id: str | None = None

    @classmethod
    def of(cls, value: Message | Mapping[str, Any], *, index: int = 0) -> Message:
        """Take a Message or a mapping with its fields; an unknown field is an error."""
        if isinstance(value, Message):
            return value
        if not isinstance(value, Mapping):
            raise InvalidMessageError(
                f"message {index} is a {type(value).__name__}; "
                "give a Message or a dict with 'text'",
                index=index,
            )
        known = {f.name for f in fields(cls)}
        unknown = sorted(str(name) for name in set(value) - known)
        if unknown:
            raise InvalidMessageError(
                f"message {index} has unknown field(s) {', '.join(unknown)}; "
                f"known are {', '.join(sorted(known))}",
                index=index,
            )
        if "text" not in value:
            raise InvalidMessageError(f"message {index} has no 'text'", index=index)
        given = {name: item for name, item in value.items() if item is not None or name == "text"}
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A message that ``add_many(..., skip_invalid=True)`` left out; ``index`` is its place."""

    index: int
    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class AddResult:
    """What an ``add`` or ``add_many`` did.

    ``ids`` are the message ids in the order given; ``new`` those that were not there before.
    ``notes`` says what was changed on the way in (for example replaced lone surrogates);
    ``timings`` are milliseconds by stage.
    """

    ids: tuple[str, ...]
    new: tuple[str, ...]
    chunks: int
    notes: tuple[str, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the only message (of the first, after ``add_many``)."""
        return self.ids[0]

    @property
    def duplicates(self) -> int:
        """How many of the messages were already there."""
        return len(self.ids) - len(self.new)

    def __repr__(self) -> str:
        what = self.ids[0] if len(self.ids) == 1 else f"{len(self.ids)} messages"
        extra = f", {len(self.rejected)} rejected" if self.rejected else ""
        return f"<AddResult {what}: {len(self.new)} new, {self.duplicates} known{extra}>"


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as stored: the whole text, whatever number of chunks it was split into.

    ``is_enriched`` says whether all of them have been read by an extractor.
    """

    id: str
    session: str
    speaker: str | None
    at: datetime
    text: str
    chunks: int
    is_enriched: bool = False
