"""Search a space: plan each query, rank its candidates, fetch the result, and fuse the results.

``Space.search`` comes in by :func:`search_layer`, and ``Space.context``, by way of
:func:`~cognigraph.retrieve.block.build_block`, by :func:`search`. Each query takes this way:
:func:`plan_search`, :func:`find_candidates` (the store), :func:`rank_candidates`,
:meth:`RankedCandidates.fetch_result`.
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
    Trace,
    Why,
)
from cognigraph.retrieve.confidence import hit_confidence, without_less_confident
from cognigraph.retrieve.plan import (
    SearchPlan,
    SearchRequest,
    find_candidates,
    plan_queries,
    rank_candidates,
)
from cognigraph.retrieve.rank.ranking import Ranking, best_first
from cognigraph.retrieve.rank.signals import MOST_WORDS
from cognigraph.retrieve.results import RankedCandidates, hit_of
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
    plans = plan_queries(request)
    if not plans:
        return replace(nothing_asked(request), layer=layer)
    if layer == "episodes":
        return _fused_episodes(request, [_search_episodes(plan, k) for plan in plans], k)
    results = [_search_facts(plan, k) for plan in plans]
    result = fuse_results(request, results, k=k) if len(results) > 1 else results[0]
    return replace(without_less_confident(result, request.min_confidence), layer=layer)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """A search result, and the outcome of each query behind it (none for an empty question)."""

    result: SearchResult
    queries: Sequence[QueryOutcome] = ()


_DEPTH, _LEAST_DEPTH = 2, 30
"""Of several queries, each ranks twice as many messages as are wanted, and at least 30: a message
that several queries find far down is a good one as well."""


def search(request: SearchRequest, *, k: int) -> SearchOutcome:
    """Answer a question with the ``k`` best messages of a space; an empty question finds none."""
    plans = plan_queries(request)
    if not plans:
        return SearchOutcome(result=nothing_asked(request))
    if request.also:
        request.embedder.embed_queries([plan.analysis.question for plan in plans])  # in one batch
        depth = max(_DEPTH * k, _LEAST_DEPTH)
        queries = [answer_plan(plan, k=depth) for plan in plans]
        result = fuse_results(request, [query.result for query in queries], k=k)
    else:
        queries = [answer_plan(plan, k=k) for plan in plans]
        result = queries[0].result
    result = without_less_confident(result, request.min_confidence)
    return SearchOutcome(result=result, queries=queries)


# Answer one query: analyse it, find candidates, rank them and fetch the results.

MessageKey = tuple[str, str]
"""Session and id of a message."""


def key_of(hit: Hit) -> MessageKey:
    """What tells a message from all others."""
    return hit.session, hit.id


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
        """The rows of the hits among the candidate chunks."""
        return dict(zip(map(key_of, self.result.hits), self.rows, strict=True))

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


def answer_plan(plan: SearchPlan, *, k: int) -> QueryOutcome:
    """Answer a planned query with the ``k`` best messages."""
    candidates, ranking = find_and_rank(plan)
    result, rows = RankedCandidates(plan, candidates, ranking).fetch_result(k)
    return QueryOutcome(result=result, plan=plan, candidates=candidates, rows=rows)


def find_and_rank(plan: SearchPlan) -> tuple[Candidates, Ranking]:
    """Find the candidates of a planned query and rank them; ends the stages named so."""
    candidates = find_candidates(plan.request, plan.analysis)
    plan.stopwatch.lap("candidates")
    ranking = rank_candidates(plan.request, plan.analysis, candidates)
    plan.stopwatch.lap("rank")
    return candidates, ranking


def nothing_asked(request: SearchRequest) -> SearchResult:
    """The result of an empty question."""
    trace = Trace(request.settings.ranking, request.now, {}, {}, notes=("empty question",))
    return SearchResult(request.question, (), (), (), trace)


# Fuse what several queries of one search find.


def fuse_results(
    request: SearchRequest, results: Sequence[SearchResult], *, k: int
) -> SearchResult:
    """Fuse the results of the queries into one, with the ``k`` best hits of all."""
    ranked = fuse_rankings([result.hits for result in results], key_of, k)
    spread = at_most_per(ranked, lambda hit: hit.session, request.per_session)
    ranks = {
        result.question: {key_of(hit): rank for rank, hit in enumerate(result.hits, 1)}
        for result in results
    }
    triples = in_turns([result.triples for result in results], lambda triple: triple.uid)
    sessions = in_turns([result.sessions for result in results], lambda hit: hit.session.id)
    confidence = max((r.confidence for r in results if r.confidence is not None), default=None)
    hits = tuple(
        _with_queries(hit, hit_confidence(confidence, place), ranks)
        for place, hit in enumerate(islice(spread, k))
    )
    return SearchResult(
        request.question,
        hits,
        tuple(islice(triples, request.settings.max_triples)),
        tuple(islice(sessions, request.settings.max_sessions)),
        _trace(results, hits),
        confidence=confidence,
    )


def _with_queries(
    hit: Hit, confidence: float | None, ranks: Mapping[str, Mapping[MessageKey, int]]
) -> Hit:
    """The hit with its confidence and the queries that found it, best rank first.

    ``ranks`` has, for each query, the ranks of the messages that it found.
    """
    own = {query: rank[key_of(hit)] for query, rank in ranks.items() if key_of(hit) in rank}
    queries = sorted(own, key=own.__getitem__)
    notes = tuple(f"rank {own[query]} for {query!r}" for query in queries)
    why = replace(hit.why, notes=(*hit.why.notes, *notes))
    return replace(hit, found_by=tuple(queries), why=why, confidence=confidence)


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


def fuse_rankings(rankings: Sequence[Sequence[_T]], key: _Key[_T], k: int) -> list[_T]:
    """Fuse rankings by the sum of their reciprocal ranks; all items, the ``k`` chosen ones first.

    Items with the same ``key`` are the same, and each is returned as it is in the ranking that puts
    it highest. Each ranking has its first items among the chosen, at least half as many as if the
    rankings gave an item each in turn.
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
    order.sort(key=lambda item: item not in chosen)
    return [best[item][2] for item in order]


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


