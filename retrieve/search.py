"""Search a space: plan each query, rank its candidates, fetch the result, and fuse the results.

``Space.search`` comes in by :func:`search_layer`, ``Space.context`` by :func:`search`. A question
that is one query takes this way: :func:`plan_search`, :func:`find_candidates` (the store),
:func:`rank_candidates`, :meth:`RankedCandidates.fetch_result`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np

from cognigraph.errors import ConfigurationError
from cognigraph.model import (
    Filter,
    Hit,
    Layer,
    QueryTrace,
    SearchResult,
    SessionHit,
    Trace,
    Triple,
    Why,
)
from cognigraph.retrieve.confidence import hit_confidence, without_less_confident
from cognigraph.retrieve.plan import (
    SearchPlan,
    SearchRequest,
    Stopwatch,
    distinct,
    find_candidates,
    plan_search,
    rank_candidates,
)
from cognigraph.retrieve.rank.ranking import Ranking, best_first
from cognigraph.retrieve.rank.signals import MOST_WORDS
from cognigraph.retrieve.results import RankedCandidates
from cognigraph.stores.candidates import Candidates, ChunkRecord, EpisodeCandidate


def search_layer(request: SearchRequest, *, k: int, layer: Layer) -> SearchResult:
    """Answer a question with the ``k`` best of a layer.

    The layers are messages, the messages that state the best facts, and episodes.

    Raises:
        ConfigurationError: ``min_confidence`` is given for episodes, which have no confidence.
    """
    if layer == "messages":
        return search(request, k=k).result
    if layer == "episodes" and request.min_confidence:
        raise ConfigurationError("min_confidence is for messages and facts: episodes have none")
    search_query = _search_facts if layer == "facts" else _search_episodes
    outcomes = []
    for query in distinct(request.question, request.also):
        stopwatch = Stopwatch()
        plan = plan_search(replace(request, question=query, also=()), stopwatch)
        if plan is not None:
            outcomes.append(search_query(plan, stopwatch, k))
    if not outcomes:
        return replace(nothing_asked(request), layer=layer)
    if layer == "episodes":
        return _fused_episodes(request, [outcome.result for outcome in outcomes], k)
    result = outcomes[0].result
    if len(outcomes) > 1:
        result, _ = fuse_results(request, outcomes, k=k)
    return replace(without_less_confident(result, request.min_confidence), layer=layer)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """A search result, and the outcome of each query behind it (none for an empty question).

    ``given_by`` has, for each hit, the position in ``queries`` of the query that gave it.
    """

    result: SearchResult
    queries: Sequence[QueryOutcome] = ()
    given_by: Sequence[int] = ()


def search(request: SearchRequest, *, k: int) -> SearchOutcome:
    """Answer a question with the ``k`` best messages of a space; an empty question finds none."""
    if request.also:
        queries = search_each(request, k=k)
        result, given_by = fuse_results(request, queries, k=k)
    else:
        stopwatch = Stopwatch()
        plan = plan_search(request, stopwatch)
        if plan is None:
            return SearchOutcome(result=nothing_asked(request))
        queries = [answer_plan(plan, stopwatch, k=k)]
        result, given_by = queries[0].result, [0] * len(queries[0].rows)
    result = without_less_confident(result, request.min_confidence)
    return SearchOutcome(result=result, queries=queries, given_by=given_by[: len(result.hits)])


# Answer one query: analyse it, find candidates, rank them and fetch the results.

MessageKey = tuple[str, str]
"""Session and id of a message."""
_MOST_CORRECTIONS = 3
"""Corrections in a row: "the 25th", "no, the 26th"."""


class NextTurn(NamedTuple):
    """The uid of a chunk, and whether its speaker said it ``at_once``, with nobody between."""

    uid: str
    at_once: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOutcome:
    """The result of one query, with the plan and the candidates that it was chosen from.

    ``rows`` has, for each hit, its row among the candidate chunks.
    """

    result: SearchResult
    plan: SearchPlan
    candidates: Candidates
    rows: Sequence[int]

    def row_of_hits(self) -> dict[MessageKey, int]:
        """The rows of the hits among the candidate chunks, by session and id."""
        keys = ((hit.session, hit.id) for hit in self.result.hits)
        return dict(zip(keys, self.rows, strict=True))

    def before(self, row: int) -> str | None:
        """The uid of the chunk before that of a row, if it is among the candidates."""
        before = self.candidates.chunks.previous[row]
        return self.candidates.chunks.uids[before] if before >= 0 else None

    def following(self, row: int, parts: int) -> list[NextTurn]:
        """What the speaker of a hit said next, as far as it may correct the hit.

        ``row`` is the row of a chunk of the hit, and ``parts`` the number of its chunks. What may
        be a correction is a short message that follows directly, or with one message of somebody
        else between. All of them are candidates, so they pass the filter and ``as_of``.
        """
        turns: list[NextTurn] = []
        for _ in range(_MOST_CORRECTIONS + parts):
            row, at_once = self._next_of_speaker(row)
            if row < 0 or len(turns) == _MOST_CORRECTIONS:
                break
            if self.candidates.chunks.length[row] <= MOST_WORDS:
                turns.append(NextTurn(self.candidates.chunks.uids[row], at_once))
            elif turns or parts == 1:  # else it is a further part of the hit
                break
        return turns

    def _next_of_speaker(self, row: int) -> tuple[int, bool]:
        """The row of the speaker's next chunk, or -1, and whether nobody spoke between."""
        chunks = self.candidates.chunks
        speaker = chunks.speakers[row], chunks.roles[row]
        for at_once in (True, False):
            row = int(chunks.following[row])
            if row < 0:
                break
            if (chunks.speakers[row], chunks.roles[row]) == speaker:
                return row, at_once
        return -1, False


