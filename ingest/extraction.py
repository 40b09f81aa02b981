"""The interface of extractors: a window of chunks in, a typed :class:`Extraction` out.

An extractor only reads. It never supplies ids, sessions or observed times. It gives evidence as
indices into the window, and these are checked. If it fails, it raises
:class:`~cognigraph.errors.ExtractionError`; an extraction without facts means that it succeeded and
found none.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from cognigraph.errors import CogniGraphError, ConfigurationError
from cognigraph.llm import Model
from cognigraph.llm.protocols import forget_answers
from cognigraph.model import Theme, Usage
from cognigraph.settings import WeightSetName
from cognigraph.stores.records import SessionNotes, WorkChunk, WrittenRow
from cognigraph.text.terms import printable, replace_surrogates

ENTITY_TYPES = ("person", "organization", "location", "event", "object", "concept", "time")
"""The standard entity types; extractors may use other words as well."""
BY_MODEL = "topic"
"""The reason of an episode whose beginning a model has chosen."""
MODEL_SETTLE = timedelta(seconds=20)
"""The pause in a conversation before a model reads it: that costs a call a pause, not a turn."""
NO_DATE = "time is not a date, the fact stays without it"
"""Why a time was rejected: by the check of a model's answer, or when facts are prepared."""

AlsoRead = Literal["tool", "stated", "summary"]
"""The beginning of what tools returned; messages with which an application stated facts (none is
read out of these, but names, keys and themes are); and summaries that an application stated."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity found in the text. ``chunks`` are indices (from 0) into ``Window.chunks``.

    ``aliases`` are other names that the text itself uses for the entity ("my sister", "Annie").
    """

    name: str
    type: str
    chunks: tuple[int, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A triple found in the text, before it gets a uid.

    ``when`` is an event time as text (``2023-05``, ``2022-01-14/2022-01-20``); a text that is not a
    date is dropped. ``chunks`` are the indices of its evidence in ``Window.chunks``, at least one.
    ``said_by`` is the quoted person, if that is not the speaker of the evidence ("Ben told me
    that"). ``replaces`` says that the text itself puts it in the place of earlier facts with this
    subject and relation ("I use Tidal now"). ``supersedes`` are uids of known facts that it takes
    the place of, whatever their relation.
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
    replaces: bool = False
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """The input of one extraction: consecutive chunks of one session, in order.

    ``before`` are chunks that were read already, for context only; ``notes`` holds the session's
    keys and themes before these chunks. A window without chunks asks for the summary only.
    """

    space: str
    session: str
    chunks: tuple[WorkChunk, ...]
    before: tuple[WorkChunk, ...] = ()
    notes: SessionNotes = field(default_factory=SessionNotes)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result of extracting from a window.

    ``keys`` (name, weight) and ``themes`` replace those of the session; ``None`` keeps the old
    ones. ``state`` is passed back as ``Window.notes.state`` with the session's next window.
    ``rejected`` gives a reason for each item that the extractor left out; ``usage`` is its cost.

    ``summary_due`` says that the summary lacks turns that were read. The session then stays queued
    until ``summarise`` has updated it; ``error`` is why the update failed.
    ``provisional`` keys and themes take the place of a first summary and are not recorded as a
    revision.

    ``starts_over`` says that nothing was read, because the window belongs before chunks that
    ``Window.notes.state`` already covers: the whole session must be read again in its order.

    ``written`` are new versions of the core profile and of procedures.
    """

    mentions: tuple[Mention, ...] = ()
    facts: tuple[Fact, ...] = ()
    keys: tuple[tuple[str, float], ...] | None = None
    themes: tuple[Theme, ...] | None = None
    state: str = ""
    rejected: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    provisional: bool = False
    summary_due: bool = False
    error: CogniGraphError | None = None
    starts_over: bool = False
    written: tuple[WrittenRow, ...] = ()


class Extractor(ABC):
    """Extracts from a window of chunks; the base of all extractors. Must be thread-safe.

    A subclass has a ``name`` and :meth:`extract`; all else has a default.
    """

    name: str
    """Name and version, such as ``rules-1``; recorded with every chunk that it has read."""
    weight_set: WeightSetName = "model"
    """Which weights of the ranking suit its facts."""
    model: Model | None = None
    """The language model that it uses, which may answer questions as well."""
    settle: timedelta = timedelta(0)
    """How long a conversation must be without new messages before a background worker starts."""
    context: int = 0
    """How many chunks before a window it needs, if the settings ask for fewer."""
    also_reads: frozenset[AlsoRead] = frozenset()
    """What it is given that others are not."""
    recalls: int = 0
    """How many known facts about the speakers it is given at most, in the notes of a window, with
    half as many about others, and with ``written`` and ``episodes``; 0 for none of these."""
    summarises: bool = False
    """Whether session summaries are updated in a step of its own, :meth:`summarise`."""

    @abstractmethod
    def extract(self, window: Window) -> Extraction:
        """Extract from the window. A deterministic extractor returns equal results for it.

        Raises:
            ExtractionError: the window could not be read.
        """

    def summarise(self, window: Window) -> Extraction:
        """Update the session's summary; the window has no chunks."""
        return Extraction(state=window.notes.state)

    def estimate(self, window: Window) -> Usage | None:
        """Estimate the cost of reading the window, without a model call; ``None`` if unknown."""
        return None

    def forget_answers(self) -> int:
        """Delete all answers that are kept, which quote messages; return how many there were."""
        return forget_answers(self.model)


class OnTop(Extractor):
    """An extractor on top of another one, with its abilities and a model of its own."""

    summarises = True

    def __init__(self, model: Model, base: Extractor) -> None:
        self.model: Model = model
        self._base = base
        self.settle = base.settle or MODEL_SETTLE
        self.context, self.also_reads = base.context, base.also_reads
        self.weight_set = base.weight_set

    def summarise(self, window: Window) -> Extraction:
        """Let the underlying extractor summarise."""
        return self._base.summarise(window)

    def estimate(self, window: Window) -> Usage:
        """What the underlying extractor estimates."""
        return self._base.estimate(window) or Usage()

    def forget_answers(self) -> int:
        """Delete what the models keep of their answers, and return how many there were."""
        return super().forget_answers() + self._base.forget_answers()


# Texts of extractors as they can be stored and shown: names, longer texts, and excerpts.

MAX_NAME = 300
"""Largest number of characters of a name or relation."""
_MOST_SHOWN = 120


def storable_name(text: object) -> str | None:
    """A name on one line; ``None`` if it is no text, empty or too long."""
    if not isinstance(text, str):
        return None
    clean = " ".join(replace_surrogates(text.replace("\x00", " "))[0].split())
    return clean if clean and len(clean) <= MAX_NAME else None


def storable_text(text: object) -> str:
    """A text that can be stored; empty if it is no text."""
    if not isinstance(text, str):
        return ""
    return replace_surrogates(text.replace("\x00", " "))[0].strip()


def shortened(value: object) -> str:
    """Any value as short text on one line."""
    text = " ".join(printable(replace_surrogates(str(value))[0]).split())
    text = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
    return text if isinstance(value, str) and text else repr(text)


# Recorded extractor names: family, version, detail (``model-1.2:gpt-4o-mini``).
#
# The detail plays no part in comparisons: another model is not a newer version.

_NAME = re.compile(r"(?P<family>.+?)-v?(?P<version>\d+(?:\.\d+)*)", re.DOTALL)
_VERSION = re.compile(r"v?\d+(?:\.\d+)*")

Version = tuple[int, ...]


def parse(name: str) -> tuple[str, Version]:
    """Family and version of a name; without a number the version is ``()``, the oldest of all."""
    head = name.partition(":")[0]
    match = _NAME.fullmatch(head)
    if match is None:
        return head, ()
    return match["family"], tuple(map(int, match["version"].split(".")))


def older(recorded: Iterable[str], than: str | int | None, current: str) -> list[str]:
    """The recorded names that are older than a version.

    ``than`` is a version in the family of ``current``, a name with a version, or ``None`` for all
    names. Only versions of the same family are compared; names of other families are left out.

    Raises:
        ConfigurationError: ``than`` is neither a version nor a name with one.
    """
    names = sorted(recorded)
    if than is None:
        return names
    limit = str(than).strip()
    if _VERSION.fullmatch(limit):
        limit = f"{parse(current)[0]}-{limit}"
    family, version = parse(limit)
    if not version:
        raise ConfigurationError(
            f"older_than must be a version such as 2, or a name with a version such as "
            f"'rules-2', not {than!r}"
        )
    return [name for name in names if parse(name)[0] == family and parse(name)[1] < version]
