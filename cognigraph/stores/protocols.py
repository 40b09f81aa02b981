"""The ``Store`` protocol: what a database must do for a memory, in domain operations.

Two implementations, equal by one contract suite (``tests/contract``): SQLite and Neo4j.

The graph, on both:

=========  ==========================================================================
Session    ``id, started_at, ended_at, version``; ``-[:HAS_CHUNK]->`` Chunk,
           ``-[:HAS_KEY {weight}]->`` Key, ``-[:HAS_THEME]->`` Theme
Key        ``name``
Theme      ``title, summary`` (the themes of a session are its summary)
Revision   ``version, at, extractor, keys``: a state of a session's keys and summary;
           ``(Session)-[:HAS_REVISION]->`` Revision
Triple     ``subject, relation, object, when, valid_from, valid_to, negated, first_observed,
           last_observed``; ``-[:SUBJECT]->`` and ``-[:OBJECT]->`` Entity,
           ``-[:EVIDENCE {observed_at, said_by}]->`` Chunk, ``-[:IN_SESSION]->`` Session
Entity     ``name, type``
Alias      ``name, type``; another name of an entity, ``-[:SAME_AS]->`` Entity; one that the
           text itself gives is ``-[:STATED_IN]->`` Chunk. Entities and aliases that may be one
           are tied by ``RESEMBLES {score, kind, reason, verdict}`` and ``RULED {verdict}`` (what
           a user said of them)
Chunk      ``message_id, session, speaker, at, text, part, parts, state``;
           ``-[:NEXT]->`` Chunk in session order (time, then arrival),
           ``-[:MENTIONS]->`` Entity
=========  ==========================================================================

Every node has ``uid`` (unique) and ``space``; no relationship joins two spaces.
Vectors are unit-length float32, so a dot product is a cosine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from cognigraph.cypher.guard.query_limits import DEFAULT_LIMITS
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
from cognigraph.model.storage import Check, EmbedderIdentity, StoreInfo
from cognigraph.settings import QuerySettings
from cognigraph.stores.candidates import CandidateQuery, Candidates, ChunkRecord
from cognigraph.stores.records import (
    Derivation,
    EntityNames,
    Failure,
    InsertStatus,
    Lease,
    MessageRow,
)
from cognigraph.stores.reindex import Precision, Reindexing


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity as it was read; ``shown`` is the uid of the one it is shown as."""

    uid: str
    name: str
    type: str
    canonical: str


def mismatch(location: str, stored: EmbedderIdentity, given: EmbedderIdentity) -> str:
    """What to say when a store is opened with another embedder than it was built with."""
    return (
        f"{location} was built with the embedder {stored.name!r} ({stored.dimension} dimensions), "
        f"not {given.name!r} ({given.dimension}); open it with that embedder, or change it for "
        "good with `cognigraph reindex --embedder NAME` or Memory.reindex"
    )


class MessageStore(Protocol):
    """Takes messages in."""

    def insert(self, space: str, messages: Sequence[MessageRow]) -> list[InsertStatus]:
        """Write messages durably, all or none, and make them searchable.

        A message whose uid is there is ``known`` (same digest) or a ``conflict`` (another one) and
        changes nothing. New chunks start ``pending``. Order within a session is (time, arrival).
        """
        ...


class EnrichmentQueue(Protocol):
    """The enrichment queue: what waits to be read, who reads it, and what was read out of it."""

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
        """Lease up to ``limit`` pending chunks of one session, oldest first; ``None`` if none.

        A session has at most one lease at a time; expired leases count as pending. Chunks that
        failed come in batches a quarter the size for each attempt, and not behind others that
        failed less often, so that the one at fault is soon alone; what two processes died with is
        alone at once. The notes of a session that is read again have no keys and themes. With
        ``summaries`` also the summary of a session that is behind, in a lease without chunks:
        before the session's next chunks (unless it met many outages), but after all others.
        """
        ...

    def complete(self, lease: Lease, derivation: Derivation) -> bool:
        """Write a derivation and mark the chunks done. False, changing nothing, if lease is lost.

        Exact-key dedup: an entity or triple that is there gains evidence and a wider observed
        time; the spelling said first is shown. What was read out of these chunks before goes:
        their evidence, mentions and aliases, triples left without evidence, entities left without
        anything but for those a user spoke of. Then entities are resolved
        (:mod:`cognigraph.resolution.incremental`), in the same transaction. A ``held`` lease is
        kept.
        """
        ...

    def fail(
        self,
        lease: Lease,
        reason: str,
        *,
        park_after: int | None,
        retry_at: datetime,
        outage: bool = False,
    ) -> bool:
        """Give the chunks back: pending again at ``retry_at``, or failed after that many attempts.

        ``park_after=None`` does not park. An ``outage`` is counted as such and is no attempt; the
        whole session waits for its end, so that nothing is read before what was said before it.
        Of a lease without chunks it is the summary that failed.
        """
        ...

    def extend(self, lease: Lease, until: datetime) -> bool:
        """Hold a lease longer; False if it is lost."""
        ...

    def release(self, lease: Lease) -> bool:
        """Give the chunks back as they were; False if the lease is lost."""
        ...

    def leases(self) -> dict[str, datetime]:
        """Tokens (they begin with the worker's name) of leases not given back, and their end."""
        ...

    def expire(self, token: str, until: datetime) -> None:
        """End a lease whose worker crashed, unless it was extended: it can be claimed at once.

        That counts against its chunks, or else the summary; :func:`batch_size.count_crash` says
        how, and when they are parked.
        """
        ...

    def retry_failed(self, space: str | None = None) -> int:
        """Make parked chunks and summaries pending again; return how many."""
        ...

    def failures(self, space: str) -> list[Failure]:
        """Chunks whose last attempt failed, in order of arrival, then summaries."""
        ...

    def extractors(self, space: str) -> dict[str, int]:
        """Names of those that have read the space's done chunks, with how many each has."""
        ...

    def redo(self, space: str, extractors: Sequence[str]) -> int:
        """Make done chunks pending again that these have read; return how many.

        A session is read again as a whole, because its summary grows with its chunks; leases on it
        end. What was read out of a chunk stays until the chunk is done again.
        """
        ...

    def start_over(self, lease: Lease) -> bool:
        """End a lease and make every done chunk of its session pending, to be read in order.

        False, changing nothing, if the lease is lost. As with :meth:`redo`, what was read out of a
        chunk stays until the chunk is done again.
        """
        ...

    def queued(self, space: str) -> list[str]:
        """Uids of sessions with pending chunks, in the order of their oldest, or behind."""
        ...

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        """Uids of the sessions that :meth:`redo` would make pending."""
        ...

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        """All pending chunks of a session as a lease would give them, without taking one.

        None where nothing waits. With ``again`` as if the session were to be read again.
        """
        ...

    def pending(self, space: str | None = None) -> int:
        """Chunks that are pending or leased."""
        ...

    def due_summaries(self, space: str | None = None) -> int:
        """Sessions whose summary waits to be brought up to what was read."""
        ...


