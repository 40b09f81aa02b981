"""The messages of a prompt block: which ones, which parts of each, and how they are written."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import NamedTuple

from cognigraph.english.sentences import sentence_spans
from cognigraph.english.words import PLEASANTRIES
from cognigraph.model import Hit, Triple
from cognigraph.retrieve.block_lines import Background, Before, day, message_head, true_when
from cognigraph.retrieve.excerpt.units import (
    MessageUnits,
    Unit,
    best_worths,
    prose,
    segment,
    shown_text,
)
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.search import MessageKey, key_of
from cognigraph.text.marks import INDENT
from cognigraph.text.terms import QUESTION_MARKS, STOP_WORDS, is_question, remembered, terms, words

_HALF_RANK, _FALL = 3.0, 1.4
"""The worth of a message falls with its rank r (from 0) as (1 + r / 3) ** -1.4, as measured."""

_OVERVIEW_FALL = 0.5
"""The same exponent for an overview, whose messages are all wanted."""

_DOUBT = 0.15
"""Added to the probability of its best unit: what a message is worth whose words do not match."""

_SHARP = 1.3
"""Exponent of the probabilities of units: above 1, fewer units of more messages are shown."""

_PEOPLE = 4
"""A message between people is cut only at this many times the length at which one of a user or an
assistant is cut."""

_SAID_BY_FACT = 0.3
"""The share of its worth that a unit keeps if a fact in the block already says the same."""

_ASKED, _ASKED_SHORT = 0.1, 0.5
"""The share of a message's worth that the question before it has. The second is for messages of at
most ``_SHORT_ANSWER`` characters, because "Yes, next week" alone tells nothing."""
_SHORT_ANSWER = 40
_LONGEST_QUESTION = 120
_TAIL = 400
"""Characters at the end of a message in which its last question is looked for."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as it is shown.

    ``text`` is its item without the label. ``spans`` are the parts shown, as (start, end) in the
    message's text or in that of its part ``part``; empty for a message that is shown whole.
    ``asked`` is the id of the message whose question is quoted. A correction is shown with the
    message that it ``corrects``, as number ``place`` after it. ``has_note`` says that its item ends
    with a note on what is no longer true.
    """

    hit: Hit
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    part: int | None = None
    asked: str | None = None
    corrects: Hit | None = None
    place: int = 0
    has_note: bool = False


@dataclass(frozen=True, slots=True)
class _DividedMessage:
    """A message that may be shown; ``groups`` are the units that are shown together.

    ``question`` is that of the message ``before`` it; empty if that one asks nothing.
    """

    hit: Hit
    text: str
    is_whole: bool
    units: tuple[Unit, ...]
    groups: tuple[tuple[int, ...], ...]
    question: str
    before: Before | None
    head: str
    """What stands before the text."""
    asked_head: str
    """The same with the question."""

    @property
    def all_groups(self) -> tuple[int, ...]:
        """The numbers of all groups."""
        return tuple(range(len(self.groups)))

    def shown(self, groups: Sequence[int]) -> Shown:
        """The message with these groups; the number after the last one means the question."""
        asked = len(self.groups) in groups
        chosen = sorted(
            unit for group in groups if group < len(self.groups) for unit in self.groups[group]
        )
        all_shown = len(chosen) == len(self.units)
        return Shown(
            self.hit,
            shown_text(self.asked_head if asked else self.head, self.text, self.units, chosen),
            () if all_shown and self.is_whole else _spans(self.units, chosen),
            None if self.is_whole else self.hit.part,
            self.before.id if asked and self.before else None,
        )


def _spans(units: Sequence[Unit], chosen: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Spans of the chosen units; neighbours are joined."""
    spans: list[tuple[int, int]] = []
    before = -2
    for index in chosen:
        unit = units[index]
        if index == before + 1:
            spans[-1] = (spans[-1][0], unit.end)
        else:
            spans.append((unit.start, unit.end))
        before = index
    return tuple(spans)


Fit = Callable[[Sequence[Shown], Sequence[Shown]], bool]
"""Called with messages, of which the first replace those in the second list: says whether there is
room, and then takes them."""


