"""Validate a model's answer and turn it into facts and mentions of the window.

The time of a fact comes from the time words of a turn and the date given by the model, which quotes
the words reliably but miscounts days. Words with one possible date ("last Tuesday", "two weeks
ago") are therefore resolved here, relative to the date of their turn. For words whose date depends
on the tense ("on Monday", "June 29"), the model's date is used if it fits them. A time that is not
a date is dropped, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from cognigraph.english.sentences import Token, sentences, tokenise
from cognigraph.english.sentences import clean as clean_text
from cognigraph.english.times.find import Tense, find_times
from cognigraph.english.times.readers import CERTAIN
from cognigraph.english.words import word_set
from cognigraph.ids import normalise
from cognigraph.ingest.extraction import NO_DATE, Fact, Mention, shortened
from cognigraph.ingest.model.parse_lines import (
    FactLine,
    entity_line,
    fact_line,
    normalise_relation,
)
from cognigraph.ingest.model.transcript import Turn, WindowName, WindowNames, lasting_aliases
from cognigraph.model.messages import ANONYMOUS
from cognigraph.times import When, parse_when

if TYPE_CHECKING:
    from cognigraph.ingest.model.answer_schema import ReadAnswer

_JOINING = frozenset(("to", "until", "till", "and", "-", "–", "through"))
_TIMES_LONGEST = 120
_FILLING = word_set(
    """in on at during by since from over until till of the a an this it was soon to
    and through between around about early late mid day morning afternoon evening night"""
)
"""Words next to a time expression that do not change its date."""
_MOVING = word_set("before after")
_KNOWN_MOVED = word_set("yesterday tomorrow")
_HABITUAL = word_set("every each daily weekly monthly yearly usually often always")


def resolve_when(words: str, date: str, said_at: datetime, text: str) -> str | None:
    """The event time in canonical form; ``None`` if it cannot be determined.

    Args:
        words: the time words quoted from the turn, or empty.
        date: the date or interval given by the model, or empty.
        said_at: when the turn was said, in the speaker's timezone.
        text: the text of the turn, used for the tense around the words.
    """
    given = parse_when(_in_utc(date, said_at.tzinfo))
    tokens = tuple(tokenise(clean_text(words[:_TIMES_LONGEST])))
    if any(token.low in _HABITUAL for token in tokens):
        return None
    meant = _readings(tokens, said_at)
    if meant is None:  # no words, or words that the rules cannot resolve
        return given.text if given else None
    dates = [parse_when(item) for item in meant]
    if given is not None and (fitting := _fitting(given, dates)) is not None:
        return fitting
    if len(meant) == 1:
        return dates[0].text if dates[0] else None
    return _in_context(words, text, said_at) or (given.text if given else None)


def _in_utc(date: str, zone: tzinfo | None) -> str:
    """Convert times of day from the speaker's timezone to UTC; leave days, months and years."""
    parts = []
    for part in date.strip().split("/"):
        try:
            moment = datetime.fromisoformat(part.strip()) if ":" in part else None
        except ValueError:
            moment = None
        if moment is not None and moment.tzinfo is None:
            try:
                moment = moment.replace(tzinfo=zone or UTC).astimezone(UTC)
            except OverflowError:
                moment = None
            part = f"{moment:%Y-%m-%dT%H:%M}" if moment and moment.year >= 1000 else part
        parts.append(part.strip())
    return "/".join(parts)


def _readings(tokens: tuple[Token, ...], said_at: datetime) -> tuple[str, ...] | None:
    """The possible dates of the words, read as past and as future; ``None`` if unresolved.

    A time expression without a date ("a few years ago") gives an empty text.
    """
    lows = {token.low for token in tokens}
    if lows & _MOVING and not lows & _KNOWN_MOVED:
        return None
    past, future = (_read(tokens, said_at, Tense(side, CERTAIN)) for side in (-1, 1))
    if past is None or future is None:
        return None
    return tuple(dict.fromkeys(when for when in (past, future) if when)) or ("",)


def _read(tokens: Sequence[Token], said_at: datetime, tense: Tense) -> str | None:
    spans = find_times(tokens, said_at, tense)
    timed = {index for span in spans for index in range(span.start, span.end)}
    if any(
        index not in timed and token.kind != "mark" and token.low not in _FILLING
        for index, token in enumerate(tokens)
    ):
        return None  # some words are not covered, as in "two days after last Monday"
    if len(spans) == 1:
        return spans[0].when
    if len(spans) == 2 and all(span.when and "/" not in span.when for span in spans):
        between = {token.low for token in tokens[spans[0].start : spans[1].end]}
        if between & _JOINING:
            return f"{spans[0].when}/{spans[1].when}"
    return None


def _fitting(given: When, dates: Sequence[When | None]) -> str | None:
    """The model's date if the words allow it: the same date, or a time of day on that date."""
    for date in dates:
        if date is None:
            continue
        if given.text == date.text:
            return given.text
        if "T" in given.text and date.start <= given.start and given.end <= date.end:
            return given.text
    return None


def _in_context(words: str, text: str, said_at: datetime) -> str | None:
    """Resolve the words within their sentence, whose tense decides between past and future."""
    wanted = [token.low for token in tokenise(clean_text(words)) if token.kind != "mark"]
    for sentence in sentences(text):
        lows = [token.low for token in sentence.tokens]
        place = _place(wanted, lows)
        if place is None:
            continue
        fitting = [
            span.when
            for span in find_times(sentence.tokens, said_at)
            if span.when and span.start < place[1] and place[0] < span.end
        ]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _place(wanted: Sequence[str], lows: Sequence[str]) -> tuple[int, int] | None:
    """Where the wanted words stand, as start and end."""
    for start in range(len(lows) - len(wanted) + 1):
        if lows[start : start + len(wanted)] == wanted:
            return start, start + len(wanted)
    return None


