"""What a loop reads of a memory, and the pool of evidence that its prompt block is made of.

No model is called and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import cached_property
from itertools import zip_longest
from typing import Protocol, TypeVar

import numpy as np

from cognigraph.arrays import product
from cognigraph.embed import CheckedEmbedder
from cognigraph.ids import normalise
from cognigraph.loop.data import Evidence
from cognigraph.model import (
    Citation,
    Context,
    Episode,
    Exclusion,
    Filter,
    Hit,
    Layer,
    SearchResult,
    SessionHit,
    Trace,
    Triple,
)
from cognigraph.model.graph import newest_written
from cognigraph.retrieve.assemble import assemble
from cognigraph.retrieve.block import (
    build_block,
    fetch_background,
    find_overview,
    procedure_line,
    written_lines,
)
from cognigraph.retrieve.block_lines import (
    Background,
    day,
    message_head,
    triple_line,
    with_short_heads,
)
from cognigraph.retrieve.carried import Carried
from cognigraph.retrieve.plan import SearchRequest
from cognigraph.retrieve.question.analyse import analyse, overview_subject
from cognigraph.retrieve.search import MessageKey, search, search_layer
from cognigraph.settings import ContextSettings, SearchSettings
from cognigraph.text.marks import (
    FOOTER,
    HEADER,
    INDENT,
    estimate_tokens,
    named,
    one_line,
    same_lines,
)

T = TypeVar("T")
_OF_ONE_SESSION = 400
_SEARCHED = 3
"""Episodes and facts that are compared with a query, for each memory that is wanted."""
_FEW_FACTS = 0.3
"""Facts for each message. Rules leave less than .02, models that read everything more than .6."""


class Run(Protocol):
    """Makes a request of a question, and returns what ``answer`` makes of that."""

    def __call__(self, question: str, answer: Callable[[SearchRequest], T]) -> T:
        """Answer a question."""
        ...


@dataclass(frozen=True, slots=True)
class Recalled:
    """What one query found, best first, with what a prompt block needs beside the hits."""

    hits: tuple[Hit, ...] = ()
    triples: tuple[Triple, ...] = ()
    sessions: tuple[SessionHit, ...] = ()
    episodes: tuple[Episode, ...] = ()
    background: Background = field(default_factory=Background)
    trace: Trace | None = None
    written: tuple[str, ...] | None = None
    """Lines of the profile and procedures, in the place of those that any block has."""

    @classmethod
    def of(cls, result: SearchResult, background: Background) -> Recalled:
        """What a search has found."""
        return cls(
            result.hits, result.triples, result.sessions, result.episodes, background, result.trace
        )


def key_of(hit: Hit) -> MessageKey:
    """The key of a hit's message: its session and its id."""
    return hit.session, hit.id


