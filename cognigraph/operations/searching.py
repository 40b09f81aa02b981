"""Ask a space a question: complete the request with what the engine holds, and answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import TypeVar

from cognigraph.embed import CheckedEmbedder
from cognigraph.engine import Engine
from cognigraph.model import Context, Exclusion, Filter, Seen
from cognigraph.model.filters import Scalar
from cognigraph.retrieve.queries import checked_queries
from cognigraph.retrieve.rank.weights import declared_weight_set
from cognigraph.retrieve.request import SearchRequest
from cognigraph.settings import SearchSettings
from cognigraph.stores.protocols import Store
from cognigraph.text.clean import storable
from cognigraph.times import to_utc

_T = TypeVar("_T")


def with_request(
    engine: Engine,
    space: str,
    answer: Callable[[SearchRequest], _T],
    question: str,
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
    """Return what ``answer`` makes of a question asked at ``now`` (by default the clock's time).

    If another thread changes the embedder meanwhile, the question is answered again with the new
    one.
    """
    asked_at = engine.clock() if now is None else to_utc(now, engine.zone)
    known_at = None if as_of is None else to_utc(as_of, engine.zone)
    passing = in_utc(where or Filter(), engine.zone)
    queries, seen = checked_queries(also), _storable_ids(Exclusion.of(without))

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


def _storable_ids(seen: Exclusion) -> Exclusion:
    """What was seen, with ids that a store can look up; those of items are such already."""
    return replace(seen, ids=frozenset(map(storable, seen.ids)))
