"""What an export and an import need beside the messages."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from uuid import uuid4

from cognigraph.ids import session_uid
from cognigraph.model import Summary, Written
from cognigraph.resolution import incremental
from cognigraph.stores.readings import (
    Decision,
    SessionReading,
    apply_decision,
    decision_of,
    session_reading,
)
from cognigraph.stores.records import EntityRow, SessionNotes
from cognigraph.stores.sqlite.derive import merge_entities
from cognigraph.stores.sqlite.entity_map import SQLiteEntityMap
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.forget import empty_space
from cognigraph.stores.sqlite.messages import IMPORT, bump, end_import, importer_of
from cognigraph.stores.sqlite.queue import session_notes
from cognigraph.stores.sqlite.rows import space_id
from cognigraph.stores.sqlite.summaries import replace_revisions, restore_written
from cognigraph.times import to_micros

_MENTIONS = """
SELECT c.message_id, c.part, e.uid, e.name, e.normalised, e.type, m.spelled
FROM chunk c JOIN mention m ON m.chunk_id = c.id JOIN entity e ON e.id = m.raw_id
WHERE c.session_id = ? ORDER BY c.at, c.id, e.uid"""
_ALIASES = """
SELECT c.message_id, c.part, e.uid, a.name, a.normalised, s.spelled
FROM chunk c JOIN alias_source s ON s.chunk_id = c.id JOIN alias a ON a.id = s.alias_id
JOIN entity e ON e.id = a.entity_id WHERE c.session_id = ? ORDER BY c.at, c.id, a.uid"""
_FACTS = """
SELECT c.message_id, c.part, t.subject, t.relation, t.object, s.normalised, o.normalised, s.type,
       o.type, t.when_text, t.negated, v.said_by, v.replaces, v.spelled
FROM chunk c JOIN evidence v ON v.chunk_id = c.id JOIN triple t ON t.id = v.raw_id
JOIN entity s ON s.id = t.raw_subject_id JOIN entity o ON o.id = t.raw_object_id
WHERE c.session_id = ? ORDER BY c.at, c.id, t.uid"""
_STATE = """
SELECT min(w.state = 1), max(w.extractor)
FROM chunk c CROSS JOIN work w ON w.chunk_id = c.id WHERE c.session_id = ?"""
_DECISIONS = """
SELECT a.name, a.type, b.name, b.type, r.verdict, i.name, i.type
FROM ruling r JOIN entity a ON a.id = r.a_id JOIN entity b ON b.id = r.b_id
JOIN entity i ON i.id = r.into_id WHERE a.space_id = ? ORDER BY r.at, a.uid, b.uid"""
_SESSION = "SELECT id, version, state FROM session WHERE space_id = ? AND name = ?"


class SQLiteExport:
    """The part of housekeeping for exports and imports: see ``HousekeepingStore``."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    # Exports

    def stated(self, space: str) -> dict[str, str]:
        query = """SELECT c.uid, d.facts FROM message_data d JOIN chunk c ON c.id = d.chunk_id
                   WHERE d.space_id = ? AND d.facts IS NOT NULL"""
        return dict(self._file.select(space, query))

    def reading(self, space: str, session: str) -> SessionReading:

        def work(connection: sqlite3.Connection, space_id: int) -> SessionReading:
            id = connection.execute(_SESSION, (space_id, session)).fetchone()[:1]
            return session_reading(
                connection.execute(_MENTIONS, id),
                connection.execute(_ALIASES, id),
                connection.execute(_FACTS, id),
                connection.execute(_STATE, id).fetchone(),
            )

        return self._file.query(space, SessionReading(False, "", {}), work)

    def notes(self, space: str, session: str) -> SessionNotes:

        def work(connection: sqlite3.Connection, space_id: int) -> SessionNotes:
            id, version, state = connection.execute(_SESSION, (space_id, session)).fetchone()
            return session_notes(connection, id, version, state, renew=False)

        return self._file.query(space, SessionNotes(), work)

    def decisions(self, space: str) -> list[Decision]:
        return [decision_of(row) for row in self._file.select(space, _DECISIONS)]

    # Imports

    def decide(
        self, space: str, entities: Sequence[EntityRow], decisions: Sequence[Decision]
    ) -> None:
        with self._file.write_vectors() as connection:
            now = to_micros(self._file.clock())
            space_id, revision = bump(connection, space)
            entity_map = SQLiteEntityMap(connection, space, space_id, revision, now)
            new = merge_entities(connection, self._file.vectors, space_id, entities)
            incremental.settle(entity_map, sorted(new))
            for number, decision in enumerate(decisions):
                apply_decision(entity_map, space, decision, now + number)

    def keep_revisions(
        self, space: str, session: str, version: int, revisions: Sequence[Summary]
    ) -> None:
        with self._file.write() as connection:
            replace_revisions(connection, session_uid(space, session), version, revisions)

    def restore_written(self, space: str, versions: Sequence[Written]) -> None:
        with self._file.write() as connection:
            id = space_id(connection, space)
            if id is not None:
                restore_written(connection, space, id, versions)

    def begin_import(self, space: str) -> str | None:
        with self._file.write() as connection:
            id = space_id(connection, space)
            if importer_of(connection, space):
                _undo(connection, space)
            elif id is not None:
                held = "SELECT 1 FROM session WHERE space_id = ? LIMIT 1"
                if connection.execute(held, (id,)).fetchone() is not None:
                    return None
            token = uuid4().hex
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (IMPORT + space, token))
            return token

    def end_import(self, space: str, importer: str) -> bool:
        with self._file.write() as connection:
            is_valid = importer_of(connection, space) == importer
            if is_valid:
                end_import(connection, space)
            return is_valid

    def undo_import(self, space: str, importer: str) -> None:
        with self._file.write() as connection:
            if importer_of(connection, space) == importer:
                _undo(connection, space)


def _undo(connection: sqlite3.Connection, space: str) -> None:
    id = space_id(connection, space)
    if id is not None:
        empty_space(connection, id, remember=False)
    end_import(connection, space)
