"""``SQLiteHousekeeping``: lists, forgets, exports and imports messages, and copies the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from cognigraph.model.filters import MessageQuery
from cognigraph.new_file import new_file
from cognigraph.stores.listing import Placed
from cognigraph.stores.sqlite.changes import KEYS
from cognigraph.stores.sqlite.connection import mapped_errors
from cognigraph.stores.sqlite.erase import erase_deleted
from cognigraph.stores.sqlite.export import SQLiteExport
from cognigraph.stores.sqlite.forget import SQLiteForgetting
from cognigraph.stores.sqlite.messages import list_messages

_PAGES = 2048
"""Pages copied at a time; writers may come in between, and what they write is copied too."""


class SQLiteHousekeeping(SQLiteForgetting, SQLiteExport):
    """See :class:`cognigraph.stores.protocols.HousekeepingStore`."""

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        """List messages in order of (time, arrival), each with its position."""
        key = self._file.key
        return self._file.query(space, [], lambda c, s: list_messages(c, s, query, key))

    def backup(self, path: str) -> None:
        """Copy the file, and what is in its journal, to a new file while it is in use."""
        with (
            new_file(Path(path)) as part,
            self._file.pool.connection() as source,
            mapped_errors(path),
            closing(sqlite3.connect(part, isolation_level=None)) as copy,
        ):
            source.backup(copy, pages=_PAGES)
            copy.executemany("DELETE FROM meta WHERE key = ?", [(key,) for key in KEYS])
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a journal

    def erase(self) -> bool | None:
        """Rewrite the file without what was deleted."""
        return erase_deleted(self._file.pool)
