"""Explain the rank of an expected message: its rank in each candidate source and by each signal,
and the changes that would bring it among the first hits.

Nothing is estimated: ranks come from repeating the search without a limit on the hits, and every
proposed change has been tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats
from cognigraph.errors import ConfigurationError
from cognigraph.model import (
    Explanation,
    Hit,
    Proposal,
    SearchResult,
    SignalStanding,
    SourceStanding,
    StoredMessage,
    Triple,
)
from cognigraph.retrieve.plan import (
    SearchPlan,
    SearchRequest,
    find_candidates,
    plan_search,
)
from cognigraph.retrieve.rank.profiles import PROFILES, triple_scores
from cognigraph.retrieve.search import search
from cognigraph.settings import SearchSettings
from cognigraph.text.word_book import bm25, idf

_DEEP = 1000
"""How many results of each candidate source are searched for the expected message."""
EXPLAINED = 50
"""The number of messages that ``search(explain=True)`` explains, best first."""
_ALL = 100_000
"""A number of hits larger than any number of candidates."""

_PARTS = {
    "windows": "without its neighbours (windows)",
    "sessions": "without session scores",
    "triples": "without triples",
    "cues": "without cues (who speaks, asks, answers, length, names, form of the answer)",
    "time_cue": "without the time in the question",
    "time_order": "without putting the newest or oldest first",
    "decay": "without decay",
}


def explain_rank(request: SearchRequest, expected: StoredMessage, *, k: int) -> Explanation:
    """Explain the rank of ``expected`` for a question. Searches about ten times.

    Raises :class:`ConfigurationError` for an empty question.
    """
    plan = plan_search(request)
    if plan is None:
        raise ConfigurationError("give the question that should have found the message")
    result = _search_all(request)
    rank = _rank(result, expected)
    hits = result.hits[:k]
    mine = None if rank is None else result.hits[rank - 1]
    last = hits[-1] if hits else None
    standings, triples = _standings(plan, expected)
    variants = tuple(_variants(plan, request, expected))
    return Explanation(
        question=request.question,
        expected=expected,
        k=k,
        rank=rank,
        score=None if mine is None else mine.score,
        score_at_k=None if last is None else last.score,
        candidates=len(result.hits),
        candidate_sources=standings,
        signals=_signals(mine, last, result.hits),
        triples=mine.triples if mine is not None else triples,
        hits=hits,
        variants=variants,
        proposals=_proposals(plan, request, expected, rank, k, standings, variants),
        remarks=tuple(_remarks(plan, expected, mine)) + result.trace.notes,
    )


def _search_all(request: SearchRequest) -> SearchResult:
    """Return all candidates, ranked."""
    return search(request, k=_ALL).result


def _rank(result: SearchResult, expected: StoredMessage) -> int | None:
    """Return the rank of the expected message (from 1), or ``None`` if it is not a candidate."""
    for rank, hit in enumerate(result, 1):
        if hit.id == expected.id and hit.session == expected.session:
            return rank
    return None


def _rank_with(request: SearchRequest, expected: StoredMessage, **settings: Any) -> int | None:
    """Return the rank of the expected message with some settings changed."""
    changed = replace(request, settings=replace(request.settings, **settings))
    return _rank(_search_all(changed), expected)


def _standings(
    plan: SearchPlan, expected: StoredMessage
) -> tuple[tuple[SourceStanding, ...], tuple[Triple, ...]]:
    """Return the rank of the message, or of its best triple, in each source; and its triples."""
    request, terms = plan.request, plan.analysis.sought
    settings = request.settings
    found = find_candidates(replace(request, settings=_deep(settings)), plan.analysis)
    chunks, triples = found.chunks, found.triples
    rows = _rows(request, chunks.uids, expected)
    weights = idf(found.lexicon, terms)
    words = bm25(chunks.matches, chunks.length, weights, found.lexicon.mean_length)
    own = [t for t, evidence in enumerate(triples.evidence) if set(evidence) & set(rows)]
    triple_cosine, triple_words = triple_scores(found, weights)
    own_triples = request.store.search.triples_by_uid(request.space, [triples.uids[t] for t in own])
    return (
        _standing("chunk vector", chunks.cosine, rows, settings.chunks_by_vector),
        _standing("chunk words", words, rows, settings.chunks_by_terms),
        _standing("triple vector", triple_cosine, own, settings.triples_by_vector),
        _standing("triple words", triple_words, own, settings.triples_by_terms),
        _standing("triple anchors", triples.by_anchor, own, settings.triples_per_anchor),
    ), tuple(own_triples.values())


def _deep(settings: SearchSettings) -> SearchSettings:
    """Return settings that raise the limit of every candidate source that is switched on."""
    return replace(
        settings,
        chunks_by_vector=_DEEP,
        chunks_by_terms=_DEEP,
        triples_by_vector=_DEEP if settings.triples_by_vector else 0,
        triples_by_terms=_DEEP if settings.triples_by_terms else 0,
    )


def _rows(request: SearchRequest, uids: Sequence[str], expected: StoredMessage) -> list[int]:
    """Return the rows of the candidate chunks that belong to the expected message."""
    records = request.store.search.chunks(request.space, uids)
    return [
        row
        for row, uid in enumerate(uids)
        if uid in records
        and records[uid].message_id == expected.id
        and records[uid].session == expected.session
    ]


def _standing(
    name: str, values: Floats | npt.NDArray[np.bool_], rows: list[int], limit: int
) -> SourceStanding:
    rank = _rank_of(values.astype(float), rows)
    value = float(max(values[rows])) if rows and rank is not None else None
    return SourceStanding(name, rank, value, limit)


def _rank_of(values: Floats, rows: list[int]) -> int | None:
    """Return the best rank (from 1) among ``rows``; ``None`` if there is no positive value."""
    if not rows:
        return None
    best = float(max(values[rows]))
    return None if best <= 0 else 1 + int(np.sum(values > best))


def _signals(
    mine: Hit | None, last: Hit | None, hits: tuple[Hit, ...]
) -> tuple[SignalStanding, ...]:
    """Compare the points of each signal with those of the last returned hit, largest loss first."""
    if mine is None or last is None:
        return ()
    standings = []
    for name in sorted({*mine.why.features, *last.why.features}):
        points = mine.why.features.get(name, 0.0)
        better = sum(hit.why.features.get(name, 0.0) > points for hit in hits)
        standings.append(
            SignalStanding(
                name=name,
                value=mine.why.signals.get(name),
                points=points,
                points_at_k=last.why.features.get(name, 0.0),
                points_of_best=hits[0].why.features.get(name, 0.0),
                rank=better + 1,
            )
        )
    return tuple(
        sorted(
            standings, key=lambda standing: (standing.points - standing.points_at_k, standing.name)
        )
    )


def _variants(
    plan: SearchPlan, request: SearchRequest, expected: StoredMessage
) -> Iterator[tuple[str, int | None]]:
    """Yield the rank with each part of the ranking switched off, and by each other profile."""
    settings, time = request.settings, plan.analysis.time
    idle = {"time_cue"} if not time.times else set()
    by_time = time.order is not None or plan.newer_first or plan.later_versions_first
    idle |= set() if by_time else {"time_order"}
    for part, name in _PARTS.items():
        if getattr(settings, part) and part not in idle:
            yield name, _rank_with(request, expected, **{part: False})
    for profile in PROFILES:
        if profile != settings.ranking:
            yield f"ranking {profile}", _rank_with(request, expected, ranking=profile)


def _proposals(
    plan: SearchPlan,
    request: SearchRequest,
    expected: StoredMessage,
    rank: int | None,
    k: int,
    standings: tuple[SourceStanding, ...],
    variants: tuple[tuple[str, int | None], ...],
) -> tuple[Proposal, ...]:
    """Return the changes that bring the message among the first ``k`` hits."""
    as_of = plan.request.as_of
    if as_of is not None and expected.at > as_of:
        return (Proposal("ask without as_of: it was said later than that", None),)
    if rank is not None and rank <= k:
        return ()
    return (
        *([] if rank is None else [Proposal(f"k = {rank} includes it", rank)]),
        *(Proposal(name, found) for name, found in variants if found is not None and found <= k),
        *([] if rank is not None else _wider(request, expected, standings)),
        *_own_words(request, expected, k),
    )


def _wider(
    request: SearchRequest, expected: StoredMessage, standings: tuple[SourceStanding, ...]
) -> Iterator[Proposal]:
    """Try raising the limit of a candidate source until the message becomes a candidate."""
    limits = {"chunk vector": "chunks_by_vector", "chunk words": "chunks_by_terms"}
    for source in standings:
        if source.name in limits and source.rank is not None and source.rank > source.limit:
            limit = limits[source.name]
            rank = _rank_with(request, expected, **{limit: source.rank})
            if rank is not None:
                yield Proposal(f"search.{limit} = {source.rank}", rank)


def _own_words(request: SearchRequest, expected: StoredMessage, k: int) -> Iterator[Proposal]:
    """Try the text of the message as the question."""
    rank = _rank(_search_all(replace(request, question=expected.text)), expected)
    if rank is not None and rank <= k:
        yield Proposal("asking in its own words", rank)


def _remarks(plan: SearchPlan, expected: StoredMessage, mine: Hit | None) -> Iterator[str]:
    """Yield properties of the message itself that keep its rank low."""
    role = expected.role or "person"
    if role not in plan.request.where.roles:
        yield f"the search leaves out messages with the role {role}; a Filter can ask for them"
    if not expected.text.strip():
        yield "it has no text, so no search finds it"
    if not expected.is_enriched:
        yield "not enriched yet, so no triple cites it; call flush() or run `cognigraph enrich`"
    elif mine is not None and not mine.triples:
        yield "no triple cites it as evidence"
    if mine is not None and mine.why.signals.get("words", 1.0) == 0.0 and plan.analysis.terms:
        yield f"it has none of the question's words ({', '.join(plan.analysis.terms)})"
    if expected.chunks > 1:
        yield f"it was split into {expected.chunks} chunks; the best of them counts"