class Messages:
    """The hits of a result (best first), of which some are chosen, in whole or in part.

    :meth:`choose` may be called again with fewer facts and thus more room: what does not depend on
    them is computed once. A message of up to ``short`` characters is not cut; ``None`` cuts none.
    """

    def __init__(
        self,
        hits: Sequence[Hit],
        background: Background,
        analyses: Sequence[Analysis],
        *,
        short: int | None,
        zone: tzinfo,
    ) -> None:
        self._hits = hits
        self._first = repeated([(hit.speaker or "", hit.text) for hit in hits])
        self._chains = _Chains(hits, background.corrections)
        self._divided = [_divided(hit, background, short, zone) for hit in self._chains.hits]
        self._units = [_units(message) for message in self._divided[: len(hits)]]
        self._worths = best_worths(self._units, analyses, background.idf)
        self._fall = _OVERVIEW_FALL if background.overview else _FALL
        self._written: dict[tuple[int, tuple[int, ...]], Shown] = {}

    def choose(
        self,
        facts: Sequence[Triple],
        fits: Fit,
        ending: Callable[[Hit], str] = lambda hit: "",
    ) -> list[Shown]:
        """Choose what is shown beside the facts, in the order in which it was chosen.

        A message comes with what corrects it, or not at all. ``ending`` gives what is added to the
        item of a hit.
        """
        hits, first, chains, divided = self._hits, self._first, self._chains, self._divided
        offers = self._offers(facts)
        ends: dict[int, str] = {}
        shown: dict[int, Shown] = {}
        chosen: dict[int, tuple[int, ...]] = {}

        def ended(index: int, groups: Sequence[int]) -> Shown:
            if index not in ends:
                ends[index] = ending(chains.hits[index])
            key = index, tuple(groups)
            if key not in self._written:
                self._written[key] = divided[index].shown(groups)
            return _ended(self._written[key], ends[index])

        def take(index: int, groups: tuple[int, ...]) -> bool:
            wanted = {other: divided[other].all_groups for other in chains.after(index)}
            wanted[index] = groups
            for other, own in wanted.items():  # what was shown as a correction is not cut later
                wanted[other] = tuple(sorted({*own, *chosen.get(other, ())}))
            changed = [other for other, own in wanted.items() if chosen.get(other) != own]
            changed.sort(key=lambda other: other not in shown)
            new = [ended(other, wanted[other]) for other in changed]
            before = [shown[other] for other in changed if other in shown]
            if not fits(new, before):
                return False
            shown.update(zip(changed, new, strict=True))
            chosen.update(wanted)
            return True

        ranks = [rank for rank in range(len(hits)) if first[rank] == rank]
        choose_units([offers[rank] for rank in ranks], lambda n, groups: take(ranks[n], groups))
        for rank, before in enumerate(first):
            # A repetition in another session shows that the statement held at that time, too.
            if hits[rank].session != hits[before].session:
                take(rank, divided[rank].all_groups)
        texts = {key_of(item.hit): item.text for item in shown.values()}
        for index, item in shown.items():  # a question that its own message shows is not quoted
            asked = texts.get((item.hit.session, item.asked), "") if item.asked else ""
            if asked and prose(divided[index].question) in asked:
                groups = [group for group in chosen[index] if group in divided[index].all_groups]
                shown[index] = ended(index, groups)
        return [chains.placed(index, item, shown) for index, item in shown.items()]

    def _offers(self, facts: Sequence[Triple]) -> list[Offer]:
        """What each hit may contribute beside the facts."""
        stated = _stated(facts)
        offers = []
        for rank, (message, units, worths) in enumerate(
            zip(self._divided, self._units, self._worths, strict=False)
        ):
            own = stated.get(key_of(message.hit), [])
            values = [
                value * _SAID_BY_FACT if own and _is_said(text, own) else value
                for value, text in zip(worths.tolist(), units.texts, strict=True)
            ]
            worth = (1 + rank / _HALF_RANK) ** -self._fall * (_DOUBT + max(values, default=0.0))
            sharp = [value**_SHARP for value in values]
            total = sum([value**_SHARP for value in worths.tolist()]) if own else sum(sharp)
            offers.append(_offer(message, worth, sharp, total))
        return offers


