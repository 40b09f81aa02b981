"""What a search leaves out because the caller has seen it already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cognigraph.errors import ConfigurationError
from cognigraph.model.answers import Citation, Context, Hit, SearchResult, SessionHit
from cognigraph.model.graph import Episode, Session, Triple

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
        items = [one for item in ([seen] if whole else seen) for one in _items(item)]
        if len(items) > MOST_SEEN:
            raise ConfigurationError(
                f"without has {len(items):,} items, and at most {MOST_SEEN:,} can be left out"
            )
        kinds = {(kind, *key) for kind, *key in items}

        def of_kind(wanted: str) -> frozenset[str]:
            return frozenset(key[0] for kind, *key in kinds if kind == wanted)

        messages = frozenset((key[0], key[1]) for kind, *key in kinds if kind == "message")
        return cls(
            of_kind("id"), messages, of_kind("triple"), of_kind("session"), of_kind("episode")
        )

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


def _items(item: object) -> Iterator[tuple[str, ...]]:
    """The kind and the key of an item, or of all items of a result or a block."""
    if isinstance(item, Context):
        for cited in item.citations:
            yield from _items(cited)
    elif isinstance(item, SearchResult):
        for part in (*item.hits, *item.triples, *item.sessions, *item.episodes):
            yield from _items(part)
    elif isinstance(item, str):
        yield ("id", item)
    elif isinstance(item, Hit):
        yield ("message", item.session, item.id)
    elif isinstance(item, Citation):
        yield _cited(item)
    elif isinstance(item, Triple):
        yield ("triple", item.uid)
    elif isinstance(item, Episode):
        yield ("episode", item.uid)
    elif isinstance(item, Session | SessionHit):
        yield ("session", item.id if isinstance(item, Session) else item.session.id)
    else:
        raise ConfigurationError(
            "without takes ids, hits, facts, sessions, citations, results and blocks, "
            f"not a value of type {type(item).__name__}"
        )


def _cited(citation: Citation) -> tuple[str, ...]:
    if citation.kind == "message" and citation.session is not None:
        return ("message", citation.session, citation.id)
    return (citation.kind, citation.id)
