"""Ask a space a question: make a request of it, with what the engine holds, and answer that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any, TypeVar

from cognigraph.embed import CheckedEmbedder
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError
from cognigraph.ingest.queue.step import Limits
from cognigraph.loop.asker import Asker
from cognigraph.loop.data import Answer, Repair
from cognigraph.loop.pool import Recall
from cognigraph.loop.run import Loop, OnRound
from cognigraph.loop.state import LoopState
from cognigraph.loop.strategy import Strategy, resolve_strategy
from cognigraph.model import Context, Exclusion, Filter, Hit, SearchResult, Seen, SpaceHit
from cognigraph.model.filters import Scalar
from cognigraph.operations.tenant import Tenant
from cognigraph.retrieve.plan import SearchRequest, checked_queries
from cognigraph.retrieve.rank.ranking import declared_weight_set
from cognigraph.settings import SearchSettings, Settings
from cognigraph.stores.protocols import Store
from cognigraph.text.terms import storable
from cognigraph.times import to_utc, zone

_T = TypeVar("_T")


def answer_question(
    engine: Engine,
    space: str,
    question: str,
    answer: Callable[[SearchRequest], _T],
    *,
    now: datetime | str | None,
    as_of: datetime | str | None,
    valid_at: datetime | str | None = None,
    settings: SearchSettings,
    where: Filter | None = None,
    also: Iterable[str] = (),
    without: Iterable[Seen] | Context = (),
    per_session: int | None = None,
    min_confidence: float | None = None,
) -> _T:
    """Check what :meth:`cognigraph.Space.search` was given, and answer it by ``answer``.

    ``answer`` is called again if another thread changes the embedder meanwhile. ``now`` is the
    clock's time if absent.
    """
    engine.store.search.warm(space)  # an index that is not loaded yet loads during the analysis
    asked_at = engine.clock() if now is None else to_utc(now, engine.zone)
    known_at = None if as_of is None else to_utc(as_of, engine.zone)
    passing = in_utc(where or Filter(), engine.zone)
    seen = Exclusion.of(without)
    seen = replace(seen, ids=frozenset(map(storable, seen.ids)))
    queries = checked_queries(also)

    def work(store: Store, embedder: CheckedEmbedder) -> _T:
        request = SearchRequest(
            question=question,
            store=store,
            embedder=embedder,
            space=space,
            settings=settings,
            now=asked_at,
            as_of=known_at,
            valid_at=None if valid_at is None else to_utc(valid_at, engine.zone),
            where=passing,
            weight_set=declared_weight_set(engine.extractor),
            vector_worth=engine.vector_worth,
            reader=engine.reader,
            reranker=engine.reranker,
            also=queries,
            without=seen,
            per_session=per_session,
            min_confidence=min_confidence,
        )
        return answer(request)

    return engine.use(work)


def in_utc(where: Filter, zone: tzinfo | None) -> Filter:
    """The filter as stores take it: with its times in UTC, and its texts as they are stored."""
    since, until = (
        None if time is None else to_utc(time, zone) for time in (where.since, where.until)
    )
    return replace(
        where,
        since=since,
        until=until,
        session=tuple(map(storable, where.sessions)) or None,
        speaker=tuple(map(storable, where.speakers)) or None,
        tags=tuple(map(storable, where.tags)),
        metadata={storable(name): _storable(value) for name, value in where.metadata.items()},
    )


def _storable(value: Scalar) -> Scalar:
    return storable(value) if isinstance(value, str) else value


def merged(results: Mapping[str, SearchResult], k: int) -> tuple[SpaceHit, ...]:
    """The ``k`` best hits. The order within each space is kept.

    Scores are relative to the best of a space. What is compared across spaces is the similarity of
    the vectors, which is the same measure everywhere.
    """
    waiting = {space: list(result.hits) for space, result in results.items() if result.hits}
    best: list[SpaceHit] = []
    while waiting and len(best) < k:
        space = max(waiting, key=lambda name: (_strength(waiting[name][0]), name))
        best.append(SpaceHit(space, waiting[space].pop(0)))
        if not waiting[space]:
            del waiting[space]
    return tuple(best)


def _strength(hit: Hit) -> float:
    return hit.why.signals.get("vector", hit.score)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRequest:
    """A question for a loop, with everything that its answer depends on."""

    question: str
    strategy: str | Strategy = "licomemory"
    history: Sequence[str] = ()
    limits: Limits | None = None
    max_tokens: int | None = None
    now: datetime | str | None = None
    as_of: datetime | str | None = None
    where: Filter | None = None
    timezone: str | tzinfo | None = None
    settings: Settings | None = None
    on_round: OnRound | None = None


def new_state(engine: Engine, space: str, request: LoopRequest) -> LoopState:
    """Create the state in which the loop of a request begins."""
    chosen = request.settings or engine.settings
    display_zone = zone(request.timezone) or engine.zone or UTC
    now = engine.clock() if request.now is None else to_utc(request.now, engine.zone)
    run = partial(
        answer_question, engine, space, now=now, as_of=request.as_of, where=request.where,
        settings=chosen.search,
    )  # fmt: skip
    return LoopState(
        request.question,
        recall=Recall(run, chosen.context, display_zone),
        asker=None if engine.model is None else Asker(engine.model, request.limits),
        history=request.history,
        now=now,
        max_tokens=request.max_tokens or resolve_strategy(request.strategy).max_tokens,
    )


def run_loop(
    engine: Engine,
    space: str,
    request: LoopRequest,
    *,
    answer: bool,
    apply: Callable[[Sequence[Repair]], None] | None = None,
) -> Answer:
    """Run the loop of a request; see :meth:`cognigraph.Space.ask`. ``apply`` makes its repairs."""
    strategy = resolve_strategy(request.strategy)
    most = (request.limits or Limits()).rounds
    settings = request.settings or engine.settings
    engine.store.search.warm(space)  # a strategy may ask the model before it searches
    loop = Loop(
        strategy,
        new_state(engine, space, request),
        strategy.rounds if most is None else min(strategy.rounds, most),
        plain_tokens=request.max_tokens or settings.context.max_tokens,
        on_round=request.on_round,
        apply=apply,
    )
    return loop.run(answer=answer)


def checked_turns(history: Sequence[str]) -> tuple[str, ...]:
    """The turns before a question; :class:`ConfigurationError` if it is not one of texts."""
    if isinstance(history, str) or not all(isinstance(turn, str) for turn in history):
        raise ConfigurationError("history must be a sequence of texts, the turns before a question")
    return tuple(history)


def loop_state(space: Tenant, question: str, **options: Any) -> LoopState:
    """Create a state with which a slot of a loop can be called alone.

    ``options`` are those of :meth:`cognigraph.Space.ask` that say how to search: ``now``,
    ``as_of``, ``where``, ``timezone``, ``settings``, ``limits``, ``history`` and ``max_tokens``.
    """
    return new_state(space._engine, space._name, LoopRequest(question=question, **options))
