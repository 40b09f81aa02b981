"""Connections to the file: transactions and errors, and the file on the disk as it should be.

The journal mode is WAL with ``synchronous=FULL``, so a committed transaction survives kill -9 and
power loss. One thread at a time uses a connection and then returns it to a small pool.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, RLock
from typing import Any, Protocol

from cognigraph.errors import CogniGraphError, SchemaError, StoreError, StoreUnavailableError
from cognigraph.new_file import new_file

APPLICATION_ID = 0x436F4772
"""``application_id`` ("CoGr") in the header of every file that cognigraph creates."""

logger = logging.getLogger("cognigraph.sqlite")

MINIMUM_SQLITE = (3, 37, 0)
"""The first version with STRICT tables; RETURNING is older."""

_LEAST_CACHE, _MOST_CACHE = 16_000, 64_000
_CACHED_SHARE = 64
"""A connection keeps up to a 64th of the file in memory, within these KiB: what a search reads at
random lies in many pages, and the upper levels of their indexes are read each time."""

_LARGE, _SMALL_CACHE = 4, 2_000
"""Four connections at once keep that much, and all further ones 2 MB: a server has a connection for
each request in work, and the memory of its process must not grow with them."""


def cache_kib(size: int) -> int:
    """Return the KiB of pages that a connection may keep; ``size`` is that of the file in bytes."""
    return min(max(size // (_CACHED_SHARE * 1024), _LEAST_CACHE), _MOST_CACHE)


class _Connection(sqlite3.Connection):
    """A connection that records which files it has open."""

    opened: Files | None = None
    is_large = False
    """Whether it keeps more pages in memory than most."""


class Counting(Protocol):
    """Counts what is written, so that its loss is noticed: ``Changes`` in ``file.py``."""

    def begin(self, connection: sqlite3.Connection) -> None:
        """Called before each write transaction."""

    def count(self, connection: sqlite3.Connection) -> Any:
        """Called inside a transaction that changes anything."""

    def acknowledge(self, counted: Any) -> None:
        """Called after the commit, with what was counted."""

    def close(self, connection: sqlite3.Connection) -> None:
        """Called before a connection of a closed pool is closed."""

    def leave(self) -> None:
        """Called after it was closed."""


class Pool:
    """Connections to one database file.

    The writers of this process queue on a lock, so that only processes compete for the file lock:
    SQLite's busy handler polls and is not fair.
    """

    def __init__(self, path: str | Path, *, busy_timeout: float = 60.0) -> None:
        if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
            raise StoreError(
                f"this Python has SQLite {sqlite3.sqlite_version}; cognigraph needs "
                f"{'.'.join(map(str, MINIMUM_SQLITE))} or newer: use a newer Python build"
            )
        self.path = str(path)
        self._absolute = str(Path(self.path).absolute())  # os.chdir must not change the file
        self._opened: Files | None = None
        self.is_read_only = False
        self.changes: Counting | None = None
        """Counts what is written, once the schema is there."""
        self._busy_timeout = busy_timeout
        self._idle: list[_Connection] = []
        self._large = 0
        self._lock = Lock()
        self._write_lock = RLock()
        self._pid = os.getpid()
        self._closed = False

    def _connect(self) -> _Connection:
        check_regular(self._absolute)
        before = files(self._absolute)
        if self._opened is None:
            check_not_emptied(self._absolute)
            if before.main is None:
                self._create()
                before = files(self._absolute)
            self.is_read_only = can_only_be_read(self._absolute)
        elif before.main != self._opened.main:
            check_same(self._absolute, self._opened)
        # No connection creates the file: that would hide its deletion.
        mode = open_mode(self._absolute) if self.is_read_only else "mode=rw"
        try:
            connection = sqlite3.connect(
                f"{Path(self._absolute).as_uri()}?{mode}",
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
                check_ours(connection, self.path)  # first, because WAL mode changes the header
                if not self.is_read_only:
                    self._enter_wal(connection)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute("PRAGMA temp_store = MEMORY")
                self._set_cache(connection)
            self._remember(connection, before)
        except BaseException:
            self._close(connection)
            raise
        return connection

    def _set_cache(self, connection: _Connection) -> None:
        with self._lock:
            connection.is_large = self._large < _LARGE
            self._large += connection.is_large
        size = Path(self._absolute).stat().st_size
        kib = cache_kib(size) if connection.is_large else _SMALL_CACHE
        connection.execute(f"PRAGMA cache_size = -{kib}")

    def _close(self, connection: _Connection) -> None:
        connection.close()
        with self._lock:
            self._large -= connection.is_large
            connection.is_large = False

    def _create(self) -> None:
        """Create the file if there is none; only its owner may read it and what is beside it.

        It appears with its first page, so that an empty file is never one that is being created.
        """
        with (
            suppress(StoreError, sqlite3.Error),  # opening it will say why this failed
            new_file(Path(self._absolute).resolve()) as part,
            closing(sqlite3.connect(part, isolation_level=None)) as connection,
        ):
            connection.execute("PRAGMA journal_mode = MEMORY")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    def _remember(self, connection: _Connection, before: Files) -> None:
        """Record the files a new connection has opened; raise if they changed meanwhile."""
        opened = files(self._absolute)
        expected = before if self._opened is None else self._opened
        if opened.main is None or (expected.main is not None and opened.main != expected.main):
            check_same(self._absolute, Files(expected.main, opened.log))
        connection.opened = opened
        self._opened = opened

    @property
    def absolute(self) -> Path:
        """The path of the file when it was opened, whatever the current folder is now."""
        return Path(self._absolute)

    def check_same(self, connection: sqlite3.Connection) -> None:
        """Raise :class:`StoreError` if the file was deleted or replaced since it was opened."""
        if not isinstance(connection, _Connection) or connection.opened is None:
            return
        if connection.opened.log is None:  # the first transaction on a new file creates the log
            log = files(self._absolute).log
            connection.opened = Files(connection.opened.main, log)
        self._part_from_replaced(connection, connection.opened)
        check_same(self._absolute, connection.opened)

    def _part_from_replaced(self, connection: _Connection, opened: Files) -> None:
        """Checkpoint and empty the log of a file that was replaced by another one.

        The next process to open the new file would take the old log for its own and overwrite
        pages of the new file with it. So the logged pages are copied into the old file.
        """
        now = files(self._absolute)
        if now.main not in (None, opened.main) and now.log == opened.log:
            with suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _enter_wal(self, connection: sqlite3.Connection) -> None:
        # Switching a new file to WAL needs an exclusive lock. When several processes open the same
        # new file, SQLite reports "locked" at once instead of waiting.
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
        """Borrow a connection from the pool."""
        with self._lock:
            if self._closed:
                raise StoreError("this memory is closed; open it again")
            if self._pid != os.getpid():
                # After a fork the parent's connections must be neither used nor closed here:
                # closing would drop the parent's POSIX locks.
                _ABANDONED.extend(self._idle)
                self._idle, self._large = [], 0
                self._pid = os.getpid()
                self._write_lock = RLock()
            connection = self._idle_connection()
        if connection and self.is_read_only and connection.opened != files(self._absolute):
            self._close(connection)  # a program that may write has begun or ended a journal
            connection = None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            with self._lock:
                keep = not self._closed and not connection.in_transaction
                if keep:
                    self._idle.append(connection)
            if not keep:
                self._end(connection)

    def _idle_connection(self) -> _Connection | None:
        """The one that was used last, of those with many pages in memory if there is one."""
        large = (at for at in reversed(range(len(self._idle))) if self._idle[at].is_large)
        return self._idle.pop(next(large, -1)) if self._idle else None

    def checkpoint(self) -> bool:
        """Copy the write-ahead log into the file; True if all of it was copied.

        Readers can hold up the newest part; a full or read-only disk can prevent the copy.
        """
        if self.is_read_only:
            return False
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
        """A read transaction: one consistent snapshot."""
        with self.connection() as connection, mapped_errors(self.path):
            connection.execute("BEGIN")
            try:
                yield connection
            except CogniGraphError:  # some of them are a ValueError or KeyError, too
                raise
            except (ValueError, KeyError, TypeError, OverflowError) as error:
                raise StoreError(damaged(self.path, f"{type(error).__name__}: {error}")) from error
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A durable write transaction; rolled back on any exception."""
        if self.is_read_only:
            raise StoreError(refusal(self.path))
        with self._write_lock, self.connection() as connection, mapped_errors(self.path):
            self.check_same(connection)
            if self.changes is not None:
                self.changes.begin(connection)
            connection.execute("BEGIN IMMEDIATE")
            before, counted = connection.total_changes, None
            try:
                yield connection
                if self.changes is not None and connection.total_changes > before:
                    counted = self.changes.count(connection)
                connection.execute("COMMIT")
                self.check_same(connection)  # do not acknowledge a write to a deleted file
                if self.changes is not None and counted is not None:
                    self.changes.acknowledge(counted)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close idle connections now, and borrowed ones when they are returned."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        if self._pid == os.getpid():
            for connection in idle:
                if connection.opened is not None:
                    self._part_from_replaced(connection, connection.opened)
                self._end(connection)

    def _end(self, connection: _Connection) -> None:
        """Close a connection."""
        ends = self._closed and self.changes is not None and not self.is_read_only
        if self.changes is not None and ends and not connection.in_transaction:
            self.changes.close(connection)
        self._close(connection)
        if self.changes is not None and ends:
            self.changes.leave()


