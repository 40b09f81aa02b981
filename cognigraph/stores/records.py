"""Records that stores exchange with the rest: messages, leases, derivations, merges, pages."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from cognigraph.arrays import Vector
from cognigraph.errors import ConfigurationError
from cognigraph.ids import chunk_uid, uid
from cognigraph.model import (
    Episode,
    Merge,
    Role,
    StoredMessage,
    SuspectedDuplicate,
    Theme,
    Triple,
    Written,
    WrittenKind,
)
from cognigraph.model.filters import MessagePage, Position
from cognigraph.model.storage import AuditAction, AuditEntry
from cognigraph.states.core_profile import CoreOperation, reapplied
from cognigraph.states.succession import NewRuling
from cognigraph.times import When, from_micros, to_micros


@dataclass(frozen=True, slots=True, eq=False)
class ChunkRow:
    """A chunk ready to be written. ``terms`` are index terms with their frequencies.

    ``fresh`` is the text without passages that the memory itself had recalled; ``None`` if there
    are no such passages. ``heading`` is the path of headings above a part of a long message. With
    ``unembedded`` its vector is zero until one is made in the background.
    """

    uid: str
    part: int
    text: str
    vector: Vector
    terms: Mapping[str, int]
    fresh: str | None = None
    heading: str | None = None
    unembedded: bool = False


@dataclass(frozen=True, slots=True)
class MessageData:
    """What is stored with a message beside its text; ``metadata`` and ``raw`` are JSON texts.

    ``facts`` (JSON) are those that an application stated; the text says the same in words, and no
    extractor reads it. ``expires`` is when the message is to be forgotten, and ``written_by`` who
    stored it.
    """

    metadata: str | None = None
    tags: tuple[str, ...] = ()
    raw: str | None = None
    facts: str | None = None
    expires: datetime | None = None
    written_by: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MessageRow:
    """A message ready to be written; ``digest`` identifies its speaker and text."""

    uid: str
    id: str
    session: str
    session_uid: str
    speaker: str | None
    at: datetime
    digest: str
    chunks: tuple[ChunkRow, ...]
    role: Role | None = None
    data: MessageData | None = None


class UnembeddedChunk(NamedTuple):
    """A chunk that waits for its vector; the digest of its message changes with its text."""

    uid: str
    digest: str
    text: str


@dataclass(frozen=True, slots=True)
class Unembedded:
    """Chunks of one space that wait for their vectors."""

    space: str
    chunks: tuple[UnembeddedChunk, ...]


class Waiting(NamedTuple):
    """The numbers of chunks and due summaries that wait to be enriched, and of missing vectors."""

    chunks: int
    summaries: int
    vectors: int = 0

    @property
    def total(self) -> int:
        """Chunks and summaries together."""
        return self.chunks + self.summaries


InsertStatus = Literal["new", "known", "conflict", "forgotten"]


def insert_statuses(
    messages: Sequence[MessageRow],
    digests: Mapping[str, Collection[str]],
    forgotten: Collection[str],
) -> list[InsertStatus]:
    """Whether each message is new, known, forgotten, or another one is stored under its uid.

    ``digests`` are those of the stored messages, also of their earlier texts, by uid. Of several
    messages with one uid, the first counts as stored for the others.
    """
    known = dict(digests)
    statuses: list[InsertStatus] = []
    for message in messages:
        uid = message.chunks[0].uid
        if uid in forgotten:
            statuses.append("forgotten")
        elif uid not in known:
            statuses.append("new")
            known[uid] = (message.digest,)
        else:
            statuses.append("known" if message.digest in known[uid] else "conflict")
    return statuses


@dataclass(frozen=True, slots=True)
class WorkChunk:
    """A chunk as an extractor sees it, in session order, without recalled text.

    ``attempts``, ``outages`` and ``crashes`` (of processes that held it) count the failures so far.
    ``extractor`` names the extractor that has processed the chunk before. ``arrival`` numbers the
    chunks of a session at the same time, from 1; chunks that only serve as context have 0. A chunk
    of the system has no text, because no facts are extracted from it. ``stated`` are facts that an
    application stated (JSON).
    """

    uid: str
    message_id: str
    session: str
    speaker: str | None
    at: datetime
    text: str
    part: int = 0
    attempts: int = 0
    outages: int = 0
    extractor: str | None = None
    crashes: int = 0
    arrival: int = 0
    role: Role | None = None
    stated: str | None = None


@dataclass(frozen=True, slots=True)
class Backlog:
    """The failures so far of a summary that is due: it lacks turns that were extracted.

    A ``parked`` summary failed too often and waits until a user retries it. ``crashes`` counts
    processes that crashed while they wrote the summary.
    """

    attempts: int = 0
    outages: int = 0
    parked: bool = False
    crashes: int = 0


@dataclass(frozen=True, slots=True)
class SessionNotes:
    """What is known of a session when its next chunks are extracted.

    ``state`` is the summariser's own state (JSON), which lets it extend a summary from the new
    chunks alone. ``version`` counts the revisions. With a ``backlog`` the summary is due. What is
    ``written``, ``facts`` about the speakers, and the ``episodes`` of other sessions that are most
    similar to the chunks, are given to an extractor that asks for them.
    """

    version: int = 0
    keys: tuple[tuple[str, float], ...] = ()
    themes: tuple[Theme, ...] = ()
    state: str = ""
    backlog: Backlog | None = None
    written: tuple[Written, ...] = ()
    facts: tuple[Triple, ...] = ()
    episodes: tuple[Episode, ...] = ()


@dataclass(frozen=True, slots=True)
class Lease:
    """Pending chunks of one session that one worker may enrich until ``expires``.

    A lease without chunks is for the session's summary, which is due. ``before`` holds the chunks
    just before the first one; they serve as context only.
    """

    token: str
    space: str
    session: str
    session_uid: str
    chunks: tuple[WorkChunk, ...]
    before: tuple[WorkChunk, ...]
    notes: SessionNotes
    expires: datetime


@dataclass(frozen=True, slots=True, eq=False)
class EntityRow:
    """An entity to insert or update; ``key`` is the stemmed name that anchors look up.

    Of several spellings the one with the smallest ``spelled`` is displayed, whichever was written
    first: see :func:`cognigraph.resolution.name_forms.order`. ``vector`` is that of the normalised
    name; an entity without one is not compared by vector.
    """

    uid: str
    name: str
    type: str
    key: str
    spelled: str = ""
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class AliasRow:
    """Another name that the text gives an entity of the same derivation.

    ``evidence`` holds uids of the chunks that state it, all in the lease.
    """

    uid: str
    entity_uid: str
    name: str
    key: str
    spelled: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TripleRow:
    """A triple to insert or update. Its vector and terms were made from ``text``."""

    uid: str
    subject_uid: str
    object_uid: str
    subject: str
    relation: str
    object: str
    when: When | None
    negated: bool
    text: str
    vector: Vector
    terms: Mapping[str, int]
    evidence: tuple[str, ...]
    """Uids of the chunks, all in the lease."""
    spelled: str = ""
    """Orders spellings; see :class:`EntityRow`."""
    said_by: Mapping[str, str] = field(default_factory=dict)
    """Quoted speaker, by the uid of the chunk."""
    replaces: frozenset[str] = frozenset()
    """Uids of the chunks that state it to replace other facts of its relation."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyRow:
    """A session key with its weight in that session."""

    uid: str
    name: str
    weight: float
    vector: Vector


