"""From a model's answer to facts and mentions of the window, everything in it checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cognigraph.ids import normalise
from cognigraph.ingest.coreference import Named, Names, lasting_aliases
from cognigraph.ingest.extraction import ENTITY_TYPES, Fact, Mention
from cognigraph.ingest.relation_form import normalise_relation
from cognigraph.ingest.transcript import ANONYMOUS, Turn
from cognigraph.ingest.valid_time import resolve_when
from cognigraph.text import printable

if TYPE_CHECKING:
    from cognigraph.ingest.answers import FactRead, ReadAnswer

MAX_FACTS = 8
"""Facts taken from one turn, on average over a window, and at least ``MIN_FACTS`` a window."""
MIN_FACTS = 48
_SYNONYMS = {
    "human": "person", "people": "person", "individual": "person", "character": "person",
    "org": "organization", "organisation": "organization", "company": "organization",
    "institution": "organization", "place": "location", "city": "location", "country": "location",
    "town": "location", "gpe": "location", "loc": "location", "per": "person",
    "thing": "object", "item": "object", "product": "object", "date": "time", "idea": "concept",
    "topic": "concept", "activity": "event",
}  # fmt: skip
_LONGEST = 300
_WORD = re.compile(r"\w")


@dataclass(slots=True)
class Reading:
    """Facts and entities of a lease, gathered window by window; each fact counts once."""

    turns: Sequence[Turn]
    _facts: dict[tuple[str, ...], Fact] = field(default_factory=dict)
    _entities: dict[str, Named] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)

    def take(self, answer: ReadAnswer, part: range, names: Names) -> None:
        """Take the answer about the turns of ``part``, which it numbers from 1."""
        for entity in answer.entities:
            aliases = tuple(alias for raw in entity.aliases if (alias := clean(raw)))
            names.add(Named(clean(entity.name), entity_type(entity.type), aliases))
        most = max(MIN_FACTS, MAX_FACTS * len(part))
        for place, fact in enumerate(answer.facts):
            if place >= most:
                self.rejected.append(f"{len(answer.facts) - most} facts too many for the window")
                break
            reason = self._take(fact, part, names)
            if reason:
                self.rejected.append(f"{fact.s} {fact.r} {fact.o}"[:100] + f": {reason}")
        self._entities.update((normalise(one.name), one) for one in names.entities)

    def _take(self, fact: FactRead, part: range, names: Names) -> str:
        """Keep a fact; the answer says why not, or nothing."""
        own = sorted({number - 1 for number in fact.t if 1 <= number <= len(part)})
        if not own:
            return "cites no turn of the window"
        relation = normalise_relation(fact.r)
        subject, object = names.find(clean(fact.s), own), names.find(clean(fact.o), own)
        if subject is None or object is None:
            return "names nobody, or nothing, that can be told"
        if not relation.text or not (_WORD.search(subject.name) and _WORD.search(object.name)):
            return "lacks a subject, a relation or an object"
        if normalise(subject.name) == normalise(object.name):
            return "relates a thing to itself"
        if max(len(subject.name), len(relation.text), len(object.name)) > _LONGEST:
            return "is too long"
        places = tuple(part[place] for place in own)
        when = self._when(fact, places)
        for entity in (subject, object):
            self._entities.setdefault(normalise(entity.name), entity)
        self._add(
            Fact(
                subject=subject.name,
                subject_type=subject.type,
                relation=relation.text,
                object=object.name,
                object_type=object.type,
                chunks=places,
                when=when,
                negated=fact.neg or relation.negated,
                said_by=self._said_by(fact, places, own, names),
            )
        )
        if when is None and (fact.when.strip() or fact.words.strip()):
            self.rejected.append(f"{fact.when or fact.words}"[:60] + ": no date can be told")
        return ""

    def _when(self, fact: FactRead, places: Sequence[int]) -> str | None:
        words = fact.words.strip().lower()
        cited = [self.turns[place] for place in places]
        turn = next((one for one in cited if words and words in one.text.lower()), cited[0])
        return resolve_when(fact.words, fact.when, turn.at, turn.text)

    def _said_by(
        self, fact: FactRead, places: Sequence[int], own: Sequence[int], names: Names
    ) -> str | None:
        """Who is quoted; nobody if that is a speaker of the evidence."""
        if not clean(fact.by):
            return None
        found = names.find(clean(fact.by), own)
        speakers = {normalise(self.turns[place].speaker) for place in places}
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
            )  # fmt: skip
        self._facts[key] = fact

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact once, with the types its entities have in the end."""
        return tuple(
            Fact(
                fact.subject, self._type(fact.subject, fact.subject_type), fact.relation,
                fact.object, self._type(fact.object, fact.object_type),
                fact.chunks, fact.when, fact.negated, fact.said_by,
            )
            for fact in self._facts.values()
        )  # fmt: skip

    def _type(self, name: str, type: str) -> str:
        known = self._entities.get(normalise(name))
        return known.type if known is not None else type

    @property
    def entities(self) -> tuple[Named, ...]:
        """The entities, named so that they mean the same in later windows."""
        return tuple(
            Named(one.name, one.type, lasting_aliases(one, self.turns))
            for one in self._entities.values()
        )

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Entities with the chunks that say, name or cite them."""
        places: dict[str, set[int]] = {}
        for place, turn in enumerate(self.turns):
            places.setdefault(normalise(turn.speaker), set()).add(place)
        for fact in self._facts.values():
            for name in (fact.subject, fact.object):
                places.setdefault(normalise(name), set()).update(fact.chunks)
        texts = [f" {normalise(turn.text)} " for turn in self.turns]
        for key, entity in self._entities.items():
            found = places.setdefault(key, set())
            for name in (entity.name, *lasting_aliases(entity, self.turns)):
                found.update(_naming(normalise(name), texts))
        return tuple(
            Mention(one.name, one.type, tuple(sorted(places[normalise(one.name)])), one.aliases)
            for one in self.entities
            if places[normalise(one.name)] and one.name != ANONYMOUS
        )


def _naming(name: str, texts: Iterable[str]) -> list[int]:
    """Places of the texts that have the name as whole words."""
    if len(name) < 2:
        return []
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [place for place, text in enumerate(texts) if name in text and pattern.search(text)]


def clean(name: str) -> str:
    """A name on one line, without control characters and quotes around it."""
    return " ".join(printable(name).split()).strip("\"'`“”‘’").strip()


def entity_type(text: str) -> str:
    """A type of the closed vocabulary, else a single other word, else ``concept``."""
    type_ = normalise(text)
    type_ = _SYNONYMS.get(type_, type_)
    if type_ in ENTITY_TYPES:
        return type_
    return type_ if type_.isalpha() and len(type_) <= 24 else "concept"
