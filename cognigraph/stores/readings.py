"""What was read out of chunks, as an export writes it and an import gives it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from cognigraph.ids import entity_uid, normalise, triple_uid
from cognigraph.resolution import incremental
from cognigraph.resolution.incremental import EntityMap
from cognigraph.resolution.name_forms import given
from cognigraph.states.succession import Ruling, RulingKind
from cognigraph.times import from_micros

Part = tuple[str, int]
"""A chunk of a session: the id of its message, and its part number."""


@dataclass(slots=True)
class Reading:
    """What was read out of one chunk, spelled as the chunk spells it.

    ``mentions`` are [name, type, aliases]; ``facts`` are [subject, type, relation, object, type,
    when, negated, said by, replaces].
    """

    mentions: list[list[Any]] = field(default_factory=list)
    facts: list[list[Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SessionReading:
    """What was read out of a whole session; ``is_whole`` says that all its chunks were read."""

    is_whole: bool
    extractor: str
    parts: Mapping[Part, Reading]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a user decided on two entities, given by name and type; ``into`` is the canonical."""

    a: tuple[str, str]
    b: tuple[str, str]
    verdict: Literal["same", "different"]
    into: tuple[str, str]


@dataclass(frozen=True, slots=True)
class FactName:
    """A triple as it was read, by what identifies it in any space; ends are (name, type)."""

    subject: tuple[str, str]
    relation: str
    object: tuple[str, str]
    when: str | None
    negated: bool

    def uid(self, space: str) -> str:
        """The uid of this triple in a space."""
        return triple_uid(
            space, entity_uid(space, *self.subject), self.relation,
            entity_uid(space, *self.object), self.when, self.negated,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class NamedRuling:
    """What a user said of a fact, as in a :class:`~cognigraph.states.succession.Ruling`."""

    kind: RulingKind
    fact: FactName
    by: FactName | None
    at: datetime | None
    reason: str
    recorded: int

    def ruling(self, space: str) -> Ruling:
        """The same with the uids of a space."""
        by = None if self.by is None else self.by.uid(space)
        return Ruling(self.kind, self.fact.uid(space), self.recorded, by, self.at, self.reason)


def ruling_of(row: Sequence[Any]) -> NamedRuling:
    """A ruling, of a row of a store: kind, at and recorded in microseconds, reason, both facts."""
    kind, at, recorded, reason, *facts = row
    return NamedRuling(
        kind, _fact(facts[:7]), None if facts[7] is None else _fact(facts[7:]),
        None if at is None else from_micros(at), reason, recorded,
    )  # fmt: skip


def _fact(row: Sequence[Any]) -> FactName:
    subject, type, relation, object, other, when, negated = row
    return FactName((subject, type), relation, (object, other), when, bool(negated))


def session_reading(
    mentions: Iterable[Sequence[Any]],
    aliases: Iterable[Sequence[Any]],
    facts: Iterable[Sequence[Any]],
    state: tuple[bool | None, str | None],
) -> SessionReading:
    """What was read out of a session, of rows of a store that begin with message id and part.

    ``mentions``: uid, name, normalised name and type of an entity, and how the chunk spells it.
    ``aliases``: uid of the entity, name, normalised name, spelling. ``facts``: subject, relation,
    object, normalised subject and object, types of both, when, negated, said by, replaces,
    spelling. ``state``: whether all chunks were read, and the extractor.
    """
    parts: dict[Part, Reading] = {}
    known: dict[tuple[Part, str], list[Any]] = {}
    for message, number, uid, name, normalised, type, spelled in mentions:
        part = message, number
        row = [given(spelled, [normalised], [name])[0], type, []]
        known[part, uid] = row
        parts.setdefault(part, Reading()).mentions.append(row)
    for message, number, uid, name, normalised, spelled in aliases:
        if mention := known.get(((message, number), uid)):
            mention[2].append(given(spelled, [normalised], [name])[0])
    for (
        message,
        number,
        *names,
        subject,
        object,
        type,
        other,
        when,
        negated,
        by,
        new,
        spelled,
    ) in facts:
        said = given(spelled, (subject, normalise(names[1]), object), names)
        fact = [said[0], type, said[1], said[2], other, when, bool(negated), by, bool(new)]
        parts.setdefault((message, number), Reading()).facts.append(fact)
    is_whole, extractor = state
    return SessionReading(bool(is_whole), extractor or "", parts)


def decision_of(row: Sequence[Any]) -> Decision:
    """A decision, of a row of a store: names and types of both, verdict, those of ``into``."""
    a, a_type, b, b_type, verdict, into, into_type = row
    return Decision((a, a_type), (b, b_type), verdict, (into, into_type))


def apply_decision(entity_map: EntityMap, space: str, decision: Decision, at: int) -> None:
    """Record a user's decision on two entities, which exist."""
    a, b, into = (entity_uid(space, *end) for end in (decision.a, decision.b, decision.into))
    if decision.verdict == "same":
        incremental.merge(entity_map, b if a == into else a, into, at)
    else:
        incremental.split(entity_map, a, at, b)