class _Chains:
    """The hits and, after them, the messages that correct them and are no hits themselves."""

    def __init__(self, hits: Sequence[Hit], corrections: Mapping[MessageKey, Hit]) -> None:
        by_key = {key_of(hit): hit for hit in hits}
        self.hits = list(hits)
        for hit in self.hits:  # grows by the corrections, which may have been corrected
            correction = corrections.get(key_of(hit))
            if correction and (key := key_of(correction)) not in by_key:
                by_key[key] = correction
                self.hits.append(correction)
        index = {key_of(hit): position for position, hit in enumerate(self.hits)}
        self._next = {
            index[key]: index[key_of(hit)] for key, hit in corrections.items() if key in index
        }
        self._corrected = {after: index for index, after in self._next.items()}

    def after(self, index: int) -> list[int]:
        """The corrections of a message, the last one first."""
        found: list[int] = []
        while (index := self._next.get(index, -1)) >= 0 and index not in found:
            found.insert(0, index)
        return found

    def placed(self, index: int, item: Shown, shown: Mapping[int, Shown]) -> Shown:
        """The item, with the first message of its chain that is shown."""
        place, first = 0, index
        while (before := self._corrected.get(first, -1)) in shown and place < len(self.hits):
            place, first = place + 1, before
        return replace(item, corrects=self.hits[first], place=place) if place else item


def _ended(item: Shown, added: str) -> Shown:
    """The item with its ending; behind code or a table that is a line of its own."""
    if not added:
        return item
    last = item.text.rsplit("\n", 1)[-1]
    if last.startswith((f"{INDENT}`", f"{INDENT}|")):
        added = f"\n{INDENT}{added.strip()}"
    return replace(item, text=item.text + added, has_note=True)


def _divided(hit: Hit, background: Background, short: int | None, zone: tzinfo) -> _DividedMessage:
    key = key_of(hit)
    whole = background.whole.get(key, hit.text if hit.parts == 1 else None)
    text = hit.text if whole is None else whole
    units = segment(text) or (Unit(0, len(text), "sentence", 0),)
    divisible = short is not None and len(text) > (short if hit.role else _PEOPLE * short)
    everything = tuple(range(len(units)))
    before = background.before.get(key)
    question = _question(before.text) if before else ""
    head = message_head(hit, zone)
    return _DividedMessage(
        hit,
        text,
        whole is not None,
        units,
        tuple((index,) for index in everything) if divisible else (everything,),
        question,
        before,
        head,
        message_head(hit, zone, question) if question else head,
    )


def _units(message: _DividedMessage) -> MessageUnits:
    texts = tuple(message.text[unit.start : unit.end] for unit in message.units)
    return MessageUnits(texts, message.hit.role == "user")


def _question(text: str) -> str:
    """The last question of a text in its short form; empty if it has none, or a long one."""
    tail = text[-_TAIL:]
    if QUESTION_MARKS.isdisjoint(tail):
        return ""
    for start, end in reversed(list(sentence_spans(tail))):
        asked = tail[start:end]
        if is_question(asked):
            return asked if len(asked) <= _LONGEST_QUESTION else ""
    return ""


def _stated(facts: Sequence[Triple]) -> dict[MessageKey, list[Content]]:
    """What the facts say, by the messages that they were read from."""
    stated: dict[MessageKey, list[Content]] = {}
    for fact in facts:
        for source in fact.sources:
            stated.setdefault((source.session, source.id), []).append(content(fact.text))
    return stated


def _is_said(text: str, facts: Sequence[Content]) -> bool:
    said = content(text)
    return any(is_said_by(said, fact) for fact in facts)


def _offer(message: _DividedMessage, worth: float, values: Sequence[float], total: float) -> Offer:
    """What a message may contribute, by its groups and then the question that it answers.

    ``worth`` is that of the message, ``values`` are those of its units, and ``total`` is their sum,
    unless a fact says some of them: then it is what their sum would be without the fact.
    """
    shares = [sum(values[unit] for unit in group) / total for group in message.groups]
    costs = [
        sum(_tokens(message.units[unit].end - message.units[unit].start) for unit in group)
        for group in message.groups
    ]
    needs: list[tuple[int, ...]] = [()]  # a message in one group is shown whole
    if len(message.groups) == len(message.units):
        needs = [unit.needs for unit in message.units]
    if message.question:
        best = max(range(len(shares)), key=lambda index: shares[index])
        shares.append(_ASKED_SHORT if len(message.text) <= _SHORT_ANSWER else _ASKED)
        costs.append(_tokens(len(message.question)) + 4)
        needs.append((best,))
    head = _tokens(len(message.head)) + 8
    return Offer(worth, tuple(shares), tuple(costs), tuple(needs), head)


