"""The ``Store`` protocol and its roles: the operations a database must offer to a memory.

SQLite and Neo4j implement it. One contract suite (``tests/contract``) holds both to it.

Both store this graph:

=========  ==========================================================================
Session    ``id, started_at, ended_at, version``; ``-[:HAS_CHUNK]->`` Chunk,
           ``-[:HAS_KEY {weight}]->`` Key, ``-[:HAS_THEME]->`` Theme
Key        ``name``
Theme      ``title, summary, started_at, ended_at, reason`` (the themes of a session are its
           summary, and its episodes); ``-[:COVERS {index}]->`` Chunk, ``-[:DERIVED_FROM]->`` Theme
Profile    ``version, text, at``; ``-[:EVIDENCE]->`` Chunk, ``-[:SUPERSEDES]->`` Profile
Procedure  ``version, title, steps, context, at``; with the same relationships
Revision   ``version, at, extractor, keys``: one version of a session's keys and summary;
           ``(Session)-[:HAS_REVISION]->`` Revision
Triple     ``subject, relation, object, when, valid_from, valid_to, negated, first_observed,
           last_observed, status``; ``-[:SUBJECT]->`` and ``-[:OBJECT]->`` Entity,
           ``-[:EVIDENCE {observed_at, said_by}]->`` Chunk, ``-[:IN_SESSION]->`` Session,
           ``-[:SUPERSEDES {at, by, reason}]->`` Triple
Entity     ``name, type``
Alias      ``name, type``; another name of an entity, ``-[:SAME_AS]->`` Entity; an alias that
           the text itself gives is ``-[:STATED_IN]->`` Chunk. Entities and aliases that may be
           the same are joined by ``RESEMBLES {score, kind, reason, verdict}`` and by
           ``RULED {verdict}`` (a user's decision)
Chunk      ``message_id, session, speaker, role, at, text, part, parts, heading, tags, metadata
           (JSON), state``;
           ``-[:NEXT]->`` Chunk in session order (time, then arrival),
           ``-[:MENTIONS]->`` Entity
Version    ``number, text, replaced_at``; an earlier text of a message
Forgotten  only a ``uid``, the hash of a forgotten message's key
Audit      ``at, owner (a space), action, by, subjects, details``; it has no ``space``, so that no
           query of a user sees it, and it outlives its space
=========  ==========================================================================

Every node has ``uid`` (unique) and ``space``; no relationship joins two spaces.
Vectors are unit-length float32, so a dot product is a cosine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from cognigraph.arrays import Vector
from cognigraph.cypher.guard.query_limits import DEFAULT_LIMITS
from cognigraph.errors import EmbedderMismatchError, SchemaError
from cognigraph.model import (
    Entity,
    Episode,
    Forgotten,
    Merge,
    Session,
    Stats,
    StoredMessage,
    Summary,
    SuspectedDuplicate,
    Triple,
    Written,
)
from cognigraph.model.filters import MessageQuery, TripleQuery
from cognigraph.model.storage import AuditEntry, Check, EmbedderIdentity, StoreInfo
from cognigraph.settings import QuerySettings
from cognigraph.states.succession import NewRuling, Ruling, Standing
from cognigraph.stores.candidates import (
    CandidateQuery,
    Candidates,
    ChunkRecord,
    ConsecutiveChunks,
    EpisodeCandidate,
    NewestSources,
    ResultQuery,
    ResultRecords,
)
from cognigraph.stores.readings import Decision, NamedRuling, SessionReading
from cognigraph.stores.records import (
    Derivation,
    EntityNames,
    EntityRow,
    Failure,
    InsertStatus,
    Lease,
    MessageRow,
    Placed,
    SessionNotes,
    Unembedded,
    UnembeddedChunk,
    Waiting,
)
from cognigraph.stores.reindex import Precision, Reindexing
from cognigraph.text.terms import ANALYZER


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

        Without a ``space``, the spaces with pending chunks are served in turn, so that none waits
        for what others have added before.

        A session has at most one lease at a time; chunks under an expired lease count as pending.
        Each failed attempt divides the batch size by four, and a batch ends before the first chunk
        that failed more often, so that the chunk at fault is soon alone. A chunk during which two
        processes crashed is alone at once. The notes of a session that is extracted again have no
        keys and themes.

        With ``summaries``, a summary that is due can be leased too, in a lease without chunks. It
        comes before the next chunks of its own session (unless it met many outages) and after the
        chunks of all other sessions.
        """

    def complete(self, lease: Lease, derivation: Derivation) -> bool:
        """Write a derivation and mark the chunks done; False, changing nothing, if lease is lost.

        Duplicates are found by exact key: an entity or triple that is already stored gains evidence
        and its observed interval widens; the earliest spelling is displayed. Everything that was
        extracted from these chunks before is removed: their evidence, mentions and aliases, triples
        left without evidence, and entities that nothing refers to, except those that a user merged
        or kept apart. Entities are resolved (:mod:`cognigraph.resolution.incremental`) in the same
        transaction. A derivation that is ``held`` keeps its lease.
        """

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

    def extend(self, lease: Lease, until: datetime) -> bool:
        """Extend a lease; False if it is lost."""

    def release(self, lease: Lease) -> bool:
        """Return the chunks to the queue unchanged; False if the lease is lost."""

    def leases(self) -> dict[str, datetime]:
        """Tokens of open leases (a token begins with the worker's name) and when they expire."""

    def expire(self, token: str, until: datetime) -> None:
        """End the lease of a worker that crashed, so that its chunks can be claimed at once.

        A lease that was extended past ``until`` is left alone. The crash counts against the leased
        chunks, or against the summary (:func:`cognigraph.stores.batch_size.count_crash`).
        """

    def retry_failed(self, space: str | None = None) -> int:
        """Make parked chunks and summaries pending again; return how many."""

    def failures(self, space: str) -> list[Failure]:
        """Chunks whose last attempt failed, in order of arrival, then such summaries."""

    def extractors(self, space: str) -> dict[str, int]:
        """Names of the extractors of the space's done chunks, with the number of chunks of each."""

    def redo(self, space: str, extractors: Sequence[str]) -> int:
        """Requeue the done chunks of these extractors and return how many were requeued.

        A session is requeued as a whole, because its summary grows with its chunks, and its lease
        ends. The facts extracted from a chunk stay until the chunk is done again.
        """

    def start_over(self, lease: Lease) -> bool:
        """End a lease and requeue every done chunk of its session, to be extracted in order.

        False, changing nothing, if the lease is lost. As with :meth:`redo`, the facts extracted
        from a chunk stay until the chunk is done again.
        """

    def queued(self, space: str) -> list[str]:
        """Uids of sessions with pending chunks, oldest chunk first, then those due a summary."""

    def read_by(self, space: str, extractors: Sequence[str]) -> list[str]:
        """Uids of the sessions that :meth:`redo` would make pending."""

    def peek(self, session_uid: str, *, context: int = 2, again: bool = False) -> Lease | None:
        """All pending chunks of a session in the form of a lease, without taking one.

        None if nothing waits. With ``again``, the result is as if the session had been requeued.
        """

    def waiting(self, space: str | None = None) -> Waiting:
        """What waits in a space, leased or not, or with ``None`` in all spaces."""

    def unembedded(self, limit: int, space: str | None = None) -> Unembedded | None:
        """Up to ``limit`` chunks of one space that wait for their vectors; ``None`` if none do.

        Without a ``space``, the spaces are served in turn.
        """

    def write_vectors(self, space: str, chunks: Sequence[UnembeddedChunk], vectors: Vector) -> None:
        """Write the vectors (chunks, dimension) of chunks that waited for them.

        A chunk whose text has changed since it was read waits on, and one that is gone is ignored.

        Raises:
            EmbedderMismatchError: the store has another embedder by now.
        """

    def longest_wait(self, space: str | None = None) -> float:
        """Seconds for which the oldest pending chunk has been pending, leased or not; 0 if none is.

        Measured by the clock of the machine or the server, as a memory's own clock may be any.
        """


