"""``MemoryFile``: transactions, vector format and clock, shared by the roles of a SQLite store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from sqlite3 import Connection
from typing import TypeVar

from cognigraph.stores.sqlite import read
from cognigraph.stores.sqlite.connection import Pool
from cognigraph.stores.sqlite.schema import Record, check_generation
from cognigraph.stores.sqlite.vector_format import VectorFormat
from cognigraph.times import Clock

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
            space_id = read.space_id(connection, space)
            return empty if space_id is None else work(connection, space_id)
