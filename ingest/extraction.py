"""The extractor seam: chunks in, a typed :class:`Extraction` out.

An extractor only reads. It never supplies ids, sessions or observed times; evidence is given as
places in the window it was handed and is checked against it. It raises
:class:`~cognigraph.errors.ExtractionError` when it could not read, which is never the same as an
extraction without facts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol, runtime_checkable

from cognigraph.errors import CogniGraphError
from cognigraph.model import Theme, Usage
from cognigraph.stores.records import SessionNotes, WorkChunk

ENTITY_TYPES = ("person", "organization", "location", "event", "object", "concept", "time")
"""The closed part of the entity vocabulary; extractors may use other words."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity found in the text. ``chunks`` are places (0-based) in ``Window.chunks``.

    ``aliases`` are other names for it that the text itself equates ("my sister", "Annie").
    """

    name: str
    type: str
    chunks: tuple[int, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A triple found in the text, before it has an identity.

    ``when`` is an event time as text (``2023-05``, ``2022-01-14/2022-01-20``); what is not a date
    is dropped. ``chunks`` are the places of its evidence in ``Window.chunks``, at least one.
    ``said_by`` is who is quoted when that is not the speaker of the evidence ("Ben told me that").
    """

    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    chunks: tuple[int, ...]
    when: str | None = None
    negated: bool = False
    said_by: str | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """What an extractor reads at once: consecutive chunks of one session, in order.

    ``before`` are chunks already read, for context only; ``notes`` is what the session's keys and
    themes were before these chunks. Without chunks it is the summary alone that is wanted.
    """

    space: str
    session: str
    chunks: tuple[WorkChunk, ...]
    before: tuple[WorkChunk, ...] = ()
    notes: SessionNotes = field(default_factory=SessionNotes)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read out of a window.

    ``keys`` (name, weight) and ``themes`` are the session's whole new state, replacing the old;
    ``None`` keeps what is there. ``state`` is handed back as ``Window.notes.state`` next time.
    ``rejected`` says of each thing the extractor itself left out why; ``usage`` what it cost.

    ``behind`` says that turns which were read are not in the summary, ``error`` why, if they should
    be: the session is queued until ``summarise`` brings it up. ``provisional`` keys and themes
    stand in for a summary where there never was one; they are no revision.

    ``starts_over`` says that nothing was read, because the window belongs before chunks that are
    in ``Window.notes.state`` already: the whole session is to be read again in its order.
    """

    mentions: tuple[Mention, ...] = ()
    facts: tuple[Fact, ...] = ()
    keys: tuple[tuple[str, float], ...] | None = None
    themes: tuple[Theme, ...] | None = None
    state: str = ""
    rejected: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    provisional: bool = False
    behind: bool = False
    error: CogniGraphError | None = None
    starts_over: bool = False


class Extractor(Protocol):
    """Reads a window of chunks. Must be thread-safe.

    What else an extractor can do it says by a protocol of its own: :class:`Estimating`,
    :class:`Summarising`, :class:`Pausing`, :class:`Contextual`.
    """

    @property
    def name(self) -> str:
        """Name and version, such as ``rules-1``; recorded with every chunk it has read."""
        ...

    def extract(self, window: Window) -> Extraction:
        """Read the window. Deterministic extractors give the same answer for the same window."""
        ...


@runtime_checkable
class Estimating(Protocol):
    """An extractor that costs something and can say how much beforehand."""

    def estimate(self, window: Window) -> Usage:
        """What reading the window would cost, worked out without a call."""
        ...


@runtime_checkable
class Summarising(Protocol):
    """An extractor whose session summary is a step of its own and may be due after its facts."""

    def summarise(self, window: Window) -> Extraction:
        """Bring the session's summary up to date; the window has no chunks."""
        ...


@runtime_checkable
class Pausing(Protocol):
    """An extractor that a background worker starts only when a conversation pauses."""

    @property
    def settle(self) -> timedelta:
        """How long nothing new must have come."""
        ...


@runtime_checkable
class Contextual(Protocol):
    """An extractor to which more chunks before a window matter than the settings ask for."""

    @property
    def context(self) -> int:
        """How many chunks before the window it needs in :attr:`Window.before`."""
        ...
