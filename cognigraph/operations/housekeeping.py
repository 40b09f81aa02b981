"""``Housekeeping``: the operations of a space that list, forget and replace its messages."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.model import (
    Filter,
    Forgotten,
    MessageOrder,
    MessagePage,
    MessageVersion,
    StoredMessage,
)
from cognigraph.model.listing import MessageQuery
from cognigraph.operations import copying_spaces, expiring, forgetting, updating
from cognigraph.operations.inspection import Inspection
from cognigraph.operations.searching import in_utc
from cognigraph.stores.listing import page_of, position_of
from cognigraph.stores.protocols.housekeeping_store import Selection
from cognigraph.times import to_utc
from cognigraph.validation import checked


class Housekeeping(Inspection):
    """One tenant of a memory, as far as its messages are kept in order."""

    @checked
    def messages(
        self,
        *,
        session: str | None = None,
        speaker: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        order: MessageOrder = "oldest",
        limit: int = 100,
        after: str | None = None,
        where: Filter | None = None,
    ) -> MessagePage:
        """List messages in order of time, page by page.

        Args:
            session: only messages of this session.
            speaker: only messages of this speaker, by the exact name.
            since: only messages said at this time or later.
            until: only messages said before this time.
            order: whether the oldest or the newest message comes first.
            limit: the largest number of messages on the page.
            after: the ``cursor`` of the page before. It stays valid when messages are added or
                forgotten meanwhile: none is listed twice, and none is left out.
            where: only messages that pass this filter: by role, tags, metadata and all else that a
                search filters by. Without it, messages of the system and of tools are listed, too.
        """
        zone = self._engine.zone
        query = MessageQuery(
            session=session,
            speaker=speaker,
            since=None if since is None else to_utc(since, zone),
            until=None if until is None else to_utc(until, zone),
            newest_first=order == "newest",
            limit=limit,
            after=None if after is None else position_of(after),
            where=None if where is None else in_utc(where, zone),
        )
        return page_of(self._engine.store.housekeeping.messages(self._name, query), after)

    @checked
    def forget(
        self,
        *,
        message: str | None = None,
        session: str | None = None,
        speaker: str | None = None,
        before: datetime | str | None = None,
        entity: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
        allow_again: bool = False,
    ) -> Forgotten:
        """Delete messages, and all that was made from them and from nothing else.

        Messages are forgotten that match every criterion given. Facts and entities go if no other
        message says or mentions them. Summaries and keys of the sessions concerned go, and the
        other messages of these sessions are read again, because what was read out of them may
        rest on what was forgotten. Cached answers of the extractor's model go too. A SQLite file is
        rewritten, so that the bytes are gone.

        Args:
            message: the id of one message.
            session: all messages of a session.
            speaker: what a speaker said, by the exact name.
            before: what was said before this time.
            entity: messages that mention an entity, given by its name or an alias, or that state a
                fact about it. Messages that are not enriched yet mention none.
            everything: all messages of the space.
            dry_run: only count what would go and what would stay.
            allow_again: store the messages again if they are added again. Otherwise a hash of each
                message's key stays, and ``add`` reports it as forgotten.

        Raises:
            NotFoundError: there is no such entity.
            ConfigurationError: no criterion is given, ``everything`` is given with others, or
                several sessions have a message with that id.
        """
        moment = None if before is None else to_utc(before, self._engine.zone)
        selection = Selection(message, session, speaker, moment, entity)
        if (selection == Selection()) != everything:
            raise ConfigurationError(
                "say what to forget: message, session, speaker, before or entity; "
                "or everything, alone"
            )
        return forgetting.forget(
            self._engine, self._name, selection, dry_run=dry_run, allow_again=allow_again
        )

    @checked
    def expire(self, *, dry_run: bool = False) -> Forgotten:
        """Forget the messages whose time is over, as :meth:`forget` does; returns the counts.

        These are the messages whose ``expires`` has come, and those that a rule of
        :class:`RetentionSettings` keeps no longer. Until then they are found like all others. With
        ``dry_run`` it only counts. Delivering such a message again does not bring it back.
        """
        return expiring.expire(self._engine, self._name, dry_run=dry_run)

    @checked
    def update(
        self, id: str, text: str, *, session: str | None = None, raw: Any = None
    ) -> StoredMessage:
        """Replace the text of a message, and read it again; returns the message.

        The message keeps its id, time, speaker, role, metadata and tags, but not its ``raw``
        payload. The old text is kept as a version, and is neither searched nor read. What was read
        out of it goes as with :meth:`forget`, and the other messages of its session are read again.

        Args:
            id: the message's id.
            text: the new text. The text that the message has already changes nothing.
            session: its session. If messages of several sessions have the id, the newest is
                updated unless this is given.
            raw: the payload that belongs to the new text; without it the message has none.

        Raises:
            NotFoundError: there is no such message.
            InvalidMessageError: the text cannot be stored.
        """
        message = self._message(id, session)
        return updating.update(self._engine, self._name, message, text, raw)

    @checked
    def versions(self, id: str, session: str | None = None) -> list[MessageVersion]:
        """List the texts of a message, oldest first; the last one is its present text.

        Raises:
            NotFoundError: there is no such message.
        """
        return updating.versions(self._engine, self._name, self._message(id, session))

    @checked
    def export_space(self, path: str | Path, *, derived: bool = False) -> int:
        """Write this space to a new file of JSON lines; returns the number of messages.

        The file has the messages with their earlier texts, stated facts, what users decided on
        entities and facts, and the hashes of forgotten messages. Either store reads it with
        :meth:`import_space`.

        Args:
            path: a new file.
            derived: also write what was read out of the messages, so that nothing needs to be
                read again. The revisions of summaries are written, too.

        Raises:
            StoreError: the file exists or cannot be written.
        """
        return copying_spaces.export(self._engine, self._name, Path(path), derived=derived)

    @checked
    def import_space(self, path: str | Path) -> int:
        """Read a file that :meth:`export_space` has written; returns the number of messages.

        This space must hold no messages; it may have another name than the exported one, and then
        messages that were forgotten there may be added here. Without derived rows in the file the
        messages are queued to be enriched. It is all or nothing: after an error the space is as
        empty as before, and what a killed process has left is deleted when the call is repeated.

        Raises:
            ConfigurationError: the space holds messages, or the file is not an export.
        """
        return copying_spaces.restore(self._engine, self._name, Path(path))

    def _message(self, id: str, session: str | None) -> StoredMessage:
        found = self.get(id, session)
        if found is None:
            where = f" in session {session!r}" if session else ""
            raise NotFoundError(f"space {self._name!r} has no message {id!r}{where}")
        return found