def answer_plan(plan: SearchPlan, stopwatch: Stopwatch, *, k: int) -> QueryOutcome:
    """Answer a planned query with the ``k`` best messages."""
    candidates, ranking = find_and_rank(plan, stopwatch)
    result, rows = RankedCandidates(plan, candidates, ranking).fetch_result(k, stopwatch)
    return QueryOutcome(result=result, plan=plan, candidates=candidates, rows=rows)


def find_and_rank(plan: SearchPlan, stopwatch: Stopwatch) -> tuple[Candidates, Ranking]:
    """Find the candidates of a planned query and rank them; ends both stages."""
    candidates = find_candidates(plan.request, plan.analysis)
    stopwatch.lap("candidates")
    ranking = rank_candidates(plan.request, plan.analysis, candidates)
    stopwatch.lap("rank")
    return candidates, ranking


def nothing_asked(request: SearchRequest) -> SearchResult:
    """The result of an empty question."""
    trace = Trace(request.settings.ranking, request.now, {}, {}, notes=("empty question",))
    return SearchResult(request.question, (), (), (), trace)


# Answer several queries in one search, and fuse what they find.

_DEPTH, _LEAST_DEPTH = 2, 30
"""Each query ranks twice as many messages as are wanted, and at least 30: a message that several
queries find far down is a good one as well."""


def search_each(request: SearchRequest, *, k: int) -> list[QueryOutcome]:
    """Answer each distinct query of a request by itself; all are embedded in one batch."""
    planned = []
    for query in distinct(request.question, request.also):
        stopwatch = Stopwatch()
        plan = plan_search(replace(request, question=query, also=()), stopwatch)
        if plan is not None:
            planned.append((plan, stopwatch))
    request.embedder.embed_queries([plan.analysis.question for plan, _ in planned])
    depth = max(_DEPTH * k, _LEAST_DEPTH)
    return [answer_plan(plan, stopwatch, k=depth) for plan, stopwatch in planned]


