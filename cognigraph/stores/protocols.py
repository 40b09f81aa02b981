"""The ``Store`` protocol and its roles: the operations a database must offer to a memory.

SQLite and Neo4j implement it. One contract suite (``tests/contract``) holds both to it.

Both store this graph:

=========  ==========================================================================
Session    ``id, started_at, ended_at, version``; ``-[:HAS_CHUNK]->`` Chunk,
           ``-[:HAS_KEY {weight}]->`` Key, ``-[:HAS_THEME]->`` Theme
Key        ``name``
Theme      ``title, summary`` (the themes of a session are its summary)
Revision   ``version, at, extractor, keys``: one version of a session's keys and summary;
           ``(Session)-[:HAS_REVISION]->`` Revision
Triple     ``subject, relation, object, when, valid_from, valid_to, negated, first_observed,
           last_observed``; ``-[:SUBJECT]->`` and ``-[:OBJECT]->`` Entity,
           ``-[:EVIDENCE {observed_at, said_by}]->`` Chunk, ``-[:IN_SESSION]->`` Session
Entity     ``name, type``
Alias      ``name, type``; another name of an entity, ``-[:SAME_AS]->`` Entity; an alias that
           the text itself gives is ``-[:STATED_IN]->`` Chunk. Entities and aliases that may be
           the same are joined by ``RESEMBLES {score, kind, reason, verdict}`` and by
           ``RULED {verdict}`` (a user's decision)
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
    """An extracted entity; ``canonical`` is the uid of the canonical entity of its group."""

    uid: str
    name: str
    type: str
    canonical: str


def mismatch(location: str, stored: EmbedderIdentity, given: EmbedderIdentity) -> str:
    """The error message for a store that is opened with another embedder than it was built with."""
    return (
        f"{location} was built with the embedder {stored.name!r} ({stored.dimension} dimensions), "
        f"not {given.name!r} ({given.dimension}); open it with that embedder, or change it for "
        "good with `cognigraph reindex --embedder NAME` or Memory.reindex"
    )


class MessageStore(Protocol):
    """Inserts messages."""

    def insert(self, space: str, messages: Sequence[MessageRow]) -> list[InsertStatus]:
        """Write all messages durably, or none, and make them searchable.

        A message whose uid is already stored changes nothing: it is ``known`` if its digest is the
        same and a ``conflict`` if it differs. New chunks start as ``pending``. The order within a
        session is by time, then by arrival.
        """
        ...


class EnrichmentQueue(Protocol):
    """The enrichment queue: pending chunks, the leases on them, and the results of extraction."""

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
        """Lease up to ``limit`` pending chunks of one session, oldest first; ``None`` if none wait.

        A session has at most one lease at a time; chunks under an expired lease count as pending.
        Each failed attempt divides the batch size by four, and a batch ends before the first chunk
        that failed more often, so that the chunk at fault is soon alone. A chunk during which two
        processes crashed is alone at once. The notes of a session that is extracted again have no
        keys and themes.

        With ``summaries``, a summary that is due can be leased too, in a lease without chunks. It
        comes before the next chunks of its own session (unless it met many outages) and after the
        chunks of all other sessions.
        """
        ...

    def complete(self, lease: Lease, derivation: Derivation) -> bool:
        """Write a derivation and mark the chunks done; False, changing nothing, if lease is lost.

        Duplicates are found by exact key: an entity or triple that is already stored gains evidence
        and its observed interval widens; the earliest spelling is displayed. Everything that was
        extracted from these chunks before is removed: their evidence, mentions and aliases, triples
        left without evidence, and entities that nothing refers to, except those that a user merged
        or kept apart. Entities are resolved (:mod:`cognigraph.resolution.incremental`) in the same
        transaction. A derivation that is ``held`` keeps its lease.
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
        """Return the chunks to the queue: pending again at ``retry_at``, or parked.

        A chunk is parked after ``park_after`` attempts; ``None`` never parks. An ``outage`` is
        counted separately and not as an attempt. The whole session then waits for ``retry_at``, so
        that no chunk is extracted before an earlier one. A lease without chunks is for a summary,
        and it is the summary that failed.
        """
        ...

    def extend(self, lease: Lease, until: datetime) -> bool:
        """Extend a lease; False if it is lost."""
        ...

    def release(self, lease: Lease) -> bool:
        """Return the chunks to the queue unchanged; False if the lease is lost."""
        ...

    def leases(self) -> dict[str, datetime]:
        """Tokens of open leases (a token begins with the worker's name) and when they expire."""
        ...

    def expire(self, token: str, until: datetime) -> None:
        """End the lease of a worker that crashed, so that its chunks can be claimed at once.

        A lease that was extended past ``until`` is left alone. The crash counts against the leased
        chunks, or against the summary; :func:`batch_size.count_crash` decides when they are parked.
        """
        ...

    def retry_failed(self, space: str | None = None) -> int:
        """Make parked chunks and summaries pending again; return how many."""
        ...

    def failures(self, space: str) -> list[Failure]:
        """Chunks whose last attempt failed, in order of arrival, then such summaries."""
        ...

    def extractors(self, space: str) -> dict[str, int]:
        """Names of the extractors of the space's done chunks, with the number of chunks of each."""
        ...

    def redo(self, space: str, extractors: Sequence[str]) -> int:
        """Requeue the done chunks of these extractors and return how many were requeued.

        A session is requeued as a whole, because its summary grows with its chunks, and its lease
        ends. The facts extracted from a chunk stay until the chunk is done again.
        """
        ...

    def start_over(self, lease: Lease) -> bool:
        """End a lease and requeue every done chunk of its session, to be extracted in order.

        False, changing nothing, if the lease is lost. As with :meth:`redo`, the facts extracted
        from a chunk stay until the chunk is done again.
        """
        ...

    def queued(self, space: str) -> list[str]:
        """Uids of sessions with pending chunks, oldest chunk first, then those due a summary."""
        ...

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        """Uids of the sessions that :meth:`redo` would make pending."""
        ...

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        """All pending chunks of a session in the form of a lease, without taking one.

        None if nothing waits. With ``again``, the result is as if the session had been requeued.
        """
        ...

    def pending(self, space: str | None = None) -> int:
        """Chunks that are pending or leased."""
        ...

    def due_summaries(self, space: str | None = None) -> int:
        """Number of sessions whose summary is due."""
        ...


