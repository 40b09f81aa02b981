"""Why a message that was expected is where it is: its place in every leg and signal, and what would
have brought it up.

Nothing is estimated: places come from searching again with everything shown, and each proposal was
tried out before it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats
from cognigraph.model import (
    Explanation,
    Hit,
    LegStanding,
    Proposal,
    SearchResult,
    SignalStanding,
    StoredMessage,
    Triple,
)
from cognigraph.retrieve.analyse import Analysis
from cognigraph.retrieve.search import Inquiry, search
from cognigraph.settings import Profile, SearchSettings
from cognigraph.text.bm25 import bm25, idf

_DEEP = 1000
"""How many of a leg's best are looked at for the expected message."""
EXPLAINED = 50
"""How many of the best ``search(explain=True)`` gives reasons for."""
_ALL = 100_000
"""More hits than any pool of candidates has."""

_PARTS = {
    "windows": "without its neighbours (windows)",
    "session_leg": "without the session leg",
    "triple_leg": "without triples",
    "cues": "without cues (who speaks, asks, answers, length, names, form of the answer)",
    "time_cue": "without the time in the question",
    "time_order": "without putting the newest or oldest first",
    "decay": "without decay",
}


def explain_place(
    inquiry: Inquiry, question: str, expected: StoredMessage, *, k: int
) -> Explanation:
    """Where ``expected`` stands for a question, and why. Searches some ten times."""
    result = _search(inquiry, question, inquiry.settings)
    place = _place(result, expected)
    hits = result.hits[:k]
    mine = None if place is None else result.hits[place - 1]
    cut = hits[-1] if hits else None
    read, analysis, _ = inquiry.read(question)
    legs, triples = _legs(read, analysis, expected)
    variants = tuple(_variants(inquiry, analysis, expected))
    hidden = read.as_of is not None and expected.at > read.as_of
    return Explanation(
        question=question,
        expected=expected,
        k=k,
        rank=place,
        score=None if mine is None else mine.score,
        score_at_k=None if cut is None else cut.score,
        candidates=len(result.hits),
        legs=legs,
        signals=_signals(mine, cut, result.hits),
        triples=mine.triples if mine is not None else triples,
        hits=hits,
        variants=variants,
        proposals=tuple(
            _proposals(inquiry, question, expected, place, k, legs, variants)
            if not hidden
            else [Proposal("ask without as_of: it was said later than that", None)]
        ),
        remarks=tuple(_remarks(analysis, expected, mine)) + result.trace.notes,
    )


def _search(inquiry: Inquiry, question: str, settings: SearchSettings) -> SearchResult:
    return search(replace(inquiry, settings=settings), question, k=_ALL)


def _is(expected: StoredMessage) -> Callable[[Hit], bool]:
    return lambda hit: hit.id == expected.id and hit.session == expected.session


def _place(result: SearchResult, expected: StoredMessage) -> int | None:
    is_expected = _is(expected)
    return next((place for place, hit in enumerate(result, 1) if is_expected(hit)), None)


def _legs(
    inquiry: Inquiry, analysis: Analysis, expected: StoredMessage
) -> tuple[tuple[LegStanding, ...], tuple[Triple, ...]]:
    """Places of the message in the legs that find chunks, and of its best triple in theirs."""
    settings = inquiry.settings
    deep = replace(
        settings, chunks_by_vector=_DEEP, chunks_by_terms=_DEEP,
        triples_by_vector=_DEEP if settings.triples_by_vector else 0,
        triples_by_terms=_DEEP if settings.triples_by_terms else 0,
    )  # fmt: skip
    pools = replace(inquiry, settings=deep).candidates(analysis)
    records = inquiry.store.search.chunks(inquiry.space, pools.chunks.uids)
    rows = [
        row
        for row, uid in enumerate(pools.chunks.uids)
        if uid in records
        and records[uid].message_id == expected.id
        and records[uid].session == expected.session
    ]
    weights = idf(pools.lexicon, analysis.terms)
    words = bm25(pools.chunks.matches, pools.chunks.length, weights, pools.lexicon.mean_length)
    chunks, triples = pools.chunks, pools.triples
    own = [t for t, evidence in enumerate(triples.evidence) if set(evidence) & set(rows)]
    mean = float(triples.length.mean()) if len(triples.length) else 1.0
    triple_words = bm25(triples.matches, triples.length, weights, mean)
    found = inquiry.store.search.triples_by_uid(inquiry.space, [triples.uids[t] for t in own])
    return (
        _standing("chunk vector", chunks.cosine, rows, settings.chunks_by_vector),
        _standing("chunk words", words, rows, settings.chunks_by_terms),
        _standing("triple vector", triples.cosine, own, settings.triples_by_vector),
        _standing("triple words", triple_words, own, settings.triples_by_terms),
        _standing("triple anchors", triples.by_anchor, own, settings.triples_per_anchor),
    ), tuple(found.values())