class Recall:
    """Reads one space, as it is at one time of asking and through one filter."""

    def __init__(self, run: Run, settings: ContextSettings, zone: tzinfo) -> None:
        self._run = run
        self.settings = settings
        self.zone = zone

    def messages(
        self,
        query: str,
        k: int,
        without: Collection[MessageKey] = (),
        *,
        per_session: int | None = None,
    ) -> Recalled:
        """The ``k`` best messages for a query that are not among ``without``.

        At most ``per_session`` of them are of one session.

        For a query that asks for an overview, twice as many, spread over sessions, with episodes.
        """
        subject = overview_subject(query)

        def answer(request: SearchRequest) -> Recalled:
            seen = Exclusion(messages=frozenset(without))
            new = replace(request, without=seen, per_session=per_session)
            searched = search(new, k=k) if subject is None else find_overview(new, subject, k=2 * k)
            recalled = Recalled.of(searched.result, fetch_background(request, searched))
            background = replace(recalled.background, overview=subject is not None)
            return replace(recalled, background=background)

        return self._run(query, answer)

    def facts(self, query: str, k: int, without: Collection[str] = ()) -> Recalled:
        """The ``k`` best facts for a query whose uids are not among ``without``."""

        def answer(request: SearchRequest) -> Recalled:
            settings = request.settings
            wide = replace(
                settings,
                max_triples=k,
                triples_by_vector=max(settings.triples_by_vector, k + len(without)),
                triples_by_terms=max(settings.triples_by_terms, k + len(without)),
            )
            new = replace(request, settings=wide, without=Exclusion(triples=frozenset(without)))
            outcome = search(new, k=1)
            background = fetch_background(request, outcome)
            carried = Carried(background, self.zone).facts(outcome.result.triples)
            return Recalled(triples=tuple(carried), trace=outcome.result.trace)

        return self._run(query, answer)

    def episodes(self, query: str, k: int) -> Recalled:
        """The ``k`` best episodes for a query."""

        def answer(request: SearchRequest) -> Recalled:
            result = search_layer(request, k=k, layer="episodes")
            return Recalled(episodes=result.episodes, trace=result.trace)

        return self._run(query, answer)

    def memories(self, query: str, k: int) -> Recalled:
        """The ``k`` memories most similar to a query, and the whole core profile.

        They are episodes, facts and procedures, compared by the cosines of their texts. With a
        filter neither profile nor procedures are among them: they may tell what does not pass it.
        """
        near = _SEARCHED * k
        episodes, facts = self.episodes(query, near).episodes, self.facts(query, near).triples

        def answer(request: SearchRequest) -> Recalled:
            known = request.store.graph.written(request.space) if request.where == Filter() else []
            procedures = newest_written(known, "procedure", request.as_of)
            texts = [
                *(episode.text for episode in episodes),
                *(fact.text for fact in facts),
                *(procedure_line(procedure) for procedure in procedures),
            ]
            best = most_similar(request.embedder, query, texts)[:k]
            of_procedures = len(episodes) + len(facts)
            profile = [
                line
                for item in newest_written(known, "profile", request.as_of)
                for line in same_lines(item.text)
            ]
            return Recalled(
                triples=tuple(
                    facts[row - len(episodes)]
                    for row in best
                    if len(episodes) <= row < of_procedures
                ),
                episodes=tuple(episodes[row] for row in best if row < len(episodes)),
                written=(
                    *section("Profile:", profile),
                    *section("Procedures:", [texts[row] for row in best if row >= of_procedures]),
                ),
            )

        return self._run(query, answer)

    def covered(self, query: str, episodes: Sequence[Episode]) -> Recalled:
        """The messages that episodes cover, those first that answer the query best."""
        recalled = self._within(query, {episode.session for episode in episodes})
        keys = {(episode.session, id) for episode in episodes for id in episode.messages}
        return replace(recalled, hits=tuple(hit for hit in recalled.hits if key_of(hit) in keys))

    def related(self, query: str, hits: Sequence[Hit]) -> Recalled:
        """The messages just before and after hits, and those that state the same facts as they do.

        Of the latter, the extractor has said that they belong together.
        """
        stated = {
            (source.session, source.id)
            for hit in hits
            for triple in hit.triples
            for source in triple.sources
        }
        recalled = self._within(query, {hit.session for hit in hits} | {key[0] for key in stated})
        keys = [
            key_of(hit)
            for hit in sorted(recalled.hits, key=lambda hit: (hit.session, hit.at, hit.part))
        ]
        places = {key: position for position, key in enumerate(keys)}
        shown = {key_of(hit) for hit in hits}
        near = {
            keys[position]
            for key in shown & set(places)
            for position in (places[key] - 1, places[key] + 1)
            if 0 <= position < len(keys) and keys[position][0] == key[0]
        } | stated
        return replace(recalled, hits=tuple(h for h in recalled.hits if key_of(h) in near - shown))

    def _within(self, query: str, sessions: Collection[str]) -> Recalled:
        """The messages of some sessions that pass the filter, best first."""

        def answer(request: SearchRequest) -> Recalled:
            passing = set(sessions).intersection(request.where.sessions or sessions)
            many = _OF_ONE_SESSION * len(sessions)
            wide = replace(
                request,
                where=replace(request.where, session=sorted(passing)),
                settings=_every_message(request.settings, many),
                reader=None,
            )
            searched = search(wide, k=many)
            return Recalled.of(searched.result, fetch_background(request, searched))

        return self._run(query, answer) if sessions else Recalled()

    @cached_property
    def has_few_facts(self) -> bool:
        """Whether the memory holds too few facts, for its messages, to be searched first."""

        def answer(request: SearchRequest) -> bool:
            stats = request.store.graph.stats(request.space, as_of=request.as_of)
            return stats.triples < _FEW_FACTS * stats.messages

        return self._run("", answer)

    def written(self, question: str, max_tokens: int) -> tuple[str, ...]:
        """The lines of a block for what writers keep: the core profile, and procedures that fit."""

        def answer(request: SearchRequest) -> tuple[str, ...]:
            return written_lines(request, self.settings, max_tokens)

        return self._run(question, answer)

    def block(self, question: str, max_tokens: int, k: int | None = None) -> Context:
        """The prompt block of a question without a loop, as :meth:`Space.context` builds it."""

        def answer(request: SearchRequest) -> Context:
            return build_block(
                request, settings=self.settings, k=k, max_tokens=max_tokens, zone=self.zone
            )

        return self._run(question, answer)


