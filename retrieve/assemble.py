"""Prompt assembly: sessions or episodes, then facts with dates, then messages, in a token budget.

Each fact shows when it was said and, if known, when it is true; a date or a number that no message
behind it carries is not shown (:mod:`cognigraph.retrieve.carried`). If the question asks when or
how long, the block starts with the day of the question, so that a reader can count from it. If the
search is little confident, it says so.

Messages share the rest of the budget by worth per token (:mod:`cognigraph.retrieve.excerpt`): of a
long one the units that answer are shown. The result is deterministic, and each item has a short
label to cite it by. The budget is checked by counting the tokens of the whole block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial

from cognigraph.model import Citation, Context, Hit, SearchResult, Session, Triple
from cognigraph.retrieve.block_lines import (
    Background,
    Rate,
    Topic,
    day,
    episode_topics,
    head_place,
    no_longer_true,
    not_true_then,
    session_line,
    session_topics,
    shortened,
    shown_facts,
    triple_line,
    with_short_heads,
)
from cognigraph.retrieve.carried import Carried
from cognigraph.retrieve.confidence import WEAK
from cognigraph.retrieve.excerpt.messages import Messages, Shown, told_again
from cognigraph.retrieve.excerpt.units import matches
from cognigraph.retrieve.question.analyse import Analysis, analyse
from cognigraph.retrieve.search import key_of
from cognigraph.settings import ContextSettings
from cognigraph.text.marks import FOOTER, HEADER, estimate_tokens

_HEADINGS = {"E": "Episodes:", "S": "Sessions:", "T": "Facts:", "C": "Messages:"}
_MATCHES = 0.3
"""Matches of words below this are noise."""

_HELPS = 0.5
"""A fact helps if it matches the question at least this well, compared with the best fact."""

_SESSION, _EPISODE = 45, 60
"""The most tokens of the line of a session, and of an episode in an overview."""

_HEAD = 25
"""Tokens of the label, the time, the session and the speaker before a message."""

_FOR_SESSION = 130
"""One session is shown for each 130 tokens of the room for sessions, and at least one. The rest of
that room goes to messages."""

_EPISODE_SHARE = 0.3
"""The share of an overview's block for the lines of episodes."""