def check_ours(connection: sqlite3.Connection, path: str) -> None:
    """Raise :class:`SchemaError` for the database of another program; an empty file is fine."""
    connection.execute("BEGIN")  # one snapshot: another process may be creating the same file
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.execute("ROLLBACK")
    if objects and application != APPLICATION_ID:
        raise SchemaError(f"{path} is a SQLite database of another program; give another file name")


_ABANDONED: list[sqlite3.Connection] = []


@contextmanager
def mapped_errors(path: str) -> Iterator[None]:
    """Convert errors of sqlite3 into errors of cognigraph that say what to do."""
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
            raise StoreError(refusal(path)) from error
        if "decode" in text:
            raise StoreError(damaged(path, text)) from error
        if "unable to open" in text:
            raise StoreError(
                f"{path} cannot be opened; check that this user may read and write the file, its "
                f"folder and, if there is one, its journal {path}-wal. To read a memory from a "
                "read-only disk, close it before you copy it there: then it has no journal"
            ) from error
        raise StoreError(f"{path}: {text}") from error
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error):
            raise SchemaError(
                f"{path} is not a cognigraph database ({error}); give another file name"
            ) from error
        if "malformed" in str(error):
            raise StoreError(damaged(path, str(error))) from error
        raise StoreError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:  # even the message of SQLite quotes what is damaged
        raise StoreError(damaged(path, str(error))) from error