def fuse_results(
    request: SearchRequest, outcomes: Sequence[QueryOutcome], *, k: int
) -> tuple[SearchResult, list[int]]:
    """Fuse the results of the queries; also return the position of the query that gave each hit."""
    results = [outcome.result for outcome in outcomes]
    ranked = fuse_rankings([result.hits for result in results], _message, k)
    few = at_most_per(ranked, lambda given: given[1].session, request.per_session)
    chosen = list(islice(few, k))
    ranks = [_ranks(result.hits) for result in results]
    sure = max((item.confidence for item in results if item.confidence is not None), default=None)
    hits = tuple(
        _with_queries(hit, hit_confidence(sure, place), {result.question: rank[_message(hit)]
                     for result, rank in zip(results, ranks, strict=True) if _message(hit) in rank})
        for place, (_, hit) in enumerate(chosen)
    )  # fmt: skip
    most = request.settings
    together = SearchResult(
        request.question,
        hits,
        _triples_in_turns(results, most.max_triples),
        _sessions_in_turns(results, most.max_sessions),
        _trace(results, hits),
        confidence=sure,
    )
    return together, [position for position, _ in chosen]


def _message(hit: Hit) -> MessageKey:
    return hit.session, hit.id


def _ranks(hits: Iterable[Hit]) -> dict[MessageKey, int]:
    return {_message(hit): rank for rank, hit in enumerate(hits, 1)}


def _with_queries(hit: Hit, sure: float | None, ranks: Mapping[str, int]) -> Hit:
    """The hit with its confidence and the queries that found it, best rank first."""
    queries = sorted(ranks, key=ranks.__getitem__)
    notes = tuple(f"rank {ranks[query]} for {query!r}" for query in queries)
    why = replace(hit.why, notes=(*hit.why.notes, *notes))
    return replace(hit, found_by=tuple(queries), why=why, confidence=sure)


def _triples_in_turns(results: Sequence[SearchResult], most: int) -> tuple[Triple, ...]:
    turns = in_turns([result.triples for result in results], lambda triple: triple.uid)
    return tuple(islice(turns, most))


def _sessions_in_turns(results: Sequence[SearchResult], most: int) -> tuple[SessionHit, ...]:
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


# Fuse the rankings of several queries into one, fairly: no query crowds out another.

_T = TypeVar("_T")
_Key = Callable[[_T], Hashable]

_SMOOTHING = 1
"""Added to ranks before they are inverted. Fusions are equally good for 0 to 10; for 60, as it is
common, messages that several queries find a little push out what one query finds first."""

_OWN_SHARE = 0.5
"""Of the items that a ranking would give in turn, this share is certain to be chosen."""


def fuse_rankings(rankings: Sequence[Sequence[_T]], key: _Key[_T], k: int) -> list[tuple[int, _T]]:
    """Fuse rankings by the sum of their reciprocal ranks; all items, the ``k`` chosen ones first.

    Items with the same ``key`` are the same. Each ranking has its first items among the chosen, at
    least half as many as if the rankings gave an item each in turn. Returns each item as it is in
    the ranking that puts it highest, with the position of that ranking.
    """
    best: dict[Hashable, tuple[int, int, _T]] = {}
    score: defaultdict[Hashable, float] = defaultdict(float)
    for position, ranking in enumerate(rankings):
        for rank, item in enumerate(ranking, 1):
            score[key(item)] += 1 / (_SMOOTHING + rank)
            if key(item) not in best or rank < best[key(item)][0]:
                best[key(item)] = (rank, position, item)
    order = sorted(best, key=lambda item: (-round(score[item], 12), best[item][:2]))
    own = int(_OWN_SHARE * k / max(len(rankings), 1))
    certain = {key(item) for ranking in rankings for item in ranking[:own]}
    free = [item for item in order if item not in certain][: max(k - len(certain), 0)]
    chosen = certain.union(free)
    first = [item for item in order if item in chosen]
    rest = [item for item in order if item not in chosen]
    return [best[item][1:] for item in (*first, *rest)]


def in_turns(rankings: Sequence[Sequence[_T]], key: _Key[_T]) -> Iterator[_T]:
    """Take from each ranking in turn its best item that was not taken yet, until all are empty."""
    given: set[Hashable] = set()
    waiting = [iter(ranking) for ranking in rankings]
    while waiting:
        left = []
        for items in waiting:
            item = next((item for item in items if key(item) not in given), None)
            if item is not None:
                given.add(key(item))
                left.append(items)
                yield item
        waiting = left


