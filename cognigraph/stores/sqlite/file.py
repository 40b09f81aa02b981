"""``MemoryFile``: metadata and transactions of an open file, and that no change is missing."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from sqlite3 import Connection
from typing import Any, TypeVar
from zlib import crc32

from cognigraph.errors import EmbedderMismatchError, StoreError
from cognigraph.model.storage import EmbedderIdentity
from cognigraph.stores.sqlite import rows
from cognigraph.stores.sqlite.connection import Pool, create_beside
from cognigraph.stores.sqlite.rows import VectorFormat
from cognigraph.times import Clock


@dataclass(frozen=True, slots=True)
class Record:
    """The metadata of a file.

    ``generation`` counts the embedders it has had. ``key`` seals what is shown of the file but says
    something of all spaces.
    """

    schema_version: int
    embedder: EmbedderIdentity
    vectors: VectorFormat
    generation: int
    key: bytes


def write_meta(connection: sqlite3.Connection, **values: str | int) -> None:
    """Record metadata of the file."""
    connection.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)",
        [(key, str(value)) for key, value in values.items()],
    )


def read_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """The metadata of the file, with defaults for values that older versions did not record."""
    return {"vectors": "float32", "generation": "1"} | dict(
        connection.execute("SELECT key, value FROM meta")
    )


def check_generation(connection: sqlite3.Connection, path: str, record: Record) -> None:
    """Raise if the embedder was changed after ``record`` was read, by this or another process."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    if row is not None and int(row[0]) != record.generation:
        now = read_meta(connection)
        raise EmbedderMismatchError(
            f"{path} has been reindexed with the embedder {now['embedder']!r} "
            f"({now['dimension']} dimensions, {now['vectors']}) since it was opened with "
            f"{record.embedder.name!r}; open it again with the new one"
        )


_T = TypeVar("_T")


