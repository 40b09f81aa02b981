"""Contents of the graph: sessions with summaries, entities, triples, merges, and written texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from cognigraph.english.verbs import denied
from cognigraph.times import When

Period = tuple[datetime, datetime]
"""A time in which a fact was true: from, and until (exclusive)."""

Status = Literal["current", "superseded", "retracted"]
"""Whether a fact still stands, has been replaced by a later one, or was taken back by a user."""


@dataclass(frozen=True, slots=True)
class Theme:
    """One topic of a session: a title and a few sentences. A session's themes are its summary.

    ``covers`` are the uids of the chunks that it is about, in the order of the session, and
    ``reason`` is why it began there; with them a theme is an :class:`Episode`. ``uid`` is its
    identity in the graph, empty as long as it has none. ``derived_from`` are the uids of themes
    that it was made out of, which stay. Themes with the same text are equal.
    """

    title: str
    summary: str
    uid: str = field(default="", compare=False, repr=False)
    covers: tuple[str, ...] = field(default=(), compare=False, repr=False)
    reason: str = field(default="", compare=False, repr=False)
    derived_from: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def text(self) -> str:
        """Title and summary."""
        return _titled(self.title, self.summary)


def _titled(title: str, summary: str) -> str:
    return f"{title}: {summary}" if title else summary


@dataclass(frozen=True, slots=True)
class Episode:
    """A part of a conversation that is about one thing, and the messages that it covers.

    ``messages`` are their ids in ``session``, in order; episodes may overlap. ``started_at`` and
    ``ended_at`` are the times of the first and the last of them. ``reason`` is why the episode
    begins where it does: ``start`` of the session, ``shift`` of topic, ``cue`` (the speaker says
    that this is something else), ``pause``, ``size``, or ``topic`` (a model's choice). ``uid``
    stays the same while the episode grows or gets another title. ``score`` is set in search
    results only.
    """

    uid: str
    session: str
    title: str
    summary: str
    started_at: datetime
    ended_at: datetime
    reason: str
    messages: tuple[str, ...]
    score: float | None = None

    @property
    def text(self) -> str:
        """Title and summary."""
        return _titled(self.title, self.summary)

    def __repr__(self) -> str:
        return (
            f"<Episode {self.title or self.uid[:8]} of {self.session}, "
            f"{self.started_at:%Y-%m-%d %H:%M}, {len(self.messages)} message(s)>"
        )


@dataclass(frozen=True, slots=True)
class Session:
    """A node of the top layer: one conversation with its keys and its summary."""

    id: str
    started_at: datetime
    ended_at: datetime
    messages: int
    chunks: int
    keys: tuple[str, ...] = ()
    themes: tuple[Theme, ...] = ()
    version: int = 0

    @property
    def summary(self) -> str:
        """The themes as one text, empty before enrichment."""
        return "\n".join(theme.text for theme in self.themes)

    def __repr__(self) -> str:
        return (
            f"<Session {self.id}: {self.messages} messages, "
            f"{self.started_at:%Y-%m-%d %H:%M}, keys: {', '.join(self.keys[:5]) or '-'}>"
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """One revision of a session's keys and summary, written by ``extractor`` at the time ``at``.

    ``version`` counts from 1; the newest revision is the session's current summary.
    """

    session: str
    version: int
    at: datetime
    extractor: str
    keys: tuple[str, ...] = ()
    themes: tuple[Theme, ...] = ()

    @property
    def text(self) -> str:
        """The themes as one text."""
        return "\n".join(theme.text for theme in self.themes)

    def __repr__(self) -> str:
        return (
            f"<Summary {self.version} of {self.session}, {self.at:%Y-%m-%d %H:%M} by "
            f"{self.extractor}: {len(self.themes)} theme(s)>"
        )


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of the middle layer. ``aliases`` are its other names, sorted."""

    name: str
    type: str
    triples: int = 0
    mentions: int = 0
    aliases: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Entity {self.name} ({self.type}): {self.triples} triples>"


@dataclass(frozen=True, slots=True)
class Source:
    """One piece of evidence for a triple: a message of a session, and when it was said.

    ``said_by`` is the person quoted in the message, if that is not its speaker. ``provenance`` is
    ``"user"`` if the application stated the fact with ``add_fact``, and ``"text"`` if it was read
    out of the message.
    """

    id: str
    session: str
    at: datetime
    said_by: str | None = None
    provenance: Literal["text", "user"] = "text"


def stated(
    subject: str, relation: str, object: str, when: str | None = None, negated: bool = False
) -> str:
    """A fact as the text that is embedded and indexed; ``when`` is its event time as text.

    A fact without an object ("Vera retires") has its verb as the object, which is said once.
    """
    what = denied(relation) if negated else relation
    if object.lower() != relation.lower():
        what = f"{what} {object}"
    return f"{subject} {what} ({when})" if when else f"{subject} {what}"


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact of the middle layer with its sources.

    ``when`` is the event time at the precision given; ``first_observed`` and ``last_observed`` are
    the first and last observed time of its evidence. ``score`` is set in search results only.

    ``sources`` are newest first. A search lists the ten newest and those among its hits, and
    ``older_sources`` counts the others; ``facts()`` lists all.

    A fact that describes a state is true from ``valid_from`` until ``valid_to``, which is ``None``
    as long as no end is known. ``superseded_by`` is the uid of the triple that ended it,
    ``superseded_at`` when that was said, and ``reason`` why. ``earlier`` are the times in which it
    was true before: "lives in Bergen", if she moved away and came back.
    """

    uid: str
    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    when: When | None
    negated: bool
    first_observed: datetime
    last_observed: datetime
    sources: tuple[Source, ...] = ()
    score: float | None = None
    status: Status = "current"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    reason: str | None = None
    earlier: tuple[Period, ...] = ()
    older_sources: int = 0

    @property
    def source_count(self) -> int:
        """How many excerpts state the fact, whether or not they are among ``sources``."""
        return len(self.sources) + self.older_sources

    @property
    def since(self) -> datetime:
        """Since when it is true, or when it was first said if nobody said since when."""
        return self.valid_from or self.first_observed

    def is_true_at(self, at: datetime) -> bool:
        """Whether the fact is true at a time, as far as is known."""
        if self.status == "retracted":
            return False
        last = (self.since, self.valid_to)
        return any(
            start <= at and (end is None or at < end) for start, end in (*self.earlier, last)
        )

    @property
    def is_stated(self) -> bool:
        """Whether the application stated the fact with ``add_fact``."""
        return any(source.provenance == "user" for source in self.sources)

    @property
    def text(self) -> str:
        """The fact in words."""
        return stated(self.subject, self.relation, self.object, negated=self.negated)

    def __repr__(self) -> str:
        when = f" ({self.when})" if self.when else ""
        return f"<Triple {self.text}{when}, {self.source_count} source(s)>"


@dataclass(frozen=True, slots=True)
class History:
    """All that was said about one slot of an entity, oldest first.

    ``slot`` is what the facts are about, such as ``home`` or ``work``. Each triple says since when
    and until when it is true, what superseded it, and why.
    """

    subject: str
    slot: str
    triples: tuple[Triple, ...]

    @property
    def current(self) -> tuple[Triple, ...]:
        """The triples that still stand."""
        return tuple(triple for triple in self.triples if triple.status == "current")

    def __repr__(self) -> str:
        return f"<History of {self.subject}, {self.slot}: {len(self.triples)} triple(s)>"


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """What is true of one thing about an entity: ``slot`` is ``home``, ``rent``, ``likes``.

    ``earlier`` are the facts about it that are over, oldest first, if they were asked for.
    """

    slot: str
    facts: tuple[Triple, ...]
    earlier: tuple[Triple, ...] = ()

    @property
    def since(self) -> datetime | None:
        """Since when the oldest of the facts is true; ``None`` if there is none."""
        return min((fact.since for fact in self.facts), default=None)

    def __repr__(self) -> str:
        return f"<ProfileEntry {self.slot}: {'; '.join(fact.text for fact in self.facts)}>"


@dataclass(frozen=True, slots=True)
class EntityProfile:
    """What is true of an entity, by slot. ``types`` are several if entities share the name.

    ``profile["home"]`` is the entry of a slot, ``"home" in profile`` says whether there is one, and
    a loop goes over all entries.
    """

    name: str
    types: tuple[str, ...]
    aliases: tuple[str, ...]
    entries: tuple[ProfileEntry, ...]

    def __getitem__(self, slot: str) -> ProfileEntry:
        for entry in self.entries:
            if entry.slot == slot:
                return entry
        raise KeyError(slot)

    def __iter__(self) -> Iterator[ProfileEntry]:
        return iter(self.entries)

    def __contains__(self, slot: object) -> bool:
        return any(entry.slot == slot for entry in self.entries)

    def __repr__(self) -> str:
        slots = ", ".join(entry.slot for entry in self.entries)
        return f"<EntityProfile {self.name} ({', '.join(self.types)}): {slots or 'no facts'}>"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Current triples of which only one can be true, because their slot has one value."""

    subject: str
    slot: str
    triples: tuple[Triple, ...]

    def __repr__(self) -> str:
        return f"<Conflict about {self.subject}, {self.slot}: {len(self.triples)} triples>"


@dataclass(frozen=True, slots=True)
class SuspectedDuplicate:
    """Two entities that may be the same. They stay separate until ``merge`` is called."""

    name: str
    type: str
    other: str
    other_type: str
    score: float
    reason: str

    def __repr__(self) -> str:
        return (
            f"<SuspectedDuplicate {self.score:.2f} {self.name} ({self.type}) / "
            f"{self.other} ({self.other_type}): {self.reason}>"
        )


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge of ``name`` into the canonical entity ``into``.

    ``by`` is ``"user"`` or ``"rules"``; ``at`` is when the merge was recorded, and ``undone_at``
    when it was undone, if it was.
    """

    name: str
    type: str
    into: str
    into_type: str
    by: str
    reason: str
    score: float
    at: datetime
    undone_at: datetime | None = None

    def __repr__(self) -> str:
        undone = ", undone" if self.undone_at else ""
        return f"<Merge {self.name} into {self.into} by {self.by}: {self.reason}{undone}>"


# What writers keep of a user beside facts: the core profile and procedures, in versions.

WrittenKind = Literal["profile", "procedure"]


@dataclass(frozen=True, slots=True)
class Written:
    """One version of a text that a writer keeps; the newest version is in force.

    ``chain`` is the same for all versions. ``at`` is when the newest of its sources was said, and
    ``sources`` are the (session, message id) that it was written from. A profile has only a text; a
    procedure has a title, steps, and as its text the context in which it holds.
    """

    kind: WrittenKind
    chain: str
    version: int
    at: datetime
    text: str
    title: str = ""
    steps: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()


def newest_written(
    written: Iterable[Written], kind: WrittenKind, as_of: datetime | None = None
) -> list[Written]:
    """The newest versions of a kind, by chain; with ``as_of``, of what had been said by then."""
    by_chain = {
        version.chain: version
        for version in sorted(written, key=lambda item: item.version)
        if version.kind == kind and (as_of is None or version.at <= as_of)
    }
    return [by_chain[chain] for chain in sorted(by_chain)]


@dataclass(frozen=True, slots=True)
class CoreProfile:
    """What is known of the user in general, as one text. ``version`` counts from 1.

    Earlier versions stay. ``sources`` are the (session, message id) of what was new in this one.
    """

    text: str
    version: int
    at: datetime
    sources: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Procedure:
    """How something is done, step by step. ``uid`` is the same for all of its versions."""

    uid: str
    title: str
    steps: tuple[str, ...]
    context: str
    version: int
    at: datetime
    sources: tuple[tuple[str, str], ...] = ()
