"""Prompt assembly: session summaries, then triples with dates, then messages, in a token budget.

Each fact shows when it was said and, if known, when it is true. If the question asks when or how
long, the block starts with the day of the question, so that a reader can count from it.

The result is deterministic. Items are never cut, and each has a short label to cite it by. The
budget is checked by counting the tokens of the whole block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import TypeVar

from cognigraph.model import Citation, Context, Hit, SearchResult, SessionHit, Triple
from cognigraph.retrieve.block_marks import FOOTER, HEADER, one_line
from cognigraph.retrieve.standing import no_longer_true, shown_facts, true_when
from cognigraph.settings import ContextSettings
from cognigraph.text.token_estimate import estimate_tokens

_T = TypeVar("_T")

_HEADINGS = {"S": "Sessions:", "T": "Facts:", "C": "Messages:"}


class _Block:
    """The budget that is left, and the headings that are already paid for."""

    def __init__(self, count: Callable[[str], int], budget: int, frame: list[str]) -> None:
        self._count = count
        self._left = budget - count("\n".join(frame))
        self._open: set[str] = set()

    def cost(self, kind: str, line: str) -> int:
        """Count the tokens of a line, with its heading if it is the first under it."""
        heading = 0 if kind in self._open else self._count("\n" + _HEADINGS[kind])
        return heading + self._count("\n" + line)

    def take(self, kind: str, line: str, limit: int | None = None) -> int | None:
        """Take the line and return its cost; ``None`` if it does not fit."""
        cost = self.cost(kind, line)
        if cost > self._left or (limit is not None and cost > limit):
            return None
        self._left -= cost
        self._open.add(kind)
        return cost


def assemble(
    result: SearchResult, settings: ContextSettings, *, max_tokens: int, zone: tzinfo
) -> Context:
    """Build the prompt block of a search result."""
    count = settings.count_tokens or estimate_tokens
    empty = Context("", tokens=0, hits=(), citations=())
    if not result.hits and not result.triples:
        return empty
    opening = [HEADER]
    if result.trace.asks is not None:
        opening.append(f"Now: {_stamp(result.trace.now, zone)[:10]}")
    block = _Block(count, max_tokens, [*opening, FOOTER])
    sessions = _fill(
        block, "S", result.sessions if settings.sessions else (),
        lambda s: _session_line(s, zone), int(max_tokens * settings.session_share),
    )  # fmt: skip
    past = result.trace.past or result.trace.asks is not None
    facts = shown_facts(result.triples, past=past) if settings.triples else []
    triples = _fill(
        block, "T", facts,
        lambda t: _triple_line(t, zone), int(max_tokens * settings.triple_share),
    )  # fmt: skip
    ends = _Endings(result, triples)
    hits = _fill(block, "C", result.hits, lambda h: _hit_line(h, zone) + ends.of(h), None)
    if settings.order == "time":
        hits = sorted(hits, key=lambda hit: (hit.at, hit.session, hit.part, hit.id))
    while sessions or triples or hits:
        ends = _Endings(result, triples)
        context = _render(opening, sessions, triples, hits, zone, count, ends)
        if context.tokens <= max_tokens:
            return context
        # Counting is not additive for every tokenizer: drop the least important item and recount.
        if hits:
            worst = min(hits, key=lambda hit: hit.score)
            hits = [hit for hit in hits if hit is not worst]
        elif triples:
            triples = triples[:-1]
        else:
            sessions = sessions[:-1]
    return empty


class _Endings:
    """What is added to a message whose statement has been superseded."""

    def __init__(self, result: SearchResult, triples: Sequence[Triple]) -> None:
        self._labels = {triple.uid: f"T{number}" for number, triple in enumerate(triples, 1)}
        self._known = {one.uid: one for hit in result.hits for one in hit.triples}
        self._known.update((one.uid, one) for one in result.triples)

    def of(self, hit: Hit) -> str:
        return no_longer_true(hit.triples, self._labels, self._known)


def _fill(
    block: _Block, kind: str, items: Sequence[_T], line: Callable[[_T], str], budget: int | None
) -> list[_T]:
    """Take the items that fit, in order; one that is too long does not stop shorter ones."""
    taken: list[_T] = []
    for item in items:
        cost = block.take(kind, f"[{kind}{len(taken) + 1}] {line(item)}", budget)
        if cost is not None:
            taken.append(item)
            if budget is not None:
                budget -= cost
    return taken


def _render(
    opening: list[str],
    sessions: Sequence[SessionHit],
    triples: Sequence[Triple],
    hits: Sequence[Hit],
    zone: tzinfo,
    count: Callable[[str], int],
    ends: _Endings,
) -> Context:
    lines, citations = list(opening), []
    groups: list[tuple[str, list[tuple[str, Citation]]]] = [
        ("S", [(_session_line(s, zone), Citation("", "session", s.session.id, s.session.id))
               for s in sessions]),
        ("T", [(_triple_line(t, zone), Citation("", "triple", t.uid,
               t.sources[0].session if t.sources else None)) for t in triples]),
        ("C", [(_hit_line(h, zone) + ends.of(h), Citation("", "message", h.id, h.session))
               for h in hits]),
    ]  # fmt: skip
    for kind, items in groups:
        if items:
            lines.append(_HEADINGS[kind])
        for number, (line, citation) in enumerate(items, 1):
            label = f"{kind}{number}"
            lines.append(f"[{label}] {line}")
            citations.append(Citation(label, citation.kind, citation.id, citation.session))
    lines.append(FOOTER)
    text = "\n".join(lines)
    return Context(text, tokens=count(text), hits=hits, citations=citations)


def _stamp(at: datetime, zone: tzinfo) -> str:
    with suppress(OverflowError):  # the last hours of year 9999 have no time in Tokyo
        at = at.astimezone(zone)
    return at.isoformat(" ", "minutes")[:16]


def _session_line(hit: SessionHit, zone: tzinfo) -> str:
    session = hit.session
    day = _stamp(session.started_at, zone)[:10]
    return one_line(f"{session.id} ({day}): {session.summary or ', '.join(session.keys)}")


def _triple_line(triple: Triple, zone: tzinfo) -> str:
    true = true_when(triple, zone)
    when = f"{true}; " if true else ""
    observed = _stamp(triple.last_observed, zone)[:10]
    return one_line(f"{triple.text} ({when}said {observed})")


def _hit_line(hit: Hit, zone: tzinfo) -> str:
    speaker = f"{hit.speaker}: " if hit.speaker else ""
    return one_line(f"{_stamp(hit.at, zone)} {hit.session} {speaker}{hit.text}")
