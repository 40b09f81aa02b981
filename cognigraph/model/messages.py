"""Messages to add, the result of adding them, and messages as stored."""

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
    """One message of a conversation. Only ``text`` is required.

    With an ``id``, adding the message again has no effect; ``session`` groups the messages of one
    conversation; ``at`` is when it was said (an aware datetime or an ISO 8601 string; the current
    time if absent).
    """

    text: str
    session: str = DEFAULT_SESSION
    speaker: str | None = None
    at: datetime | str | None = None
    id: str | None = None

    @classmethod
    def of(cls, value: Message | Mapping[str, Any], *, index: int = 0) -> Message:
        """The Message for a Message or a mapping with its fields.

        Raises:
            InvalidMessageError: the value is neither, has an unknown field, or has no text.
        """
        if isinstance(value, Message):
            return value
        if not isinstance(value, Mapping):
            raise InvalidMessageError(
                f"message {index} is a {type(value).__name__}; "
                "pass a Message or a dict with 'text'",
                index=index,
            )
        known = {f.name for f in fields(cls)}
        unknown = sorted(str(name) for name in set(value) - known)
        if unknown:
            raise InvalidMessageError(
                f"message {index} has unknown field(s) {', '.join(unknown)}; "
                f"known fields are {', '.join(sorted(known))}",
                index=index,
            )
        if "text" not in value:
            raise InvalidMessageError(f"message {index} has no 'text'", index=index)
        given = {name: item for name, item in value.items() if item is not None or name == "text"}
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A message that ``add_many(..., skip_invalid=True)`` left out; ``index`` is its position."""

    index: int
    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True, slots=True)
class AddResult:
    """The result of ``add`` or ``add_many``.

    ``ids`` are the message ids in the given order; ``new`` are those that were not stored before.
    ``notes`` describe changes to the input, such as replaced lone surrogates; ``timings`` are
    milliseconds by stage.
    """

    ids: tuple[str, ...]
    new: tuple[str, ...]
    chunks: int
    notes: tuple[str, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the message, or of the first message after ``add_many``."""
        return self.ids[0]

    @property
    def duplicates(self) -> int:
        """Number of messages that were already stored."""
        return len(self.ids) - len(self.new)

    def __repr__(self) -> str:
        what = self.ids[0] if len(self.ids) == 1 else f"{len(self.ids)} messages"
        extra = f", {len(self.rejected)} rejected" if self.rejected else ""
        return f"<AddResult {what}: {len(self.new)} new, {self.duplicates} known{extra}>"


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as stored, with its whole text, even if it was split into several chunks.

    ``is_enriched`` says whether an extractor has read all its chunks.
    """

    id: str
    session: str
    speaker: str | None
    at: datetime
    text: str
    chunks: int
    is_enriched: bool = False