MAX_FACTS = 8
"""Maximum number of facts per turn, averaged over a window; a window may have ``MIN_FACTS``."""
MIN_FACTS = 48
WRONG_FORM = "does not have the requested form"
NO_TURN = "cites no turn of the window"
STRAY_TURN = "cites a turn that is not in the window"
NOBODY = "names an entity that cannot be identified"
EMPTY = "lacks a subject, a relation or an object"
ITSELF = "relates an entity to itself"
TOO_MANY = "too many facts for the number of turns"
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
                self.rejected.append(f"{WRONG_FORM}: {shortened(line)}")
            else:
                names.add(entity)
        most = max(MIN_FACTS, MAX_FACTS * len(part))
        for line in answer.facts[:most]:
            fact = fact_line(line)
            reason = self._take(fact, part, names) if fact is not None else WRONG_FORM
            if reason:
                self.rejected.append(f"{reason}: {shortened(line)}")
        self.rejected += (f"{TOO_MANY}: {shortened(line)}" for line in answer.facts[most:])
        self._entities.update((normalise(item.name), item) for item in names.entities)

    def take_facts(self, facts: Iterable[FactLine], names: WindowNames) -> None:
        """Add parsed facts about all turns."""
        for fact in facts:
            if reason := self._take(fact, range(len(self.turns)), names):
                said = f"{fact.subject} {fact.relation} {fact.object}"
                self.rejected.append(f"{reason}: {shortened(said)}")
        self._entities.update((normalise(entity.name), entity) for entity in names.entities)

    def _take(self, fact: FactLine, part: range, names: WindowNames) -> str:
        """Add a fact if it is valid; returns the reason for a rejection, or an empty text."""
        own = sorted({number - 1 for number in fact.turns if 1 <= number <= len(part)})
        if not own:
            return NO_TURN
        if len(own) < len(set(fact.turns)):
            return STRAY_TURN
        relation = normalise_relation(fact.relation)
        subject, object = names.find(fact.subject, own), names.find(fact.object, own)
        if not fact.object and relation.text:  # "Vera retires": what happened is the object
            object = WindowName(relation.text, "event")
        if subject is None or object is None:
            return NOBODY
        if not relation.text or not (_WORD.search(subject.name) and _WORD.search(object.name)):
            return EMPTY
        if normalise(subject.name) == normalise(object.name):
            return ITSELF
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
                supersedes=fact.supersedes,
            )
        )
        if when is None and (fact.date or fact.words):
            said = f"{subject.name} {relation.text} {object.name}"
            self.rejected.append(
                f"{NO_DATE}: {shortened(fact.date or fact.words)} of {shortened(said)}"
            )
        return ""

    def _when(self, fact: FactLine, indices: Sequence[int]) -> str | None:
        words = fact.words.lower()
        cited = [self.turns[index] for index in indices]
        turn = next(
            (candidate for candidate in cited if words and words in candidate.text.lower()),
            cited[0],
        )
        return resolve_when(fact.words, fact.date, turn.at, turn.text)

    def _said_by(
        self, fact: FactLine, indices: Sequence[int], own: Sequence[int], names: WindowNames
    ) -> str | None:
        """The quoted person; ``None`` if that is a speaker of the evidence."""
        if not fact.source:
            return None
        speaker = names.find(fact.source, own)
        speakers = {normalise(self.turns[index].speaker) for index in indices}
        return speaker.name if speaker and normalise(speaker.name) not in speakers else None

    def _add(self, fact: Fact) -> None:
        key = (
            normalise(fact.subject), fact.relation, normalise(fact.object), fact.when or "",
            "not" if fact.negated else "", normalise(fact.said_by or ""),
        )  # fmt: skip
        old = self._facts.get(key)
        if old is not None:
            fact = replace(
                old,
                chunks=tuple(sorted({*old.chunks, *fact.chunks})),
                replaces=old.replaces or fact.replaces,
                supersedes=tuple(dict.fromkeys((*old.supersedes, *fact.supersedes))),
            )
        self._facts[key] = fact

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts, with the final types of their entities."""
        return tuple(
            replace(
                fact,
                subject_type=self._type(fact.subject, fact.subject_type),
                object_type=self._type(fact.object, fact.object_type),
            )
            for fact in self._facts.values()
        )

    def _type(self, name: str, type: str) -> str:
        known = self._entities.get(normalise(name))
        return known.type if known is not None else type

    @property
    def entities(self) -> tuple[WindowName, ...]:
        """All entities, with only those aliases that keep their meaning in later windows."""
        return tuple(
            WindowName(entity.name, entity.type, lasting_aliases(entity, self.turns))
            for entity in self._entities.values()
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
            positions = indices.setdefault(key, set())
            for name in (entity.name, *lasting_aliases(entity, self.turns)):
                positions.update(_naming(normalise(name), texts))
        return tuple(
            Mention(
                item.name, item.type, tuple(sorted(indices[normalise(item.name)])), item.aliases
            )
            for item in self.entities
            if indices[normalise(item.name)] and item.name != ANONYMOUS
        )


def _naming(name: str, texts: Iterable[str]) -> list[int]:
    """The indices of the texts that contain the name as whole words."""
    if len(name) < 2:
        return []
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [index for index, text in enumerate(texts) if name in text and pattern.search(text)]