def at_most_per(items: Iterable[_T], group: _Key[_T], most: int | None) -> Iterator[_T]:
    """The first ``most`` items of each group, in their order; all items without a limit."""
    taken: Counter[Hashable] = Counter()
    for item in items:
        taken[group(item)] += 1
        if most is None or taken[group(item)] <= most:
            yield item


# Search another layer than that of messages: facts, or episodes.
#
# The candidates are those of every search. Facts rank the messages that state them. An episode is
# found by its title and summary or by a message that it covers, and ranks by both.

_BEST_MESSAGES = 60
"""Number of best messages whose episodes are candidates."""
_LEAST_NEAREST = 30
"""At least this many episodes are candidates for being near to the question."""
_RANK_CONSTANT = 10
"""The constant of reciprocal rank fusion: the smaller it is, the more the first ranks count."""
_ABSENT = object()
MOST_TURNS = 60
"""Largest number of messages of one episode that a result holds as hits."""


def _search_facts(plan: SearchPlan, stopwatch: Stopwatch, k: int) -> QueryOutcome:
    """The messages that state the best facts; each scores as the best fact that it states."""
    candidates, ranking = find_and_rank(plan, stopwatch)
    score = np.full(len(candidates.chunks.uids), -np.inf)
    for row, evidence in enumerate(candidates.triples.evidence):
        for chunk in evidence:
            score[chunk] = max(score[chunk], ranking.triples[row])
    plan = replace(plan, request=replace(plan.request, reranker=None))
    ranking = replace(ranking, score=score)
    found, rows = RankedCandidates(plan, candidates, ranking).fetch_result(k, stopwatch)
    stated = [at for at, hit in enumerate(found.hits) if np.isfinite(hit.score)]
    result = replace(found, hits=tuple(found.hits[at] for at in stated))
    return QueryOutcome(
        result=result, plan=plan, candidates=candidates, rows=[rows[at] for at in stated]
    )


@dataclass(frozen=True, slots=True)
class _Scored:
    candidate: EpisodeCandidate
    score: float


def _search_episodes(plan: SearchPlan, stopwatch: Stopwatch, k: int) -> QueryOutcome:
    """The best episodes, and as hits the messages that they cover."""
    candidates, ranking = find_and_rank(plan, stopwatch)
    request, chunks = plan.request, candidates.chunks
    order = best_first(ranking.score, chunks.at)
    ranks = {chunks.uids[row]: rank for rank, row in enumerate(order)}
    found = request.store.search.episodes(
        request.space,
        request.embedder.embed_query(plan.analysis.question),
        [chunks.uids[row] for row in order[:_BEST_MESSAGES]],
        max(_LEAST_NEAREST, 2 * k) + len(request.without.episodes),
    )
    best = _rank_episodes([item for item in found if _is_allowed(item, request, ranks)], ranks)[:k]
    hits = _covered_hits(request, best)
    stopwatch.lap("fetch")
    trace = Trace(
        request.settings.ranking,
        request.now,
        stopwatch.laps,
        {"chunks": len(chunks.uids), "episodes": len(found)},
        terms=plan.analysis.terms,
        anchors=candidates.anchors,
        notes=plan.notes,
        asks=plan.analysis.time.asks,
        past=plan.analysis.time.past,
    )
    episodes = tuple(replace(item.candidate.episode, score=item.score) for item in best)
    result = SearchResult(
        request.question, hits, (), (), trace, layer="episodes", episodes=episodes
    )
    return QueryOutcome(result=result, plan=plan, candidates=candidates, rows=())


def _fused_episodes(
    request: SearchRequest, results: Sequence[SearchResult], k: int
) -> SearchResult:
    """The episodes of several queries in turns, with their messages."""
    turns = in_turns([result.episodes for result in results], lambda episode: episode.uid)
    per_session = at_most_per(turns, lambda episode: episode.session, request.per_session)
    episodes = tuple(islice(per_session, k))
    hits = {(hit.session, hit.id, hit.part): hit for result in results for hit in result.hits}
    of_message: dict[tuple[str, str], list[Hit]] = {}
    for (session, id, _), hit in hits.items():
        of_message.setdefault((session, id), []).append(hit)
    covered = dict.fromkeys((item.session, id) for item in episodes for id in item.messages)
    return replace(
        results[0],
        question=request.question,
        episodes=episodes,
        hits=tuple(hit for key in covered for hit in of_message.get(key, ())),
    )


