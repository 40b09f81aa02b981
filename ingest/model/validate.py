"""Validate a model's answer and turn it into facts and mentions of the window."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cognigraph.ids import normalise
from cognigraph.ingest.extraction import NO_DATE, Fact, Mention
from cognigraph.ingest.model.coreference import WindowName, WindowNames, lasting_aliases
from cognigraph.ingest.model.event_times import resolve_when
from cognigraph.ingest.model.parse_lines import FactLine, clean, entity_line, fact_line
from cognigraph.ingest.model.relation_names import normalise_relation
from cognigraph.ingest.model.transcript import Turn
from cognigraph.model.roles import ANONYMOUS

if TYPE_CHECKING:
    from cognigraph.ingest.model.answer_schema import ReadAnswer

MAX_FACTS = 8
"""Maximum number of facts per turn, averaged over a window; a window may have ``MIN_FACTS``."""
MIN_FACTS = 48
WRONG_FORM = "does not have the requested form"
NO_TURN = "cites no turn of the window"
STRAY_TURN = "cites a turn that is not in the window"
NOBODY = "names an entity that cannot be identified"
EMPTY = "lacks a subject, a relation or an object"
ITSELF = "relates an entity to itself"
TOO_LONG = "name or relation is too long"
TOO_MANY = "too many facts for the number of turns"
_LONGEST = 300
_SHOWN = 120
_WORD = re.compile(r"\w")


@dataclass(slots=True)
class CheckedAnswer:
    """The facts and entities of a lease, collected part by part and deduplicated."""

    turns: Sequence[Turn]
    _facts: dict[tuple[str, ...], Fact] = field(default_factory=dict)
    _entities: dict[str, WindowName] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)

    def take(self, answer: ReadAnswer, part: range, names: WindowNames) -> None:
        """Add the answer about the turns of ``part``, which the answer numbers from 1."""
        for line in answer.entities:
            entity = entity_line(line)
            if entity is None:
                self.rejected.append(f"{WRONG_FORM}: {_excerpt(line)}")
            else:
                names.add(entity)
        most = max(MIN_FACTS, MAX_FACTS * len(part))
        for line in answer.facts[:most]:
            fact = fact_line(line)
            reason = self._take(fact, part, names) if fact is not None else WRONG_FORM
            if reason:
                self.rejected.append(f"{reason}: {_excerpt(line)}")
        self.rejected += (f"{TOO_MANY}: {_excerpt(line)}" for line in answer.facts[most:])
        self._entities.update((normalise(one.name), one) for one in names.entities)

    def _take(self, fact: FactLine, part: range, names: WindowNames) -> str:
        """Add a fact if it is valid; returns the reason for a rejection, or an empty text."""
        own = sorted({number - 1 for number in fact.turns if 1 <= number <= len(part)})
        if not own:
            return NO_TURN
        if len(own) < len(set(fact.turns)):
            return STRAY_TURN
        relation = normalise_relation(fact.relation)
        subject, object = names.find(fact.subject, own), names.find(fact.object, own)
        if subject is None or object is None:
            return NOBODY
        if not relation.text or not (_WORD.search(subject.name) and _WORD.search(object.name)):
            return EMPTY
        if normalise(subject.name) == normalise(object.name):
            return ITSELF
        if max(len(subject.name), len(relation.text), len(object.name)) > _LONGEST:
            return TOO_LONG
        indices = tuple(part[index] for index in own)
        when = self._when(fact, indices)
        for entity in (subject, object):
            self._entities.setdefault(normalise(entity.name), entity)
        self._add(
            Fact(
                subject=subject.name,
                subject_type=subject.type,
                relation=relation.text,
                object=object.name,
                object_type=object.type,
                chunks=indices,
                when=when,
                negated=relation.negated,
                said_by=self._said_by(fact, indices, own, names),
                replaces=fact.replaces,
            )
        )
        if when is None and (fact.date or fact.words):
            said = f"{subject.name} {relation.text} {object.name}"
            self.rejected.append(
                f"{NO_DATE}: {_excerpt(fact.date or fact.words)} of {_excerpt(said)}"
            )
        return ""

    def _when(self, fact: FactLine, indices: Sequence[int]) -> str | None:
        words = fact.words.lower()
        cited = [self.turns[index] for index in indices]
        turn = next((one for one in cited if words and words in one.text.lower()), cited[0])
        return resolve_when(fact.words, fact.date, turn.at, turn.text)

    def _said_by(
        self, fact: FactLine, indices: Sequence[int], own: Sequence[int], names: WindowNames
    ) -> str | None:
        """The quoted person; ``None`` if that is a speaker of the evidence."""
        if not fact.source:
            return None
        found = names.find(fact.source, own)
        speakers = {normalise(self.turns[index].speaker) for index in indices}
        return found.name if found and normalise(found.name) not in speakers else None

    def _add(self, fact: Fact) -> None:
        key = (
            normalise(fact.subject), fact.relation, normalise(fact.object), fact.when or "",
            "not" if fact.negated else "", normalise(fact.said_by or ""),
        )  # fmt: skip
        old = self._facts.get(key)
        if old is not None:
            fact = Fact(
                old.subject, old.subject_type, old.relation, old.object, old.object_type,
                tuple(sorted({*old.chunks, *fact.chunks})), old.when, old.negated, old.said_by,
                old.replaces or fact.replaces,
            )  # fmt: skip
        self._facts[key] = fact

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts, with the final types of their entities."""
        return tuple(
            Fact(
                fact.subject, self._type(fact.subject, fact.subject_type), fact.relation,
                fact.object, self._type(fact.object, fact.object_type),
                fact.chunks, fact.when, fact.negated, fact.said_by, fact.replaces,
            )
            for fact in self._facts.values()
        )  # fmt: skip

    def _type(self, name: str, type: str) -> str:
        known = self._entities.get(normalise(name))
        return known.type if known is not None else type

    @property
    def entities(self) -> tuple[WindowName, ...]:
        """All entities, with only those aliases that keep their meaning in later windows."""
        return tuple(
            WindowName(one.name, one.type, lasting_aliases(one, self.turns))
            for one in self._entities.values()
        )

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """All entities, each with the chunks it speaks or is named in, and those its facts cite."""
        indices: dict[str, set[int]] = {}
        for index, turn in enumerate(self.turns):
            indices.setdefault(normalise(turn.speaker), set()).add(index)
        for fact in self._facts.values():
            for name in (fact.subject, fact.object):
                indices.setdefault(normalise(name), set()).update(fact.chunks)
        texts = [f" {normalise(turn.text)} " for turn in self.turns]
        for key, entity in self._entities.items():
            found = indices.setdefault(key, set())
            for name in (entity.name, *lasting_aliases(entity, self.turns)):
                found.update(_naming(normalise(name), texts))
        return tuple(
            Mention(one.name, one.type, tuple(sorted(indices[normalise(one.name)])), one.aliases)
            for one in self.entities
            if indices[normalise(one.name)] and one.name != ANONYMOUS
        )


def _excerpt(line: str) -> str:
    return clean(line)[:_SHOWN]


def _naming(name: str, texts: Iterable[str]) -> list[int]:
    """The indices of the texts that contain the name as whole words."""
    if len(name) < 2:
        return []
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [index for index, text in enumerate(texts) if name in text and pattern.search(text)]
