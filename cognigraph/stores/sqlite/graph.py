"""``SQLiteGraph``: reads messages, sessions, entities, triples and counts, and runs Cypher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from cognigraph.cypher.guard.query_limits import DEFAULT_LIMITS
from cognigraph.model import (
    Entity,
    Episode,
    Session,
    Stats,
    StoredMessage,
    Summary,
    Triple,
    Written,
)
from cognigraph.model.listing import TripleQuery
from cognigraph.settings import QuerySettings
from cognigraph.stores.sqlite import (
    episodes,
    fact_listing,
    listing,
    read,
    read_at,
    revisions,
    written,
)
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.times import to_micros


class SQLiteGraph:
    """See :class:`cognigraph.stores.protocols.GraphReader`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def message(self, space: str, id: str, session: str | None = None) -> StoredMessage | None:
        """One whole message."""
        return self._file.query(space, None, lambda c, s: listing.message(c, s, id, session))

    def sessions(
        self,
        space: str,
        *,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[Session]:
        """Sessions, newest first."""
        if as_of is None:
            return self._file.query(space, [], lambda c, s: read.sessions(c, s, limit, offset))
        until = to_micros(as_of)
        return self._file.query(
            space, [], lambda c, s: read_at.sessions(c, s, limit, offset, until, ids)
        )

    def entities(
        self,
        space: str,
        *,
        match: str | None = None,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
    ) -> list[Entity]:
        """Canonical entities, most triples first."""
        if as_of is None:
            return self._file.query(
                space, [], lambda c, s: read.entities(c, s, match, limit, offset)
            )
        until = to_micros(as_of)
        return self._file.query(
            space, [], lambda c, s: read_at.entities(c, s, match, limit, offset, until)
        )

    def triples(self, space: str, query: TripleQuery) -> list[Triple]:
        """Triples, newest observation first."""
        return self._file.query(space, [], lambda c, s: fact_listing.triples(c, s, query))

    def summaries(self, space: str, session: str) -> list[Summary]:
        """Revisions of a session's keys and summary, newest first."""
        return self._file.query(space, [], lambda c, s: revisions.read(c, s, session))

    def episodes(
        self, space: str, *, session: str | None = None, limit: int, offset: int = 0
    ) -> list[Episode]:
        """Episodes, newest first."""
        return self._file.query(
            space, [], lambda c, s: episodes.listed(c, s, session, limit, offset)
        )

    def written(self, space: str) -> list[Written]:
        """All versions of what writers keep."""
        return self._file.query(space, [], written.read)

    def stats(self, space: str, *, as_of: datetime | None = None) -> Stats:
        """Counts of a space."""
        with self._file.read() as connection:
            if as_of is not None:
                return read_at.stats(connection, space, to_micros(as_of))
            return read.stats(connection, space, to_micros(self._file.clock()))

    def cypher(
        self,
        space: str,
        query: str,
        parameters: Mapping[str, Any],
        *,
        limit: int,
        timeout: float,
        limits: QuerySettings = DEFAULT_LIMITS,
    ) -> list[dict[str, Any]]:
        """Export the space to a networkx graph and run the query, a subset of Cypher, on it."""
        from cognigraph.stores.sqlite import inspect

        return inspect.run(self._file.read, space, query, parameters, limit, timeout, limits)
