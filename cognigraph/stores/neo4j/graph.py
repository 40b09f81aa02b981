"""``Neo4jGraph``: reads messages, sessions, entities, triples and counts, and runs Cypher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from cognigraph.cypher.guard.query_limits import DEFAULT_LIMITS
from cognigraph.cypher.run_on_neo4j import run_on_neo4j
from cognigraph.ids import normalise, session_uid
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
from cognigraph.model.filters import TripleQuery
from cognigraph.settings import QuerySettings
from cognigraph.stores.model_rows import summary_of, written_of
from cognigraph.stores.neo4j.connection import Connection, mapped_errors
from cognigraph.stores.neo4j.summaries import episode_candidate
from cognigraph.stores.neo4j.tokens import filter_values, name_hash
from cognigraph.stores.neo4j.values import message_of, sessions_of, triple_of
from cognigraph.times import Clock, micros


class Neo4jGraph:
    """See :class:`cognigraph.stores.protocols.GraphReader`."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    def message(self, space: str, id: str, session: str | None = None) -> StoredMessage | None:
        own = None if session is None else session_uid(space, session)
        row = self._connection.row("read/message", space=space, id=id, session=own)
        if row is None:
            return None
        return message_of(id, row)

    def sessions(
        self,
        space: str,
        *,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[Session]:
        if as_of is None:
            rows = self._connection.rows("read/sessions", space=space, skip=offset, limit=limit)
        else:
            rows = self._connection.rows(
                "read/sessions_at", space=space, until=as_of, skip=offset, limit=limit,
                ids=None if ids is None else list(ids),
            )  # fmt: skip
        return sessions_of(rows)

    def entities(
        self,
        space: str,
        *,
        match: str | None = None,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
    ) -> list[Entity]:
        text = None if match is None else normalise(match)
        page: dict[str, Any] = {"space": space, "match": text, "skip": offset, "limit": limit}
        if as_of is None:
            rows = self._connection.rows("read/entities", **page)
        else:
            rows = self._connection.rows("read/entities_at", **page, until=as_of)
        return [
            Entity(name, type, triples, mentions, tuple(sorted({*aliases} - {name})))
            for name, type, triples, mentions, aliases in rows
        ]

    def triples(self, space: str, query: TripleQuery) -> list[Triple]:
        statement, name = "read/triples", {}
        if query.entity is not None:
            normalised = normalise(query.entity)
            statement = "read/triples_of_entity"
            name = {"name_hash": name_hash(space, normalised), "normalised": normalised}
        at = query.valid_at
        rows = self._connection.rows(
            statement,
            space=space,
            **name,
            until=query.as_of,
            status=query.status,
            slot=query.slot,
            text=query.text,
            valid_at=at,
            valid_micros=micros(at),
            where=None if query.where is None else filter_values(query.where),
            skip=query.offset,
            limit=query.limit,
        )
        return [triple_of(row) for row in rows]

    def summaries(self, space: str, session: str) -> list[Summary]:
        rows = self._connection.rows("read/summaries", session=session_uid(space, session))
        return [
            summary_of(session, row, keys, zip(titles, texts, strict=True))
            for *row, keys, titles, texts in rows
        ]

    def episodes(
        self, space: str, *, session: str | None = None, limit: int, offset: int = 0
    ) -> list[Episode]:
        own = None if session is None else session_uid(space, session)
        rows = self._connection.rows(
            "read/episodes", space=space, session=own, skip=offset, limit=limit
        )
        return [episode_candidate(row).episode for row in rows]

    def written(self, space: str) -> list[Written]:
        return [
            written_of(row, steps, sources)
            for *row, steps, sources in self._connection.rows("written/read", space=space)
        ]

    def stats(self, space: str, *, as_of: datetime | None = None) -> Stats:
        if as_of is None:
            row = self._connection.row("read/stats", space=space, now=self._clock())
        else:
            row = self._connection.row("read/stats_at", space=space, until=as_of)
        assert row is not None
        return Stats(space, *row)

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
        """Run a read-only query on the server, confined to the space."""
        driver, database = self._connection.driver, self._connection.database
        with mapped_errors(self._connection.uri, database):
            return run_on_neo4j(driver, database, space, query, parameters, limit, timeout, limits)
