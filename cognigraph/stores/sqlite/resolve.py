"""``SQLiteResolution``: merges and splits by users, suspected duplicates, history of merges."""

from __future__ import annotations

from collections.abc import Sequence

from cognigraph.model import (
    Merge,
    SuspectedDuplicate,
)
from cognigraph.stores.protocols import NamedEntity
from cognigraph.stores.records import EntityNames
from cognigraph.stores.sqlite import (
    merges,
    read,
)
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.times import to_micros


class SQLiteResolution:
    """See :class:`cognigraph.stores.protocols.EntityResolution`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def named(self, space: str, name: str) -> list[NamedEntity]:
        """Entities by normalised name or alias."""
        return self._file.query(space, [], lambda c, s: merges.named(c, s, name))

    def merge(self, space: str, uid: str, into: str) -> None:
        """Record a user's decision that two entities are the same."""
        with self._file.write() as connection:
            merges.merge(connection, space, uid, into, to_micros(self._file.clock()))

    def split(self, space: str, uid: str, apart_from: str | None = None) -> bool:
        """Undo a merge, or separate two entities."""
        with self._file.write() as connection:
            return merges.split(connection, space, uid, apart_from, to_micros(self._file.clock()))

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        """Pairs of similarly spelled entities that may be the same, most similar first."""
        return self._file.query(space, [], lambda c, s: merges.suspected(c, s, limit, offset))

    def names(self, space: str) -> EntityNames:
        """Entities whose names have vectors."""
        vectors = self._file.vectors
        empty = EntityNames((), (), (), (), (), vectors.unpack(()))
        with self._file.read_vectors() as connection:
            id = read.space_id(connection, space)
            return empty if id is None else merges.names(connection, id, vectors)

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        """Pairs that a comparison of their spelling, or a user, has already judged."""
        return self._file.query(space, set(), lambda c, _: merges.judged(c, uids))

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        """Merges undone and in force, newest first."""
        return self._file.query(space, [], lambda c, s: merges.merges(c, s, limit, offset))
