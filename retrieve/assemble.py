"""Prompt assembly: session summaries, then triples with dates, then chunks, in a token budget.

Facts show when they were said and, where it is known, when they are true. A question about when or
how long gets the day of asking on top, so that a reader can tell how long ago that is.

Deterministic; never splits an item; every item is cited by a short id. Budgets are held by
counting the whole block, so what is returned fits exactly as counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import TypeVar

from cognigraph.model import Citation, Context, Hit, SearchResult, SessionHit, Triple
from cognigraph.settings import ContextSettings
from cognigraph.text.clean import printable
from cognigraph.text.token_estimate import estimate_tokens

HEADER = "[memory]"
FOOTER = "[/memory]"
"""Marks around the block, by which recalled text is recognised when it comes back."""

_MARKS = re.compile(r"\[(/?memory)\]", re.IGNORECASE)

_T = TypeVar("_T")

_HEADINGS = {"S": "Sessions:", "T": "Facts:", "C": "Messages:"}


class _Block:
    """Lines chosen so far and what they cost."""

    def __init__(self, count: Callable[[str], int], budget: int, frame: list[str]) -> None:
        self._count = count
        self._left = budget - count("\n".join(frame))
        self._open: set[str] = set()

    def cost(self, kind: str, line: str) -> int:
        heading = 0 if kind in self._open else self._count("\n" + _HEADINGS[kind])
        return heading + self._count("\n" + line)

    def take(self, kind: str, line: str, limit: int | None = None) -> int | None:
        """Cost of the line if it fits (and is then taken), else None."""
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
    triples = _fill(
        block, "T", result.triples if settings.triples else (),
        lambda t: _triple_line(t, zone), int(max_tokens * settings.triple_share),
    )  # fmt: skip
    hits = _fill(block, "C", result.hits, lambda h: _hit_line(h, zone), None)
    if settings.order == "time":
        hits = sorted(hits, key=lambda hit: (hit.at, hit.session, hit.part, hit.id))
    while sessions or triples or hits:
        context = _render(opening, sessions, triples, hits, zone, count)
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


def _fill(
    block: _Block, kind: str, items: Sequence[_T], line: Callable[[_T], str], budget: int | None
) -> list[_T]:
    """Take items in order as far as they fit; one that is too long does not stop the next."""
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
) -> Context:
    lines, citations = list(opening), []
    groups: list[tuple[str, list[tuple[str, Citation]]]] = [
        ("S", [(_session_line(s, zone), Citation("", "session", s.session.id, s.session.id))
               for s in sessions]),
        ("T", [(_triple_line(t, zone), Citation("", "triple", t.uid,
               t.sources[0].session if t.sources else None)) for t in triples]),
        ("C", [(_hit_line(h, zone), Citation("", "message", h.id, h.session)) for h in hits]),
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


def _one_line(text: str) -> str:
    # A message must not be able to end the block and speak in its own name after it.
    return _MARKS.sub(r"(\1)", " ".join(printable(text).split()))


def _stamp(at: datetime, zone: tzinfo) -> str:
    with suppress(OverflowError):  # the last hours of year 9999 have no time in Tokyo
        at = at.astimezone(zone)
    return at.isoformat(" ", "minutes")[:16]


def _session_line(hit: SessionHit, zone: tzinfo) -> str:
    session = hit.session
    day = _stamp(session.started_at, zone)[:10]
    return _one_line(f"{session.id} ({day}): {session.summary or ', '.join(session.keys)}")


def _triple_line(triple: Triple, zone: tzinfo) -> str:
    when = f"{triple.when}; " if triple.when else ""
    observed = _stamp(triple.last_observed, zone)[:10]
    return _one_line(f"{triple.text} ({when}said {observed})")


def _hit_line(hit: Hit, zone: tzinfo) -> str:
    speaker = f"{hit.speaker}: " if hit.speaker else ""
    return _one_line(f"{_stamp(hit.at, zone)} {hit.session} {speaker}{hit.text}")
