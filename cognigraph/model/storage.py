"""Reports: on a store and its checks, on what a space holds, and on an import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check of ``doctor``, with advice if it failed."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """How the background worker of a memory is doing.

    ``last_step`` is the number of seconds since it has last enriched a batch, or since it was
    started; it grows while there is nothing to do. ``restarts`` counts how often it ended
    unexpectedly and was started again. ``problem`` says what is wrong with it, without a text of
    messages, a name or an address; ``None`` if nothing is.
    """

    last_step: float
    restarts: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """The embedder recorded in a store; vectors of another embedder are not comparable."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """Where the data of a store is, and with which schema and embedder it was written.

    ``is_read_only``: the file is on a read-only disk, or this user may not write it or its folder.
    Searches and everything else that only reads work; nothing can be added or enriched.
    """

    kind: str
    location: str
    schema_version: int
    embedder: EmbedderIdentity
    details: Mapping[str, str] = field(default_factory=dict)
    is_read_only: bool = False


AuditAction = Literal[
    "update",
    "forget",
    "delete space",
    "supersede",
    "retract",
    "restore",
    "merge",
    "split",
    "create key",
    "rotate key",
    "revoke key",
]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One decision, correction or removal in the audit log. It never has a text or a name.

    ``by`` is who acted, as given to :meth:`Memory.space` (the server gives the name of the key);
    ``None`` if nobody was. ``subjects`` are uids: of the fact and the one that took its place, of
    the entities, or of the messages, of which the first 100 are listed. A uid is a hash. Messages
    that may be stored again leave none. ``details`` has the criteria of a removal, without their
    values, and counts of what it removed.

    What was done with the keys of a server is in the log of all spaces: ``space`` is empty, ``by``
    is the user of the machine, ``subjects`` are ids of keys, and ``details`` say whose key it is
    and what it may do.
    """

    at: datetime
    space: str
    action: AuditAction
    by: str | None = None
    subjects: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


# Counts of what a space holds.


@dataclass(frozen=True, slots=True)
class Stats:
    """Sizes of a space and the state of its enrichment, in chunks.

    ``summaries_pending`` and ``summaries_failed`` count the sessions whose summary lacks turns that
    were read: those still due, and those that were parked. ``vectors_pending`` counts the chunks
    that are found by their words only, until their vectors are made in the background.
    """

    space: str
    sessions: int
    messages: int
    chunks: int
    entities: int
    triples: int
    keys: int
    pending: int
    leased: int
    done: int
    failed: int
    summaries_pending: int = 0
    summaries_failed: int = 0
    vectors_pending: int = 0


# What an import reports while it runs, and at its end.


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import is.

    ``read`` is the number of messages read, ``stored`` of those that the memory now has (or would
    have, in a dry run). ``bytes`` of ``total_bytes`` were read; the total is ``None`` for a stream
    of unknown length. Of an archive, the bytes are those of the unpacked files.
    """

    read: int
    stored: int
    bytes: int
    total_bytes: int | None
    seconds: float

    @property
    def rate(self) -> float:
        """Messages a second."""
        return self.read / self.seconds if self.seconds else 0.0


ImportCallback = Callable[[ImportProgress], None]
"""Called after each transaction."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """What was left out, and why. ``position`` is for example ``line 7`` or ``a.md: line 3``."""

    position: str
    reason: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.position} {self.reason}"


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import has done, or what it would do if ``is_dry_run``.

    ``read`` messages of ``files`` files in the ``formats`` are ``new``, ``known`` (stored before),
    ``updated`` (stored before with another text), ``forgotten`` (stored and forgotten before, so
    they were not stored again), or bad: ``rejected_count``, of which ``rejected`` lists the first
    1,000. ``pruned`` is the number of messages that were forgotten because they are no longer in
    the notes. ``first_at`` and ``last_at`` are the earliest and latest time of messages with one.
    ``spaces`` are the names of the spaces that the messages are for.
    """

    formats: tuple[str, ...]
    files: int
    sessions: int
    read: int
    new: int
    known: int
    updated: int
    forgotten: int
    pruned: int
    rejected: tuple[BadRecord, ...]
    rejected_count: int
    notes: tuple[str, ...]
    first_at: datetime | None
    last_at: datetime | None
    seconds: float
    is_dry_run: bool
    spaces: tuple[str, ...] = ()

    @property
    def stored(self) -> int:
        """Number of messages read that the memory now has."""
        return self.new + self.known + self.updated
