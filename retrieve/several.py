"""Answer several queries in one search, and fuse what they find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from cognigraph.model import Hit, QueryTrace, SearchResult, SessionHit, Trace, Triple
from cognigraph.retrieve.confidence import of_hit
from cognigraph.retrieve.fusion import at_most_per, fused, in_turns
from cognigraph.retrieve.one_search import QueryOutcome, plan_query, run_plan
from cognigraph.retrieve.queries import distinct
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.stopwatch import Stopwatch

MessageKey = tuple[str, str]

_DEPTH, _LEAST_DEPTH = 2, 30
"""Of each query so many times as many messages are ranked as are wanted, or at least so many: what
several queries find far down is good as well."""


def run_several(request: SearchRequest, *, k: int) -> list[QueryOutcome]:
    """Answer each distinct query of a request by itself; all are embedded in one batch."""
    planned = []
    for query in distinct(request.question, request.also):
        stopwatch = Stopwatch()
        plan = plan_query(replace(request, question=query, also=()), stopwatch)
        if plan is not None:
            planned.append((plan, stopwatch))
    request.embedder.embed_queries([plan.analysis.question for plan, _ in planned])
    depth = max(_DEPTH * k, _LEAST_DEPTH)
    return [run_plan(plan, stopwatch, k=depth) for plan, stopwatch in planned]


def fuse(
    request: SearchRequest, outcomes: Sequence[QueryOutcome], *, k: int
) -> tuple[SearchResult, list[int]]:
    """Fuse the results of the queries; also return the position of the query that gave each hit."""
    results = [outcome.result for outcome in outcomes]
    ranked = fused([result.hits for result in results], _message, k)
    few = at_most_per(ranked, lambda given: given[1].session, request.per_session)
    chosen = list(islice(few, k))
    ranks = [_ranks(result.hits) for result in results]
    sure = max((one.confidence for one in results if one.confidence is not None), default=None)
    hits = tuple(
        _found(hit, of_hit(sure, place), {result.question: rank[_message(hit)]
                     for result, rank in zip(results, ranks, strict=True) if _message(hit) in rank})
        for place, (_, hit) in enumerate(chosen)
    )  # fmt: skip
    most = request.settings
    together = SearchResult(
        request.question,
        hits,
        _facts(results, most.max_triples),
        _sessions(results, most.max_sessions),
        _trace(results, hits),
        confidence=sure,
    )
    return together, [position for position, _ in chosen]


def _message(hit: Hit) -> MessageKey:
    return hit.session, hit.id


def _ranks(hits: Iterable[Hit]) -> dict[MessageKey, int]:
    return {_message(hit): rank for rank, hit in enumerate(hits, 1)}


def _found(hit: Hit, sure: float | None, ranks: Mapping[str, int]) -> Hit:
    """The hit with its confidence and the queries that found it, best rank first."""
    queries = sorted(ranks, key=ranks.__getitem__)
    notes = tuple(f"rank {ranks[query]} for {query!r}" for query in queries)
    why = replace(hit.why, notes=(*hit.why.notes, *notes))
    return replace(hit, found_by=tuple(queries), why=why, confidence=sure)


def _facts(results: Sequence[SearchResult], most: int) -> tuple[Triple, ...]:
    turns = in_turns([result.triples for result in results], lambda triple: triple.uid)
    return tuple(islice(turns, most))


def _sessions(results: Sequence[SearchResult], most: int) -> tuple[SessionHit, ...]:
    turns = in_turns([result.sessions for result in results], lambda hit: hit.session.id)
    return tuple(islice(turns, most))


def _trace(results: Sequence[SearchResult], hits: Sequence[Hit]) -> Trace:
    traces = [result.trace for result in results]
    queries = tuple(_query_trace(result, hits) for result in results)
    counts = _sum(trace.counts for trace in traces)
    return replace(
        traces[0],
        timings=_sum(trace.timings for trace in traces),
        counts={name: int(count) for name, count in counts.items()},
        queries=queries,
    )


def _query_trace(result: SearchResult, hits: Sequence[Hit]) -> QueryTrace:
    query, trace = result.question, result.trace
    return QueryTrace(
        query=query,
        terms=trace.terms,
        anchors=trace.anchors,
        counts=trace.counts,
        notes=trace.notes,
        hits=sum(query in hit.found_by for hit in hits),
        alone=sum(hit.found_by == (query,) for hit in hits),
    )


def _sum(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = round(total.get(name, 0) + value, 3)
    return total