def _standing(
    name: str, values: Floats | npt.NDArray[np.bool_], rows: list[int], limit: int
) -> LegStanding:
    rank = _rank_of(values.astype(float), rows)
    value = float(max(values[rows])) if rows and rank is not None else None
    return LegStanding(name, rank, value, limit)


def _rank_of(values: Floats, rows: list[int]) -> int | None:
    """Place of the best of some rows, 1 for the first; None for none, or where it says nothing."""
    if not rows:
        return None
    best = float(max(values[rows]))
    return None if best <= 0 else 1 + int(np.sum(values > best))


def _signals(
    mine: Hit | None, cut: Hit | None, hits: tuple[Hit, ...]
) -> tuple[SignalStanding, ...]:
    """What each signal gave it against the last hit that made it; what it lost most on first."""
    if mine is None or cut is None:
        return ()
    standings = []
    for name in sorted({*mine.why.features, *cut.why.features}):
        given = mine.why.features.get(name, 0.0)
        better = sum(hit.why.features.get(name, 0.0) > given for hit in hits)
        standings.append(
            SignalStanding(
                name=name,
                value=mine.why.legs.get(name),
                points=given,
                points_at_k=cut.why.features.get(name, 0.0),
                points_of_best=hits[0].why.features.get(name, 0.0),
                rank=better + 1,
            )
        )
    return tuple(sorted(standings, key=lambda one: (one.points - one.points_at_k, one.name)))


def _variants(
    inquiry: Inquiry, analysis: Analysis, expected: StoredMessage
) -> Iterator[tuple[str, int | None]]:
    """Its place with each part of the ranking off, and in the other profile."""
    settings, question, time = inquiry.settings, analysis.question, analysis.time
    idle = {"time_cue"} if not time.times else set()
    idle |= {"time_order"} if time.order is None else set()
    for part, name in _PARTS.items():
        if getattr(settings, part) and part not in idle:
            off = _with(settings, part, False)
            yield name, _place(_search(inquiry, question, off), expected)
    other: Profile = "licomemory" if settings.profile == "default" else "default"
    changed = replace(settings, profile=other)
    yield f"profile {other}", _place(_search(inquiry, question, changed), expected)


def _with(settings: SearchSettings, name: str, value: Any) -> SearchSettings:
    changed: dict[str, Any] = {name: value}
    return replace(settings, **changed)


def _proposals(
    inquiry: Inquiry,
    question: str,
    expected: StoredMessage,
    place: int | None,
    k: int,
    legs: tuple[LegStanding, ...],
    variants: tuple[tuple[str, int | None], ...],
) -> Iterator[Proposal]:
    """What would have brought it among the first k, each tried."""
    if place is not None and place <= k:
        return
    if place is not None:
        yield Proposal(f"k = {place} holds it", place)
    for name, rank in variants:
        if rank is not None and rank <= k:
            yield Proposal(name, rank)
    limits = {"chunk vector": "chunks_by_vector", "chunk words": "chunks_by_terms"}
    for leg in legs:
        if place is None and leg.name in limits and leg.rank is not None and leg.rank > leg.limit:
            wide = _with(inquiry.settings, limits[leg.name], leg.rank)
            rank = _place(_search(inquiry, question, wide), expected)
            if rank is not None:
                yield Proposal(f"search.{limits[leg.name]} = {leg.rank}", rank)
    own_words = _place(_search(inquiry, expected.text, inquiry.settings), expected)
    if own_words is not None and own_words <= k:
        yield Proposal("asking in its own words", own_words)


def _remarks(analysis: Analysis, expected: StoredMessage, mine: Hit | None) -> Iterator[str]:
    if not expected.is_enriched:
        yield "it is not enriched yet, so no triple speaks for it: flush() or `cognigraph enrich`"
    elif mine is not None and not mine.triples:
        yield "no triple has it as evidence"
    if mine is not None and mine.why.legs.get("words", 1.0) == 0.0 and analysis.terms:
        yield f"it has none of the question's words ({', '.join(analysis.terms)})"
    if expected.chunks > 1:
        yield f"it was split into {expected.chunks} chunks; the best one counts"
