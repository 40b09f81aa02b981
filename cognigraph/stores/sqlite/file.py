"""``MemoryFile``: the metadata of an open file, and transactions for the roles of the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, TypeVar

from cognigraph.errors import EmbedderMismatchError
from cognigraph.model.storage import EmbedderIdentity
from cognigraph.stores.sqlite import rows
from cognigraph.stores.sqlite.columns import VectorFormat
from cognigraph.stores.sqlite.connection import Pool
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
        self._pool = pool
        self._record = record
        self.clock = clock

    @property
    def pool(self) -> Pool:
        """Its connections, for what is no transaction."""
        return self._pool

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._pool.path

    @property
    def vectors(self) -> VectorFormat:
        """How vectors are stored in this file."""
        return self._record.vectors

    @property
    def key(self) -> bytes:
        """What seals the numbers that are shown and count the rows of all spaces."""
        return self._record.key

    def read(self) -> AbstractContextManager[Connection]:
        """A read transaction."""
        return self._pool.read()

    def write(self) -> AbstractContextManager[Connection]:
        """A write transaction."""
        return self._pool.write()

    @contextmanager
    def read_vectors(self) -> Iterator[Connection]:
        """A read transaction that fails if the embedder was changed after the file was opened."""
        with self._pool.read() as connection:
            check_generation(connection, self._pool.path, self._record)
            yield connection

    @contextmanager
    def write_vectors(self) -> Iterator[Connection]:
        """A write transaction that fails if the embedder was changed after the file was opened."""
        with self._pool.write() as connection:
            check_generation(connection, self._pool.path, self._record)
            yield connection

    def query(self, space: str, empty: _T, work: Callable[[Connection, int], _T]) -> _T:
        """Run ``work`` with the row id of a space; return ``empty`` if there is no such space."""
        with self._pool.read() as connection:
            space_id = rows.space_id(connection, space)
            return empty if space_id is None else work(connection, space_id)

    def select(self, space: str, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a query whose first parameter is the row id of a space; none without one."""
        with self._pool.read() as connection:
            space_id = rows.space_id(connection, space)
            if space_id is None:
                return []
            return connection.execute(statement, (space_id, *parameters)).fetchall()