class SearchIndex(Protocol):
    """What a search needs: candidates with their raw values, then the records it returns."""

    def warm(self, space: str) -> None:
        """Start loading, in the background, what a first search of a space needs. Optional."""

    def candidates(self, space: str, query: CandidateQuery) -> Candidates:
        """Gather the candidates of one space with their raw values; other spaces do not count."""

    def consecutive(self, space: str, limit: int) -> ConsecutiveChunks:
        """The vectors and sessions of up to ``limit`` newest chunks, in the order of arrival."""

    def episodes(
        self, space: str, vector: Vector, chunks: Sequence[str], limit: int
    ) -> list[EpisodeCandidate]:
        """The ``limit`` episodes nearest to a vector, and those that cover one of some chunks.

        Only episodes with a cosine above 0 are near. They are sorted by uid.
        """

    def result(self, space: str, query: ResultQuery) -> ResultRecords:
        """Read the messages, facts and sessions of a result in one transaction."""

    def chunks(self, space: str, uids: Sequence[str]) -> dict[str, ChunkRecord]:
        """Chunks by uid; unknown ones are missing from the answer."""

    def triples_by_uid(
        self, space: str, uids: Sequence[str], newest: NewestSources | None = None
    ) -> dict[str, Triple]:
        """Triples by uid, with their sources (newest first): all, or those that ``newest`` names.

        A triple that became a duplicate of another since it was found is missing from the answer.
        """


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An extracted entity; ``canonical`` is the uid of the canonical entity of its group."""

    uid: str
    name: str
    type: str
    canonical: str


class EntityResolution(Protocol):
    """Merges and splits of entities by users, suspected duplicates, and the history of merges."""

    def named(self, space: str, name: str) -> list[NamedEntity]:
        """Extracted entities with this normalised name, or with an alias of it in the text."""

    def merge(self, space: str, uid: str, into: str, by: str | None = None) -> None:
        """Record a user's decision that two entities are the same; ``into`` is canonical.

        The audit log says so in the same transaction, with who acted (``by``), as for all that
        users decide.
        """

    def split(
        self, space: str, uid: str, apart_from: str | None = None, by: str | None = None
    ) -> bool:
        """Undo a user's merge of an entity, or separate it from its group.

        With ``apart_from``, separate these two entities. False if the entity is in no group. See
        :func:`cognigraph.resolution.incremental.split`.
        """

    def suspected(self, space: str, *, limit: int, offset: int = 0) -> list[SuspectedDuplicate]:
        """Pairs whose names are spelled so alike that they may be one, but that are not merged.

        The most similar pairs come first.
        """

    def names(self, space: str) -> EntityNames:
        """All extracted entities whose names have vectors."""

    def judged(self, space: str, uids: Sequence[str]) -> set[tuple[str, str]]:
        """Pairs of entities that a comparison of their spelling, or a user, has already judged.

        Both entities of a pair are among ``uids``; the smaller uid comes first.
        """

    def merges(self, space: str, *, limit: int, offset: int = 0) -> list[Merge]:
        """Merges by rules and by users, undone and in force, newest first."""


class StateStore(Protocol):
    """What users say of facts, and which facts share a slot; see :mod:`cognigraph.states`."""

    def rule(self, space: str, *rulings: NewRuling, by: str | None = None) -> None:
        """Record what a user said of triples, and decide their slots again, in one transaction.

        It outlives the triples: one that is read again is ruled again. ``by`` is the uid of the
        triple that supersedes it, ``at`` when it ended. A later word takes the place of an earlier
        one. The audit log has it, too, with who acted. :class:`NotFoundError` if there is no such
        triple; then nothing is recorded.
        """

    def rulings(self, space: str) -> list[NamedRuling]:
        """What users said of the facts of a space that exist, in that order."""

    def keep(self, space: str, rulings: Sequence[Ruling]) -> None:
        """Record what users said before, of facts that exist or will be read later."""

    def standings_at(self, space: str, uids: Sequence[str], as_of: datetime) -> dict[str, Standing]:
        """What was known at ``as_of`` of triples that have a slot or were ruled on.

        Triples that share a slot with them may be among the answer, too.
        """

    def of_entity(self, space: str, entity: str) -> list[Triple]:
        """Triples about slots of an entity, and those of it that were ruled on, oldest first."""

    def contested(self, space: str, limit: int) -> list[list[Triple]]:
        """Current triples that share a slot of one value, by slot, newest observation first.

        They may name the same value in different words.
        """


class GraphReader(Protocol):
    """Reads the graph for people: messages, sessions, entities, triples, counts, Cypher."""

    def message(self, space: str, id: str, session: str | None = None) -> StoredMessage | None:
        """One whole message; the newest one if several sessions have a message of that id."""

    def sessions(
        self,
        space: str,
        *,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[Session]:
        """Sessions, newest first; with ``as_of`` as far as they had gone by then.

        With ``as_of``, ``ids`` are the only ones that are read.

        A session that went on later has the keys and summary of its newest revision of that time.
        """

    def entities(
        self,
        space: str,
        *,
        match: str | None = None,
        limit: int,
        offset: int = 0,
        as_of: datetime | None = None,
    ) -> list[Entity]:
        """Canonical entities, most triples first; with ``match`` those whose name contains it.

        Normalised names and aliases are compared. With ``as_of`` only what had been said by then
        counts; entities are merged as they are now.
        """

    def triples(self, space: str, query: TripleQuery) -> list[Triple]:
        """Triples, newest observation first; with ``entity`` those it is subject or object of.

        An alias stands for its entity; a name that entities of several types share stands for all
        of them. ``as_of`` leaves out triples that were first observed later; the other triples keep
        their later sources.
        """

    def summaries(self, space: str, session: str) -> list[Summary]:
        """The stored revisions of a session's keys and summary, newest first."""

    def episodes(
        self, space: str, *, session: str | None = None, limit: int, offset: int = 0
    ) -> list[Episode]:
        """Themes that cover messages, the one that ended last first."""

    def written(self, space: str) -> list[Written]:
        """All versions of what writers keep (profile and procedures), by chain, oldest first."""

    def stats(self, space: str, *, as_of: datetime | None = None) -> Stats:
        """Counts of a space; zeros for one that does not exist.

        With ``as_of`` only what had been said by then counts. No chunk is leased then, and no
        summary is due.
        """

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