class _Block:
    """The budget that is left, and what is paid for already: headings, and places in heads.

    With ``short_heads`` only the first of several messages of one session and day (in ``zone``)
    pays for both in its head, because the others are shown without them; see
    :func:`~cognigraph.retrieve.block_lines.with_short_heads`.
    """

    def __init__(
        self,
        count: Callable[[str], int],
        budget: int,
        frame: list[str],
        zone: tzinfo,
        *,
        short_heads: bool,
    ) -> None:
        self._count = count
        self._left = budget - count("\n".join(frame))
        self._zone = zone
        self._short_heads = short_heads
        self._open: set[str] = set()
        self._places: set[str] = set()
        self._tokens: dict[str, int] = {}
        self._messages = 0

    def copy(self) -> _Block:
        """The block as it is now; what is taken from one of the two is not taken from the other."""
        other = copy(self)
        other._open, other._places = set(self._open), set(self._places)
        return other

    def cost(self, kind: str, line: str) -> int:
        """Count the tokens of a line, with its heading if it is the first under it."""
        heading = 0 if kind in self._open else self._count("\n" + _HEADINGS[kind])
        return heading + self._tokens_of("\n" + line)

    def _tokens_of(self, text: str) -> int:
        """Count the tokens of a text and remember them: it may be replaced by a longer one."""
        if text not in self._tokens:
            self._tokens[text] = self._count(text)
        return self._tokens[text]

    def has_room(self, kind: str, line: str, limit: int) -> bool:
        """Whether a line fits in what is left, and in the limit."""
        return self.cost(kind, line) <= min(self._left, limit)

    def take(self, kind: str, line: str, limit: int) -> int | None:
        """Take the line and return its cost; ``None`` if it does not fit."""
        cost = self.cost(kind, line)
        if cost > min(self._left, limit):
            return None
        self._left -= cost
        self._open.add(kind)
        return cost

    def take_messages(self, messages: Sequence[Shown], before: Sequence[Shown]) -> bool:
        """Take messages together, in the place of those taken as ``before``; False if too long.

        Labels are given later, but they are the same numbers in another order.
        """
        replaced = zip(messages, before, strict=False)
        more = sum(
            self._tokens_of("\n" + item.text) - self._tokens_of("\n" + old.text)
            for item, old in replaced
        )
        new = messages[len(before) :]
        places: set[str] = set()
        for number, item in enumerate(new, self._messages + 1):
            more += self._tokens_of(f"[C{number}] ") + self._tokens_of("\n" + item.text)
            place = head_place(item.hit, self._zone)
            is_repeated = place in self._places or place in places
            if is_repeated and self._short_heads and not item.has_note:
                more -= self._tokens_of(place)
            places.add(place)
        if new and "C" not in self._open:
            more += self._count("\n" + _HEADINGS["C"])
        if more > self._left:
            return False
        self._left -= more
        self._messages += len(new)
        self._places |= places
        self._open.add("C")
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
    if not (result.hits or result.triples or result.episodes or background.written):
        return empty
    analyses = background.analyses or (analyse(result.question, result.trace.now),)
    opening = [*_opening(result, zone), *background.written]
    past = result.trace.past or result.trace.asks is not None or result.trace.valid_at is not None
    facts = shown_facts(result.triples, past=past) if settings.triples else []
    carried = Carried(background, zone)
    facts = helpful(facts, analyses, background)
    rate = partial(_best_matches, analyses=analyses, background=background)

    # By rank, neighbours are seldom of one session; an overview needs whole dates.
    short_heads = settings.order == "time" and not background.overview
    block = _Block(count, max_tokens, [*opening, FOOTER], zone, short_heads=short_heads)
    episodes = _Topics(block, "E", zone, int(max_tokens * _EPISODE_SHARE), rate)
    topics = episodes.fill(episode_topics(result.episodes), carried)
    facts_room = int(max_tokens * settings.triple_share)
    if not topics and settings.sessions and (told := session_topics(result)):
        room = int(max_tokens * settings.session_share)
        is_ample = _all_fit(result.hits, count, max_tokens - room - facts_room)
        topics = _Topics(block, "S", zone, room, rate, is_ample=is_ample).fill(told, carried)
    short = settings.short_message if settings.excerpts else None
    messages = Messages(result.hits, background, analyses, short=short, zone=zone)

    def fill(facts: Sequence[Triple]) -> tuple[list[Triple], list[Shown]]:
        own = block.copy()
        triples = _take_facts(own, facts, facts_room, zone, carried)
        ending = _endings(result, triples, zone, carried)
        return triples, messages.choose(triples, own.take_messages, ending)

    triples, chosen = fill(facts)
    texts = {key_of(item.hit): item.text for item in chosen}
    again = told_again(triples, texts, zone)
    if again:  # the room of facts that messages tell goes to further messages
        triples, chosen = fill([fact for fact in triples if fact.uid not in again])
    while topics or triples or chosen or background.written:
        ordered = _ordered(chosen, result, settings)
        # Whole heads in an overview, where dates are what matters, and before what is out of date.
        whole = {at for at, item in enumerate(ordered) if background.overview or item.has_note}
        lines = with_short_heads([(item.hit, item.text) for item in ordered], zone, whole)
        context = _render(opening, topics, triples, ordered, lines, zone, count, result.confidence)
        if context.tokens <= max_tokens:
            return context
        # Counting is not additive for every tokenizer: drop the least important item and recount.
        if chosen:
            chosen = chosen[:-1]
        elif triples:
            triples = triples[:-1]
        elif topics:
            topics = topics[:-1]
        else:
            break
    return empty


def _opening(result: SearchResult, zone: tzinfo) -> list[str]:
    """The first lines: with the day if it asks for a time, and a warning if little is sure."""
    lines = [HEADER]
    if result.trace.asks is not None:
        lines.append(f"Now: {day(result.trace.now, zone)}")
    if result.hits and result.confidence is not None and result.confidence < WEAK:
        lines.append(f"Weak: perhaps nothing here answers (confidence {result.confidence:.2f})")
    return lines


def _endings(
    result: SearchResult, triples: Sequence[Triple], zone: tzinfo, carried: Carried
) -> Callable[[Hit], str]:
    """What marks a message whose statements were superseded, or are not true at ``valid_at``."""
    valid_at = result.trace.valid_at
    labels = {triple.uid: f"T{number}" for number, triple in enumerate(triples, 1)}
    known = {item.uid: item for hit in result.hits for item in hit.triples}
    known.update((item.uid, item) for item in result.triples)

    def ending(hit: Hit) -> str:
        if valid_at is not None:
            return not_true_then(hit.triples, labels, known, valid_at, zone)
        return no_longer_true(hit.triples, labels, known, hit.at, zone, carried.fact)

    return ending


def helpful(
    triples: Sequence[Triple], analyses: Sequence[Analysis], background: Background
) -> list[Triple]:
    """The facts that match the words of a query about as well as the best of them.

    All of them if none matches, as in a language of which there are no word vectors. What
    superseded a fact that helps is kept with it.
    """
    if not triples:  # as without an extractor; matching an empty list would still take time
        return []
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
    """The messages by time or by rank; a correction never stands before what it corrects."""
    rank = {key_of(hit): rank for rank, hit in enumerate(result.hits)}

    def by_time(item: Shown) -> tuple[datetime, str, int, str, int]:
        at_once = item.corrects is not None and item.corrects.at == item.hit.at
        placed = item.corrects if at_once and item.corrects else item.hit
        return placed.at, placed.session, placed.part, placed.id, item.place if at_once else 0

    def by_rank(item: Shown) -> tuple[int, int]:
        placed = item.corrects or item.hit
        return rank[key_of(placed)], item.place

    return sorted(chosen, key=by_time if settings.order == "time" else by_rank)


