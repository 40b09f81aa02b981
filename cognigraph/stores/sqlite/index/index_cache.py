"""A least-recently-used cache of the in-memory indexes of spaces."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from sqlite3 import Connection
from threading import Lock, Thread

from cognigraph.errors import CogniGraphError
from cognigraph.stores.sqlite import rows
from cognigraph.stores.sqlite.columns import VectorFormat
from cognigraph.stores.sqlite.index.layer import FEW_ROWS
from cognigraph.stores.sqlite.index.snapshots import Snapshots
from cognigraph.stores.sqlite.index.space_index import SpaceIndex

Snapshot = Callable[[], AbstractContextManager[Connection]]
"""Starts a read transaction."""

FreshIndex = tuple[Connection, SpaceIndex, int]
"""A read transaction, the index of a space in the same state, and the row id of the space."""


@dataclass
class _Entry:
    index: SpaceIndex
    charged: int = 0


class SpaceIndexes:
    """Indexes by space, limited in their total size in bytes; thread-safe.

    The least recently searched indexes are dropped and read again when needed. The one searched
    last always stays. The total is maintained, so the cost of a search does not depend on the
    number of spaces. Large indexes are read from files, and written to them in a thread.
    :meth:`finish` waits for all threads, because a connection in use keeps the journal of the file.
    """

    def __init__(self, most_bytes: int, few_rows: int = FEW_ROWS) -> None:
        self._most_bytes = most_bytes
        self.few_rows = few_rows
        self.snapshots: Snapshots | None = None
        self._saving: Thread | None = None
        self._loading: set[Thread] = set()
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
        """The total memory of the indexes."""
        with self._lock:
            return self._total

    def load(self, space: str, vectors: VectorFormat, snapshot: Snapshot) -> None:
        """Start to load the index of a space in another thread, unless it is in memory."""
        if space in self:
            return
        thread = Thread(
            target=self._load, args=(space, vectors, snapshot), name="cognigraph-warm", daemon=True
        )
        with self._lock:
            self._loading = {one for one in self._loading if one.is_alive()} | {thread}
            thread.start()

    def _load(self, space: str, vectors: VectorFormat, snapshot: Snapshot) -> None:
        # An error here occurs again in the search that follows, which reports it.
        with suppress(CogniGraphError), self.fresh(space, vectors, snapshot):
            pass

    @contextmanager
    def fresh(
        self, space: str, vectors: VectorFormat, snapshot: Snapshot
    ) -> Iterator[FreshIndex | None]:
        """A snapshot, the index of a space refreshed to that snapshot, and the space's row id.

        None if there is no such space: an unknown name must cost no memory.
        """
        index = self.get(space)
        if index is None:
            with snapshot() as connection:
                there = rows.space_id(connection, space) is not None
            if not there:
                yield None
                return
            index = self.add(space, SpaceIndex(vectors, self.few_rows))
        # Lock first, then snapshot: a snapshot older than the index would lack some of its rows.
        with index.lock, snapshot() as connection:
            space_id = rows.space_id(connection, space)
            if space_id is None:
                yield None
                return
            before = index.epoch, index.revision
            if self.snapshots is not None and not index.revision:
                self.snapshots.load(connection, space_id, index)
            index.refresh(connection, space_id, snapshot)
            if before != (index.epoch, index.revision):
                self.charge(space, index)
            self._save(space, space_id, index)
            yield connection, index, space_id

    def _save(self, space: str, space_id: int, index: SpaceIndex) -> None:
        """Write an index to its file, in another thread, if much has come since."""
        if self.snapshots is None or not self.snapshots.is_due(index):
            return
        with self._lock:
            if self._saving is not None and self._saving.is_alive():
                return
            self._saving = Thread(
                target=self._write, args=(self.snapshots, space, space_id, index),
                name="cognigraph-save", daemon=True,
            )  # fmt: skip
            self._saving.start()

    def _write(self, snapshots: Snapshots, space: str, space_id: int, index: SpaceIndex) -> None:
        snapshots.save(space_id, index)
        with index.lock:  # the words of its texts have come to it
            self.charge(space, index)

    def finish(self) -> None:
        """Wait until what is being loaded is loaded, and what is being written is written."""
        with self._lock:
            loading, self._loading = self._loading, set()
        for thread in loading:  # one that is loading may yet begin to write
            thread.join()
        with self._lock:
            saving = self._saving
        if saving is not None:
            saving.join()

    def get(self, space: str) -> SpaceIndex | None:
        """The cached index of a space, which becomes the most recently used; ``None`` if absent."""
        with self._lock:
            entry = self._entries.get(space)
            if entry is None:
                return None
            self._entries.move_to_end(space)
            return entry.index

    def add(self, space: str, index: SpaceIndex) -> SpaceIndex:
        """Add an index and return it; if another thread has added one meanwhile, return that."""
        with self._lock:
            return self._entries.setdefault(space, _Entry(index)).index

    def charge(self, space: str, index: SpaceIndex) -> None:
        """Update the recorded size of an index; drop the oldest indexes if the total is too large.

        The caller holds the lock of the index.
        """
        size = index.bytes
        with self._lock:
            entry = self._entries.get(space)
            if entry is None or entry.index is not index:
                return  # dropped meanwhile: freed after the search that uses it
            self._total += size - entry.charged
            entry.charged = size
            while self._total > self._most_bytes:
                oldest = next(iter(self._entries))
                if oldest == space:
                    break
                self._total -= self._entries.pop(oldest).charged

    def clear(self) -> None:
        """Drop all indexes."""
        with self._lock:
            self._entries.clear()
            self._total = 0
