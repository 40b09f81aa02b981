"""``Pool``: the evidence of a loop, and the prompt block that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest

from cognigraph.loop.data import Evidence
from cognigraph.loop.recall import Found, Recall, key_of
from cognigraph.model import (
    Citation,
    Context,
    Episode,
    Hit,
    Layer,
    SearchResult,
    SessionHit,
    Trace,
    Triple,
)
from cognigraph.retrieve.assemble import assemble
from cognigraph.retrieve.block_lines import day, triple_line
from cognigraph.retrieve.excerpt.background import Background, MessageKey
from cognigraph.text.marks import FOOTER, HEADER, one_line
from cognigraph.text.token_estimate import estimate_tokens

_PREFIX: Mapping[Layer, str] = {"messages": "M", "facts": "F", "episodes": "E"}
_HEADING: Mapping[Layer, str] = {"facts": "Facts:", "episodes": "Episodes:"}
_KIND: Mapping[Layer, str] = {"facts": "triple", "episodes": "episode"}
_SHARE = 0.5
Count = Callable[[str], int]


class Pool:
    """Everything that a loop has found, each item once, with a label that stays the same."""

    def __init__(self, recall: Recall) -> None:
        self._recall = recall
        self._items: dict[str, Evidence] = {}
        self._hits: dict[str, Hit] = {}
        self._triples: dict[str, Triple] = {}
        self._episodes: dict[str, Episode] = {}
        self._labels: dict[tuple[Layer, str, str], str] = {}
        self._lists: list[list[str]] = []
        self._sessions: tuple[SessionHit, ...] = ()
        self._aside: tuple[Triple, ...] = ()
        self._background = Background()
        self._trace: Trace | None = None

    # Adding

    def add(self, found: Found, query: str, number: int) -> tuple[str, ...]:
        """Add what a query has found in a round; returns the labels of all of it, best first."""
        before = len(self._items)
        labels = [
            *(self._label("messages", hit, query, number) for hit in found.hits),
            *(self._label("episodes", one, query, number) for one in found.episodes),
        ]
        if found.hits:
            self._surroundings(found)
        else:
            labels += [self._label("facts", one, query, number) for one in found.triples]
        self._lists.append(list(self._items)[before:])
        self._trace = self._trace or found.trace
        return tuple(labels)

    def _surroundings(self, found: Found) -> None:
        """Keep what was found beside messages: sessions, facts and what precedes the messages."""
        if not self._sessions:
            self._sessions = found.sessions
        known = {triple.uid for triple in self._aside}
        self._aside += tuple(one for one in found.triples if one.uid not in known)
        mine, other = self._background, found.background
        self._background = Background(
            idf={**other.idf, **mine.idf},
            whole={**mine.whole, **other.whole},
            before={**mine.before, **other.before},
        )

    def _label(self, layer: Layer, one: Hit | Triple | Episode, query: str, number: int) -> str:
        session, id, text, at = _described(one)
        key = (layer, session or "", id)
        if key in self._labels:
            return self._labels[key]
        label = f"{_PREFIX[layer]}{sum(known[0] == layer for known in self._labels) + 1}"
        self._labels[key] = label
        self._items[label] = Evidence(label, layer, id, session, text, at, query, number)
        if isinstance(one, Hit):
            self._hits[label] = one
        elif isinstance(one, Triple):
            self._triples[label] = one
        else:
            self._episodes[label] = one
        return label

    # Reading

    @property
    def items(self) -> tuple[Evidence, ...]:
        """All evidence in the order in which it was found."""
        return tuple(self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    def known(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Those labels that stand for an item, each once, in their order."""
        tidy = (label.strip().strip("[]").upper() for label in labels)
        return tuple(dict.fromkeys(label for label in tidy if label in self._items))

    def item(self, label: str) -> Evidence:
        """The item of a label."""
        return self._items[label]

    def hits(self, labels: Iterable[str] | None = None) -> list[Hit]:
        """The messages among these labels, or all of them."""
        return [self._hits[label] for label in labels or self._hits if label in self._hits]

    def episodes(self, labels: Iterable[str]) -> list[Episode]:
        """The episodes among these labels."""
        return [self._episodes[label] for label in labels if label in self._episodes]

    def triples(self, labels: Iterable[str]) -> list[Triple]:
        """The facts among these labels, and those that the messages among them state."""
        found: dict[str, Triple] = {}
        for label in labels:
            if label in self._triples:
                found.setdefault(self._triples[label].uid, self._triples[label])
            elif label in self._hits:
                found.update({one.uid: one for one in self._hits[label].triples})
        return list(found.values())

    def message_keys(self) -> set[MessageKey]:
        """The keys of all messages found."""
        return {key_of(hit) for hit in self._hits.values()}

    def uids(self, layer: Layer) -> set[str]:
        """The ids of all items of a layer."""
        return {item.id for item in self._items.values() if item.layer == layer}

    # The block

    def block(self, question: str, max_tokens: int, labels: Sequence[str] | None = None) -> Context:
        """Build a prompt block of the evidence, or of the part of it with these labels.

        Messages share the budget by worth per token, as in any block. Facts and episodes that were
        searched for come before them, in at most half of the budget if there are messages.
        """
        chosen = self._in_turn() if not labels else list(labels)
        hits = [self._hits[label] for label in chosen if label in self._hits]
        others = [label for label in chosen if label not in self._hits]
        count = self._recall.settings.count_tokens or estimate_tokens
        share = max_tokens if not hits else int(max_tokens * _SHARE)
        lines, citations = self._section_lines(others, share, count)
        used = count("\n".join(lines)) if lines else 0
        rest = self._assembled(question, hits, max_tokens - used) if hits else None
        if not lines:
            return rest if rest is not None else _empty()
        return _joined(lines, citations, rest, count)

    def _in_turn(self) -> list[str]:
        """All labels: the best of each query first, then the second of each, and so on."""
        ranks = zip_longest(*self._lists)
        return [label for rank in ranks for label in rank if label is not None]

    def _assembled(self, question: str, hits: Sequence[Hit], max_tokens: int) -> Context:
        assert self._trace is not None
        settings = self._recall.settings
        if any(item.layer == "facts" for item in self._items.values()):
            settings = replace(settings, triples=False)
        result = SearchResult(question, tuple(hits), self._aside, self._sessions, self._trace)
        return assemble(
            result,
            settings,
            max_tokens=max(1, max_tokens),
            zone=self._recall.zone,
            background=self._background,
        )

    def _section_lines(
        self, labels: Sequence[str], budget: int, count: Count
    ) -> tuple[list[str], list[Citation]]:
        lines: list[str] = []
        citations: list[Citation] = []
        for layer in ("episodes", "facts"):
            for number, item in enumerate(
                (self._items[one] for one in labels if self._items[one].layer == layer), 1
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
        if item.layer == "facts":
            return triple_line(self._triples[item.label], self._recall.zone)
        return f"{item.session} ({day(item.at, self._recall.zone)}): {one_line(item.text)}"


def _described(one: Hit | Triple | Episode) -> tuple[str | None, str, str, datetime]:
    if isinstance(one, Hit):
        return (
            one.session,
            one.id,
            f"{one.speaker}: {one.text}" if one.speaker else one.text,
            one.at,
        )
    if isinstance(one, Triple):
        session = one.sources[0].session if one.sources else None
        return session, one.uid, one.text, one.last_observed
    return one.session, one.uid, one.text, one.started_at


def _empty() -> Context:
    return Context("", tokens=0, hits=(), citations=())


def _joined(
    lines: Sequence[str], citations: Sequence[Citation], rest: Context | None, count: Count
) -> Context:
    """One block of facts and episodes, and of a block of messages."""
    inner = str(rest).splitlines()[1:-1] if rest else []
    text = "\n".join([HEADER, *lines, *inner, FOOTER])
    hits = rest.hits if rest is not None else ()
    cited = [*citations, *(rest.citations if rest is not None else ())]
    return Context(text, tokens=count(text), hits=hits, citations=cited)