@dataclass(frozen=True, slots=True)
class Selection:
    """Which messages to forget: those that match every criterion; without any, all messages.

    ``before`` is exclusive. ``entity`` selects what mentions an entity, or says a fact about it.
    ``role`` is "person" for messages without one. ``expired`` selects what expires by then.
    """

    message: str | None = None
    session: str | None = None
    speaker: str | None = None
    before: datetime | None = None
    entity: str | None = None
    role: str | None = None
    tag: str | None = None
    expired: datetime | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """Messages of one session that are to be forgotten: uids of all their chunks, in order.

    ``messages`` are the uids of their first chunks, which identify the messages.
    """

    session: str
    session_uid: str
    chunks: tuple[str, ...]
    messages: tuple[str, ...]

    @staticmethod
    def by_session(rows: Iterable[tuple[str, str, str, int]]) -> list[Chosen]:
        """Group chunks by session, of rows of a store: session, its uid, uid of chunk, part."""
        chunks: dict[tuple[str, str], list[tuple[str, int]]] = {}
        for session, session_uid, uid, part in rows:
            chunks.setdefault((session, session_uid), []).append((uid, part))
        return [
            Chosen(
                session, session_uid, chunks=tuple(uid for uid, _ in own),
                messages=tuple(uid for uid, part in own if not part),
            )
            for (session, session_uid), own in chunks.items()
        ]  # fmt: skip


