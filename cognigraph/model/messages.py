"""Messages to add, as stored, over time and forgotten, and the roles of who speaks.

A message between people has no role. A role that is not given follows from the speaker's name
(:func:`role_of`); the same rule gave the messages of older databases their roles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Required, TypedDict, get_args

from cognigraph.model.chat import fields_of

Role = Literal["user", "assistant", "system", "tool"]
"""Who speaks in a conversation with an assistant."""

RoleFilter = Literal["user", "assistant", "system", "tool", "person"]
"""A role, or ``"person"`` for messages without one."""

ANONYMOUS = "user"
"""The name of a speaker who has none: in facts, in prompts, and of the entity."""
ROLES: tuple[Role, ...] = get_args(Role)
DEFAULT_ROLES: tuple[RoleFilter, ...] = ("user", "assistant", "person")
"""The messages that a search considers unless it is told otherwise."""
UNREAD_ROLES: frozenset[str] = frozenset({"system", "tool"})
"""Messages with these roles are stored, but rules read nothing from them."""

_OTHER_NAMES: dict[str, Role] = {
    "developer": "system",
    "function": "tool",
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
}
"""Names of roles in other message formats."""


def role_of(speaker: str | None) -> Role | None:
    """Return the role of a speaker whose name is that of a role, in any case; else ``None``."""
    name = (speaker or "").strip().lower()
    return next((role for role in ROLES if role == name), None)


def as_role(name: str) -> Role | None:
    """Return the role for its name in any message format; ``None`` if there is no such role."""
    return role_of(name) or _OTHER_NAMES.get(name.strip().lower())


# Messages to add, the result of adding them, and messages as stored.

DEFAULT_SPACE = "default"
DEFAULT_SESSION = "default"


class StatedFact(TypedDict, total=False):
    """A fact that is given with the message that says it, as an agent has understood it.

    ``subject`` and ``object`` are names ("user" for the user), and ``relation`` is in the present
    tense where it is a state: ``{"subject": "user", "relation": "lives in", "object": "Oslo"}``.

    ``valid_from`` and ``valid_to`` (which is included) are as precise as they are given:
    ``"2026-05"``. ``replaces`` is the object that was true before, with this subject and relation
    (``"Bergen"``); it stays in the history. ``negated`` says that it is not so. ``types`` are
    those of the subject and of the object: ``["person", "location"]``.
    """

    subject: Required[str]
    relation: Required[str]
    object: Required[str]
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    replaces: str | None
    negated: bool
    types: Sequence[str | None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation. Only ``text`` is required.

    With an ``id``, adding the message again has no effect; ``session`` groups the messages of one
    conversation; ``at`` is when it was said (an aware datetime or an ISO 8601 string; the current
    time if absent).

    ``role`` is ``"user"``, ``"assistant"``, ``"system"`` or ``"tool"``. Without it, a speaker whose
    name is one of these has that role, and any other is a person. A message with a role and without
    a ``speaker`` is spoken by "user", "assistant" and so on.

    ``metadata`` is a JSON object of up to 64 KB, ``tags`` are short strings, and ``raw`` is
    any JSON value that is to be kept as it is. None of them is searched for words. ``text`` may be
    empty if there is a ``raw`` payload: such a message is stored and listed, but never found.

    ``expires`` is a time, later than ``at``, after which ``forget(expired=True)`` forgets the
    message.

    ``facts`` are what the message says, see :class:`StatedFact`; no facts are then extracted from
    it, unless ``extract`` is true. With ``extract=False`` alone, none are known of it.
    ``session_summary`` sums up its session so far; it stands until another one is given.
    """

    text: str
    session: str = DEFAULT_SESSION
    speaker: str | None = None
    at: datetime | str | None = None
    id: str | None = None
    role: Role | None = None
    metadata: Mapping[str, Any] | None = None
    tags: Iterable[str] = ()
    raw: Any = None
    expires: datetime | str | None = None
    facts: Iterable[StatedFact] | None = None
    extract: bool | None = None
    session_summary: str | None = None

    @classmethod
    def of(cls, value: object, *, index: int = 0) -> Message:
        """The Message for a Message, a mapping, or an object with ``model_dump`` (as pydantic's).

        A mapping has the fields of a Message, or those of a chat completion (``role``,
        ``content``, ``tool_calls`` and so on). Its unknown fields become metadata.

        Raises:
            InvalidMessageError: the value is none of these, or has no text.
        """
        return value if isinstance(value, Message) else cls(**fields_of(value, index))


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
    ``forgotten`` are those that were stored once and forgotten; they were not stored again.
    ``notes`` describe changes to the input, such as replaced lone surrogates; ``timings`` are
    milliseconds by stage.
    """

    ids: tuple[str, ...]
    new: tuple[str, ...]
    chunks: int
    notes: tuple[str, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    forgotten: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The id of the message, or of the first message after ``add_many``."""
        return self.ids[0]

    @property
    def duplicates(self) -> int:
        """Number of messages that were already stored."""
        return len(self.ids) - len(self.new) - len(self.forgotten)

    def __repr__(self) -> str:
        what = self.ids[0] if len(self.ids) == 1 else f"{len(self.ids)} messages"
        extra = f", {len(self.rejected)} rejected" if self.rejected else ""
        extra += f", {len(self.forgotten)} forgotten" if self.forgotten else ""
        return f"<AddResult {what}: {len(self.new)} new, {self.duplicates} known{extra}>"


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as stored, with its whole text, even if it was split into several chunks.

    ``is_enriched`` says whether an extractor has read all its chunks. ``role`` is ``None`` for a
    person; ``tags`` are sorted; ``raw`` is what was given, ``None`` if nothing was, and
    ``expires`` when it is to be forgotten, if that was said. ``written_by`` is who stored it or its
    present text: the name that was given to :meth:`Memory.space`, or that of the server's key.
    """

    id: str
    session: str
    speaker: str | None
    at: datetime
    text: str
    chunks: int
    is_enriched: bool = False
    role: Role | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    raw: Any = None
    expires: datetime | None = None
    written_by: str | None = None


# What forgetting removed, what it left because others said it too, and texts over time.


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The result of ``forget``, or with ``dry_run`` what it would be.

    ``messages`` to ``cached_answers`` count what went. ``kept_triples`` and ``kept_entities`` count
    facts and entities of the forgotten messages that stay, because other messages said or mention
    them too. ``reread`` messages of the same sessions are queued to be read again, without what
    was forgotten. ``is_erased`` says whether the bytes are gone from the file and its journal;
    it is ``None`` on Neo4j, where the server decides when it uses the space again. ``listed`` are
    with ``dry_run`` the first 100 of the messages, oldest first in each session.
    """

    messages: int = 0
    chunks: int = 0
    sessions: int = 0
    triples: int = 0
    entities: int = 0
    keys: int = 0
    themes: int = 0
    revisions: int = 0
    cached_answers: int = 0
    kept_triples: int = 0
    kept_entities: int = 0
    reread: int = 0
    dry_run: bool = False
    is_erased: bool | None = None
    listed: tuple[StoredMessage, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything matched."""
        return self.messages > 0


@dataclass(frozen=True, slots=True)
class MessageVersion:
    """A text that a message has or had. ``replaced_at`` is ``None`` for the present text."""

    number: int
    text: str
    replaced_at: datetime | None = None
