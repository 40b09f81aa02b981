"""Search another layer than that of messages: facts, or episodes.

The candidates are those of every search. Facts rank the messages that state them. An episode is
found by its title and summary or by a message that it covers, and ranks by both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

import numpy as np

from cognigraph.arrays import Vector
from cognigraph.errors import ConfigurationError
from cognigraph.model import Filter, Hit, Layer, SearchResult, Trace, Why
from cognigraph.retrieve.candidate_search import candidate_query, candidates_of, rank_candidates
from cognigraph.retrieve.confidence import surer_than
from cognigraph.retrieve.fusion import at_most_per, in_turns
from cognigraph.retrieve.one_search import QueryOutcome, nothing_asked, plan_query
from cognigraph.retrieve.plan import SearchPlan
from cognigraph.retrieve.queries import distinct
from cognigraph.retrieve.rank.ranking import Ranking, best_first
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.results import fetch_with_rows
from cognigraph.retrieve.search import search
from cognigraph.retrieve.several import fuse
from cognigraph.retrieve.stopwatch import Stopwatch
from cognigraph.stores.candidates import Candidates, ChunkRecord, EpisodeCandidate

_MESSAGES = 60
"""Number of best messages whose episodes are candidates."""
_FEWEST_NEAR = 30
_CONSTANT = 10
"""Of reciprocal rank fusion: how much the first ranks count more than later ones."""
_ABSENT = object()
MOST_TURNS = 60
"""Largest number of messages of one episode that a result holds as hits."""


def search_layer(request: SearchRequest, *, k: int, layer: Layer) -> SearchResult:
    """Answer a question with the ``k`` best of a layer: messages, messages by facts, episodes."""
    if layer == "messages":
        return search(request, k=k)
    if layer == "episodes" and request.min_confidence:
        raise ConfigurationError("min_confidence is for messages and facts: episodes have none")
    answer = _facts_for if layer == "facts" else _episodes_for
    outcomes = []
    for query in distinct(request.question, request.also):
        stopwatch = Stopwatch()
        plan = plan_query(replace(request, question=query, also=()), stopwatch)
        if plan is not None:
            outcomes.append(answer(plan, stopwatch, k))
    if not outcomes:
        return replace(nothing_asked(request), layer=layer)
    if layer == "episodes":
        return _fused_episodes(request, [outcome.result for outcome in outcomes], k)
    found = fuse(request, outcomes, k=k)[0] if len(outcomes) > 1 else outcomes[0].result
    return replace(surer_than(found, request.min_confidence), layer=layer)


def _facts_for(plan: SearchPlan, stopwatch: Stopwatch, k: int) -> QueryOutcome:
    """The messages that state the best facts; each scores as the best fact that it states."""
    candidates, ranking, _ = _candidates(plan, stopwatch)
    score = np.full(len(candidates.chunks.uids), -np.inf)
    for row, evidence in enumerate(candidates.triples.evidence):
        for chunk in evidence:
            score[chunk] = max(score[chunk], ranking.triples[row])
    plan = replace(plan, request=replace(plan.request, reranker=None))
    ranking = replace(ranking, score=score)
    found, rows = fetch_with_rows(plan, candidates, ranking, k, stopwatch)
    stated = [at for at, hit in enumerate(found.hits) if np.isfinite(hit.score)]
    result = replace(found, hits=tuple(found.hits[at] for at in stated))
    return QueryOutcome(
        result=result, plan=plan, candidates=candidates, rows=[rows[at] for at in stated]
    )


def _candidates(plan: SearchPlan, stopwatch: Stopwatch) -> tuple[Candidates, Ranking, Vector]:
    request = plan.request
    query = candidate_query(
        plan.analysis,
        request.embedder,
        request.settings,
        request.as_of,
        request.where,
        request.without,
    )
    candidates = candidates_of(request, query)
    stopwatch.lap("candidates")
    ranking = rank_candidates(request, plan.analysis, candidates)
    stopwatch.lap("rank")
    return candidates, ranking, query.vector


@dataclass(frozen=True, slots=True)
class _Scored:
    candidate: EpisodeCandidate
    score: float


def _episodes_for(plan: SearchPlan, stopwatch: Stopwatch, k: int) -> QueryOutcome:
    """The best episodes, and as hits the messages that they cover."""
    candidates, ranking, vector = _candidates(plan, stopwatch)
    request, chunks = plan.request, candidates.chunks
    order = best_first(ranking.score, chunks.at)
    ranks = {chunks.uids[row]: rank for rank, row in enumerate(order)}
    found = request.store.search.episodes(
        request.space,
        vector,
        [chunks.uids[row] for row in order[:_MESSAGES]],
        max(_FEWEST_NEAR, 2 * k) + len(request.without.episodes),
    )
    best = _ranked([one for one in found if _allowed(one, request, ranks)], ranks)[:k]
    hits = _hits(request, best)
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
    episodes = tuple(replace(one.candidate.episode, score=one.score) for one in best)
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
    covered = dict.fromkeys((one.session, id) for one in episodes for id in one.messages)
    return replace(
        results[0],
        question=request.question,
        episodes=episodes,
        hits=tuple(hit for key in covered for hit in of_message.get(key, ())),
    )


def _allowed(one: EpisodeCandidate, request: SearchRequest, ranks: Mapping[str, int]) -> bool:
    """Whether an episode is wanted, was over at ``as_of``, and has what a filter lets through."""
    if request.without.has_episode(one.episode.uid):
        return False
    if request.as_of is not None and one.episode.ended_at > request.as_of:
        return False
    return request.where == Filter() or any(uid in ranks for uid in one.chunks)


def _ranked(found: Sequence[EpisodeCandidate], ranks: Mapping[str, int]) -> list[_Scored]:
    """Episodes by the reciprocal ranks of their themes and of their best messages.

    Which episode comes first does not depend on the store, and ties go to the newer episode.
    """
    by_theme = _positions({one.episode.uid: -round(one.cosine, 6) for one in found})
    best = {one.episode.uid: sorted(ranks[uid] for uid in one.chunks if uid in ranks)
            for one in found}  # fmt: skip
    by_message = _positions({uid: own[0] for uid, own in best.items() if own})
    by_second = _positions({uid: own[1] for uid, own in best.items() if len(own) > 1})
    scored = [
        _Scored(one, sum(_share(position.get(one.episode.uid)) for position in
                         (by_theme, by_message, by_second)))
        for one in found
    ]  # fmt: skip
    return sorted(
        scored,
        key=lambda one: (
            -one.score,
            -one.candidate.episode.ended_at.timestamp(),
            one.candidate.episode.uid,
        ),
    )


def _share(position: int | None) -> float:
    return 0.0 if position is None else 1 / (_CONSTANT + position)


def _positions(values: Mapping[str, float]) -> dict[str, int]:
    """The rank of each value, ascending; equal values share a rank."""
    first: dict[float, int] = {}
    for position, value in enumerate(sorted(values.values())):
        first.setdefault(value, position)
    return {uid: first[value] for uid, value in values.items()}


def _hits(request: SearchRequest, best: Iterable[_Scored]) -> tuple[Hit, ...]:
    """The messages that episodes cover, in the order of the episodes, each message once."""
    scores: dict[str, float] = {}
    for one in best:
        for uid in one.candidate.chunks[:MOST_TURNS]:
            scores.setdefault(uid, one.score)
    records = request.store.search.chunks(request.space, list(scores))
    return tuple(
        _hit(records[uid], score)
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


def _same(found: object, wanted: object) -> bool:
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)


def _hit(record: ChunkRecord, score: float) -> Hit:
    why = Why({}, {}, None, None, None, score, None, 1.0, score, ("covered by an episode",))
    return Hit(
        record.message_id, record.text, score, record.session, record.speaker, record.at, (), why,
        record.part, record.parts, record.role, record.heading, record.metadata, record.tags,
    )  # fmt: skip
