"""What an export and an import need beside the messages."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from cognigraph.ids import revision_uid, session_uid
from cognigraph.model import Summary, Written
from cognigraph.resolution import incremental
from cognigraph.stores.model_rows import theme_of
from cognigraph.stores.neo4j.connection import Row, Transaction
from cognigraph.stores.neo4j.derive import entity_row
from cognigraph.stores.neo4j.entity_map import Neo4jEntityMap
from cognigraph.stores.neo4j.forget import Neo4jForgetting
from cognigraph.stores.neo4j.summaries import restore_written
from cognigraph.stores.readings import (
    Decision,
    SessionReading,
    apply_decision,
    decision_of,
    session_reading,
)
from cognigraph.stores.records import EntityRow, SessionNotes


class Neo4jExport(Neo4jForgetting):
    """The part of housekeeping for exports and imports: see ``HousekeepingStore``."""

    # Exports

    def stated(self, space: str) -> dict[str, str]:
        return dict(map(tuple, self._connection.rows("export/stated", space=space)))

    def reading(self, space: str, session: str) -> SessionReading:
        connection, owner = self._connection, session_uid(space, session)
        state = connection.row("export/state", session=owner)
        assert state is not None
        return session_reading(
            connection.rows("export/mentions", session=owner),
            connection.rows("export/aliases", session=owner),
            connection.rows("export/facts", session=owner),
            (state[0], state[1]),
        )

    def notes(self, space: str, session: str) -> SessionNotes:
        row = self._connection.row("export/notes", session=session_uid(space, session))
        assert row is not None
        version, state, keys, themes = row
        return SessionNotes(
            version,
            tuple((name, weight) for name, weight in keys),
            tuple(theme_of(*theme) for theme in themes),
            state or "",
        )

    def decisions(self, space: str) -> list[Decision]:
        return [decision_of(row) for row in self._connection.rows("export/decisions", space=space)]

    # Imports

    def decide(
        self, space: str, entities: Sequence[EntityRow], decisions: Sequence[Decision]
    ) -> None:
        now = self._clock()

        def work(tx: Transaction) -> None:
            tx.rows("insert/space", space=space)
            labels = (tx.row("forget/lock", space=space) or [[]])[0]
            entity_map = Neo4jEntityMap(tx, space, labels, now)
            rows = [entity_row(space, entity) for entity in entities]
            rows.sort(key=lambda row: str(row["entity"]["uid"]))
            tx.rows("derive/entities", entities=rows)
            incremental.settle(entity_map, sorted(entity.uid for entity in entities))
            for decision in decisions:
                _, at = tx.row("resolve/begin", space=space) or (None, 0)
                apply_decision(entity_map, space, decision, at)

        self._connection.write(work)

    def keep_revisions(
        self, space: str, session: str, version: int, revisions: Sequence[Summary]
    ) -> None:
        owner = session_uid(space, session)
        rows = [
            {
                "uid": revision_uid(owner, revision.version),
                "space": space,
                "session_uid": owner,
                "version": revision.version,
                "at": revision.at,
                "extractor": revision.extractor,
                "keys": list(revision.keys),
                "titles": [theme.title for theme in revision.themes],
                "summaries": [theme.summary for theme in revision.themes],
            }
            for revision in revisions
        ]
        self._connection.write(
            lambda tx: tx.rows("export/revisions", session=owner, version=version, rows=rows)
        )

    def restore_written(self, space: str, versions: Sequence[Written]) -> None:
        restore_written(self._connection, space, versions)

    def begin_import(self, space: str) -> str | None:
        token = uuid4().hex

        def begin(tx: Transaction) -> Row | None:
            tx.rows("insert/space", space=space)
            return tx.row("insert/import", space=space, importer=token)

        while (row := self._connection.write(begin)) is not None and row[0]:
            self._remove(space, remember=False, keep_forgotten=True)
        return None if row is None else token

    def end_import(self, space: str, importer: str) -> bool:
        return self._change_importer(space, importer, None)

    def undo_import(self, space: str, importer: str) -> None:
        if self._change_importer(space, importer, "removed"):
            self._remove(space, remember=False, keep_forgotten=True)

    def _change_importer(self, space: str, importer: str, to: str | None) -> bool:
        given = {"space": space, "importer": importer, "to": to}
        return self._connection.write(lambda tx: tx.row("insert/imported", **given)) is not None