class SearchIndex(Protocol):
    """What a search needs: candidates with their raw values, then the records it returns."""

    def warm(self, space: str) -> None:
        """Start loading, in the background, what a first search of a space needs. Optional."""
        ...

    def candidates(self, space: str, probe: CandidateQuery) -> Candidates:
        """Gather the candidates of one space with their raw values; other spaces do not count."""
        ...

    def chunks(self, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:
        """Chunks by uid; unknown ones are missing from the answer."""
        ...

    def triples_by_uid(self, space: str, uids: Sequence[str]) -> dict[str, Triple]:
        """Triples by uid, with their sources (newest first).

        A triple that became a duplicate of another since it was found is missing from the answer.
        """
        ...

    def triples_of_chunks(self, space: str, uids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Uids of the triples each chunk is evidence for."""
        ...

    def sessions_by_id(self, space: str, ids: Sequence[str]) -> dict[str, Session]:
        """Sessions by the caller's id."""
        ...


class EntityResolution(Protocol):
    """Merges and splits of entities by users, suspected duplicates, and the history of merges."""

    def named(self, space: str, name: str) -> list[NamedEntity]:
        """Extracted entities with this normalised name, or with an alias of it in the text."""
        ...

    def merge(self, space: str, uid: str, into: str) -> None:
        """Record a user's decision that two entities are the same; ``into`` is canonical."""
        ...

    def split(self, space: str, uid: str, apart_from: str | None = None) -> bool:
        """Undo a user's merge of an entity, or separate it from its group.

        With ``apart_from``, separate these two entities. False if the entity is in no group. See
        :func:`cognigraph.resolution.incremental.split`.
        """
        ...

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        """Pairs whose names are spelled so alike that they may be one, but that are not merged.

        The most similar pairs come first.
        """
        ...

    def names(self, space: str) -> EntityNames:
        """All extracted entities whose names have vectors."""
        ...

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        """Pairs of entities that a comparison of their spelling, or a user, has already judged.

        Both entities of a pair are among ``uids``; the smaller uid comes first.
        """
        ...

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        """Merges by rules and by users, undone and in force, newest first."""
        ...


class GraphReader(Protocol):
    """Reads the graph for people: messages, sessions, entities, triples, counts, Cypher."""

    def message(self, space: str, id: str, session: str | None = None) -> StoredMessage | None:
        """One whole message; the newest one if several sessions have a message of that id."""
        ...

    def sessions(self, space: str, *, limit: int, offset: int = 0) -> list[Session]:
        """Sessions, newest first."""
        ...

    def entities(
        self, space: str, *, match: str | None = None, limit: int, offset: int = 0
    ) -> list[Entity]:
        """Canonical entities, most triples first; with ``match`` those whose name contains it.

        Normalised names and aliases are compared.
        """
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

        An alias stands for its entity; a name that entities of several types share stands for all
        of them. ``as_of`` leaves out triples that were first observed later; the other triples keep
        their later sources.
        """
        ...

    def summaries(self, space: str, session: str) -> list[Summary]:
        """The stored revisions of a session's keys and summary, newest first."""
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
        """Inserts messages."""
        ...

    @property
    def queue(self) -> EnrichmentQueue:
        """The enrichment queue."""
        ...

    @property
    def search(self) -> SearchIndex:
        """Candidates and records for a search."""
        ...

    @property
    def resolution(self) -> EntityResolution:
        """Merges, splits and suspected duplicates of entities."""
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
        """Release connections. Idempotent; nothing acknowledged is lost if it is never called."""
        ...

    def spaces(self) -> list[str]:
        """Names of all spaces, sorted."""
        ...

    def reindexing(
        self, embedder: EmbedderIdentity, precision: Precision | None = None
    ) -> Reindexing:
        """Start or resume a change to another embedder; discard an unfinished change to a third."""

    def check(self) -> list[Check]:
        """Run the health checks of the database for ``doctor``."""
        ...
