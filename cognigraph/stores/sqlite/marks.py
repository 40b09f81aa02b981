"""A mark in the file itself that turns were stored, so that a lost write-ahead log is noticed.

What is committed stays in the log (``-wal``) until a checkpoint copies it into the file. A copy of
the file alone, or one whose log was deleted, is a sound database without those turns. The mark is
written, and copied into the file, before the first turn is: a file that has the mark and not one
space has lost its log.

While the first insert goes on, and after a process was killed in it, the file has the mark and no
space too. But then there is a log with content, because SQLite empties the log only when the last
connection closes, while a log that SQLite has just created in place of a lost one is empty.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cognigraph.errors import StoreError
from cognigraph.stores.sqlite.connection import Pool

_MARK = "turns"
_PATIENCE = 2.0
_POLL = 0.01


def check(pool: Pool) -> None:
    """Refuse a file that has had turns and has none."""
    with pool.read() as connection:
        if not _has_mark(connection) or _has_space(connection) or _log_has_content(pool.path):
            return
    raise StoreError(
        f"{pool.path} has had messages and holds none: its journal {pool.path}-wal is missing, "
        "where they were; put that file beside it, or restore a backup that has both (copy a "
        "memory after closing it, or with VACUUM INTO). To begin anew, delete the file"
    )


class TurnMark:
    """Sees to the mark of one open file."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._copied = False

    @contextmanager
    def before_insert(self) -> Iterator[None]:
        """See that the file itself has the mark, and take it back if the first insert fails."""
        if self._copied:
            yield
            return
        # A connection of its own: the memory may be closed before the insert is done.
        with self._pool.connection() as held:
            try:
                self._copied = _set_mark(self._pool)
                yield
            except BaseException:
                self._copied = False
                with suppress(sqlite3.Error):
                    _remove_mark(held)
                raise


def _set_mark(pool: Pool) -> bool:
    """Mark the file, before its first turn; True once the mark is in the file itself."""
    with pool.read() as connection:
        known = _has_mark(connection)
    if not known:
        with pool.write() as connection:
            connection.execute("INSERT OR IGNORE INTO meta VALUES (?, 'stored')", (_MARK,))
    until = time.monotonic() + _PATIENCE
    while not (copied := pool.checkpoint()) and time.monotonic() < until:
        time.sleep(_POLL)  # a reader that began before the mark holds it up
    return copied


def _remove_mark(connection: sqlite3.Connection) -> None:
    """Take the mark back if the first insert failed."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _has_space(connection):
            connection.execute("DELETE FROM meta WHERE key = ?", (_MARK,))
    finally:
        connection.execute("COMMIT")


def _log_has_content(path: str) -> bool:
    """Whether the write-ahead log exists and is not empty, whatever has been copied from it."""
    try:
        return Path(f"{path}-wal").stat().st_size > 0
    except OSError:
        return False


def _has_mark(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT 1 FROM meta WHERE key = ?", (_MARK,)).fetchone()
    return row is not None


def _has_space(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM space LIMIT 1").fetchone() is not None
