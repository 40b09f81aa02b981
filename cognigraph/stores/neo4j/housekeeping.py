"""Housekeeping in Neo4j: listing and forgetting messages, removing spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import uuid4

from cognigraph.errors import StoreError
from cognigraph.ids import revision_uid, session_uid
from cognigraph.model import Forgotten, Summary, Written
from cognigraph.model.listing import MessageQuery
from cognigraph.stores.listing import Placed
from cognigraph.stores.neo4j import forget, listing, readings, remove, update, weigh, written
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.protocols.housekeeping_store import Chosen, Selection
from cognigraph.stores.readings import Decision, SessionReading
from cognigraph.stores.records import EntityRow, MessageRow, SessionNotes
from cognigraph.times import Clock


class Neo4jHousekeeping:
    """See :class:`cognigraph.stores.protocols.HousekeepingStore`."""

    def __init__(self, connection: Connection, indexes: OwnIndexes, clock: Clock) -> None:
        self._connection = connection
        self._indexes = indexes
        self._clock = clock

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        """List messages in order of time."""
        return listing.messages(self._connection, space, query)

    def choose(self, space: str, selection: Selection) -> list[Chosen]:
        """Find the messages to forget."""
        return forget.choose(self._connection, space, selection)

    def weigh(self, space: str, chosen: Sequence[Chosen]) -> Forgotten:
        """Count what would go, and what would stay."""
        return weigh.weigh(self._connection, chosen)

    def forget(self, space: str, chosen: Chosen, *, remember: bool) -> None:
        """Delete messages of one session with all that was read out of them."""
        forget.forget(self._connection, space, chosen, remember=remember, now=self._clock())

    def forget_all(self, space: str, *, remember: bool) -> None:
        """Delete all messages of a space, in bounded transactions."""
        remove.remove(self._connection, self._indexes, space, remember=remember)

    def update(self, space: str, message: MessageRow, at: datetime) -> bool:
        """Replace the text of a message."""
        return update.update(self._connection, space, message, at)

    def versions(self, space: str, session: str, id: str) -> list[tuple[str, datetime]]:
        """Earlier texts of a message."""
        return update.versions(self._connection, space, session, id)

    def versioned(self, space: str) -> set[str]:
        """Messages that have earlier texts."""
        return {uid for (uid,) in self._connection.rows("export/versioned", space=space)}

    def stated(self, space: str) -> dict[str, str]:
        """Facts that an application stated."""
        rows = self._connection.rows("export/stated", space=space)
        return {uid: facts for uid, facts in rows}

    def keep_revisions(
        self, space: str, session: str, version: int, revisions: Sequence[Summary]
    ) -> None:
        """Replace the revisions of a session's summary."""
        owner = session_uid(space, session)
        rows = [
            {
                "uid": revision_uid(owner, one.version),
                "space": space,
                "session_uid": owner,
                "version": one.version,
                "at": one.at,
                "extractor": one.extractor,
                "keys": list(one.keys),
                "titles": [theme.title for theme in one.themes],
                "summaries": [theme.summary for theme in one.themes],
            }
            for one in revisions
        ]
        self._connection.write(
            lambda tx: tx.rows("export/revisions", session=owner, version=version, rows=rows)
        )

    def keep_theme_uids(self, space: str, session: str, uids: Mapping[str, str]) -> None:
        """Give themes the uids that they had before."""
        owner, wanted = session_uid(space, session), dict(uids)
        self._connection.write(lambda tx: tx.rows("export/theme_uids", session=owner, uids=wanted))

    def forgotten(self, space: str) -> list[str]:
        """Forgotten messages."""
        return [uid for (uid,) in self._connection.rows("export/forgotten", space=space)]

    def remember(self, space: str, uids: Sequence[str]) -> None:
        """Note messages as forgotten."""
        messages = list(uids)
        self._connection.write(
            lambda tx: tx.rows("forget/remember", space=space, messages=messages)
        )

    def reading(self, space: str, session: str) -> SessionReading:
        """What was read out of a session."""
        return readings.reading(self._connection, space, session)

    def notes(self, space: str, session: str) -> SessionNotes:
        """Keys, themes and state of a session."""
        return readings.notes(self._connection, space, session)

    def decisions(self, space: str) -> list[Decision]:
        """What users decided on entities."""
        return readings.decisions(self._connection, space)

    def decide(
        self, space: str, entities: Sequence[EntityRow], decisions: Sequence[Decision]
    ) -> None:
        """Record decisions on entities."""
        readings.decide(self._connection, space, entities, decisions, self._clock())

    def restore_written(self, space: str, versions: Sequence[Written]) -> None:
        """Write what writers keep, as an export has it."""
        written.restore(self._connection, space, versions)

    def begin_import(self, space: str) -> str | None:
        """Note that an import fills a space."""
        token = uuid4().hex

        def begin(tx: Transaction) -> Row | None:
            tx.rows("insert/space", space=space)
            return tx.row("insert/import", space=space, importer=token)

        while (row := self._connection.write(begin)) is not None and row[0]:
            self._remove_imported(space)
        return None if row is None else token

    def end_import(self, space: str, importer: str) -> bool:
        """Note that an import has filled a space."""
        return self._change_importer(space, importer, None)

    def undo_import(self, space: str, importer: str) -> None:
        """Delete what an import has left, in bounded transactions."""
        if self._change_importer(space, importer, "removed"):
            self._remove_imported(space)

    def _change_importer(self, space: str, importer: str, to: str | None) -> bool:
        given = {"space": space, "importer": importer, "to": to}
        row = self._connection.write(lambda tx: tx.row("insert/imported", **given))
        return row is not None

    def _remove_imported(self, space: str) -> None:
        connection, indexes = self._connection, self._indexes
        remove.remove(connection, indexes, space, remember=False, keep_forgotten=True)

    def remove_space(self, space: str) -> None:
        """Delete a space with all that it holds, in bounded transactions."""
        remove.remove(self._connection, self._indexes, space, remember=False)

    def backup(self, path: str) -> None:
        """Not possible from here.

        Raises:
            StoreError: always; it says what to use instead.
        """
        raise StoreError(
            f"{self._connection.uri} cannot be backed up from here; use neo4j-admin database dump "
            "(or backup), or export each space"
        )

    def erase(self) -> bool | None:
        """Nothing to do: the server decides when it uses deleted space again."""
        return None
