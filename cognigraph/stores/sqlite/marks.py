"""Detects a lost write-ahead log by a mark in the file that says that turns were stored.

Committed data stays in the log (``-wal``) until a checkpoint copies it into the file. A file copied
without its log, or whose log was deleted, is a valid database without those turns. The mark is
written and checkpointed into the file before the first turn is stored: a file that has the mark but
no space has lost its log.

The file also has the mark and no space while the first insert is in progress, or if a process was
killed during it. In both cases the log has content, because SQLite truncates it only when the last
connection closes. A log that SQLite has just created in place of a lost one is empty.
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
    """Raise :class:`StoreError` for a file that has had turns and has lost them with its log."""
    with pool.read() as connection:
        if not _has_mark(connection) or _has_space(connection) or _log_has_content(pool.path):
            return
    raise StoreError(
        f"{pool.path} has had messages and holds none: its journal {pool.path}-wal, which held "
        "them, is missing; put that file beside it, or restore a backup that has both (copy a "
        "memory after closing it, or with VACUUM INTO). To start a new memory, delete the file"
    )


class TurnMark:
    """Writes the mark of one open file before its first insert."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._copied = False

    @contextmanager
    def before_insert(self) -> Iterator[None]:
        """Ensure that the file itself has the mark; remove the mark if the first insert fails."""
        if self._copied:
            yield
            return
        # A separate connection, because the memory may be closed before the insert ends.
        with self._pool.connection() as held:
            try:
                self._copied = _set_mark(self._pool)
                yield
            except BaseException:
                self._copied = False
                with suppress(sqlite3.Error):
                    _remove_mark(held)
                raise

    def withdraw(self, connection: sqlite3.Connection) -> None:
        """Take the mark back in a transaction that leaves the file without any message."""
        connection.execute("DELETE FROM meta WHERE key = ?", (_MARK,))
        self._copied = False


def _set_mark(pool: Pool) -> bool:
    """Write the mark; True if it was also checkpointed into the file itself."""
    with pool.read() as connection:
        known = _has_mark(connection)
    if not known:
        with pool.write() as connection:
            connection.execute("INSERT OR IGNORE INTO meta VALUES (?, 'stored')", (_MARK,))
    until = time.monotonic() + _PATIENCE
    while not (copied := pool.checkpoint()) and time.monotonic() < until:
        time.sleep(_POLL)  # a reader that started before the mark holds up the checkpoint
    return copied


def _remove_mark(connection: sqlite3.Connection) -> None:
    """Remove the mark, unless another insert has succeeded meanwhile."""
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