def most_similar(embedder: CheckedEmbedder, query: str, texts: Sequence[str]) -> list[int]:
    """The positions of the texts that resemble a query at all, the most similar first."""
    if not texts:
        return []
    cosines = product(embedder.embed(list(texts)), embedder.embed_query(query)).round(6)
    return [int(row) for row in np.argsort(-cosines, kind="stable") if cosines[row] > 0]


def section(heading: str, lines: Iterable[str]) -> list[str]:
    """A heading and lines that no block's other lines can be taken for; nothing without lines."""
    shown = [f"{INDENT}{line}" for line in lines if line.strip()]
    return [heading, *shown] if shown else []


def _every_message(settings: SearchSettings, many: int) -> SearchSettings:
    return replace(
        settings,
        chunks_by_vector=max(settings.chunks_by_vector, many),
        time_order=False,
        rerank=0,
    )


_PREFIX: Mapping[Layer, str] = {"messages": "M", "facts": "F", "episodes": "E"}
_HEADING: Mapping[Layer, str] = {"facts": "Facts:", "episodes": "Episodes:"}
_KIND: Mapping[Layer, str] = {"facts": "triple", "episodes": "episode"}
_SHARE = 0.5
_FIRST = 5
"""Items of the first search before one of each further query. Those are guesses; with one of each,
they took the room of what the first had found (bench/TRIED.md)."""
Count = Callable[[str], int]


