"""What is written: messages as they come in, leases of the queue, and what a lease led to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from cognigraph.arrays import Vector
from cognigraph.model import (
    Theme,
)
from cognigraph.times import When


@dataclass(frozen=True, slots=True, eq=False)
class ChunkRow:
    """A chunk ready to be written. ``terms`` are index terms with their frequencies.

    ``fresh`` is the text without what the memory itself said in it, ``None`` if that is all of it.
    """

    uid: str
    part: int
    text: str
    vector: Vector
    terms: Mapping[str, int]
    fresh: str | None = None


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


InsertStatus = Literal["new", "known", "conflict"]


@dataclass(frozen=True, slots=True)
class WorkChunk:
    """A chunk as an extractor sees it, in session order, without recalled text.

    ``attempts``, ``outages`` and ``deaths`` (of processes that held it) count what went wrong with
    it so far; ``extractor`` has read it before. ``arrival`` orders the chunks of one moment.
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


@dataclass(frozen=True, slots=True)
class Backlog:
    """Turns that were read but are not in their session's summary: what went wrong so far.

    ``parked`` ones failed too often: they are left out until somebody has them tried again.
    ``crashes`` are those of processes that were writing the summary.
    """

    attempts: int = 0
    outages: int = 0
    parked: bool = False
    crashes: int = 0


@dataclass(frozen=True, slots=True)
class SessionNotes:
    """What is known of a session when its next chunks are read.

    ``state`` is the summariser's own memory (JSON), so that a summary grows with only the new
    chunks; ``version`` counts its revisions. With a ``backlog`` the summary is behind.
    """

    version: int = 0
    keys: tuple[tuple[str, float], ...] = ()
    themes: tuple[Theme, ...] = ()
    state: str = ""
    backlog: Backlog | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """Pending chunks of one session that one worker may enrich until ``expires``.

    Without chunks it is for the session's summary alone, which is behind. ``before`` are the chunks
    just before the first, already read, for context only.
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
    """An entity to merge; ``key`` is the stemmed name that anchors look up.

    Of several spellings the one with the smallest ``spelled`` is shown, whatever came first: see
    :func:`cognigraph.resolution.spelling.order`. ``vector`` is that of the normalised name; without
    one, nothing is found near it.
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

    ``evidence`` are uids of the chunks that say so, all in the lease.
    """

    uid: str
    entity_uid: str
    name: str
    key: str
    spelled: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TripleRow:
    """A triple to merge. ``text`` is what its vector and terms were made from."""

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
    """Who is quoted, by the uid of the chunk."""


@dataclass(frozen=True, slots=True, eq=False)
class KeyRow:
    """A session key with its weight in that session."""

    uid: str
    name: str
    weight: float
    vector: Vector


@dataclass(frozen=True, slots=True, eq=False)
class ThemeRow:
    """A theme of a session; ``terms`` are those of its title and summary."""

    uid: str
    title: str
    summary: str
    vector: Vector
    terms: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Derivation:
    """All that one lease led to; written in one transaction or not at all.

    ``keys`` and ``themes`` replace the session's and make a revision, of which the newest
    ``keep_revisions`` stay; ``None`` leaves them as they are. ``state`` replaces the summariser's
    memory if it is not empty or something was revised.

    ``provisional`` keys and themes are shown until there is a summary, and are no revision.
    ``behind`` says that the session's summary lacks turns, ``held`` that this is news: the lease is
    kept, and ``fail`` or ``release`` says what becomes of it.
    """

    extractor: str
    entities: tuple[EntityRow, ...] = ()
    aliases: tuple[AliasRow, ...] = ()
    triples: tuple[TripleRow, ...] = ()
    mentions: tuple[tuple[str, str], ...] = ()
    spellings: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """How a chunk spells an entity, alias or triple, by the uids of both.

    See :func:`cognigraph.resolution.spelling.kept`.
    """
    keys: tuple[KeyRow, ...] | None = None
    themes: tuple[ThemeRow, ...] | None = None
    state: str = ""
    keep_revisions: int = 10
    provisional: bool = False
    summary_due: bool = False
    held: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class EntityNames:
    """Entities of a space as they were read, in columns, and the vectors of their names.

    ``shown`` are the uids of those they are shown as.
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
    """A chunk that could not be enriched, and why; without a message, the session's summary.

    ``attempts`` failed on the chunk itself; ``outages`` of what reads it do not count as attempts,
    nor do ``deaths`` of the processes that were reading it.
    """

    message_id: str | None
    session: str
    attempts: int
    parked: bool
    reason: str
    outages: int = 0
    crashes: int = 0
