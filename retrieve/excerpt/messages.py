"""The messages of a prompt block: which ones, which parts of each, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from cognigraph.english.sentences import sentence_spans
from cognigraph.model import Hit, Triple
from cognigraph.retrieve.block_lines import message_head
from cognigraph.retrieve.excerpt.background import Background, Before, MessageKey
from cognigraph.retrieve.excerpt.choose import Offer, choose
from cognigraph.retrieve.excerpt.repeats import Content, content, is_said_by, repeated
from cognigraph.retrieve.excerpt.show import prose, shown_text
from cognigraph.retrieve.excerpt.units import Unit, segment
from cognigraph.retrieve.excerpt.worth import MessageUnits, best_worths
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.text.clean import QUESTION_MARKS, is_question
from cognigraph.text.marks import INDENT

_HALF_RANK, _FALL = 3.0, 1.4
"""The worth of a message falls with its rank r (from 0) as (1 + r / 3) ** -1.4, as measured."""

_DOUBT = 0.15
"""Added to the probability of its best unit: what a message is worth whose words do not match."""

_SHARP = 1.3
"""Exponent of the probabilities of units: above 1, fewer units of more messages are shown."""

_PEOPLE = 4
_SAID_BY_FACT = 0.3
_ASKED, _ASKED_SHORT = 0.1, 0.5
_FEW = 40
_LONGEST_QUESTION = 120
_TAIL = 400


@dataclass(frozen=True, slots=True)
class Shown:
    """One message as it is shown.

    ``text`` is its item without the label. ``spans`` are the parts shown, as (start, end) in the
    message's text or in that of its part ``part``; empty for a message that is shown whole.
    ``asked`` is the id of the message whose question is quoted.
    """

    hit: Hit
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    part: int | None = None
    asked: str | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A message that may be shown; ``groups`` are the units that are shown together."""

    hit: Hit
    text: str
    is_whole: bool
    units: tuple[Unit, ...]
    groups: tuple[tuple[int, ...], ...]
    question: str
    before: Before | None

    def head(self, zone: tzinfo, *, asked: bool = False) -> str:
        """What stands before the text."""
        return message_head(self.hit, zone, self.question if asked else "")

    def shown(self, groups: Sequence[int], zone: tzinfo) -> Shown:
        """The message with these groups; the number after the last one means the question."""
        asked = len(self.groups) in groups
        chosen = sorted(
            unit for group in groups if group < len(self.groups) for unit in self.groups[group]
        )
        all_shown = len(chosen) == len(self.units)
        return Shown(
            self.hit,
            shown_text(self.head(zone, asked=asked), self.text, self.units, chosen),
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


def choose_messages(
    hits: Sequence[Hit],
    facts: Sequence[Triple],
    background: Background,
    analyses: Sequence[Analysis],
    fits: Callable[[str, str], bool],
    *,
    short: int | None,
    zone: tzinfo,
    ending: Callable[[Hit], str] = lambda hit: "",
) -> list[Shown]:
    """Choose what is shown of the hits (best first), in the order in which it was chosen.

    ``fits`` is called with the item that would replace another one (empty if there is none yet) and
    says whether there is room; if so, it is taken. A message of up to ``short`` characters is not
    cut; ``None`` cuts none. ``ending`` gives what is added to the item of a hit.
    """
    first = repeated([(hit.speaker or "", hit.text) for hit in hits])
    again = [rank for rank, other in enumerate(first) if other != rank]
    candidates = [_candidate(hit, background, short) for hit in hits]
    offers = _offers(candidates, facts, background, analyses, zone)
    shown: dict[int, Shown] = {}

    def take(index: int, groups: tuple[int, ...]) -> bool:
        new = _ended(candidates[index].shown(groups, zone), ending)
        before = shown[index].text if index in shown else ""
        if not fits(new.text, before):
            return False
        shown[index] = new
        return True

    ranks = [rank for rank in range(len(hits)) if first[rank] == rank]
    plan = choose([offers[rank] for rank in ranks], lambda n, groups: take(ranks[n], groups))
    chosen = {ranks[number]: groups for number, groups in plan.items()}
    for rank in again:  # said again in another session: at another time, so it tells a little more
        everything = tuple(range(len(candidates[rank].groups)))
        if hits[rank].session != hits[first[rank]].session and take(rank, everything):
            chosen[rank] = everything
    texts = {(one.hit.session, one.hit.id): one.text for one in shown.values()}
    for index, one in shown.items():  # a question that its own message shows is not quoted as well
        candidate = candidates[index]
        if one.asked and prose(candidate.question) in texts.get((one.hit.session, one.asked), ""):
            groups = [group for group in chosen[index] if group < len(candidate.groups)]
            shown[index] = _ended(candidate.shown(groups, zone), ending)
    return list(shown.values())


def _ended(one: Shown, ending: Callable[[Hit], str]) -> Shown:
    """The item with its ending; behind code or a table that is a line of its own."""
    added = ending(one.hit)
    last = one.text.rsplit("\n", 1)[-1]
    if added and last.startswith((f"{INDENT}`", f"{INDENT}|")):
        added = f"\n{INDENT}{added.strip()}"
    return replace(one, text=one.text + added)


def _candidate(hit: Hit, background: Background, short: int | None) -> _Candidate:
    key = (hit.session, hit.id)
    whole = background.whole.get(key, hit.text if hit.parts == 1 else None)
    text = hit.text if whole is None else whole
    units = segment(text) or (Unit(0, len(text), "sentence", 0),)
    divisible = short is not None and len(text) > (short if hit.role else _PEOPLE * short)
    everything = tuple(range(len(units)))
    before = background.before.get(key)
    return _Candidate(
        hit,
        text,
        whole is not None,
        units,
        tuple((index,) for index in everything) if divisible else (everything,),
        _question(before.text) if before else "",
        before,
    )


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


def _offers(
    candidates: Sequence[_Candidate],
    facts: Sequence[Triple],
    background: Background,
    analyses: Sequence[Analysis],
    zone: tzinfo,
) -> list[Offer]:
    messages = [
        MessageUnits(
            candidate.units,
            tuple(candidate.text[unit.start : unit.end] for unit in candidate.units),
            candidate.hit.role == "user",
        )
        for candidate in candidates
    ]
    worths = best_worths(messages, analyses, background.idf)
    stated = _stated(facts)
    offers = []
    for rank, (candidate, message, worth) in enumerate(
        zip(candidates, messages, worths, strict=True)
    ):
        own = stated.get((candidate.hit.session, candidate.hit.id), [])
        values = [
            value * _SAID_BY_FACT if own and _is_said(text, own) else value
            for value, text in zip(worth.tolist(), message.texts, strict=True)
        ]
        sharp = [value**_SHARP for value in values]
        likely = (1 + rank / _HALF_RANK) ** -_FALL * (_DOUBT + max(values, default=0.0))
        offers.append(_offer(candidate, likely, sharp, sum(worth**_SHARP), zone))
    return offers


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


def _offer(
    candidate: _Candidate, worth: float, values: Sequence[float], total: float, zone: tzinfo
) -> Offer:
    shares = [sum(values[unit] for unit in group) / total for group in candidate.groups]
    costs = [
        sum(_tokens(candidate.units[unit].end - candidate.units[unit].start) for unit in group)
        for group in candidate.groups
    ]
    divided = len(candidate.groups) == len(candidate.units)
    needs: list[tuple[int, ...]] = [()] * len(candidate.groups)
    if divided:
        needs = [unit.needs for unit in candidate.units]
    if candidate.question:
        best = max(range(len(shares)), key=lambda index: shares[index])
        shares.append(_ASKED_SHORT if len(candidate.text) <= _FEW else _ASKED)
        costs.append(_tokens(len(candidate.question)) + 4)
        needs.append((best,))
    head = _tokens(len(candidate.head(zone))) + 8
    return Offer(worth, tuple(shares), tuple(costs), tuple(needs), head)


def _tokens(characters: int) -> float:
    return characters / 4 + 1
