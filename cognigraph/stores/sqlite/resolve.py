"""Entity resolution in a SQLite file: a user's merges and splits, suspected duplicates, history."""

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
        """Record a user's word that two entities are one."""
        with self._file.write() as connection:
            merges.merge(connection, space, uid, into, to_micros(self._file.clock()))

    def split(self, space: str, uid: str, apart_from: str | None = None) -> bool:
        """Take a merge back, or keep two entities apart."""
        with self._file.write() as connection:
            return merges.split(connection, space, uid, apart_from, to_micros(self._file.clock()))

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        """Pairs that may be one by their letters, most alike first."""
        return self._file.query(space, [], lambda c, s: merges.suspected(c, s, limit, offset))

    def names(self, space: str) -> EntityNames:
        """Entities whose names have vectors."""
        vectors = self._file.vectors
        empty = EntityNames((), (), (), (), (), vectors.unpack(()))
        with self._file.read_vectors() as connection:
            id = read.space_id(connection, space)
            return empty if id is None else merges.names(connection, id, vectors)

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        """Pairs that letters or a user say something of."""
        return self._file.query(space, set(), lambda c, _: merges.judged(c, uids))

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        """Merges past and in force, newest first."""
        return self._file.query(space, [], lambda c, s: merges.merges(c, s, limit, offset))