def _tokens(characters: int) -> float:
    return characters / 4 + 1


# Choose what to show of which message under a budget, by worth per token.
#
# Every message offers steps: a first one with the units that are worth most per token, its header
# included, then its other units one by one. Steps of all messages are taken in the order of their
# worth per token, so that a second sentence of a good message competes with the first of a weaker
# one. Pure functions on numbers; what a step costs in the end is asked of the caller.


@dataclass(frozen=True, slots=True)
class Offer:
    """What one message may contribute.

    ``worth`` is that of the message, ``shares`` are the fractions of it that its units have,
    ``costs`` estimates of their tokens, ``header`` of what is shown once. ``needs`` lists for each
    unit the units without which it is not shown.
    """

    worth: float
    shares: tuple[float, ...]
    costs: tuple[float, ...]
    needs: tuple[tuple[int, ...], ...]
    header: float


@dataclass(frozen=True, slots=True)
class Step:
    """Units to add to what is shown of a message, and their worth per token."""

    density: float
    units: tuple[int, ...]


Take = Callable[[int, tuple[int, ...]], bool]
"""Called with a message's index and all units to show of it; False if they do not fit."""


def with_needed(unit: int, needs: Sequence[tuple[int, ...]]) -> set[int]:
    """A unit with all that it needs, directly or not."""
    found, waiting = {unit}, [unit]
    while waiting:
        for other in needs[waiting.pop()]:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def steps(offer: Offer) -> list[Step]:
    """The steps of a message, densest first; each adds to those before it."""
    parts = _parts(offer)
    gain = cost = 0.0
    best, size = -1.0, 0
    for number, (_, worth, tokens) in enumerate(parts, 1):
        gain, cost = gain + worth, cost + tokens
        if gain / (offer.header + cost) > best:
            best, size = gain / (offer.header + cost), number
    first = tuple(sorted(unit for units, _, _ in parts[:size] for unit in units))
    rest = [Step(worth / max(tokens, 1e-9), units) for units, worth, tokens in parts[size:]]
    return [Step(best, first), *rest]


def _parts(offer: Offer) -> list[tuple[tuple[int, ...], float, float]]:
    """Units with what they need, their worth and their cost, densest first, none twice."""
    shares, costs, needs = offer.shares, offer.costs, offer.needs
    spread = offer.header / 4  # of the header, so that very short units do not come first
    density = [
        share / (cost + spread)
        if not needed
        else _sum(shares, with_needed(unit, needs))
        / (_sum(costs, with_needed(unit, needs)) + spread)
        for unit, (share, cost, needed) in enumerate(zip(shares, costs, needs, strict=True))
    ]
    taken: set[int] = set()
    parts = []
    for unit in sorted(range(len(shares)), key=lambda unit: (-density[unit], unit)):
        if unit in taken:
            continue
        new = with_needed(unit, needs) - taken if needs[unit] else {unit}
        taken |= new
        parts.append((tuple(sorted(new)), offer.worth * _sum(shares, new), _sum(costs, new)))
    return parts


def _sum(values: Sequence[float], units: set[int]) -> float:
    return sum([values[unit] for unit in sorted(units)])


_MOST_REFUSALS = 12


def choose_units(offers: Sequence[Offer], take: Take) -> dict[int, tuple[int, ...]]:
    """Choose units of the messages (best message first) as long as ``take`` accepts them.

    The first message is served first, so that it is never crowded out: with less than its first
    step if that does not fit. A step that does not fit does not stop others, unless a dozen in
    succession did not.
    """
    plans = [steps(offer) for offer in offers]
    shown: dict[int, tuple[int, ...]] = {}
    waiting = [(-plan[0].density, index, 0) for index, plan in enumerate(plans) if index]
    heapq.heapify(waiting)
    if plans:
        first = _smallest_first(plans[0], offers[0], take)
        if first:
            shown[0] = first
            heapq.heappush(waiting, (-plans[0][0].density, 0, 0))
    refused = 0
    while waiting and refused < _MOST_REFUSALS:
        _, index, number = heapq.heappop(waiting)
        before = set(shown.get(index, ()))
        # A unit of an earlier step that it needs is missing if that step did not fit.
        added = _all_needed(plans[index][number].units, offers[index])
        units = tuple(sorted(before | added))
        if len(units) > len(before):
            if take(index, units):
                shown[index], refused = units, 0
            else:
                refused += 1
                if not before:
                    continue
        if number + 1 < len(plans[index]):
            heapq.heappush(waiting, (-plans[index][number + 1].density, index, number + 1))
    return shown


