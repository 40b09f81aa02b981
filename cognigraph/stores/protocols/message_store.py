"""The role that stores messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cognigraph.stores.records import (
    InsertStatus,
    MessageRow,
)


class MessageStore(Protocol):
    """Inserts messages."""

    def insert(
        self, space: str, messages: Sequence[MessageRow], importer: str = ""
    ) -> list[InsertStatus]:
        """Write all messages durably, or none, and make them searchable.

        A message whose uid is already stored changes nothing: it is ``known`` if its digest is the
        same, or that of an earlier version, and a ``conflict`` if it differs. One that was
        forgotten is ``forgotten`` and changes nothing. New chunks start as ``pending``. The order
        within a session is by time, then by arrival.

        While an import fills the space, only this ``importer`` may insert: its token, which
        ``HousekeepingStore.begin_import`` gave. Raises :class:`StoreError` for others.
        """
        ...