class MemoryFile:
    """One open file and its transactions. Thread-safe: each thread uses a connection of its own."""

    def __init__(self, pool: Pool, record: Record, clock: Clock) -> None:
        self.pool = pool
        self.clock = clock
        self.read, self.write = pool.read, pool.write
        """A read transaction, and a write transaction."""
        self.vectors = record.vectors
        """How vectors are stored in this file."""
        self.key = record.key
        """What seals the numbers that are shown and count the rows of all spaces."""
        self._record = record

    @contextmanager
    def read_vectors(self) -> Iterator[Connection]:
        """A read transaction that fails if the embedder was changed after the file was opened."""
        with self.pool.read() as connection:
            check_generation(connection, self.pool.path, self._record)
            yield connection

    @contextmanager
    def write_vectors(self) -> Iterator[Connection]:
        """A write transaction that fails if the embedder was changed after the file was opened."""
        with self.pool.write() as connection:
            check_generation(connection, self.pool.path, self._record)
            yield connection

    def query(self, space: str, empty: _T, work: Callable[[Connection, int], _T]) -> _T:
        """Run ``work`` with the row id of a space; return ``empty`` if there is no such space."""
        with self.pool.read() as connection:
            space_id = rows.space_id(connection, space)
            return empty if space_id is None else work(connection, space_id)

    def select(self, space: str, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a query whose first parameter is the row id of a space; none without one."""
        with self.pool.read() as connection:
            space_id = rows.space_id(connection, space)
            if space_id is None:
                return []
            return connection.execute(statement, (space_id, *parameters)).fetchall()


# Detects that acknowledged changes are missing, because the write-ahead log was lost or cut.
#
# Committed changes stay in the log (``-wal``) until a checkpoint copies them into the file. Without
# the log, or with the beginning of it, SQLite opens the file as if the rest had never been
# committed. So every change counts itself in the file. After the commit, the count is also written
# beside the file, to ``-count``: a file that has counted fewer changes than that has lost some.
#
# The count beside the file is compared only with a file that has the same token, not with a
# restored backup. When a program begins to write to a file that nobody else writes to, it gives the
# file a new token and copies it into the file itself, before it acknowledges anything. When the
# last program closes the file, SQLite deletes the log, and the count is deleted, too: a closed
# memory is one file.
#
# A copy of the file alone has no count beside it. So what is copied with the token says that
# changes will be in the log, and the log begins by saying that there are none but those in it: only
# a file without its log says that some are missing. Whoever copies the log into the file,
# cognigraph or any other program, copies that as well.

_TOKEN, _COUNT, _IN_LOG = "log_token", "log_changes", "log_is_needed"
KEYS = (_TOKEN, _COUNT, _IN_LOG)
"""Metadata that belongs to one file and to none of its copies."""

_RECORD = re.compile(rb"([0-9a-f]{16}) (\d{19}) (\d{10})\n")
_PATIENCE = 2.0
_POLL = 0.01

logger = logging.getLogger("cognigraph.sqlite")


@dataclass(frozen=True, slots=True)
class _Counted:
    """How many changes a file with this token has counted."""

    token: str
    changes: int

    def line(self) -> bytes:
        """What is written beside the file; always of the same length."""
        said = b"%s %019d" % (self.token.encode(), self.changes)
        return b"%s %010d\n" % (said, crc32(said))


def check_changes(pool: Pool, *, accept_loss: bool = False) -> None:
    """Raise :class:`StoreError` for a file that lacks acknowledged changes.

    With ``accept_loss`` such a file is opened as it is, and from then on counts as whole.
    """
    beside = _beside(pool)  # before the file is read, because others may be counting
    with pool.read() as connection:
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone():
            return  # a new file
        lost = _lost(connection, pool, beside)
    if lost is not None and not accept_loss:
        raise StoreError(
            f"{pool.path} lacks {lost} that had been acknowledged: its journal {pool.path}-wal is "
            "missing, was cut off, or is not the one that belongs to the file. Put the right "
            f"journal back; or delete {pool.path}-wal and restore a backup. To go on with what is "
            "left, open it once with Settings(storage=StorageSettings(accept_loss=True))"
        )
    if pool.is_read_only:
        return
    if lost is not None:
        logger.warning("%s lacks %s; it is opened without them", pool.path, lost)
        with pool.write() as connection:
            connection.execute("DELETE FROM meta WHERE key = ?", (_TOKEN,))
        _path(pool).unlink(missing_ok=True)
    with pool.connection() as connection:
        _settle(connection)  # a program was killed while it began to write


class Changes:
    """Counts the changes that one program makes to a file."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._path = str(_path(pool))
        self._begun = False
        self._patience = _PATIENCE

    def begin(self, connection: sqlite3.Connection) -> None:
        """Before the first change: prepare the file for the loss of its log."""
        if self._begun:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            counted, beside = _counted(connection), _beside(self._pool)
            if beside is None or beside.token != counted.token:
                counted = _Counted(token_hex(8), counted.changes)
            if not self._write(counted):
                return  # without a count beside it, a file that is killed here would seem to lack
            connection.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                [(_TOKEN, counted.token), (_COUNT, str(counted.changes)), (_IN_LOG, "yes")],
            )
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        until = time.monotonic() + self._patience
        while not (copied := self._pool.checkpoint()) and time.monotonic() < until:
            time.sleep(_POLL)  # a reader that started before holds up the checkpoint
        _settle(connection)
        self._begun, self._patience = copied, 0.0  # the next change tries again

    def count(self, connection: sqlite3.Connection) -> _Counted | None:
        """Count a change, inside its transaction."""
        row = connection.execute(
            "UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = ? "
            "RETURNING (SELECT value FROM meta WHERE key = ?), value",
            (_COUNT, _TOKEN),
        ).fetchone()
        return None if row is None or row[0] is None else _Counted(row[0], int(row[1]))

    def acknowledge(self, counted: _Counted) -> None:
        """Note beside the file that a change has been committed."""
        self._write(counted)

    def _write(self, counted: _Counted) -> bool:
        """Write the count beside the file, without waiting for the disk: the log is there."""
        try:
            descriptor = create_beside(self._pool.absolute, self._path, os.O_WRONLY)
            try:
                os.write(descriptor, counted.line())
            finally:
                os.close(descriptor)
        except OSError as error:  # the change is safe, only its loss would not be noticed
            logger.info("changes of %s are not counted beside it: %s", self._pool.path, error)
            return False
        return True

    def close(self, connection: sqlite3.Connection) -> None:
        """Before the connection is closed: another program may have been killed while it began."""
        with suppress(sqlite3.Error):
            _settle(connection)

    def leave(self) -> None:
        """After a connection was closed: the last one has deleted the log."""
        if not _log_has(self._pool, 0):
            with suppress(OSError):
                _path(self._pool).unlink(missing_ok=True)


def _settle(connection: sqlite3.Connection) -> None:
    """Say, in the log, that no changes are missing."""
    if _meta(connection, _IN_LOG) == "yes":
        connection.execute("UPDATE meta SET value = 'no' WHERE key = ?", (_IN_LOG,))


def _lost(connection: sqlite3.Connection, pool: Pool, beside: _Counted | None) -> str | None:
    """What a file lacks, or ``None`` for one that is whole."""
    counted = _counted(connection)
    if beside is not None and beside.token == counted.token:
        missing = beside.changes - counted.changes
        return f"the last {missing} of {beside.changes} changes" if missing > 0 else None
    if _log_has(pool, 1):
        return None  # a program is beginning to write, or was killed while it began
    if _meta(connection, _IN_LOG) == "yes":
        return "its newest changes"
    return None


def _counted(connection: sqlite3.Connection) -> _Counted:
    return _Counted(_meta(connection, _TOKEN) or "", int(_meta(connection, _COUNT) or 0))


def _meta(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def _log_has(pool: Pool, size: int) -> bool:
    """Whether the write-ahead log exists with ``size`` bytes, whatever was copied from it."""
    try:
        return Path(f"{pool.absolute}-wal").stat().st_size >= size
    except OSError:
        return False


def _path(pool: Pool) -> Path:
    return Path(f"{pool.absolute}-count")


def _beside(pool: Pool) -> _Counted | None:
    """The count beside a file; ``None`` if there is none, or one that a power failure damaged."""
    try:
        line = _path(pool).read_bytes()
    except OSError:
        return None
    found = _RECORD.fullmatch(line)
    if found is None:
        return None
    counted = _Counted(found[1].decode(), int(found[2]))
    return counted if counted.line() == line else None
