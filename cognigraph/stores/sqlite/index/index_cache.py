"""The in-memory indexes of the spaces that were searched last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from sqlite3 import Connection
from threading import Lock

from cognigraph.stores.sqlite import read
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.vector_format import VectorFormat

Snapshot = Callable[[], AbstractContextManager[Connection]]
"""Begins a read transaction."""

FreshIndex = tuple[Connection, SpaceIndex, int]
"""A snapshot, the index of a space as of then, and the row id of the space."""


@dataclass
class _Entry:
    index: SpaceIndex
    charged: int = 0


class SpaceIndexes:
    """Indexes by space, of at most so many bytes together; thread-safe.

    The least recently searched are dropped, and read again when needed. The one searched last
    always stays. The sum is kept, so that a search costs the same beside any number of spaces.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    def __contains__(self, space: str) -> bool:
        with self._lock:
            return space in self._entries

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)

    @property
    def bytes(self) -> int:
        """Memory that the indexes hold together."""
        with self._lock:
            return self._total

    @contextmanager
    def fresh(
        self, space: str, vectors: VectorFormat, snapshot: Snapshot
    ) -> Iterator[FreshIndex | None]:
        """A snapshot, the index of a space as of then, and the space's id.

        None if there is no such space: a name that holds nothing must cost no memory.
        """
        index = self.get(space)
        if index is None:
            with snapshot() as connection:
                there = read.space_id(connection, space) is not None
            if not there:
                yield None
                return
            index = self.add(space, SpaceIndex(vectors))
        # Lock, then snapshot: a snapshot older than the index would miss rows the index has.
        with index.lock, snapshot() as connection:
            space_id = read.space_id(connection, space)
            if space_id is None:
                yield None
                return
            index.refresh(connection, space_id, snapshot)
            self.charge(space, index)
            yield connection, index, space_id

    def get(self, space: str) -> SpaceIndex | None:
        """The index of a space that was searched before, as the one used last."""
        with self._lock:
            entry = self._entries.get(space)
            if entry is None:
                return None
            self._entries.move_to_end(space)
            return entry.index

    def add(self, space: str, index: SpaceIndex) -> SpaceIndex:
        """Keep an index, unless another thread was faster: then return that one."""
        with self._lock:
            return self._entries.setdefault(space, _Entry(index)).index

    def charge(self, space: str, index: SpaceIndex) -> None:
        """Take account of what an index holds now, and drop the oldest if that is too much.

        The caller holds the lock of the index.
        """
        size = index.bytes
        with self._lock:
            entry = self._entries.get(space)
            if entry is None or entry.index is not index:
                return  # dropped meanwhile: it ends with the search that uses it
            self._total += size - entry.charged
            entry.charged = size
            while self._total > self._most_bytes:
                oldest = next(iter(self._entries))
                if oldest == space:
                    break
                self._total -= self._entries.pop(oldest).charged

    def clear(self) -> None:
        """Drop all."""
        with self._lock:
            self._entries.clear()
            self._total = 0
