"""Housekeeping in a SQLite file: listing and forgetting messages, removing spaces."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.model import Forgotten
from cognigraph.model.listing import MessageQuery
from cognigraph.stores.listing import Placed
from cognigraph.stores.protocols.housekeeping_store import Chosen, Selection
from cognigraph.stores.records import MessageRow
from cognigraph.stores.sqlite import erase, forget, listing, update, weigh
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.times import to_micros


class SQLiteHousekeeping:
    """See :class:`cognigraph.stores.protocols.HousekeepingStore`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        """List messages in order of time."""
        return self._file.query(space, [], lambda c, s: listing.messages(c, s, query))

    def choose(self, space: str, selection: Selection) -> list[Chosen]:
        """Find the messages to forget."""
        return self._file.query(space, [], lambda c, s: forget.choose(c, s, selection))

    def weigh(self, space: str, chosen: Sequence[Chosen]) -> Forgotten:
        """Count what would go, and what would stay."""
        return self._file.query(space, Forgotten(), lambda c, _: weigh.weigh(c, chosen))

    def forget(self, space: str, chosen: Chosen, *, remember: bool) -> None:
        """Delete messages of one session with all that was read out of them."""
        with self._file.write() as connection:
            erase.begin(connection)
            now = to_micros(self._file.clock())
            forget.forget(connection, space, chosen, remember=remember, now=now)

    def update(self, space: str, message: MessageRow) -> bool:
        """Replace the text of a message."""
        with self._file.write_vectors() as connection:
            now = to_micros(self._file.clock())
            return update.update(connection, self._file.vectors, space, message, now)

    def versions(self, space: str, session: str, id: str) -> list[tuple[str, datetime]]:
        """Earlier texts of a message."""
        with self._file.read() as connection:
            return update.versions(connection, space, session, id)

    def erase(self) -> bool | None:
        """Rewrite the file without what was deleted."""
        return erase.erase(self._file.pool)
