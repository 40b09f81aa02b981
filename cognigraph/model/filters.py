"""Which messages a search considers and which it leaves out, and pages of what is listed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Literal

from cognigraph.errors import ConfigurationError
from cognigraph.model.answers import Citation, Context, Hit, Listed, SearchResult, SessionHit
from cognigraph.model.graph import Episode, Session, Status, Triple
from cognigraph.model.messages import DEFAULT_ROLES, RoleFilter, StoredMessage

Scalar = str | int | float | bool | None
_ALL_ROLES = (*DEFAULT_ROLES, "system", "tool")
MOST_CONDITIONS = 100
"""The largest number of tags, and of fields of metadata, that a message must have."""
MOST_NAMES = 100_000
"""The largest number of sessions, and of speakers, of which any will do."""


_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which messages a search considers; those that pass all conditions.

    It is applied while candidates are gathered, so a search returns ``k`` messages if as many pass.

    - ``roles``: any of these roles; ``"person"`` is for messages without a role. By default
      messages of the system and of tools are left out.
    - ``session``, ``speaker``: one name, or several of which any will do.
    - ``tags``: a message must have all of them.
    - ``since``, ``until``: when it was said: at ``since`` or later, and before ``until`` (aware
      datetimes or ISO 8601 strings), so that the days of a month follow each other without overlap.
    - ``metadata``: fields of the message's metadata, each equal to the given text, number, truth
      value or ``None``.
    """

    roles: Iterable[RoleFilter] = DEFAULT_ROLES
    session: str | Iterable[str] | None = None
    speaker: str | Iterable[str] | None = None
    tags: Iterable[str] = ()
    since: datetime | str | None = None
    until: datetime | str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("roles", "session", "speaker", "tags"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        for role in self.roles:
            if role not in _ALL_ROLES:
                raise ConfigurationError(
                    f"filter.roles must be some of {', '.join(_ALL_ROLES)}, not {role!r}"
                )
        if not self.roles:
            raise ConfigurationError("filter.roles must name at least one role")
        if not isinstance(self.metadata, Mapping):
            raise ConfigurationError("filter.metadata must be a mapping (such as a dict)")
        _check_number("metadata", len(self.metadata))
        for name, value in self.metadata.items():
            if not isinstance(name, str):
                raise ConfigurationError(f"filter.metadata has the field {name!r}; give a string")
            if value is not None and not isinstance(value, str | int | float):
                raise ConfigurationError(
                    f"filter.metadata[{name!r}] must be a text, a number, True, False or None"
                )
        object.__setattr__(self, "metadata", dict(self.metadata))

    @property
    def is_narrow(self) -> bool:
        """Whether anything but roles is a condition."""
        others = (self.session, self.speaker, self.tags, self.since, self.until, self.metadata)
        return any(others)

    @property
    def latest(self) -> datetime | None:
        """The last moment before ``until``; times are stored to the microsecond."""
        if not isinstance(self.until, datetime):
            return None
        return (
            self.until - _MOMENT if self.until.replace(tzinfo=None) > datetime.min else self.until
        )

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions of which any will do; empty for all."""
        return tuple(self.session or ())

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers of whom any will do; empty for all."""
        return tuple(self.speaker or ())


def _check_number(name: str, number: int) -> None:
    most = MOST_CONDITIONS if name in ("tags", "metadata") else MOST_NAMES
    if number > most:
        raise ConfigurationError(f"filter.{name} has {number:,} items; the most is {most:,}")


def _texts(name: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, Iterable) or isinstance(texts, bytes | Mapping):
        raise ConfigurationError(f"filter.{name} must be a string or several strings")
    found = tuple(texts)
    if not all(isinstance(text, str) for text in found):
        raise ConfigurationError(f"filter.{name} must be a string or several strings")
    _check_number(name, len(found))
    return tuple(dict.fromkeys(found))


# What a search leaves out because the caller has seen it already.

Seen = str | Hit | Triple | Episode | SessionHit | Session | Citation | SearchResult | Context
"""An item that was seen: an id, an item of an earlier result, or a whole result or block."""

MOST_SEEN = 10_000
"""The largest number of items that one search leaves out."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Items that are left out of a result.

    ``ids`` are those of messages (of any session), facts, sessions or episodes. ``messages``
    are (session, id); ``triples`` and ``episodes`` are uids, ``sessions`` ids.
    """

    ids: frozenset[str] = frozenset()
    messages: frozenset[tuple[str, str]] = frozenset()
    triples: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    episodes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, seen: Iterable[Seen] | Context) -> Exclusion:
        """Collect what was seen; :class:`ConfigurationError` for anything else or for too much."""
        whole = isinstance(seen, Context | SearchResult)
        items = [*chain.from_iterable(map(_items, [seen] if whole else seen))]
        if len(items) > MOST_SEEN:
            raise ConfigurationError(
                f"without has {len(items):,} items, and at most {MOST_SEEN:,} can be left out"
            )
        keys = defaultdict[str, set[Any]](set)
        for field_name, key in items:
            keys[field_name].add(key)
        return cls(**{field_name: frozenset(known) for field_name, known in keys.items()})

    def __bool__(self) -> bool:
        return any((self.ids, self.messages, self.triples, self.sessions, self.episodes))

    @property
    def message_ids(self) -> frozenset[str]:
        """Ids that a message which is left out may have."""
        return self.ids | {id for _, id in self.messages}

    def has_message(self, session: str, id: str) -> bool:
        """Whether a message is left out."""
        return id in self.ids or (session, id) in self.messages

    def has_triple(self, uid: str) -> bool:
        """Whether a fact is left out."""
        return uid in self.ids or uid in self.triples

    def has_session(self, id: str) -> bool:
        """Whether the summary of a session is left out; its messages are not."""
        return id in self.ids or id in self.sessions

    def has_episode(self, uid: str) -> bool:
        """Whether an episode is left out; its messages are not."""
        return uid in self.ids or uid in self.episodes


def _items(item: object) -> Iterator[tuple[str, str | tuple[str, str]]]:
    """The field of :class:`Exclusion` and the key of an item, or of all that a result shows."""
    if isinstance(item, Context):
        for cited in item.citations:
            yield from _items(cited)
    elif isinstance(item, SearchResult):
        for part in (*item.hits, *item.triples, *item.sessions, *item.episodes):
            yield from _items(part)
    elif isinstance(item, str):
        yield "ids", item
    elif isinstance(item, Hit):
        yield "messages", (item.session, item.id)
    elif isinstance(item, Citation):
        session = item.session if item.kind == "message" else None
        yield (f"{item.kind}s", item.id) if session is None else ("messages", (session, item.id))
    elif isinstance(item, Triple):
        yield "triples", item.uid
    elif isinstance(item, Episode):
        yield "episodes", item.uid
    elif isinstance(item, Session | SessionHit):
        yield "sessions", item.id if isinstance(item, Session) else item.session.id
    else:
        raise ConfigurationError(
            "without takes ids, hits, facts, sessions, citations, results and blocks, "
            f"not a value of type {type(item).__name__}"
        )


# Pages of messages, and what they are selected by.

MessageOrder = Literal["oldest", "newest"]
"""Which messages of a listing come first."""


@dataclass(frozen=True, slots=True)
class MessagePage(Listed[StoredMessage]):
    """Some messages of a listing, in order.

    ``cursor`` stands for the position after the last of them: ``messages(after=page.cursor)``
    gives the next page. It stays valid when messages are added or forgotten.
    """

    messages: tuple[StoredMessage, ...]
    cursor: str | None

    @property
    def _items(self) -> tuple[StoredMessage, ...]:
        return self.messages


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
