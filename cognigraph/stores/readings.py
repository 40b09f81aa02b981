"""What was read out of chunks, as an export writes it and an import gives it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from cognigraph.ids import entity_uid, normalise, triple_uid
from cognigraph.resolution.spelling import given
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


class Collector:
    """Puts rows of a store together to readings."""

    def __init__(self) -> None:
        self.parts: dict[Part, Reading] = {}
        self._mentions: dict[tuple[Part, str], list[Any]] = {}

    def mention(
        self, part: Part, uid: str, name: str, normalised: str, type: str, spelled: str | None
    ) -> None:
        """An entity that a chunk mentions."""
        said = given(spelled, [normalised], [name])[0]
        self._mentions[part, uid] = row = [said, type, []]
        self.parts.setdefault(part, Reading()).mentions.append(row)

    def alias(
        self, part: Part, entity: str, name: str, normalised: str, spelled: str | None
    ) -> None:
        """Another name that a chunk gives an entity that it mentions."""
        if mention := self._mentions.get((part, entity)):
            mention[2].append(given(spelled, [normalised], [name])[0])

    def fact(
        self,
        part: Part,
        names: tuple[str, str, str],
        normalised: tuple[str, str],
        types: tuple[str, str],
        rest: tuple[str | None, bool, str | None, bool],
        spelled: str | None,
    ) -> None:
        """A triple that a chunk is evidence for."""
        normal = normalised[0], normalise(names[1]), normalised[1]
        subject, relation, object = given(spelled, normal, names)
        row = [subject, types[0], relation, object, types[1], *rest]
        self.parts.setdefault(part, Reading()).facts.append(row)
