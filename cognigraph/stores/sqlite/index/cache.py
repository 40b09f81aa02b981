"""The in-memory indexes of the spaces that were searched last."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.vector_format import VectorFormat


class SpaceIndexes:
    """Indexes by space, of at most so many bytes together; thread-safe.

    The least recently searched are dropped, and read again when needed. The one searched last
    always stays.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._indexes: OrderedDict[str, SpaceIndex] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, space: str) -> bool:
        with self._lock:
            return space in self._indexes

    def of(self, space: str, vectors: VectorFormat) -> SpaceIndex:
        """The index of a space, empty if it was not searched yet."""
        with self._lock:
            index = self._indexes.pop(space, None) or SpaceIndex(vectors)
            self._indexes[space] = index
            return index

    def evict(self, keep: str) -> None:
        """Drop what is too much."""
        with self._lock:
            total = sum(index.bytes for index in self._indexes.values())
            while total > self._most_bytes:
                oldest = next(iter(self._indexes))
                if oldest == keep:
                    break
                total -= self._indexes.pop(oldest).bytes

    def clear(self) -> None:
        """Drop all."""
        with self._lock:
            self._indexes.clear()