def _is_allowed(
    candidate: EpisodeCandidate, request: SearchRequest, ranks: Mapping[str, int]
) -> bool:
    """Whether an episode is new, was over at ``as_of``, and has a message that passes ``where``."""
    if request.without.has_episode(candidate.episode.uid):
        return False
    if request.as_of is not None and candidate.episode.ended_at > request.as_of:
        return False
    return request.where == Filter() or any(uid in ranks for uid in candidate.chunks)


def _rank_episodes(
    candidates: Sequence[EpisodeCandidate], ranks: Mapping[str, int]
) -> list[_Scored]:
    """Rank episodes by their themes and their two best messages: by the sum of reciprocal ranks.

    Ties go to the newer episode, so that the order does not depend on the store.
    """
    by_theme = _positions({item.episode.uid: -round(item.cosine, 6) for item in candidates})
    best = {item.episode.uid: sorted(ranks[uid] for uid in item.chunks if uid in ranks)
            for item in candidates}  # fmt: skip
    by_message = _positions({uid: own[0] for uid, own in best.items() if own})
    by_second = _positions({uid: own[1] for uid, own in best.items() if len(own) > 1})
    scored = [
        _Scored(item, sum(_reciprocal(position.get(item.episode.uid)) for position in
                         (by_theme, by_message, by_second)))
        for item in candidates
    ]  # fmt: skip
    return sorted(
        scored,
        key=lambda item: (
            -item.score,
            -item.candidate.episode.ended_at.timestamp(),
            item.candidate.episode.uid,
        ),
    )


def _reciprocal(position: int | None) -> float:
    return 0.0 if position is None else 1 / (_RANK_CONSTANT + position)


def _positions(values: Mapping[str, float]) -> dict[str, int]:
    """The rank of each value, ascending; equal values share a rank."""
    first: dict[float, int] = {}
    for position, value in enumerate(sorted(values.values())):
        first.setdefault(value, position)
    return {uid: first[value] for uid, value in values.items()}


def _covered_hits(request: SearchRequest, best: Iterable[_Scored]) -> tuple[Hit, ...]:
    """The messages that episodes cover, in the order of the episodes, each message once."""
    scores: dict[str, float] = {}
    for item in best:
        for uid in item.candidate.chunks[:MOST_TURNS]:
            scores.setdefault(uid, item.score)
    records = request.store.search.chunks(request.space, list(scores))
    return tuple(
        _covered_hit(records[uid], score)
        for uid, score in scores.items()
        if uid in records and _is_wanted(records[uid], request)
    )


def _is_wanted(record: ChunkRecord, request: SearchRequest) -> bool:
    seen = request.without.has_message(record.session, record.message_id)
    return not seen and passes(record, request.where)


def passes(record: ChunkRecord, where: Filter) -> bool:
    """Whether a message fulfils all conditions of a filter whose times are datetimes."""
    since, latest = where.since, where.latest
    return (
        (record.role or "person") in where.roles
        and (not where.sessions or record.session in where.sessions)
        and (not where.speakers or (record.speaker or "") in where.speakers)
        and (not isinstance(since, datetime) or record.at >= since)
        and (latest is None or record.at <= latest)
        and set(where.tags) <= set(record.tags)
        and all(_same(record.metadata.get(name, _ABSENT), v) for name, v in where.metadata.items())
    )


def _same(value: object, wanted: object) -> bool:
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


def _covered_hit(record: ChunkRecord, score: float) -> Hit:
    why = Why({}, {}, None, None, None, score, None, 1.0, score, ("covered by an episode",))
    return Hit(
        record.message_id, record.text, score, record.session, record.speaker, record.at, (), why,
        record.part, record.parts, record.role, record.heading, record.metadata, record.tags,
    )  # fmt: skip