def _smallest_first(plan: Sequence[Step], offer: Offer, take: Take) -> tuple[int, ...]:
    """What is taken of the best message: its first step, else the best part that fits."""
    smaller = (tuple(sorted(_all_needed(units, offer))) for units, _, _ in _parts(offer))
    return next((units for units in (plan[0].units, *smaller) if units and take(0, units)), ())


def _all_needed(units: Sequence[int], offer: Offer) -> set[int]:
    return {need for unit in units for need in with_needed(unit, offer.needs)}


# Which texts say the same: equal content words, numbers and polarity.

_COMPARED = 400
_SIMILAR_LENGTH = 0.5

SAME = 0.9
"""Share of common content words from which two texts say the same."""

_NEGATIONS = frozenset("not no never none neither nor cannot without hardly".split())


class Content(NamedTuple):
    """What a text says: its content words, and what makes two texts with the same words differ."""

    words: frozenset[int]
    exact: frozenset[int]


def content(text: str) -> Content:
    """Content words of a text, as hashes; numbers and negations are compared exactly."""
    return remembered(("content", hash(text)), lambda: _content(text))


def _content(text: str) -> Content:
    found = frozenset(words(text))
    exact = frozenset(
        word for word in found if not word.isalpha() or word in _NEGATIONS or word.endswith("nt")
    )
    told = found - STOP_WORDS - PLEASANTRIES or found
    return Content(frozenset(map(hash, told)), frozenset(map(hash, exact)))


def says_the_same(first: Content, second: Content) -> bool:
    """Whether two texts are near-duplicates of each other."""
    if first.exact != second.exact:
        return False
    union = len(first.words | second.words)
    return union == 0 or len(first.words & second.words) >= SAME * union


def repeated(messages: Sequence[tuple[str, str]]) -> list[int]:
    """For each message (speaker, text) the index of the first one that says the same, or its own.

    Only what one speaker says is compared. Of long texts the beginning and the length are.
    """
    first: list[int] = []
    seen: dict[str, list[tuple[int, int, Content]]] = {}
    for index, (speaker, text) in enumerate(messages):
        own, size, said = content(text[:_COMPARED]), len(text), seen.setdefault(speaker, [])
        same = (
            other
            for other, length, before in said
            if abs(length - size) <= _SIMILAR_LENGTH * max(length, size)
            and says_the_same(own, before)
        )
        first.append(next(same, index))
        if first[-1] == index:
            said.append((index, size, own))
    return first


def is_said_by(text: Content, fact: Content) -> bool:
    """Whether a fact says all that a text does."""
    if not text.words or not text.exact <= fact.exact:
        return False
    return len(text.words & fact.words) >= SAME * len(text.words)


# Facts that a shown message states in the same words: in a block they would be said twice.

_STATED = 0.75
"""Share of a fact's words, beside its subject, that the message has if it states the fact."""


def told_again(facts: Sequence[Triple], shown: Mapping[MessageKey, str], zone: tzinfo) -> set[str]:
    """Uids of the facts that one of the shown texts states, so that they tell a reader nothing new.

    A fact tells more than its message if it says when it is true, and that is not the day on which
    it was said, or if it does not hold any more.
    """
    said: dict[str, frozenset[str]] = {}
    found = set()
    for fact in facts:
        if _tells_more(fact, zone):
            continue
        wanted = frozenset(terms(f"{fact.relation} {fact.object}"))
        for source in fact.sources:
            text = shown.get((source.session, source.id))
            if text is None:
                continue
            own = said.setdefault(text, frozenset(terms(text)))
            if wanted and len(wanted & own) >= _STATED * len(wanted):
                found.add(fact.uid)
                break
    return found


def _tells_more(fact: Triple, zone: tzinfo) -> bool:
    when = true_when(fact, zone)
    is_told = not when or when == day(fact.last_observed, zone)
    return not is_told or fact.superseded_by is not None or fact.status != "current"
