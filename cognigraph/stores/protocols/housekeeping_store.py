"""The role of a store that lists messages, forgets them, and removes spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cognigraph.model import Forgotten, Summary, Written
from cognigraph.model.listing import MessageQuery
from cognigraph.stores.listing import Placed
from cognigraph.stores.readings import Decision, SessionReading
from cognigraph.stores.records import EntityRow, MessageRow, SessionNotes


@dataclass(frozen=True, slots=True)
class Selection:
    """Which messages to forget: those that match every criterion; without any, all messages.

    ``before`` is exclusive. ``entity`` selects what mentions an entity, or says a fact about it.
    ``role`` is "person" for messages without one. ``expired`` selects what expires by then.
    """

    message: str | None = None
    session: str | None = None
    speaker: str | None = None
    before: datetime | None = None
    entity: str | None = None
    role: str | None = None
    tag: str | None = None
    expired: datetime | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """Messages of one session that are to be forgotten: uids of all their chunks, in order.

    ``messages`` are the uids of their first chunks, which identify the messages.
    """

    session: str
    session_uid: str
    chunks: tuple[str, ...]
    messages: tuple[str, ...]


class HousekeepingStore(Protocol):
    """Lists, forgets and replaces messages, and removes spaces."""

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        """List messages in order of (time, arrival), each with its position."""
        ...

    def choose(self, space: str, selection: Selection) -> list[Chosen]:
        """Find the messages to forget, by session."""
        ...

    def weigh(self, space: str, chosen: Sequence[Chosen]) -> Forgotten:
        """Count what would go with these messages, and what would stay."""
        ...

    def forget(self, space: str, chosen: Chosen, *, remember: bool) -> None:
        """Delete messages with all that was read out of them, in one transaction.

        Leases on their session end. What other messages said too stays. The session's keys, themes
        and revisions go, and its other messages are read again, because what was read out of them
        may rest on the forgotten ones; what names anything that only those said goes at once. With
        ``remember`` the hashes of the messages' keys stay, so that an insert does not bring them
        back. Messages that are gone already are ignored.
        """
        ...

    def forget_all(self, space: str, *, remember: bool) -> None:
        """Delete all messages of a space with all that was read out of them. Repeatable."""
        ...

    def update(self, space: str, message: MessageRow, at: datetime) -> bool:
        """Replace the text of a message, and queue it and its session's other messages again.

        What was read out of the old text goes as with :meth:`forget`; the text itself is kept as a
        version, replaced ``at`` a time. The message keeps its uid and its position. False if there
        is no such message, or if it has this text.
        """
        ...

    def versions(self, space: str, session: str, id: str) -> list[tuple[str, datetime]]:
        """Earlier texts of a message and when they were replaced, oldest first."""
        ...

    def versioned(self, space: str) -> set[str]:
        """Uids (of the first chunks) of messages that have earlier texts."""
        ...

    def stated(self, space: str) -> dict[str, str]:
        """Facts that an application stated (JSON), by the uids of the first chunks."""
        ...

    def keep_revisions(
        self, space: str, session: str, version: int, revisions: Sequence[Summary]
    ) -> None:
        """Replace the revisions of a session's summary; it then has this ``version``."""
        ...

    def keep_theme_uids(self, space: str, session: str, uids: Mapping[str, str]) -> None:
        """Give themes of a session, by title, the uids that they had before.

        None is changed if a theme beside them, of whatever session, has one of these uids.
        """
        ...

    def forgotten(self, space: str) -> list[str]:
        """Uids (of the first chunks) of forgotten messages, sorted."""
        ...

    def remember(self, space: str, uids: Sequence[str]) -> None:
        """Note messages as forgotten."""
        ...

    def reading(self, space: str, session: str) -> SessionReading:
        """What was read out of a session that exists."""
        ...

    def notes(self, space: str, session: str) -> SessionNotes:
        """Keys, themes and summariser's state of a session that exists."""
        ...

    def decisions(self, space: str) -> list[Decision]:
        """What users decided on entities, in that order."""
        ...

    def decide(
        self, space: str, entities: Sequence[EntityRow], decisions: Sequence[Decision]
    ) -> None:
        """Record decisions on entities, which are written if nothing has mentioned them yet."""
        ...

    def restore_written(self, space: str, versions: Sequence[Written]) -> None:
        """Write what writers keep, by chain and oldest first, into a space that has none of it."""
        ...

    def begin_import(self, space: str) -> str | None:
        """Note that an import fills a space that holds no messages; return its token.

        Until the import has ended, nobody else inserts into the space, and it is not listed. What
        an import that was interrupted has left is deleted first, and the token of one that is
        still running is no longer valid. ``None`` if the space holds messages of anything else.
        """
        ...

    def end_import(self, space: str, importer: str) -> bool:
        """Note that an import has filled a space; False if its token is no longer valid."""
        ...

    def undo_import(self, space: str, importer: str) -> None:
        """Delete what an import has left, but not the hashes of messages forgotten before.

        Nothing happens if its token is no longer valid.
        """
        ...

    def remove_space(self, space: str) -> None:
        """Delete a space with all that it holds; ended leases bring nothing back. Repeatable."""
        ...

    def backup(self, path: str) -> None:
        """Write a consistent copy of the database to a new file, while it is in use.

        Raises:
            StoreError: the store has no such operation, or the file exists or cannot be written.
        """
        ...

    def erase(self) -> bool | None:
        """Remove the bytes of what was deleted; False if readers held it up, None if unknown."""
        ...