class Pool:
    """Everything that a loop has found, each item once, with a label that stays the same.

    With ``lists``, the block shows facts of one kind beside each other, as parts of a list.
    """

    def __init__(self, recall: Recall) -> None:
        self._recall = recall
        self._items: dict[str, Evidence] = {}
        self._found: dict[str, Hit | Triple | Episode] = {}
        self._labels: dict[tuple[Layer, str, str], str] = {}
        self._lists: list[list[str]] = []
        self._sessions: tuple[SessionHit, ...] = ()
        self._overview: tuple[Episode, ...] = ()
        self._aside: tuple[Triple, ...] = ()
        self.lists = False
        self._background = Background()
        self._trace: Trace | None = None
        self._written: tuple[str, ...] | None = None

    # Adding

    def add(self, recalled: Recalled, query: str, number: int) -> tuple[str, ...]:
        """Add what a query has found in a round; returns the labels of all of it, best first."""
        before = len(self._items)
        labels = [self._label("messages", hit, query, number) for hit in recalled.hits]
        if recalled.background.overview:  # a line for each in the block; the messages are evidence
            self._overview = self._overview or recalled.episodes
        else:
            labels += [
                self._label("episodes", episode, query, number) for episode in recalled.episodes
            ]
        # A query counts for what is shown of a message also if another one has found the message.
        asked = dict.fromkeys((*self._background.analyses, *recalled.background.analyses))
        self._background = replace(self._background, analyses=tuple(asked))
        if recalled.hits:
            self._surroundings(recalled)
        else:
            labels += [self._label("facts", triple, query, number) for triple in recalled.triples]
        self._lists.append(list(self._items)[before:])
        self._trace = self._trace or recalled.trace
        if recalled.written is not None:
            self._written = recalled.written
        return tuple(labels)

    def _surroundings(self, recalled: Recalled) -> None:
        """Keep what was found beside messages: sessions, facts and what precedes the messages."""
        if not self._sessions:
            self._sessions = recalled.sessions
        known = {triple.uid for triple in self._aside}
        self._aside += tuple(triple for triple in recalled.triples if triple.uid not in known)
        mine, other = self._background, recalled.background
        self._background = Background(
            idf={**other.idf, **mine.idf},
            whole={**mine.whole, **other.whole},
            before={**mine.before, **other.before},
            corrections={**other.corrections, **mine.corrections},
            sources={**other.sources, **mine.sources},
            spoken={**other.spoken, **mine.spoken},
            analyses=mine.analyses,
            overview=mine.overview or other.overview,
        )

    def _label(self, layer: Layer, item: Hit | Triple | Episode, query: str, number: int) -> str:
        session, id, text, at = _described(item)
        key = (layer, session or "", id)
        if key in self._labels:
            return self._labels[key]
        label = f"{_PREFIX[layer]}{sum(known[0] == layer for known in self._labels) + 1}"
        self._labels[key] = label
        self._items[label] = Evidence(label, layer, id, session, text, at, query, number)
        self._found[label] = item
        return label

    # Reading

    @property
    def items(self) -> tuple[Evidence, ...]:
        """All evidence in the order in which it was found."""
        return tuple(self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    @property
    def holds_written(self) -> bool:
        """Whether a search has found a profile or procedures."""
        return bool(self._written)

    def known(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Those labels that stand for an item, each once, in their order."""
        tidy = (label.strip().strip("[]").upper() for label in labels)
        return tuple(dict.fromkeys(label for label in tidy if label in self._items))

    def item(self, label: str) -> Evidence:
        """The item with a label; :class:`KeyError` if there is none."""
        return self._items[label]

    def hits(self, labels: Iterable[str] | None = None) -> list[Hit]:
        """The messages among these labels, or all of them."""
        found = (self._found.get(label) for label in labels or self._found)
        return [item for item in found if isinstance(item, Hit)]

    def episodes(self, labels: Iterable[str]) -> list[Episode]:
        """The episodes among these labels."""
        found = (self._found.get(label) for label in labels)
        return [item for item in found if isinstance(item, Episode)]

    def triples(self, labels: Iterable[str]) -> list[Triple]:
        """The facts among these labels, and those that the messages among them state."""
        by_uid: dict[str, Triple] = {}
        for item in map(self._found.get, labels):
            if isinstance(item, Triple):
                by_uid.setdefault(item.uid, item)
            elif isinstance(item, Hit):
                by_uid.update({triple.uid: triple for triple in item.triples})
        return list(by_uid.values())

    def message_keys(self) -> set[MessageKey]:
        """The keys of all messages found."""
        return {key_of(hit) for hit in self.hits()}

    def uids(self, layer: Layer) -> set[str]:
        """The ids of all items of a layer."""
        return {item.id for item in self._items.values() if item.layer == layer}

    # The block

    def block(self, question: str, max_tokens: int, labels: Sequence[str] | None = None) -> Context:
        """Build a prompt block of the evidence, or of the part of it with these labels.

        Messages share the budget by worth per token, as in any block. The profile and procedures
        that writers keep stand first. Facts and episodes that were searched for come before the
        messages, in at most half of the budget if there are any.
        """
        chosen = list(labels) if labels else in_turn(self._lists)
        hits = self.hits(chosen) if chosen else []
        others = [label for label in chosen if self._items[label].layer != "messages"]
        count = self._recall.settings.count_tokens or estimate_tokens
        written = self._written_lines(question, max_tokens, count)
        share = max_tokens if not hits else int(max_tokens * _SHARE)
        lines, citations = self._section_lines(others, share, count, written)
        if hits and not citations:
            return self._assembled(question, hits, max_tokens, written)
        if not lines:
            return Context("", tokens=0, hits=(), citations=())
        left = max_tokens - count("\n".join(lines))
        rest = self._assembled(question, hits, left) if hits else None
        return _joined(lines, citations, rest, count)

    def as_said(self, question: str, max_tokens: int, labels: Sequence[str]) -> Context | None:
        """A block of the messages among these labels, each whole, in order of time.

        The profile and procedures that writers keep stand first. ``None`` if there are none, if one
        was stored in parts, or if they do not fit.
        """
        hits = sorted(self.hits(labels), key=lambda hit: (hit.at, hit.session, hit.part))
        if not labels or not hits or any(hit.parts > 1 for hit in hits):
            return None
        zone = self._recall.zone
        told = [(hit, f"{message_head(hit, zone)}{one_line(hit.text)}") for hit in hits]
        lines = [
            f"[C{number}] {text}" for number, text in enumerate(with_short_heads(told, zone), 1)
        ]
        written = self._recall.written(question, max_tokens)
        text = "\n".join([HEADER, *written, "Messages:", *lines, FOOTER])
        tokens = (self._recall.settings.count_tokens or estimate_tokens)(text)
        if tokens > max_tokens:
            return None
        citations = [
            Citation(f"C{number}", "message", hit.id, hit.session)
            for number, hit in enumerate(hits, 1)
        ]
        return Context(text, tokens=tokens, hits=tuple(hits), citations=tuple(citations))

    def _written_lines(self, question: str, max_tokens: int, count: Count) -> tuple[str, ...]:
        """The profile and procedures that a search has found, as far as they fit, or the usual."""
        if self._written is None:
            return self._recall.written(question, max_tokens)
        lines = list(self._written)
        while lines and count("\n".join([HEADER, *lines, FOOTER])) > max_tokens:
            lines.pop()
        return tuple(lines)

    def _assembled(
        self,
        question: str,
        hits: Sequence[Hit],
        max_tokens: int,
        written: tuple[str, ...] = (),
    ) -> Context:
        assert self._trace is not None
        settings = self._recall.settings
        if any(item.layer == "facts" for item in self._items.values()):
            settings = replace(settings, triples=False)
        facts = beside_each_other(self._aside) if self.lists else self._aside
        result = SearchResult(
            question, tuple(hits), facts, self._sessions, self._trace,
            episodes=self._overview,
        )  # fmt: skip
        analyses = self._background.analyses
        if not any(analysis.question == question for analysis in analyses):
            analyses = (analyse(question, self._trace.now), *analyses)
        return assemble(
            result,
            settings,
            max_tokens=max(1, max_tokens),
            zone=self._recall.zone,
            background=replace(self._background, written=written, analyses=analyses),
        )

    def _section_lines(
        self, labels: Sequence[str], budget: int, count: Count, written: Sequence[str]
    ) -> tuple[list[str], list[Citation]]:
        """What is written, and the lines of the facts and episodes with these labels."""
        lines = list(written)
        citations: list[Citation] = []
        for layer in ("episodes", "facts"):
            for number, item in enumerate(
                (self._items[label] for label in labels if self._items[label].layer == layer), 1
            ):
                heading = [_HEADING[layer]] if number == 1 else []
                name = f"{_PREFIX[layer]}{number}"
                more = [*heading, f"[{name}] {self._line(item)}"]
                if count("\n".join([HEADER, *lines, *more, FOOTER])) > budget:
                    break
                lines += more
                citations.append(Citation(name, _KIND[layer], item.id, item.session))
        return lines, citations

    def _line(self, item: Evidence) -> str:
        found = self._found[item.label]
        if isinstance(found, Triple):
            return triple_line(found, self._recall.zone)
        of = f"{named(item.session or '')} ({day(item.at, self._recall.zone)})"
        return f"{of}: {one_line(item.text)}"


def in_turn(lists: Sequence[Sequence[str]]) -> list[str]:
    """The labels of several searches: the best of the first, then of each other, and so on.

    The first search is the one for the question itself: it has several in each turn.
    """
    first, *others = lists or [()]
    turns = [first[place : place + _FIRST] for place in range(0, len(first), _FIRST)]
    ranks = zip_longest(turns, *([[label] for label in other] for other in others), fillvalue=())
    return [label for rank in ranks for labels in rank for label in labels]


def beside_each_other(facts: Iterable[Triple]) -> tuple[Triple, ...]:
    """Facts (best first) with those of one kind together, in order of time, and each once.

    Facts are of one kind if they say the same of the same: "Ann visits Rome", "Ann visits Oslo".
    """
    kinds: dict[tuple[str, str, bool], dict[str, Triple]] = {}
    for fact in facts:
        kind = normalise(fact.subject), normalise(fact.relation), fact.negated
        same = kinds.setdefault(kind, {}).setdefault(normalise(fact.object), fact)
        if same.when is None and fact.when is not None:
            kinds[kind][normalise(fact.object)] = fact
    return tuple(
        fact
        for kind in kinds.values()
        for fact in sorted(
            kind.values(), key=lambda item: item.when.start if item.when else item.first_observed
        )
    )


def _described(item: Hit | Triple | Episode) -> tuple[str | None, str, str, datetime]:
    if isinstance(item, Hit):
        return (
            item.session,
            item.id,
            f"{item.speaker}: {item.text}" if item.speaker else item.text,
            item.at,
        )
    if isinstance(item, Triple):
        session = item.sources[0].session if item.sources else None
        return session, item.uid, item.text, item.last_observed
    return item.session, item.uid, item.text, item.started_at


def _joined(
    lines: Sequence[str], citations: Sequence[Citation], rest: Context | None, count: Count
) -> Context:
    """One block of facts and episodes, and of a block of messages."""
    inner = str(rest).splitlines()[1:-1] if rest else []
    text = "\n".join([HEADER, *lines, *inner, FOOTER])
    hits = rest.hits if rest is not None else ()
    cited = [*citations, *(rest.citations if rest is not None else ())]
    return Context(text, tokens=count(text), hits=hits, citations=cited)