@dataclass(frozen=True, slots=True, eq=False)
class ThemeRow:
    """A theme of a session; ``terms`` are those of its title and summary.

    ``covers`` are uids of chunks; those that are not in the session are left out.
    """

    uid: str
    title: str
    summary: str
    vector: Vector
    terms: Mapping[str, int]
    covers: tuple[str, ...] = ()
    reason: str = ""
    derived_from: tuple[str, ...] = ()
    """Uids of themes of the session."""


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """The next version of a profile or procedure, made for version ``based_on`` of its chain.

    If the chain has moved on meanwhile, ``operation`` is applied to the newer text; without one the
    newer text stays. ``chunks`` are uids of the sources.
    """

    kind: WrittenKind
    chain: str
    based_on: int
    text: str
    chunks: tuple[str, ...]
    title: str = ""
    steps: tuple[str, ...] = ()
    operation: CoreOperation | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """Everything extracted under one lease; written in one transaction or not at all.

    ``keys`` and ``themes`` replace those of the session and make a revision; the newest
    ``keep_revisions`` revisions are kept. ``None`` leaves keys or themes unchanged. ``state``
    replaces the summariser's state if it is not empty or if keys or themes are replaced.

    ``rulings`` are about known facts that facts of this derivation supersede. One about a fact that
    is gone, or that has a ruling already, is left out.

    ``provisional`` keys and themes are displayed until there is a summary and make no revision.
    ``summary_due`` says that the session's summary lacks turns. A ``held`` derivation keeps the
    lease, which a later call of ``complete``, ``fail`` or ``release`` ends.
    """

    extractor: str
    entities: tuple[EntityRow, ...] = ()
    aliases: tuple[AliasRow, ...] = ()
    triples: tuple[TripleRow, ...] = ()
    mentions: tuple[tuple[str, str], ...] = ()
    spellings: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """How a chunk spells an entity, alias or triple; keys are (chunk uid, uid of what it spells).

    See :func:`cognigraph.resolution.name_forms.kept`.
    """
    keys: tuple[KeyRow, ...] | None = None
    themes: tuple[ThemeRow, ...] | None = None
    written: tuple[WrittenRow, ...] = ()
    rulings: tuple[NewRuling, ...] = ()
    state: str = ""
    keep_revisions: int = 10
    provisional: bool = False
    summary_due: bool = False
    held: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class EntityNames:
    """The extracted entities of a space, column-wise, with the vectors of their names.

    ``canonical`` holds the uids of their canonical entities.
    """

    uids: Sequence[str]
    names: Sequence[str]
    normalised: Sequence[str]
    types: Sequence[str]
    canonical: Sequence[str]
    vectors: Vector
    """(number of entities, dimension)"""


