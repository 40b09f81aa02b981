"""The names of the sessions of a space, which never change."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from cognigraph.stores.sqlite.in_list import select_in

Names = tuple[str, str]
"""The uid of a session, and its id given by the caller."""

_BYTES = 330
"""Measured memory of the names of one session."""


class SessionNames:
    """Names by the row ids of sessions; those that are not known are read from the file."""

    def __init__(self) -> None:
        self._known: dict[int, Names] = {}

    @property
    def nbytes(self) -> int:
        """Approximate memory held."""
        return len(self._known) * _BYTES

    def take(self, rows: Iterable[tuple[int, str, str]]) -> None:
        """Keep the names of sessions, as (row id, uid, name)."""
        self._known.update((id, (uid, name)) for id, uid, name in rows)

    def of(self, connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Names]:
        """The names of sessions of the space."""
        unknown = sorted(set(ids).difference(self._known))
        if unknown:
            statement = "SELECT id, uid, name FROM session WHERE id IN ({})"
            for id, uid, name in select_in(connection, statement, unknown):
                self._known[id] = uid, name
            ids = [id for id in ids if id in self._known]
        return dict(zip(ids, map(self._known.__getitem__, ids), strict=True))
