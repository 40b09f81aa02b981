"""Connections, transactions and error mapping for the SQLite store.

WAL with ``synchronous=FULL``: a committed transaction survives kill -9 and power loss.
A connection is used by one thread at a time and returned to a small pool.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, RLock

from cognigraph.errors import SchemaError, StoreError, StoreUnavailableError
from cognigraph.stores.sqlite.identity import Files, check_regular, check_same, files

APPLICATION_ID = 0x436F4772
"""Marks a file as ours ("CoGr") in its header."""

logger = logging.getLogger("cognigraph.sqlite")

MINIMUM_SQLITE = (3, 37, 0)
"""STRICT tables and RETURNING."""


class _Connection(sqlite3.Connection):
    """A connection that knows which files it has open."""

    opened: Files | None = None


class Pool:
    """Connections to one database file.

    Writers of this process queue on a lock, so that only processes compete for the file lock
    (SQLite's busy handler polls and is not fair).
    """

    def __init__(self, path: str | Path, *, busy_timeout: float = 60.0) -> None:
        if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
            raise StoreError(
                f"this Python has SQLite {sqlite3.sqlite_version}; cognigraph needs "
                f"{'.'.join(map(str, MINIMUM_SQLITE))} or newer: use a newer Python build"
            )
        self.path = str(path)
        self._absolute = str(Path(self.path).absolute())  # the process may change its folder
        self._opened: Files | None = None
        self._busy_timeout = busy_timeout
        self._idle: list[_Connection] = []
        self._lock = Lock()
        self._write_lock = RLock()
        self._pid = os.getpid()
        self._closed = False

    def _connect(self) -> _Connection:
        check_regular(self._absolute)
        before = files(self._absolute)
        if self._opened is not None and before.main != self._opened.main:
            check_same(self._absolute, self._opened)
        # Only the first connection may make the file: a later one would hide that it is gone.
        mode = "rwc" if self._opened is None else "rw"
        try:
            connection = sqlite3.connect(
                f"{Path(self._absolute).as_uri()}?mode={mode}",
                uri=True,
                timeout=self._busy_timeout,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
                factory=_Connection,
            )
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"cannot open {self.path}: {error}; check that the folder exists and is writable"
            ) from error
        try:
            with mapped_errors(self.path):
                check_ours(connection, self.path)  # before WAL mode would change its header
                self._enter_wal(connection)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute("PRAGMA temp_store = MEMORY")
                connection.execute("PRAGMA cache_size = -16000")
            self._remember(connection, before)
        except BaseException:
            connection.close()
            raise
        return connection

    def _remember(self, connection: _Connection, before: Files) -> None:
        """Keep what a new connection has opened, if nobody changed it meanwhile."""
        opened = files(self._absolute)
        expected = before if self._opened is None else self._opened
        if opened.main is None or (expected.main is not None and opened.main != expected.main):
            check_same(self._absolute, Files(expected.main, opened.log))
        connection.opened = opened
        self._opened = opened

    def check_same(self, connection: sqlite3.Connection) -> None:
        """Refuse to go on if the file was deleted or replaced since it was opened."""
        if not isinstance(connection, _Connection) or connection.opened is None:
            return
        if connection.opened.log is None:  # a new file gets its log with the first transaction
            log = files(self._absolute).log
            connection.opened = Files(connection.opened.main, log)
        self._part_from_replaced(connection, connection.opened)
        check_same(self._absolute, connection.opened)

    def _part_from_replaced(self, connection: _Connection, opened: Files) -> None:
        """Empty the log of a file that another one has replaced.

        The next to open the new file would take the log of the old one for its own, and overwrite
        its pages with those of the old. So they go where they belong, into the old file.
        """
        now = files(self._absolute)
        if now.main not in (None, opened.main) and now.log == opened.log:
            with suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _enter_wal(self, connection: sqlite3.Connection) -> None:
        # Switching a new file to WAL needs an exclusive lock and SQLite answers "locked" at once
        # instead of waiting, when several processes open the same new file.
        deadline = time.monotonic() + self._busy_timeout
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Borrow a connection."""
        with self._lock:
            if self._closed:
                raise StoreError("this memory is closed; open it again")
            if self._pid != os.getpid():
                # After a fork the parent's connections must be neither used nor closed here:
                # closing would drop the parent's POSIX locks.
                _ABANDONED.extend(self._idle)
                self._idle = []
                self._pid = os.getpid()
                self._write_lock = RLock()
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            with self._lock:
                keep = not self._closed and not connection.in_transaction
                if keep:
                    self._idle.append(connection)
            if not keep:
                connection.close()

    def checkpoint(self) -> bool:
        """Copy the write-ahead log into the file; True if all of it could be copied.

        Readers can hold up the newest part, and so can a disk that is full or read-only.
        """
        with self._write_lock, self.connection() as connection, mapped_errors(self.path):
            try:
                row = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            except sqlite3.OperationalError as error:
                logger.warning("%s could not be checkpointed: %s", self.path, error)
                return False
            busy, in_log, copied = row
            return not busy and in_log == copied

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One consistent snapshot."""
        with self.connection() as connection, mapped_errors(self.path):
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One durable transaction; rolled back on any exception."""
        with self._write_lock, self.connection() as connection, mapped_errors(self.path):
            self.check_same(connection)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
                self.check_same(connection)  # nothing is acknowledged in a file nobody can find
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close idle connections now and borrowed ones when they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        if self._pid == os.getpid():
            for connection in idle:
                if connection.opened is not None:
                    self._part_from_replaced(connection, connection.opened)
                connection.close()


def check_ours(connection: sqlite3.Connection, path: str) -> None:
    """Refuse a database that another program made; an empty file is fine."""
    connection.execute("BEGIN")  # one snapshot: another process may be making this very file
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.execute("ROLLBACK")
    if objects and application != APPLICATION_ID:
        raise SchemaError(f"{path} is a SQLite database of another program; give another file name")


_ABANDONED: list[sqlite3.Connection] = []


@contextmanager
def mapped_errors(path: str) -> Iterator[None]:
    """Turn sqlite3's errors into ours, saying what to do."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise StoreUnavailableError(
                f"{path} is locked by another process that holds a long transaction; try again"
            ) from error
        if "disk" in text or "full" in text or "I/O" in text:
            raise StoreUnavailableError(
                f"{path}: {text}; free disk space and repeat the call, nothing was half-written"
            ) from error
        if "readonly" in text:
            raise StoreError(f"{path} is read-only; check its permissions") from error
        raise StoreError(f"{path}: {text}") from error
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error):
            raise SchemaError(
                f"{path} is not a cognigraph database ({error}); give another file name"
            ) from error
        if "malformed" in str(error):
            raise StoreError(
                f"{path} is damaged ({error}); restore a backup, `cognigraph doctor` shows more"
            ) from error
        raise StoreError(f"{path}: {error}") from error