class HousekeepingStore(Protocol):
    """Lists, forgets and replaces messages, and removes spaces."""

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        """List messages in order of (time, arrival), each with its position."""

    def choose(self, space: str, selection: Selection) -> list[Chosen]:
        """Find the messages to forget, by session."""

    def preview_forget(self, space: str, chosen: Sequence[Chosen]) -> Forgotten:
        """Count what would go with these messages, and what would stay."""

    def forget(self, space: str, chosen: Chosen, *, remember: bool) -> None:
        """Delete messages with all that was read out of them, in one transaction.

        Leases on their session end. What other messages said too stays. The session's keys, themes
        and revisions go, and its other messages are read again, because what was read out of them
        may rest on the forgotten ones; what names anything that only those said goes at once. With
        ``remember`` the hashes of the messages' keys stay, so that an insert does not bring them
        back. Messages that are gone already are ignored.
        """

    def forget_all(self, space: str, *, remember: bool) -> None:
        """Delete all messages of a space with all that was read out of them. Repeatable."""

    def update(self, space: str, message: MessageRow, at: datetime) -> bool:
        """Replace the text of a message, and queue it and its session's other messages again.

        What was read out of the old text goes as with :meth:`forget`; the text itself is kept as a
        version, replaced ``at`` a time. The message keeps its uid and its position. False if there
        is no such message, or if it has this text.
        """

    def versions(self, space: str, session: str, id: str) -> list[tuple[str, datetime]]:
        """Earlier texts of a message and when they were replaced, oldest first."""

    def versioned(self, space: str) -> set[str]:
        """Uids (of the first chunks) of messages that have earlier texts."""

    def stated(self, space: str) -> dict[str, str]:
        """Facts that an application stated (JSON), by the uids of the first chunks."""

    def keep_revisions(
        self, space: str, session: str, version: int, revisions: Sequence[Summary]
    ) -> None:
        """Replace the revisions of a session's summary; it then has this ``version``."""

    def forgotten(self, space: str) -> list[str]:
        """Uids (of the first chunks) of forgotten messages, sorted."""

    def remember(self, space: str, uids: Sequence[str]) -> None:
        """Note messages as forgotten."""

    def reading(self, space: str, session: str) -> SessionReading:
        """What was read out of a session that exists."""

    def notes(self, space: str, session: str) -> SessionNotes:
        """Keys, themes and summariser's state of a session that exists."""

    def decisions(self, space: str) -> list[Decision]:
        """What users decided on entities, in that order."""

    def decide(
        self, space: str, entities: Sequence[EntityRow], decisions: Sequence[Decision]
    ) -> None:
        """Record decisions on entities, which are written if nothing has mentioned them yet."""

    def restore_written(self, space: str, versions: Sequence[Written]) -> None:
        """Write what writers keep, by chain and oldest first, into a space that has none of it."""

    def begin_import(self, space: str) -> str | None:
        """Note that an import fills a space that holds no messages; return its token.

        Until the import has ended, nobody else inserts into the space, and it is not listed. What
        an import that was interrupted has left is deleted first, and the token of one that is
        still running is no longer valid. ``None`` if the space holds messages of anything else.
        """

    def end_import(self, space: str, importer: str) -> bool:
        """Note that an import has filled a space; False if its token is no longer valid."""

    def undo_import(self, space: str, importer: str) -> None:
        """Delete what an import has left, but not the hashes of messages forgotten before.

        Nothing happens if its token is no longer valid.
        """

    def remove_space(self, space: str) -> None:
        """Delete a space with all that it holds; ended leases bring nothing back. Repeatable."""

    def audit(self, entry: AuditEntry) -> None:
        """Add an entry to the audit log, durably. Nothing changes or deletes one."""

    def backup(self, path: str) -> None:
        """Write a consistent copy of the database to a new file, while it is in use.

        Raises:
            StoreError: the store has no such operation, or the file exists or cannot be written.
        """

    def erase(self) -> bool | None:
        """Remove the bytes of what was deleted; False if readers held it up, None if unknown."""