def _search_facts(plan: SearchPlan, k: int) -> SearchResult:
    """The messages that state the best facts; each scores as the best fact that it states."""
    candidates, ranking = find_and_rank(plan)
    score = np.full(len(candidates.chunks.uids), -np.inf)
    for row, evidence in enumerate(candidates.triples.evidence):
        for chunk in evidence:
            score[chunk] = max(score[chunk], ranking.triples[row])
    plan = replace(plan, request=replace(plan.request, reranker=None))
    ranking = replace(ranking, score=score)
    result, _ = RankedCandidates(plan, candidates, ranking).fetch_result(k)
    return replace(result, hits=tuple(hit for hit in result.hits if np.isfinite(hit.score)))


_ScoredEpisode = tuple[EpisodeCandidate, float]


def _search_episodes(plan: SearchPlan, k: int) -> SearchResult:
    """The best episodes, and as hits the messages that they cover."""
    candidates, ranking = find_and_rank(plan)
    request, chunks = plan.request, candidates.chunks
    order = best_first(ranking.score, chunks.at)
    ranks = {chunks.uids[row]: rank for rank, row in enumerate(order)}
    found = request.store.search.episodes(
        request.space,
        request.embedder.embed_query(plan.analysis.question),
        [chunks.uids[row] for row in order[:_BEST_MESSAGES]],
        max(_LEAST_NEAREST, 2 * k) + len(request.without.episodes),
    )
    allowed = [item for item in found if _is_allowed(item, request, ranks)]
    best = _rank_episodes(allowed, ranks)[:k]
    hits = _covered_hits(request, best)
    plan.stopwatch.lap("fetch")
    trace = Trace(
        request.settings.ranking,
        request.now,
        plan.stopwatch.laps,
        {"chunks": len(chunks.uids), "episodes": len(found)},
        terms=plan.analysis.terms,
        anchors=candidates.anchors,
        notes=plan.notes,
        asks=plan.analysis.time.asks,
        past=plan.analysis.time.past,
    )
    episodes = tuple(replace(candidate.episode, score=score) for candidate, score in best)
    return SearchResult(request.question, hits, (), (), trace, layer="episodes", episodes=episodes)


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
) -> list[_ScoredEpisode]:
    """Rank episodes by their themes and their two best messages: by the sum of reciprocal ranks.

    Ties go to the newer episode, so that the order does not depend on the store.
    """
    by_theme = _positions({item.episode.uid: -round(item.cosine, 6) for item in candidates})
    best = {item.episode.uid: sorted(ranks[uid] for uid in item.chunks if uid in ranks)
            for item in candidates}  # fmt: skip
    by_message = _positions({uid: own[0] for uid, own in best.items() if own})
    by_second = _positions({uid: own[1] for uid, own in best.items() if len(own) > 1})
    scored = [
        (item, sum(_reciprocal(position.get(item.episode.uid)) for position in
                   (by_theme, by_message, by_second)))
        for item in candidates
    ]  # fmt: skip
    return sorted(
        scored,
        key=lambda pair: (-pair[1], -pair[0].episode.ended_at.timestamp(), pair[0].episode.uid),
    )


def _reciprocal(position: int | None) -> float:
    return 0.0 if position is None else 1 / (_RANK_CONSTANT + position)


def _positions(values: Mapping[str, float]) -> dict[str, int]:
    """The rank of each value, ascending; equal values share a rank."""
    first: dict[float, int] = {}
    for position, value in enumerate(sorted(values.values())):
        first.setdefault(value, position)
    return {uid: first[value] for uid, value in values.items()}


def _covered_hits(request: SearchRequest, best: Iterable[_ScoredEpisode]) -> tuple[Hit, ...]:
    """The messages that episodes cover, in the order of the episodes, each message once.

    Those that were seen, or that do not pass the filter, are left out.
    """
    scores: dict[str, float] = {}
    for candidate, score in best:
        for uid in candidate.chunks[:MOST_TURNS]:
            scores.setdefault(uid, score)
    records = request.store.search.chunks(request.space, list(scores))
    wanted = {
        uid: record
        for uid, record in records.items()
        if not request.without.has_message(record.session, record.message_id)
        and passes(record, request.where)
    }
    return tuple(_covered_hit(wanted[uid], scores[uid]) for uid in scores if uid in wanted)


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
    why = Why(
        signals={}, features={}, session_score=None, triple_score=None, harmonic_mean=None,
        semantic=score, gap_seconds=None, decay=1.0, score=score,
        notes=("covered by an episode",),
    )  # fmt: skip
    return hit_of(record, why)
