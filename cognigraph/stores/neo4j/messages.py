"""``Neo4jMessages``: inserts messages into a Neo4j database."""

from __future__ import annotations

from collections.abc import Sequence

from cognigraph.stores.neo4j import insert
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.stores.neo4j.index.newest_chunks import NewestChunks
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.records import InsertStatus, MessageRow


class Neo4jMessages:
    """See :class:`cognigraph.stores.protocols.MessageStore`."""

    def __init__(self, connection: Connection, indexes: OwnIndexes, timeout: float) -> None:
        self._connection = connection
        self._indexes = indexes
        self._timeout = timeout
        self._writers = insert.WriterQueue()
        self._newest = NewestChunks(connection, timeout)

    def finish(self) -> None:
        """Wait for what goes on beside the inserts."""
        self._newest.finish()

    def insert(
        self, space: str, messages: Sequence[MessageRow], importer: str = ""
    ) -> list[InsertStatus]:
        """Write messages in one durable transaction."""
        if not messages:
            return []
        with within(self._timeout):
            with self._writers.of(space, self._timeout):
                inserted = insert.insert(self._connection, space, messages, importer)
            if inserted.indexed:
                self._newest.cover(space, inserted.tail, inserted.covered, inserted.last)
        # Outside the deadline: this happens once in the life of a space, and labelling its chunks
        # may take longer than an insert.
        self._indexes.grow(space, "Chunk", inserted.chunks, inserted.indexed)
        return inserted.statuses
