"""Removing the bytes of deleted rows from the file and its journal.

SQLite leaves deleted content in free pages, in the gaps of pages and in the write-ahead log. Even
with ``secure_delete`` copies stay behind where rows once moved to another page. So the file is
rewritten (VACUUM), and then the log is copied into it and truncated. A mark in the file says that
this is still to be done; if the process ends before, it is done when the file is opened next.
"""

from __future__ import annotations

import sqlite3

from cognigraph.stores import start_blocks
from cognigraph.stores.sqlite.connection import Pool, mapped_errors
from cognigraph.stores.sqlite.index.index_cache import drop_stale

_MARK = "erase"


def begin_erasing(connection: sqlite3.Connection, space: str) -> None:
    """Before something of a space is deleted: delete its copies, too, and see that no byte stays.

    What this connection deletes is overwritten, and the file is to be rewritten.
    """
    connection.execute("PRAGMA secure_delete = ON")
    start_blocks.drop(connection, space)
    connection.execute("INSERT OR IGNORE INTO meta VALUES (?, 'due')", (_MARK,))


def is_due(connection: sqlite3.Connection) -> bool:
    """Whether the file holds bytes of deleted rows that are to be removed."""
    row = connection.execute("SELECT 1 FROM meta WHERE key = ?", (_MARK,)).fetchone()
    return row is not None


def erase_deleted(pool: Pool) -> bool:
    """Rewrite the file and empty its log; False if others held it up or it can only be read."""
    with pool.connection() as connection, mapped_errors(pool.path):
        if not is_due(connection):
            return True
        if pool.is_read_only:
            return False
        if not (_rewrite(connection) and _empty_log(connection)):
            return False
    drop_stale(pool)
    with pool.write() as connection:
        connection.execute("DELETE FROM meta WHERE key = ?", (_MARK,))
    return True


def _rewrite(connection: sqlite3.Connection) -> bool:
    # In memory, the copy would take as much of it as the file has.
    connection.execute("PRAGMA temp_store = FILE")
    try:
        connection.execute("VACUUM")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error) and "busy" not in str(error):
            raise
        return False
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")
    return True


def _empty_log(connection: sqlite3.Connection) -> bool:
    """Copy the log into the file and truncate it; waits for readers as long as for a lock."""
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