def check_recorded(
    location: str,
    stored: EmbedderIdentity,
    given: EmbedderIdentity | None,
    analyzer: str,
    kind: Literal["file", "database"],
) -> None:
    """Raise if a store was built with another embedder than the one given, or another analyzer.

    Raises:
        EmbedderMismatchError: the embedder differs.
        SchemaError: the analyzer differs.
    """
    if given is not None and stored != given:
        raise EmbedderMismatchError(
            f"{location} was built with the embedder {stored.name!r} ({stored.dimension} "
            f"dimensions), not {given.name!r} ({given.dimension}); open it with that embedder, or "
            "change it for good with `cognigraph reindex --embedder NAME` or Memory.reindex"
        )
    if analyzer != ANALYZER:
        raise SchemaError(
            f"{location} was indexed by {analyzer!r}, this version uses {ANALYZER!r}; open it with "
            f"the version that wrote it, or add the messages to another {kind}"
        )


def check_version(location: str, version: int, newest: int) -> None:
    """Raise :class:`SchemaError` if a newer cognigraph has written a store."""
    if version > newest:
        raise SchemaError(
            f"{location} has schema {version}, this cognigraph knows up to {newest}; upgrade "
            "cognigraph-memory"
        )


def import_runs(space: str, importer: str) -> str:
    """The error message for an insert into a space that an import fills, or has ceased to fill."""
    if importer:
        return f"another program has begun to import into the space {space!r}, or has deleted it"
    return (
        f"the space {space!r} holds a part of an import that is running, or was interrupted; wait "
        "for its end, repeat it, or delete the space"
    )