def _all_fit(hits: Sequence[Hit], count: Callable[[str], int], room: int) -> bool:
    """Whether all messages, whole and with their heads, fit into ``room`` tokens."""
    total = 0
    for hit in hits:
        total += count(hit.text) + _HEAD
        if total > room:
            return False
    return True


class _Topics:
    """One part of a block: the lines of sessions or of episodes that were taken.

    The lines of sessions are short, so that they take little room from messages, unless the room
    ``is_ample``: then every message fits anyway.
    """

    def __init__(
        self,
        block: _Block,
        kind: str,
        zone: tzinfo,
        room: int,
        rate: Rate,
        *,
        is_ample: bool = False,
    ) -> None:
        self.taken: list[Topic] = []
        self._block, self._kind, self._zone = block, kind, zone
        self._room, self._left, self._rate = room, room, rate
        self._longest = _EPISODE
        if kind == "S":
            self._longest = room if is_ample else _SESSION
            self._left = room if is_ample else min(room, _SESSION * max(1, room // _FOR_SESSION))

    def fill(self, topics: Sequence[Topic], carried: Carried) -> list[Topic]:
        """Take topics in order, each with as much of its summary as there is room for."""
        for topic in topics:
            left = self._left if self.taken else self._room
            if not self._fits(left, replace(topic.session, themes=(), keys=())):
                break
            checked = carried.topic(topic)
            shown = self._shown(checked.session, left) if checked else None
            if checked and shown:
                cost = self._block.take(self._kind, self._line(shown), left)
                self._left = max(0, self._left - (cost or 0))
                self.taken.append(replace(checked, session=shown))
        return self.taken

    def _shown(self, session: Session, left: int) -> Session | None:
        """A short line, or one as long as what is left if a short one holds nothing."""
        short = min(left, self._longest)
        return shortened(session, partial(self._fits, short), self._rate) or shortened(
            session, partial(self._fits, left), self._rate
        )

    def _fits(self, room: int, session: Session) -> bool:
        return self._block.has_room(self._kind, self._line(session), room)

    def _line(self, session: Session) -> str:
        return f"[{self._kind}{len(self.taken) + 1}] {session_line(session, self._zone)}"


def _best_matches(
    texts: Sequence[str], analyses: Sequence[Analysis], background: Background
) -> list[float]:
    """How well each text matches the query that it matches best."""
    scores = [matches(texts, analysis, background.idf).tolist() for analysis in analyses]
    return [max(own) for own in zip(*scores, strict=True)]


def _take_facts(
    block: _Block, facts: Sequence[Triple], room: int, zone: tzinfo, carried: Carried
) -> list[Triple]:
    """Take facts in their order while there is room, each as far as its messages say it.

    A fact that is too long is skipped; shorter ones after it may still fit.
    """
    taken: list[Triple] = []
    for fact in facts:
        label = f"[T{len(taken) + 1}]"
        if not block.has_room("T", f"{label} {triple_line(fact, zone)}", room):
            continue
        shown = carried.fact(fact)
        if shown is None:
            continue
        cost = block.take("T", f"{label} {triple_line(shown, zone)}", room)
        if cost is not None:
            taken.append(shown)
            room -= cost
    return taken


def _render(
    opening: list[str],
    topics: Sequence[Topic],
    triples: Sequence[Triple],
    messages: Sequence[Shown],
    texts: Sequence[str],
    zone: tzinfo,
    count: Callable[[str], int],
    confidence: float | None,
) -> Context:
    """Write the block; ``texts`` are those of the messages, with the heads that they have here."""
    lines, citations = list(opening), []
    groups: list[tuple[str, list[tuple[str, Citation]]]] = [
        ("E", [_topic_item(item, zone) for item in _in_time(topics) if item.kind == "episode"]),
        ("S", [_topic_item(topic, zone) for topic in topics if topic.kind == "session"]),
        ("T", [(triple_line(t, zone), Citation("", "triple", t.uid,
               t.sources[0].session if t.sources else None)) for t in triples]),
        ("C", [(text, Citation("", "message", m.hit.id, m.hit.session, m.spans, m.part, m.asked))
               for m, text in zip(messages, texts, strict=True)]),
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
    hits = [message.hit for message in messages]
    return Context(text, tokens=count(text), hits=hits, citations=citations, confidence=confidence)


def _topic_item(topic: Topic, zone: tzinfo) -> tuple[str, Citation]:
    return session_line(topic.session, zone), Citation("", topic.kind, topic.id, topic.session.id)


def _in_time(topics: Sequence[Topic]) -> list[Topic]:
    return sorted(topics, key=lambda topic: (topic.session.started_at, topic.session.id))