class SearchIndex(Protocol):
    """What a search needs: candidates with raw values, then the records it returns."""

    def warm(self, space: str) -> None:
        """Begin, in the background, what a first search of a space would wait for. Optional."""
        ...

    def candidates(self, space: str, probe: CandidateQuery) -> Candidates:
        """Gather candidates of one space with their raw values. No other space has an influence."""
        ...

    def chunks(self, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:
        """Chunks by uid; unknown ones are missing from the answer."""
        ...

    def triples_by_uid(self, space: str, uids: Sequence[str]) -> dict[str, Triple]:
        """Triples by uid, with their sources (newest first).

        One that is folded into another since it was found is missing from the answer.
        """
        ...

    def triples_of_chunks(self, space: str, uids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Uids of the triples each chunk is evidence for."""
        ...

    def sessions_by_id(self, space: str, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by the caller's id."""
        ...


class EntityResolution(Protocol):
    """What users say of entities, and what may be one."""

    def named(self, space: str, name: str) -> list[NamedEntity]:
        """Entities as they were read, and those the text gives the alias, by normalised name."""
        ...

    def merge(self, space: str, uid: str, into: str) -> None:
        """Record a user's word that two entities are one, shown as ``into``."""
        ...

    def split(self, space: str, uid: str, apart_from: str | None = None) -> bool:
        """Take a user's merge of an entity back, or keep it apart from its group; False if alone.

        With ``apart_from`` these two are kept apart.

        See :func:`cognigraph.resolution.incremental.split`.
        """
        ...

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        """Pairs that may be one by the letters of their names but are kept apart.

        Most alike first.
        """
        ...

    def names(self, space: str) -> EntityNames:
        """All entities as they were read whose names have vectors."""
        ...

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        """Pairs of entities (uids, the smaller first) that letters or a user say something of.

        Of those with both ends among ``uids``.
        """
        ...

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        """Merges by rules and by users, past and in force, newest first."""
        ...


class GraphReader(Protocol):
    """Reads the graph for people: messages, sessions, entities, triples, counts, Cypher."""

    def message(self, space: str, id: str, session: str | None = None) -> StoredMessage | None:
        """One whole message; the newest of that id when several sessions have one."""
        ...

    def sessions(self, space: str, *, limit: int, offset: int = 0) -> list[Session]:
        """Sessions, newest first."""
        ...

    def entities(
        self, space: str, *, match: str | None = None, limit: int, offset: int = 0
    ) -> list[Entity]:
        """Entities with a normalised name or alias that contains ``match``, most triples first."""
        ...

    def triples(
        self,
        space: str,
        *,
        entity: str | None = None,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
    ) -> list[Triple]:
        """Triples, newest observation first; with ``entity`` those it is subject or object of.

        An alias stands for its entity; a name of several types for all of them. ``as_of`` leaves
        out what was first observed later; later sources of the others are not taken out.
        """
        ...

    def summaries(self, space: str, session: str) -> list[Summary]:
        """Revisions of a session's keys and summary that are kept, newest first."""
        ...

    def stats(self, space: str) -> Stats:
        """Counts of a space; zeros for one that does not exist."""
        ...

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
        """Run a read-only query that sees only this space."""
        ...


class Store(Protocol):
    """One database. Thread-safe; every method is one transaction unless it says otherwise."""

    @property
    def messages(self) -> MessageStore:
        """Takes messages in."""
        ...

    @property
    def queue(self) -> EnrichmentQueue:
        """What waits to be enriched."""
        ...

    @property
    def search(self) -> SearchIndex:
        """Candidates and records for a search."""
        ...

    @property
    def resolution(self) -> EntityResolution:
        """What users say of entities, and which may be one."""
        ...

    @property
    def graph(self) -> GraphReader:
        """The graph for people to read."""
        ...

    @property
    def info(self) -> StoreInfo:
        """Where the data is and what wrote it."""
        ...

    def close(self) -> None:
        """Release connections. Idempotent; nothing acknowledged is lost without it."""
        ...

    def spaces(self) -> list[str]:
        """Names of all spaces, sorted."""
        ...

    def reindexing(
        self, embedder: EmbedderIdentity, precision: Precision | None = None
    ) -> Reindexing:
        """Begin, or go on with, the change to another embedder; a third one's is given up."""

    def check(self) -> list[Check]:
        """Look at the health of the database for ``doctor``."""
        ...
