"""``SQLiteStore``: the embedded default, one local file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from sqlite3 import Connection
from threading import Thread
from typing import Any, TypeVar

from cognigraph.errors import CogniGraphError
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
from cognigraph.stores.no_candidates import no_candidates
from cognigraph.stores.protocols import Check, EmbedderIdentity, NamedEntity, StoreInfo
from cognigraph.stores.records import Derivation, Failure, InsertStatus, Lease, MessageRow, Names
from cognigraph.stores.reindex import Precision
from cognigraph.stores.sqlite import checks, derive, due_summaries, read, revisions
from cognigraph.stores.sqlite import work
from cognigraph.stores.sqlite import merges as resolve
from cognigraph.stores.sqlite import replace as redo
from cognigraph.stores.sqlite.connection import Pool, mapped_errors
from cognigraph.stores.sqlite.index.cache import SpaceIndexes
from cognigraph.stores.sqlite.reindex import SQLiteReindexing
from cognigraph.stores.sqlite.schema import check_generation, prepare
from cognigraph.stores.sqlite.index.candidates import gather_candidates
from cognigraph.times import Clock, system_clock, to_micros

_T = TypeVar("_T")

DEFAULT_PRECISION: Precision = "float16"
"""Half the file, the same recall (README, Figures)."""


class SQLiteStore:
    """A memory in one SQLite file; see :class:`cognigraph.stores.protocols.Store` for the contract.

    ``index_bytes`` bounds the memory of the in-memory search indexes: the least recently searched
    spaces are dropped and read again when needed. The space searched last always stays.
    """

    def __init__(
        self,
        path: str | Path,
        embedder: EmbedderIdentity | None,
        *,
        clock: Clock = system_clock,
        vectors: Precision | None = None,
        index_bytes: int = 2 << 30,
        busy_timeout: float = 60.0,
    ) -> None:
        self._pool = Pool(path, busy_timeout=busy_timeout)
        self._clock = clock
        self._indexes = SpaceIndexes(index_bytes)
        try:
            self._record = prepare(self._pool, embedder, vectors or DEFAULT_PRECISION, clock)
        except BaseException:
            self._pool.close()
            raise

    @property
    def info(self) -> StoreInfo:
        """Where the data is and what wrote it."""
        record = self._record
        details = {"vectors": record.vectors.precision}
        return StoreInfo("sqlite", self._pool.path, record.schema_version, record.embedder, details)

    def close(self) -> None:
        """Close all connections and drop the in-memory indexes."""
        self._pool.close()
        self._indexes.clear()

    def spaces(self) -> list[str]:
        """Names of all spaces, sorted."""
        with self._pool.read() as connection:
            return [row[0] for row in connection.execute("SELECT name FROM space ORDER BY name")]

    # Insert

    def insert(self, space: str, messages: Sequence[MessageRow]) -> list[InsertStatus]:
        """Write messages in one durable transaction."""
        # Redelivery is common and must not queue for the write lock.
        with self._pool.read() as connection:
            statuses = [derive.status_of(connection, message) for message in messages]
        if "new" not in statuses:
            return statuses
        with self._write_vectors() as connection:
            return derive.insert(connection, self._record.vectors, space, messages)

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
        with self._pool.read() as connection:  # an idle worker must not take the write lock
            if not work.has_pending(connection):
                return None
        # A worker with an embedder of the past must not hold what it cannot finish.
        with self._write_vectors() as connection:
            return work.claim(
                connection,
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
        with self._write_vectors() as connection:
            if not work.holds(connection, lease):
                return False
            record, now = self._record, to_micros(self._clock())
            derive.write_derivation(connection, record.vectors, lease, derivation, now)
            if not derivation.held:
                work.release(connection, lease)
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
        with self._pool.write() as connection:
            if not work.holds(connection, lease):
                return False
            work.give_back(
                connection, lease, reason, park_after=park_after, retry_at=retry_at, outage=outage
            )
            return True

    def extend(self, lease: Lease, until: datetime) -> bool:
        """Hold a lease longer."""
        with self._pool.write() as connection:
            return work.extend(connection, lease, until)

    def release(self, lease: Lease) -> bool:
        """Give chunks back as they were."""
        with self._pool.write() as connection:
            if not work.holds(connection, lease):
                return False
            work.release(connection, lease)
            return True

    def leases(self) -> dict[str, datetime]:
        """Tokens of the leases that were not given back."""
        with self._pool.read() as connection:
            return work.leases(connection)

    def expire(self, token: str, until: datetime) -> None:
        """End the lease of a dead worker."""
        with self._pool.write() as connection:
            work.expire(connection, token, until)

    def retry_failed(self, space: str | None = None) -> int:
        """Make what is parked pending again."""
        with self._pool.write() as connection:
            return work.retry_failed(connection, space)

    def failures(self, space: str) -> list[Failure]:
        """Chunks and summaries whose last attempt failed."""
        with self._pool.read() as connection:
            return work.failures(connection, space)

    def extractors(self, space: str) -> dict[str, int]:
        """Who has read the done chunks."""
        return self._read(space, {}, redo.extractors)

    def redo(self, space: str, extractors: Sequence[str]) -> int:
        """Make chunks pending again that these have read."""
        with self._pool.write() as connection:
            space_id = read.space_id(connection, space)
            return 0 if space_id is None else redo.requeue(connection, space_id, extractors)

    def queued(self, space: str) -> list[str]:
        """Sessions with pending chunks, or behind."""
        return self._read(space, [], work.queued)

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        """Sessions of which one of these has read a part."""
        return self._read(space, [], lambda c, s: redo.read_by(c, s, extractors))

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        """All chunks of a session that wait, or would wait to be read again."""
        with self._pool.read() as connection:
            return work.peek(connection, session_uid, context, again)

    def summaries(self, space: str, session: str) -> list[Summary]:
        """Revisions of a session's keys and summary, newest first."""
        return self._read(space, [], lambda c, s: revisions.read(c, s, session))

    def pending(self, space: str | None = None) -> int:
        """Chunks that are pending or leased."""
        with self._pool.read() as connection:
            return work.pending(connection, space)

    def behind(self, space: str | None = None) -> int:
        """Sessions whose summary waits to be brought up."""
        with self._pool.read() as connection:
            return due_summaries.pending(connection, space)

    # Search

    def probe(self, space: str, probe: Probe) -> Candidates:
        """Gather candidates from the in-memory index, freshened first."""
        index = self._indexes.of(space, self._record.vectors)
        # Lock, then snapshot: a snapshot older than the index would miss rows the index has.
        with index.lock, self._read_vectors() as connection:
            space_id = read.space_id(connection, space)
            if space_id is None:
                return no_candidates(probe)
            index.refresh(connection, space_id, self._read_vectors)
            candidates = gather_candidates(connection, index, space_id, probe)
        self._indexes.evict(keep=space)
        return candidates

    def warm(self, space: str) -> None:
        """Begin to read the index of a space that was not searched yet, in another thread."""
        if space not in self._indexes:
            Thread(target=self._load, args=(space,), name="cognigraph-warm", daemon=True).start()

    def _load(self, space: str) -> None:
        index = self._indexes.of(space, self._record.vectors)
        # What goes wrong here goes wrong again, and is reported, in the search that follows.
        with suppress(CogniGraphError), index.lock, self._read_vectors() as connection:
            space_id = read.space_id(connection, space)
            if space_id is not None:
                index.refresh(connection, space_id, self._read_vectors)

    @contextmanager
    def _read_vectors(self) -> Iterator[Connection]:
        with self._pool.read() as connection:
            check_generation(connection, self._pool.path, self._record)
            yield connection

    @contextmanager
    def _write_vectors(self) -> Iterator[Connection]:
        with self._pool.write() as connection:
            check_generation(connection, self._pool.path, self._record)
            yield connection

    def chunks(self, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:
        """Chunks by uid."""
        return self._read(space, {}, lambda c, s: read.chunks(c, s, uids))

    def triples_by_uid(self, space: str, uids: Sequence[str]) -> dict[str, Triple]:
        """Triples by uid."""
        return self._read(space, {}, lambda c, s: read.triples_by_uid(c, s, uids))

    def triples_of_chunks(self, space: str, uids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Uids of the triples each chunk is evidence for."""
        return self._read(space, {}, lambda c, s: read.triples_of_chunks(c, s, uids))

    def sessions_by_id(self, space: str, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by the caller's id."""
        return self._read(space, {}, lambda c, s: read.sessions_by_id(c, s, ids))

    # Embedder

    def reindexing(
        self, embedder: EmbedderIdentity, precision: Precision | None = None
    ) -> SQLiteReindexing:
        """Begin, or go on with, the change to another embedder."""
        return SQLiteReindexing(self._pool, self._record, embedder, precision)

    # Entity resolution

    def named(self, space: str, name: str) -> list[NamedEntity]:
        """Entities by normalised name or alias."""
        return self._read(space, [], lambda c, s: resolve.named(c, s, name))

    def merge(self, space: str, uid: str, into: str) -> None:
        """Record a user's word that two entities are one."""
        with self._pool.write() as connection:
            resolve.merge(connection, space, uid, into, to_micros(self._clock()))

    def split(self, space: str, uid: str, apart_from: str | None = None) -> bool:
        """Take a merge back, or keep two entities apart."""
        with self._pool.write() as connection:
            return resolve.split(connection, space, uid, apart_from, to_micros(self._clock()))

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        """Pairs that may be one by their letters, most alike first."""
        return self._read(space, [], lambda c, s: resolve.suspected(c, s, limit, offset))

    def names(self, space: str) -> Names:
        """Entities whose names have vectors."""
        vectors = self._record.vectors
        empty = Names((), (), (), (), (), vectors.unpack(()))
        with self._read_vectors() as connection:
            id = read.space_id(connection, space)
            return empty if id is None else resolve.names(connection, id, vectors)

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        """Pairs that letters or a user say something of."""
        return self._read(space, set(), lambda c, _: resolve.judged(c, uids))

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        """Merges past and in force, newest first."""
        return self._read(space, [], lambda c, s: resolve.merges(c, s, limit, offset))

    # Inspection

    def message(self, space: str, id: str, session: str | None = None) -> StoredMessage | None:
        """One whole message."""
        return self._read(space, None, lambda c, s: read.message(c, s, id, session))

    def sessions(self, space: str, *, limit: int, offset: int = 0) -> list[Session]:
        """Sessions, newest first."""
        return self._read(space, [], lambda c, s: read.sessions(c, s, limit, offset))

    def entities(
        self, space: str, *, match: str | None = None, limit: int, offset: int = 0
    ) -> list[Entity]:
        """Entities, those with most triples first."""
        return self._read(space, [], lambda c, s: read.entities(c, s, match, limit, offset))

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
        until = None if as_of is None else to_micros(as_of)
        return self._read(space, [], lambda c, s: read.triples(c, s, entity, limit, offset, until))

    def stats(self, space: str) -> Stats:
        """Counts of a space."""
        with self._pool.read() as connection:
            return read.stats(connection, space, to_micros(self._clock()))

    def cypher(
        self, space: str, query: str, parameters: Mapping[str, Any], *, limit: int, timeout: float
    ) -> list[dict[str, Any]]:
        """Export the space to a networkx graph and run the query on it (a subset of Cypher)."""
        from cognigraph.stores.sqlite import inspect

        with self._pool.read() as connection:
            graph = inspect.graph(connection, space)
        return inspect.run(graph, query, parameters, limit, timeout)

    def check(self) -> list[Check]:
        """Look at the health of the file."""
        with self._pool.connection() as connection, mapped_errors(self._pool.path):
            return checks.run(connection, self._pool.path)

    def _read(self, space: str, empty: _T, query: Callable[[Connection, int], _T]) -> _T:
        with self._pool.read() as connection:
            space_id = read.space_id(connection, space)
            return empty if space_id is None else query(connection, space_id)
