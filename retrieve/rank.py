"""The two profiles: candidates in, a scored order out, every part kept for the explanation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.retrieve.analyse import Analysis
from cognigraph.retrieve.features import ABSOLUTE, chunk_features, scaled, triple_scores
from cognigraph.retrieve.licomemory import (
    behind,
    clamp,
    gaps,
    paper_decay,
    relevance,
    semantic_relevance,
    weibull_decay,
)
from cognigraph.retrieve.weights import choose, relative
from cognigraph.settings import SearchSettings
from cognigraph.stores.candidates import Candidates
from cognigraph.text.bm25 import idf


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Scores of the candidate chunks, triples and sessions, column-wise.

    ``score`` = ``semantic`` x ``decay``; ``weighted`` are the fused signals times their weights;
    ``session_score``, ``triple_score`` and ``harmonic`` are the paper's Ss, St and S_sem of each
    chunk's best triple (of the chunk itself where it has none), NaN where unknown.
    """

    score: Floats
    semantic: Floats
    decay: Floats
    gap: Floats
    raw: Mapping[str, Floats]
    weighted: Mapping[str, Floats]
    session_score: Floats
    triple_score: Floats
    harmonic: Floats
    triples: Floats
    sessions: Floats


def rank(
    candidates: Candidates,
    analysis: Analysis,
    settings: SearchSettings,
    now: float,
    extractor: str = "",
) -> Ranking:
    """Rank by the profile of the settings.

    ``now`` in seconds since 1970; ``extractor`` names who read the triples, for the weights.
    """
    parts = _paper_parts(candidates, settings, now)
    if settings.profile == "licomemory":
        return _licomemory(candidates, settings, now, parts)
    return _fused(candidates, analysis, settings, now, parts, extractor)


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """The paper's scores of sessions, of triples, and of each chunk through its best triple."""

    sessions: Floats
    triples: Floats
    best_triple: Floats
    session: Floats
    triple: Floats
    harmonic: Floats


def _paper_parts(candidates: Candidates, settings: SearchSettings, now: float) -> _Parts:
    chunks, triples = candidates.chunks, candidates.triples
    sessions = (
        session_scores(candidates)
        if settings.session_leg
        else (np.full(len(candidates.sessions.uids), np.nan))
    )
    own_session = sessions[chunks.session]
    of_triple = sessions[triples.session] if len(triples.uids) else np.empty(0)
    gap = gaps(triples.at, now)
    r_triples, _, _ = relevance(of_triple, triples.cosine, gap, settings)
    best = np.full(len(chunks.uids), np.nan)
    triple_score = clamp(chunks.cosine)
    session_score = own_session.copy()
    if settings.triple_leg and settings.licomemory.hyperlinks:
        for triple in np.argsort(r_triples, kind="stable"):  # the best one writes last
            for row in triples.evidence[triple]:
                best[row] = r_triples[triple]
                triple_score[row] = clamp(triples.cosine[triple])
                session_score[row] = of_triple[triple]
    return _Parts(
        sessions,
        r_triples,
        best,
        session_score,
        triple_score,
        semantic_relevance(session_score, triple_score, settings.licomemory.mean),
    )


def session_scores(candidates: Candidates) -> Floats:
    """Ss: how well a session's keys match the entities of the question, on average.

    A session without keys falls back to its themes, and without those is unknown (NaN).
    """
    keys = clamp(candidates.sessions.keys)
    if keys.shape[1]:
        by_keys = keys.mean(axis=1)
        return np.where(np.isnan(by_keys), clamp(candidates.sessions.theme), by_keys)
    return clamp(candidates.sessions.theme)


def _licomemory(
    candidates: Candidates, settings: SearchSettings, now: float, parts: _Parts
) -> Ranking:
    """R of the best triple.

    A chunk of a session that has not been read yet is scored as if it were a triple itself; one of
    a session that has been read, of which no triple came, ranks as the settings say.
    """
    chunks = candidates.chunks
    gap = gaps(chunks.at, now)
    decay = paper_decay(gap, settings, gaps(candidates.triples.at, now))
    through_triple = ~np.isnan(parts.best_triple)
    score = np.where(through_triple, parts.best_triple, parts.harmonic * decay)
    semantic = parts.harmonic
    if settings.licomemory.bare_chunks == "behind":
        read = ~np.isnan(candidates.sessions.theme)[chunks.session]
        factor = behind(score, through_triple, read & ~through_triple)
        score, semantic = score * factor, semantic * factor
    # What the hit reports must multiply to its score: the decay is then that of its triple.
    reported = np.divide(score, semantic, out=decay.copy(), where=through_triple & (semantic > 0))
    return Ranking(
        score=score,
        semantic=semantic,
        decay=reported,
        gap=gap,
        raw={"vector": chunks.cosine},
        weighted={},
        session_score=parts.session,
        triple_score=parts.triple,
        harmonic=parts.harmonic,
        triples=parts.triples,
        sessions=parts.sessions,
    )


def _fused(
    candidates: Candidates,
    analysis: Analysis,
    settings: SearchSettings,
    now: float,
    parts: _Parts,
    extractor: str,
) -> Ranking:
    """A weighted sum of scaled signals, times a decay that only separates near-equals."""
    raw = chunk_features(candidates, analysis, settings)
    chosen = choose(settings.weights, extractor, "triple" in raw)
    weights = relative(chosen, enumerates=analysis.enumerates)
    if not settings.windows:
        # The chunk's own words are learned to add nothing to its window's; alone they stand in.
        weights = weights | {"words": weights["window words"]}
    weighted = {
        name: weights[name] * (values if name in ABSOLUTE else scaled(values))
        for name, values in raw.items()
        if weights.get(name)
    }
    n = len(candidates.chunks.uids)
    semantic = np.sum(list(weighted.values()), axis=0) if weighted else np.zeros(n)
    gap = gaps(candidates.chunks.at, now)
    decay = np.ones(n)
    if settings.decay:
        decay = 1 - settings.decay_strength * (1 - weibull_decay(gap, settings.decay_exponent))
    lexical = idf(candidates.lexicon, analysis.terms)
    triple_cosine, triple_words = triple_scores(candidates, lexical)
    return Ranking(
        score=semantic * decay,
        semantic=semantic,
        decay=decay,
        gap=gap,
        raw=raw,
        weighted=weighted,
        session_score=parts.session,
        triple_score=parts.triple,
        harmonic=parts.harmonic,
        triples=clamp(triple_cosine) + scaled(triple_words),
        sessions=_session_relevance(candidates, semantic),
    )


def _session_relevance(candidates: Candidates, semantic: Floats) -> Floats:
    """A session is as relevant as its themes and its best chunk say, in equal parts."""
    best = np.zeros(len(candidates.sessions.uids))
    np.maximum.at(best, candidates.chunks.session, scaled(semantic))
    return (best + np.nan_to_num(clamp(candidates.sessions.theme))) / 2