def damaged(path: str, error: str) -> str:
    """What to tell somebody whose file holds what cognigraph has not written."""
    return (
        f"{path} is damaged: what it holds cannot be read ({error}). Restore a backup; without "
        "one, export the spaces that can still be read. `cognigraph doctor` shows more"
    )


# The file of a memory on the disk: whether it can be written, and whether it is still the same.
#
# If a file is deleted, moved or replaced while a connection has it open, SQLite continues to use
# the old one, which no path names any more, and what is written there is lost when the process
# ends.
#
# A file on a read-only disk, or in a folder of another user, is opened without locks and without a
# journal of its own. Everything that reads works, and everything that would write is refused.

_Id = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Files:
    """Device and inode of a database and of its write-ahead log; ``None`` for a missing file."""

    main: _Id | None
    log: _Id | None


def files(path: str) -> Files:
    """The files that a path names now.

    Files are not opened for this: closing one of them would release SQLite's locks.
    """
    return Files(_id(path), _id(path + "-wal"))


def _id(path: str) -> _Id | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - called twice for each insert
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(
            f"cannot look up {path}: {error.strerror}; give the path of a file in a folder that "
            "exists and that this user may read"
        ) from error
    return found.st_dev, found.st_ino


def check_regular(path: str) -> None:
    """Refuse a path that cannot be a database file, which SQLite would report as an I/O error."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return  # the file does not exist yet, or SQLite will report why it cannot be read
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path} is a folder; give the path of a file, such as {path}/memory.db")
    if not stat.S_ISREG(mode):
        raise StoreError(
            f"{path} is a device, pipe or socket and cannot hold a memory; give the path of a "
            "regular file"
        )


def check_not_emptied(path: str) -> None:
    """Refuse an empty file, and a missing one whose log is there: SQLite would delete that log."""
    log, main = _size(path + "-wal"), _size(path)  # a log is never older than its file
    if main:
        return
    state = "is missing" if main is None else "is empty"
    if log is not None and log > _LOG_HEADER:
        raise StoreError(
            f"{path} {state}, but its journal {path}-wal is there ({log:,} bytes): the memory was "
            "deleted, emptied or moved without it. Put the file back beside its journal; or delete "
            "both and restore a backup. To start a new memory, delete both"
        )
    if main is not None:
        raise StoreError(
            f"{path} {state} (0 bytes), which no memory is: it was emptied, or copying it has "
            "failed. Restore a backup; to start a new memory, delete the file"
        )


_LOG_HEADER = 32
"""Bytes of a write-ahead log before its first page."""


def _size(path: str) -> int | None:
    try:
        return Path(path).stat().st_size
    except OSError:
        return None  # opening it will say why


_BINARY = int(getattr(os, "O_BINARY", 0))
"""Windows would write more than one byte for a line break."""


def create_beside(main: Path, path: str | Path, flags: int) -> int:
    """Open or create a file beside a database; whoever may read the one may read the other."""
    flags |= _BINARY
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        mode = stat.S_IMODE(main.stat().st_mode)
        descriptor = os.open(path, flags | os.O_CREAT, mode)
        Path(path).chmod(mode)  # SQLite, too, gives its journal the permissions of the file
        return descriptor


def check_same(path: str, opened: Files) -> None:
    """Raise :class:`StoreError` if the path no longer names the files that were opened."""
    now = files(path)
    if now == opened:
        return
    if now.main == opened.main:
        raise StoreError(
            f"the journal {path}-wal was deleted or replaced while the memory is open; what was "
            "written lately is safe only once this memory is closed: close it and open it again, "
            "then repeat the call"
        )
    happened = "deleted or moved" if now.main is None else "replaced by another file"
    raise StoreError(
        f"{path} was {happened} while the memory is open; put it back, or close the memory and "
        "open it again, then repeat the call: it was not stored"
    )


def can_only_be_read(path: str) -> bool:
    """Whether a file exists, but this user may not change it or not keep a journal beside it."""
    file = Path(path)
    try:
        if not file.is_file():
            return False
        folder = file.resolve().parent
    except OSError:
        return False  # opening it will say why
    return not (os.access(file, os.W_OK) and os.access(folder, os.W_OK))


def open_mode(path: str) -> str:
    """How SQLite opens such a file.

    While another user has the memory open, its journal holds the newest messages and must be read
    too. Without a journal nobody writes, and SQLite need not look for one, which would fail.
    """
    return "mode=ro" if _has_journal(path) else "mode=ro&immutable=1"


def _has_journal(path: str) -> bool:
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    return log.exists() and (log.stat().st_size > 0 or index.exists())


def refusal(path: str) -> str:
    """What to tell somebody who wants to change such a memory."""
    return (
        f"{path} can only be read here: this user may not write the file or its folder, or the "
        "disk is read-only. To change the memory, allow writing to both, or open a copy of the "
        "file in a folder of your own"
    )
