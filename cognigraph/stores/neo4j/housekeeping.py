"""Housekeeping in Neo4j: listing and forgetting messages, removing spaces."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.model import Forgotten
from cognigraph.model.listing import MessageQuery
from cognigraph.stores.listing import Placed
from cognigraph.stores.neo4j import forget, listing, update, weigh
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.protocols.housekeeping_store import Chosen, Selection
from cognigraph.stores.records import MessageRow
from cognigraph.times import Clock


class Neo4jHousekeeping:
    """See :class:`cognigraph.stores.protocols.HousekeepingStore`."""

    def __init__(self, connection: Connection, indexes: OwnIndexes, clock: Clock) -> None:
        self._connection = connection
        self._indexes = indexes
        self._clock = clock

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        """List messages in order of time."""
        return listing.messages(self._connection, space, query)

    def choose(self, space: str, selection: Selection) -> list[Chosen]:
        """Find the messages to forget."""
        return forget.choose(self._connection, space, selection)

    def weigh(self, space: str, chosen: Sequence[Chosen]) -> Forgotten:
        """Count what would go, and what would stay."""
        return weigh.weigh(self._connection, chosen)

    def forget(self, space: str, chosen: Chosen, *, remember: bool) -> None:
        """Delete messages of one session with all that was read out of them."""
        forget.forget(self._connection, space, chosen, remember=remember, now=self._clock())

    def update(self, space: str, message: MessageRow) -> bool:
        """Replace the text of a message."""
        return update.update(self._connection, space, message, self._clock())

    def versions(self, space: str, session: str, id: str) -> list[tuple[str, datetime]]:
        """Earlier texts of a message."""
        return update.versions(self._connection, space, session, id)

    def erase(self) -> bool | None:
        """Nothing to do: the server decides when it uses deleted space again."""
        return None
