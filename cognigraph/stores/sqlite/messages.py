"""``SQLiteMessages``: inserts messages into a SQLite file."""

from __future__ import annotations

from collections.abc import Sequence

from cognigraph.stores.records import InsertStatus, MessageRow
from cognigraph.stores.sqlite import (
    insert,
)
from cognigraph.stores.sqlite.file import MemoryFile


class SQLiteMessages:
    """See :class:`cognigraph.stores.protocols.MessageStore`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def insert(
        self, space: str, messages: Sequence[MessageRow], importer: str = ""
    ) -> list[InsertStatus]:
        """Write messages in one durable transaction."""
        # The same messages often arrive again; that must not wait for the write lock.
        with self._file.read() as connection:
            statuses = insert.statuses_of(connection, messages)
        if "new" not in statuses:
            return statuses
        with self._file.write_vectors() as connection:
            return insert.insert(connection, self._file.vectors, space, messages, importer)