def imports_check(spaces: Sequence[str]) -> list[Check]:
    """The health check of imports, if there are any that have not ended."""
    names = ", ".join(map(repr, spaces))
    remedy = "if none of them is running, repeat it, or delete the space"
    return [Check("imports", False, f"not ended: {names}", remedy)] if spaces else []


class Store(Protocol):
    """One database. Thread-safe; every method is one transaction unless it says otherwise."""

    @property
    def messages(self) -> MessageStore:
        """Inserts messages."""

    @property
    def queue(self) -> EnrichmentQueue:
        """The enrichment queue."""

    @property
    def search(self) -> SearchIndex:
        """Candidates and records for a search."""

    @property
    def resolution(self) -> EntityResolution:
        """Merges, splits and suspected duplicates of entities."""

    @property
    def states(self) -> StateStore:
        """What users say of facts, and which of them are current."""

    @property
    def graph(self) -> GraphReader:
        """The graph for people to read."""

    @property
    def housekeeping(self) -> HousekeepingStore:
        """Lists, forgets and replaces messages, and removes spaces."""

    @property
    def info(self) -> StoreInfo:
        """Where the data is and what wrote it."""

    @property
    def is_on_server(self) -> bool:
        """Whether another process does the work, so that this one can prepare what comes next."""

    def close(self) -> None:
        """Release connections. Idempotent; nothing acknowledged is lost if it is never called."""

    def bookmarks(self) -> tuple[str, ...]:
        """What names the newest state that this store has read or written; empty for a file."""

    def catch_up(self, bookmarks: Sequence[str]) -> None:
        """Wait until this store sees the state that the bookmarks of another one name.

        Raises :class:`StoreError` if they are not of this database.
        """

    def spaces(self) -> list[str]:
        """Names of all spaces, sorted."""

    def audit_log(self, space: str | None, *, limit: int, offset: int = 0) -> list[AuditEntry]:
        """Entries of the audit log, newest first: of a space, or of all, also deleted ones."""

    def reindexing(
        self, embedder: EmbedderIdentity, precision: Precision | None = None
    ) -> Reindexing:
        """Start or resume a change to another embedder; discard an unfinished change to a third."""

    def check(self) -> list[Check]:
        """Run the health checks of the database for ``doctor``."""