@dataclass(frozen=True, slots=True)
class Failure:
    """A chunk that could not be enriched, and why; without a ``message_id``, a session's summary.

    ``attempts`` counts failures of the chunk itself. ``outages`` of the extractor and ``crashes``
    of processes that held the chunk do not count as attempts.
    """

    message_id: str | None
    session: str
    attempts: int
    parked: bool
    reason: str
    outages: int = 0
    crashes: int = 0


def with_uid(message: MessageRow, uid: str) -> MessageRow:
    """The message with ``uid`` for its first chunk, and uids made of that for the others."""
    chunks = tuple(
        replace(chunk, uid=uid if chunk.part == 0 else chunk_uid(uid, chunk.part))
        for chunk in message.chunks
    )
    return replace(message, chunks=chunks)


def suspected_duplicate(
    name: str, type: str, other: str, other_type: str, score: float, reason: str
) -> SuspectedDuplicate:
    """A suspected duplicate with its two names in alphabetical order."""
    (name, type), (other, other_type) = sorted(((name, type), (other, other_type)))
    return SuspectedDuplicate(name, type, other, other_type, score, reason)


def merge_of(
    name: str,
    type: str,
    into: str,
    into_type: str,
    by: str,
    reason: str,
    score: float,
    at: int,
    undone_at: int | None,
) -> Merge:
    """A merge from the history; times are in microseconds since 1970."""
    undone = None if undone_at is None else from_micros(undone_at)
    return Merge(name, type, into, into_type, by, reason, score, from_micros(at), undone)


def audit_row(entry: AuditEntry) -> dict[str, Any]:
    """An entry of the audit log as both stores keep it."""
    return {
        "at": to_micros(entry.at),
        "space": entry.space,
        "action": entry.action,
        "by": entry.by,
        "subjects": json.dumps(entry.subjects),
        "details": json.dumps(dict(entry.details)),
    }


def ruling_entry(ruling: NewRuling, at: datetime, space: str, by: str | None) -> AuditEntry:
    """The entry of the audit log for what a user says of a fact; the reason may quote a message."""
    subjects = (ruling.uid,) if ruling.by is None else (ruling.uid, ruling.by)
    return AuditEntry(at, space, ruling.kind, by, subjects)


def audit_entry(
    at: int, space: str, action: AuditAction, by: str | None, subjects: str, details: str
) -> AuditEntry:
    """An entry of the audit log, of a row of a store."""
    subject_uids = tuple(json.loads(subjects))
    return AuditEntry(from_micros(at), space, action, by, subject_uids, json.loads(details))


# Which versions a derivation adds to what writers keep: the decision of both stores.


class NextVersion(NamedTuple):
    """A version to add. ``before`` is the uid of the one it supersedes, if there is one."""

    row: WrittenRow
    uid: str
    version: int
    text: str
    before: str | None


def next_versions(
    space: str, rows: Sequence[WrittenRow], newest: Mapping[str, tuple[int, str]]
) -> list[NextVersion]:
    """The versions to add to ``newest``, which maps each chain to its version and text.

    A row whose chain has moved on since it was made is applied to the new text, if it was made by
    an operation that can be; otherwise the newer text stays as it is.
    """
    state = dict(newest)
    added: list[NextVersion] = []
    for row in rows:
        version, text = state.get(row.chain, (0, ""))
        new: str | None = row.text
        if version != row.based_on:
            new = None if row.operation is None else reapplied(text, row.operation)
        if new is None:
            continue
        before = written_uid(space, row.chain, version) if version else None
        own = written_uid(space, row.chain, version + 1)
        added.append(NextVersion(row, own, version + 1, new, before))
        state[row.chain] = version + 1, new
    return added


def written_uid(space: str, chain: str, version: int) -> str:
    """Uid of a version: (space, chain, version)."""
    return uid("Written", space, chain, str(version))


# Cursors of listings: the position of the last message of a page as text.

_CURSOR = re.compile(r"(-?\d{1,18})\.(\d{1,18})", re.ASCII)


class Placed(NamedTuple):
    """A message, its position in the order of all messages, and the uid of its first chunk."""

    position: Position
    message: StoredMessage
    uid: str


def position_of(cursor: str) -> Position:
    """The position that a cursor stands for.

    Raises:
        ConfigurationError: the text is not a cursor.
    """
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise ConfigurationError(
            f"after must be the cursor of a page of messages, not {cursor[:40]!r}"
        )
    position = Position(int(found[1]), int(found[2]))
    try:
        from_micros(position.at)
    except OverflowError:
        raise ConfigurationError(f"after names no time: {cursor[:40]!r}") from None
    return position


def page_of(placed: list[Placed], after: str | None) -> MessagePage:
    """A page; an empty one keeps the cursor that it was asked for with."""
    if not placed:
        return MessagePage((), after)
    last = placed[-1].position
    return MessagePage(tuple(item.message for item in placed), f"{last.at}.{last.arrival}")
