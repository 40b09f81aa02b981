"""``Neo4jStore``: the same memory on a Neo4j server, for many processes and big spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from cognigraph.cypher.run_on_neo4j import run_on_neo4j
from cognigraph.errors import ConfigurationError
from cognigraph.model import (
    Entity,
    Merge,
    Session,
    Stats,
    StoredMessage,
    Summary,
    SuspectedDuplicate,
    Triple,
)
from cognigraph.stores.candidates import Candidates, ChunkRecord, Probe
from cognigraph.stores.neo4j import checks, queue, read, resolve
from cognigraph.stores.neo4j import insert as write
from cognigraph.stores.neo4j.connection import Connection, mapped_errors
from cognigraph.stores.neo4j.derive import complete
from cognigraph.stores.neo4j.index.lexicon import Lexicons
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.reindex import Neo4jReindexing
from cognigraph.stores.neo4j.schema import check_server, prepare
from cognigraph.stores.neo4j.index.candidates import gather_candidates
from cognigraph.stores.protocols import Check, EmbedderIdentity, NamedEntity, StoreInfo
from cognigraph.stores.records import Derivation, Failure, InsertStatus, Lease, MessageRow, Names
from cognigraph.stores.reindex import Precision
from cognigraph.times import Clock, system_clock


class Neo4jStore:
    """A memory in a Neo4j database; :class:`cognigraph.stores.protocols.Store` is the contract.

    ``exact_up_to``: a layer of a space with more nodes gets a vector index of its own; up to that
    all its vectors are compared. ``lexicon_terms`` bounds the word counts kept in memory, over all
    spaces. ``notifications`` makes the server's warnings visible, for tests.
    """

    def __init__(
        self,
        uri: str,
        embedder: EmbedderIdentity | None,
        *,
        auth: tuple[str, str] | None = None,
        database: str | None = None,
        clock: Clock = system_clock,
        exact_up_to: int = 2000,
        lexicon_terms: int = 1_000_000,
        pool_size: int = 50,
        timeout: float = 30.0,
        notifications: bool = False,
    ) -> None:
        self._connection = Connection(
            uri,
            auth,
            database,
            notifications=notifications,
            pool_size=pool_size,
            timeout=timeout,
        )
        self._clock = clock
        self._lexicons = Lexicons(self._connection, lexicon_terms)
        try:
            self._server = check_server(self._connection)
            self._version, self._embedder = prepare(self._connection, embedder, clock)
        except BaseException:
            self._connection.close()
            raise
        self._indexes = OwnIndexes(self._connection, self._embedder.dimension, exact_up_to)

    @property
    def info(self) -> StoreInfo:
        """Where the data is and what wrote it."""
        details = {"server": self._server}
        if self._connection.database is not None:
            details["database"] = self._connection.database
        return StoreInfo("neo4j", self._connection.uri, self._version, self._embedder, details)

    def close(self) -> None:
        """Close the driver and forget the word counts."""
        self._connection.close()
        self._lexicons.clear()

    def spaces(self) -> list[str]:
        """Names of all spaces, sorted."""
        return read.spaces(self._connection)

    # Insert

    def insert(self, space: str, messages: Sequence[MessageRow]) -> list[InsertStatus]:
        """Write messages in one durable transaction."""
        if not messages:
            return []
        inserted = write.insert(self._connection, space, messages)
        self._indexes.grow(space, "Chunk", inserted.chunks, inserted.indexed)
        self._indexes.cover(space, inserted.tail if inserted.indexed else 0)
        return inserted.statuses

    # Enrichment

    def claim(
        self,
        *,
        worker: str,
        limit: int,
        lease_for: timedelta,
        now: datetime,
        space: str | None = None,
        context: int = 2,
        summaries: bool = False,
    ) -> Lease | None:
        """Lease pending chunks of one session, or its summary."""
        return queue.claim(
            self._connection,
            worker=worker,
            limit=limit,
            lease_for=lease_for,
            now=now,
            space=space,
            context=context,
            summaries=summaries,
        )

    def complete(self, lease: Lease, derivation: Derivation) -> bool:
        """Write a derivation if the lease still holds."""
        totals = complete(self._connection, lease, derivation, self._clock())
        if totals is None:
            return False
        self._indexes.grow(lease.space, "Triple", totals.triples, totals.triples_indexed)
        self._indexes.grow(lease.space, "Theme", totals.themes, totals.themes_indexed)
        return True

    def fail(
        self,
        lease: Lease,
        reason: str,
        *,
        park_after: int | None,
        retry_at: datetime,
        outage: bool = False,
    ) -> bool:
        """Give chunks back after a failed attempt or an outage."""
        return queue.fail(
            self._connection, lease, reason,
            park_after=park_after, retry_at=retry_at, outage=outage,
        )  # fmt: skip

    def extend(self, lease: Lease, until: datetime) -> bool:
        """Hold a lease longer."""
        return queue.extend(self._connection, lease, until)

    def release(self, lease: Lease) -> bool:
        """Give chunks back as they were."""
        return queue.release(self._connection, lease)

    def leases(self) -> dict[str, datetime]:
        """Tokens of the leases that were not given back."""
        return queue.leases(self._connection)

    def expire(self, token: str, until: datetime) -> None:
        """End the lease of a dead worker."""
        queue.expire(self._connection, token, until)

    def retry_failed(self, space: str | None = None) -> int:
        """Make what is parked pending again."""
        return queue.retry_failed(self._connection, space)

    def failures(self, space: str) -> list[Failure]:
        """Chunks and summaries whose last attempt failed."""
        return queue.failures(self._connection, space)

    def extractors(self, space: str) -> dict[str, int]:
        """Who has read the done chunks."""
        return queue.extractors(self._connection, space)

    def redo(self, space: str, extractors: Sequence[str]) -> int:
        """Make chunks pending again that these have read."""
        return queue.requeue(self._connection, space, extractors)

    def queued(self, space: str) -> list[str]:
        """Sessions with pending chunks, or behind."""
        return queue.queued(self._connection, space)

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        """Sessions of which one of these has read a part."""
        return queue.read_by(self._connection, space, extractors)

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        """All chunks of a session that wait, or would wait to be read again."""
        return queue.peek(self._connection, session_uid, context, again)

    def summaries(self, space: str, session: str) -> list[Summary]:
        """Revisions of a session's keys and summary, newest first."""
        return read.summaries(self._connection, space, session)

    def pending(self, space: str | None = None) -> int:
        """Chunks that are pending or leased."""
        return queue.pending(self._connection, space)

    def behind(self, space: str | None = None) -> int:
        """Sessions whose summary waits to be brought up."""
        return queue.behind(self._connection, space)

    # Search

    def warm(self, space: str) -> None:
        """Nothing: the server keeps its indexes ready."""

    def probe(self, space: str, probe: Probe) -> Candidates:
        """Gather candidates by the space's own indexes, with the space's own statistics."""
        return gather_candidates(self._connection, self._lexicons, self._indexes, space, probe)

    def chunks(self, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:
        """Chunks by uid."""
        return read.chunks(self._connection, space, uids)

    def triples_by_uid(self, space: str, uids: Sequence[str]) -> dict[str, Triple]:
        """Triples by uid."""
        return read.triples_by_uid(self._connection, space, uids)

    def triples_of_chunks(self, space: str, uids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Uids of the triples each chunk is evidence for."""
        return read.triples_of_chunks(self._connection, space, uids)

    def sessions_by_id(self, space: str, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by the caller's id."""
        return read.sessions_by_id(self._connection, space, ids)

    # Embedder

    def reindexing(
        self, embedder: EmbedderIdentity, precision: Precision | None = None
    ) -> Neo4jReindexing:
        """Begin, or go on with, the change to another embedder."""
        if precision is not None:
            raise ConfigurationError("the format of vectors is for SQLite files; leave it out")
        return Neo4jReindexing(self._connection, self._indexes, self._embedder, embedder)

    # Entity resolution

    def named(self, space: str, name: str) -> list[NamedEntity]:
        """Entities by normalised name or alias."""
        return resolve.named(self._connection, space, name)

    def merge(self, space: str, uid: str, into: str) -> None:
        """Record a user's word that two entities are one."""
        resolve.merge(self._connection, space, uid, into, self._clock())

    def split(self, space: str, uid: str, apart_from: str | None = None) -> bool:
        """Take a merge back, or keep two entities apart."""
        return resolve.split(self._connection, space, uid, apart_from, self._clock())

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        """Pairs that may be one by their letters, most alike first."""
        return resolve.suspected(self._connection, space, limit, offset)

    def names(self, space: str) -> Names:
        """Entities whose names have vectors."""
        return resolve.names(self._connection, space, self._embedder.dimension)

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        """Pairs that letters or a user say something of."""
        return resolve.judged(self._connection, uids)

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        """Merges past and in force, newest first."""
        return resolve.merges(self._connection, space, limit, offset)

    # Inspection

    def message(self, space: str, id: str, session: str | None = None) -> StoredMessage | None:
        """One whole message."""
        return read.message(self._connection, space, id, session)

    def sessions(self, space: str, *, limit: int, offset: int = 0) -> list[Session]:
        """Sessions, newest first."""
        return read.sessions(self._connection, space, limit, offset)

    def entities(
        self, space: str, *, match: str | None = None, limit: int, offset: int = 0
    ) -> list[Entity]:
        """Entities, those with most triples first."""
        return read.entities(self._connection, space, match, limit, offset)

    def triples(
        self,
        space: str,
        *,
        entity: str | None = None,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
    ) -> list[Triple]:
        """Triples, newest observation first."""
        return read.triples(self._connection, space, entity, limit, offset, as_of)

    def stats(self, space: str) -> Stats:
        """Counts of a space."""
        return read.stats(self._connection, space, self._clock())

    def cypher(
        self, space: str, query: str, parameters: Mapping[str, Any], *, limit: int, timeout: float
    ) -> list[dict[str, Any]]:
        """Run a read-only query natively, confined to the space."""
        driver, database = self._connection.driver, self._connection.database
        with mapped_errors(self._connection.uri, database):
            return run_on_neo4j(driver, database, space, query, parameters, limit, timeout)

    def check(self) -> list[Check]:
        """Look at the health of the database."""
        return checks.run(self._connection, self._version, self._embedder.dimension)
