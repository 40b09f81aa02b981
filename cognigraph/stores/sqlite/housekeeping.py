"""Housekeeping in a SQLite file: listing and forgetting messages, removing spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from cognigraph.ids import session_uid
from cognigraph.model import Forgotten, Summary, Written
from cognigraph.model.listing import MessageQuery
from cognigraph.stores.listing import Placed
from cognigraph.stores.protocols.housekeeping_store import Chosen, Selection
from cognigraph.stores.readings import Decision, SessionReading
from cognigraph.stores.records import EntityRow, MessageRow, SessionNotes
from cognigraph.stores.sqlite import (
    backup,
    episodes,
    erase,
    forget,
    imports,
    insert,
    listing,
    read,
    readings,
    remove,
    update,
    weigh,
    written,
)
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.revisions import keep_all
from cognigraph.times import to_micros


class SQLiteHousekeeping:
    """See :class:`cognigraph.stores.protocols.HousekeepingStore`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        """List messages in order of time."""
        key = self._file.key
        return self._file.query(space, [], lambda c, s: listing.messages(c, s, query, key))

    def choose(self, space: str, selection: Selection) -> list[Chosen]:
        """Find the messages to forget."""
        return self._file.query(space, [], lambda c, s: forget.choose(c, s, selection))

    def weigh(self, space: str, chosen: Sequence[Chosen]) -> Forgotten:
        """Count what would go, and what would stay."""
        return self._file.query(space, Forgotten(), lambda c, _: weigh.weigh(c, chosen))

    def forget(self, space: str, chosen: Chosen, *, remember: bool) -> None:
        """Delete messages of one session with all that was read out of them."""
        with self._file.write() as connection:
            erase.begin(connection)
            now = to_micros(self._file.clock())
            forget.forget(connection, space, chosen, remember=remember, now=now)

    def forget_all(self, space: str, *, remember: bool) -> None:
        """Delete all messages of a space."""
        with self._file.write() as connection:
            erase.begin(connection)
            space_id = read.space_id(connection, space)
            if space_id is not None:
                remove.empty(connection, space_id, remember=remember)

    def update(self, space: str, message: MessageRow, at: datetime) -> bool:
        """Replace the text of a message."""
        with self._file.write_vectors() as connection:
            return update.update(connection, self._file.vectors, space, message, to_micros(at))

    def versions(self, space: str, session: str, id: str) -> list[tuple[str, datetime]]:
        """Earlier texts of a message."""
        with self._file.read() as connection:
            return update.versions(connection, space, session, id)

    def versioned(self, space: str) -> set[str]:
        """Messages that have earlier texts."""
        query = "SELECT DISTINCT uid FROM version WHERE space_id = ?"
        return self._file.query(
            space, set(), lambda c, s: {uid for (uid,) in c.execute(query, (s,))}
        )

    def stated(self, space: str) -> dict[str, str]:
        """Facts that an application stated."""
        query = """SELECT c.uid, d.facts FROM message_data d JOIN chunk c ON c.id = d.chunk_id
                   WHERE d.space_id = ? AND d.facts IS NOT NULL"""
        return self._file.query(space, {}, lambda c, s: dict(c.execute(query, (s,))))

    def keep_revisions(
        self, space: str, session: str, version: int, revisions: Sequence[Summary]
    ) -> None:
        """Replace the revisions of a session's summary."""
        with self._file.write() as connection:
            keep_all(connection, session_uid(space, session), version, revisions)

    def keep_theme_uids(self, space: str, session: str, uids: Mapping[str, str]) -> None:
        """Give themes the uids that they had before."""
        with self._file.write() as connection:
            episodes.keep_uids(connection, session_uid(space, session), uids)

    def forgotten(self, space: str) -> list[str]:
        """Forgotten messages."""
        query = "SELECT uid FROM forgotten WHERE space_id = ? ORDER BY uid"
        return self._file.query(space, [], lambda c, s: [uid for (uid,) in c.execute(query, (s,))])

    def remember(self, space: str, uids: Sequence[str]) -> None:
        """Note messages as forgotten."""
        with self._file.write() as connection:
            space_id, _ = insert.bump(connection, space)
            rows = [(uid, space_id) for uid in uids]
            connection.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", rows)

    def reading(self, space: str, session: str) -> SessionReading:
        """What was read out of a session."""
        empty = SessionReading(False, "", {})
        return self._file.query(space, empty, lambda c, s: readings.reading(c, s, session))

    def notes(self, space: str, session: str) -> SessionNotes:
        """Keys, themes and state of a session."""
        return self._file.query(space, SessionNotes(), lambda c, s: readings.notes(c, s, session))

    def decisions(self, space: str) -> list[Decision]:
        """What users decided on entities."""
        return self._file.query(space, [], readings.decisions)

    def decide(
        self, space: str, entities: Sequence[EntityRow], decisions: Sequence[Decision]
    ) -> None:
        """Record decisions on entities."""
        with self._file.write_vectors() as connection:
            now = to_micros(self._file.clock())
            readings.decide(connection, self._file.vectors, space, entities, decisions, now)

    def restore_written(self, space: str, versions: Sequence[Written]) -> None:
        """Write what writers keep, as an export has it."""
        with self._file.write() as connection:
            space_id = read.space_id(connection, space)
            if space_id is not None:
                written.restore(connection, space, space_id, versions)

    def begin_import(self, space: str) -> str | None:
        """Note that an import fills a space."""
        with self._file.write() as connection:
            return imports.begin(connection, space)

    def end_import(self, space: str, importer: str) -> bool:
        """Note that an import has filled a space."""
        with self._file.write() as connection:
            is_valid = imports.importer_of(connection, space) == importer
            if is_valid:
                imports.end(connection, space)
            return is_valid

    def undo_import(self, space: str, importer: str) -> None:
        """Delete what an import has left."""
        with self._file.write() as connection:
            if imports.importer_of(connection, space) == importer:
                imports.undo(connection, space)

    def remove_space(self, space: str) -> None:
        """Delete a space with all that it holds."""
        with self._file.write() as connection:
            erase.begin(connection)
            imports.end(connection, space)
            space_id = read.space_id(connection, space)
            if space_id is not None:
                remove.remove(connection, space_id)

    def backup(self, path: str) -> None:
        """Copy the file, as it is now, while others read and write it."""
        backup.backup(self._file.pool, path)

    def erase(self) -> bool | None:
        """Rewrite the file without what was deleted."""
        return erase.erase(self._file.pool)
