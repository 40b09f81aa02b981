"""Prompt assembly: session summaries, then triples with dates, then messages, in a token budget.

Each fact shows when it was said and, if known, when it is true. If the question asks when or how
long, the block starts with the day of the question, so that a reader can count from it. If the
search is little confident, it says so.

Messages share the rest of the budget by worth per token (:mod:`cognigraph.retrieve.excerpt`): of a
long one the units that answer are shown. The result is deterministic, and each item has a short
label to cite it by. The budget is checked by counting the tokens of the whole block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import TypeVar

from cognigraph.model import Citation, Context, Hit, SearchResult, SessionHit, Triple
from cognigraph.retrieve.block_lines import day, session_line, triple_line
from cognigraph.retrieve.confidence import WEAK
from cognigraph.retrieve.excerpt.background import Background
from cognigraph.retrieve.excerpt.messages import Shown, choose_messages
from cognigraph.retrieve.excerpt.restated import told_again
from cognigraph.retrieve.excerpt.worth import matches
from cognigraph.retrieve.question.analyse import Analysis, analyse
from cognigraph.retrieve.standing import no_longer_true, not_true_then, shown_facts
from cognigraph.settings import ContextSettings
from cognigraph.text.marks import FOOTER, HEADER
from cognigraph.text.token_estimate import estimate_tokens

_T = TypeVar("_T")

_HEADINGS = {"S": "Sessions:", "T": "Facts:", "C": "Messages:"}
_MATCHES = 0.3
"""Matches of words below this are noise."""

_HELPS = 0.5
"""A fact helps if it matches the question at least this well, compared with the best fact."""


class _Block:
    """The budget that is left, and the headings that are already paid for."""

    def __init__(self, count: Callable[[str], int], budget: int, frame: list[str]) -> None:
        self._count = count
        self._left = budget - count("\n".join(frame))
        self._open: set[str] = set()
        self._tokens: dict[str, int] = {}
        self._messages = 0

    def cost(self, kind: str, line: str) -> int:
        """Count the tokens of a line, with its heading if it is the first under it."""
        heading = 0 if kind in self._open else self._count("\n" + _HEADINGS[kind])
        return heading + self._line(line)

    def _line(self, line: str) -> int:
        """Count the tokens of a line and remember them: it may be replaced by a longer one."""
        if line not in self._tokens:
            self._tokens[line] = self._count("\n" + line)
        return self._tokens[line]

    def take(self, kind: str, line: str, limit: int | None = None) -> int | None:
        """Take the line and return its cost; ``None`` if it does not fit."""
        cost = self.cost(kind, line)
        if cost > self._left or (limit is not None and cost > limit):
            return None
        self._left -= cost
        self._open.add(kind)
        return cost

    def fit(self, line: str, before: str) -> bool:
        """Take a message, or a longer line of one that was taken as ``before``; False if too long.

        Labels are given later, but they are the same numbers in another order.
        """
        if not before:
            taken = self.take("C", f"[C{self._messages + 1}] {line}") is not None
            self._messages += taken
            return taken
        more = self._line(line) - self._line(before)
        if more > self._left:
            return False
        self._left -= more
        return True


def assemble(
    result: SearchResult,
    settings: ContextSettings,
    *,
    max_tokens: int,
    zone: tzinfo,
    background: Background | None = None,
) -> Context:
    """Build the prompt block of a search result."""
    count = settings.count_tokens or estimate_tokens
    empty = Context("", tokens=0, hits=(), citations=(), confidence=result.confidence)
    background = background or Background()
    if not (result.hits or result.triples or background.written):
        return empty
    analyses = background.analyses or (analyse(result.question, result.trace.now),)
    opening = [HEADER]
    if result.trace.asks is not None:
        opening.append(f"Now: {day(result.trace.now, zone)}")
    if result.hits and result.confidence is not None and result.confidence < WEAK:
        opening.append(f"Weak: nothing here may answer (confidence {result.confidence:.2f})")
    opening += background.written
    past = result.trace.past or result.trace.asks is not None or result.trace.valid_at is not None
    facts = shown_facts(result.triples, past=past) if settings.triples else []
    facts = helpful(facts, analyses, background)

    def fill(facts: Sequence[Triple]) -> tuple[list[SessionHit], list[Triple], list[Shown]]:
        block = _Block(count, max_tokens, [*opening, FOOTER])
        sessions = _fill(
            block, "S", _told(result.sessions) if settings.sessions else (),
            lambda s: session_line(s, zone), int(max_tokens * settings.session_share),
        )  # fmt: skip
        triples = _fill(
            block, "T", facts,
            lambda t: triple_line(t, zone), int(max_tokens * settings.triple_share),
        )  # fmt: skip
        chosen = choose_messages(
            result.hits,
            triples,
            background,
            analyses,
            block.fit,
            short=settings.short_message if settings.excerpts else None,
            zone=zone,
            ending=_Endings(result, triples, zone).of,
        )
        return sessions, triples, chosen

    sessions, triples, chosen = fill(facts)
    texts = {(one.hit.session, one.hit.id): one.text for one in chosen}
    again = told_again(triples, texts, zone)
    if again:  # what they cost goes to further messages
        sessions, triples, chosen = fill([fact for fact in triples if fact.uid not in again])
    while sessions or triples or chosen or background.written:
        context = _render(
            opening,
            sessions,
            triples,
            _ordered(chosen, result, settings),
            zone,
            count,
            result.confidence,
        )
        if context.tokens <= max_tokens:
            return context
        # Counting is not additive for every tokenizer: drop the least important item and recount.
        if chosen:
            chosen = chosen[:-1]
        elif triples:
            triples = triples[:-1]
        elif sessions:
            sessions = sessions[:-1]
        else:
            break
    return empty


class _Endings:
    """What is added to a message whose statement has been superseded, or is not true then."""

    def __init__(self, result: SearchResult, triples: Sequence[Triple], zone: tzinfo) -> None:
        self._valid_at, self._zone = result.trace.valid_at, zone
        self._labels = {triple.uid: f"T{number}" for number, triple in enumerate(triples, 1)}
        self._known = {one.uid: one for hit in result.hits for one in hit.triples}
        self._known.update((one.uid, one) for one in result.triples)

    def of(self, hit: Hit) -> str:
        if self._valid_at is not None:
            return not_true_then(hit.triples, self._labels, self._known, self._valid_at, self._zone)
        return no_longer_true(hit.triples, self._labels, self._known, hit.at, self._zone)


def _told(sessions: Sequence[SessionHit]) -> list[SessionHit]:
    """Sessions of which there is something to tell: a summary, or keys at least."""
    return [hit for hit in sessions if hit.session.summary or hit.session.keys]


def helpful(
    triples: Sequence[Triple], analyses: Sequence[Analysis], background: Background
) -> list[Triple]:
    """The facts that match the words of a query about as well as the best of them.

    All of them if none matches, as in a language of which there are no word vectors. What
    superseded a fact that helps is kept with it.
    """
    texts = [triple.text for triple in triples]
    scores = [matches(texts, analysis, background.idf).tolist() for analysis in analyses]
    floors = [_floor(max(own, default=0.0)) for own in scores]
    helping = [
        fact
        for fact, *own in zip(triples, *scores, strict=True)
        if any(score >= floor for score, floor in zip(own, floors, strict=True))
    ]
    wanted = {fact.uid for fact in helping} | {fact.superseded_by for fact in helping}
    return [fact for fact in triples if fact.uid in wanted]


def _floor(best: float) -> float:
    return _HELPS * best if best >= _MATCHES else 0.0


def _ordered(
    chosen: Sequence[Shown], result: SearchResult, settings: ContextSettings
) -> list[Shown]:
    if settings.order == "time":
        return sorted(
            chosen, key=lambda one: (one.hit.at, one.hit.session, one.hit.part, one.hit.id)
        )
    rank = {id(hit): rank for rank, hit in enumerate(result.hits)}
    return sorted(chosen, key=lambda one: rank[id(one.hit)])


def _fill(
    block: _Block, kind: str, items: Sequence[_T], line: Callable[[_T], str], budget: int
) -> list[_T]:
    """Take the items that fit, in order; one that is too long does not stop shorter ones."""
    taken: list[_T] = []
    for item in items:
        cost = block.take(kind, f"[{kind}{len(taken) + 1}] {line(item)}", budget)
        if cost is not None:
            taken.append(item)
            budget -= cost
    return taken


def _render(
    opening: list[str],
    sessions: Sequence[SessionHit],
    triples: Sequence[Triple],
    messages: Sequence[Shown],
    zone: tzinfo,
    count: Callable[[str], int],
    confidence: float | None,
) -> Context:
    lines, citations = list(opening), []
    groups: list[tuple[str, list[tuple[str, Citation]]]] = [
        ("S", [(session_line(s, zone), Citation("", "session", s.session.id, s.session.id))
               for s in sessions]),
        ("T", [(triple_line(t, zone), Citation("", "triple", t.uid,
               t.sources[0].session if t.sources else None)) for t in triples]),
        ("C", [(m.text, Citation("", "message", m.hit.id, m.hit.session, m.spans, m.part, m.asked))
               for m in messages]),
    ]  # fmt: skip
    for kind, items in groups:
        if items:
            lines.append(_HEADINGS[kind])
        for number, (line, citation) in enumerate(items, 1):
            label = f"{kind}{number}"
            lines.append(f"[{label}] {line}")
            citations.append(replace(citation, label=label))
    lines.append(FOOTER)
    text = "\n".join(lines)
    hits = [one.hit for one in messages]
    return Context(text, tokens=count(text), hits=hits, citations=citations, confidence=confidence)
