"""``Recall``: what a loop reads of a memory. No model is called and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Protocol, TypeVar

from cognigraph.model import Context, Episode, Exclusion, Hit, SessionHit, Trace, Triple
from cognigraph.retrieve.block import build_block, fetch_background
from cognigraph.retrieve.excerpt.background import Background, MessageKey
from cognigraph.retrieve.layers import search_layer
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.search import search_with_candidates
from cognigraph.settings import ContextSettings, SearchSettings

T = TypeVar("T")
_OF_ONE_SESSION = 400


class Run(Protocol):
    """Completes a question to a request, and returns what ``answer`` makes of it."""

    def __call__(self, answer: Callable[[SearchRequest], T], question: str) -> T:
        """Answer a question."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """What one query found, best first, with what a prompt block needs beside the hits."""

    hits: tuple[Hit, ...] = ()
    triples: tuple[Triple, ...] = ()
    sessions: tuple[SessionHit, ...] = ()
    episodes: tuple[Episode, ...] = ()
    background: Background = field(default_factory=Background)
    trace: Trace | None = None


def key_of(hit: Hit) -> MessageKey:
    """The key of a hit's message: its session and its id."""
    return hit.session, hit.id


class Recall:
    """Reads one space, as it is at one time of asking and through one filter."""

    def __init__(self, run: Run, settings: ContextSettings, zone: tzinfo) -> None:
        self._run = run
        self.settings = settings
        self.zone = zone

    def messages(self, query: str, k: int, without: Collection[MessageKey] = ()) -> Found:
        """The ``k`` best messages for a query that are not among ``without``."""

        def answer(request: SearchRequest) -> Found:
            new = replace(request, without=Exclusion(messages=frozenset(without)))
            found = search_with_candidates(new, k=k)
            background = fetch_background(request.store, request.space, found)
            result = found.result
            return Found(
                result.hits, result.triples, result.sessions, (), background, result.trace
            )  # fmt: skip

        return self._run(answer, query)

    def facts(self, query: str, k: int, without: Collection[str] = ()) -> Found:
        """The ``k`` best facts for a query whose uids are not among ``without``."""

        def answer(request: SearchRequest) -> Found:
            settings = request.settings
            wide = replace(
                settings,
                max_triples=k,
                triples_by_vector=max(settings.triples_by_vector, k + len(without)),
                triples_by_terms=max(settings.triples_by_terms, k + len(without)),
            )
            new = replace(request, settings=wide, without=Exclusion(triples=frozenset(without)))
            result = search_with_candidates(new, k=1).result
            return Found(triples=result.triples, trace=result.trace)

        return self._run(answer, query)

    def episodes(self, query: str, k: int) -> Found:
        """The ``k`` best episodes for a query."""

        def answer(request: SearchRequest) -> Found:
            result = search_layer(request, k=k, layer="episodes")
            return Found(episodes=result.episodes, trace=result.trace)

        return self._run(answer, query)

    def covered(self, query: str, episodes: Sequence[Episode]) -> Found:
        """The messages that episodes cover, those first that answer the query best."""
        found = self._within(query, {one.session for one in episodes})
        keys = {(one.session, id) for one in episodes for id in one.messages}
        return replace(found, hits=tuple(hit for hit in found.hits if key_of(hit) in keys))

    def related(self, query: str, hits: Sequence[Hit]) -> Found:
        """The messages just before and after hits, in the same session."""
        found = self._within(query, {hit.session for hit in hits})
        keys = [key_of(hit) for hit in sorted(found.hits, key=_in_time)]
        places = {key: position for position, key in enumerate(keys)}
        shown = {key_of(hit) for hit in hits}
        near = {
            keys[position]
            for key in shown & set(places)
            for position in (places[key] - 1, places[key] + 1)
            if 0 <= position < len(keys) and keys[position][0] == key[0]
        }
        return replace(found, hits=tuple(h for h in found.hits if key_of(h) in near - shown))

    def _within(self, query: str, sessions: Collection[str]) -> Found:
        """The messages of some sessions that pass the filter, best first."""

        def answer(request: SearchRequest) -> Found:
            many = _OF_ONE_SESSION * len(sessions)
            wide = replace(
                request,
                where=replace(request.where, session=sorted(sessions)),
                settings=_every_message(request.settings, many),
                reader=None,
            )
            found = search_with_candidates(wide, k=many)
            result = found.result
            return Found(result.hits, result.triples, result.sessions, trace=result.trace)

        return self._run(answer, query) if sessions else Found()

    def block(self, question: str, max_tokens: int, k: int | None = None) -> Context:
        """The prompt block of a question without a loop, as :meth:`Space.context` builds it."""

        def answer(request: SearchRequest) -> Context:
            return build_block(
                request, settings=self.settings, k=k, max_tokens=max_tokens, zone=self.zone
            )

        return self._run(answer, question)


def _every_message(settings: SearchSettings, many: int) -> SearchSettings:
    return replace(
        settings,
        chunks_by_vector=max(settings.chunks_by_vector, many),
        time_order=False,
        rerank=0,
    )


def _in_time(hit: Hit) -> tuple[str, datetime, int]:
    return hit.session, hit.at, hit.part
