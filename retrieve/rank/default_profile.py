"""The ``default`` profile: a weighted sum of scaled signals, times a weak temporal decay."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.rank.features import (
    ABSOLUTE,
    chunk_features,
    scaled,
    session_ranks,
    share_of_best,
    triple_scores,
)
from cognigraph.retrieve.rank.licomemory import clamp, gaps, weibull_decay
from cognigraph.retrieve.rank.paper_scores import paper_scores
from cognigraph.retrieve.rank.ranking import ProfileInputs, Ranking
from cognigraph.retrieve.rank.weights import choose, share_of_long
from cognigraph.settings import ProfileName, SearchSettings, WeightSetName
from cognigraph.stores.candidates import Candidates
from cognigraph.text.bm25 import idf


class DefaultProfile:
    """Fuse all signals with learned weights; decay only separates chunks of nearly equal score."""

    name: ProfileName = "default"

    def inputs(self, settings: SearchSettings) -> ProfileInputs:
        """Return the inputs: late interaction and the cues read the texts of the candidates."""
        return ProfileInputs(texts=settings.late_interaction or settings.cues)

    def rank(
        self,
        candidates: Candidates,
        analysis: Analysis,
        settings: SearchSettings,
        *,
        now: float,
        weight_set: WeightSetName,
        contextual: bool = False,
    ) -> Ranking:
        """Score the candidates; see :class:`RankingProfile`."""
        raw = chunk_features(candidates, analysis, settings, contextual=contextual)
        long = share_of_long(candidates.lexicon.mean_length)
        weights = _weights(raw, analysis, settings, weight_set, long)
        weighted = {
            name: weights[name] * (values if name in ABSOLUTE else scaled(values))
            for name, values in raw.items()
            if weights.get(name)
        }
        n = len(candidates.chunks.uids)
        semantic = np.sum(list(weighted.values()), axis=0) if weighted else np.zeros(n)
        if n and settings.sessions and analysis.enumerates and weights.get("session rank"):
            # The items of a list are in several sessions, and one of them could fill the first k.
            raw["session rank"] = session_ranks(semantic, candidates.chunks.session)
            weighted["session rank"] = weights["session rank"] * raw["session rank"]
            semantic = semantic + weighted["session rank"]
        gap = gaps(candidates.chunks.at, now)
        decay = _weak_decay(gap, settings)
        paper = paper_scores(candidates, settings, now)
        triple_weights = idf(candidates.lexicon, analysis.terms)
        triple_cosine, triple_words = triple_scores(candidates, triple_weights)
        return Ranking(
            score=semantic * decay,
            semantic=semantic,
            decay=decay,
            gap=gap,
            raw=raw,
            weighted=weighted,
            session_score=paper.session,
            triple_score=paper.triple,
            harmonic=paper.harmonic,
            triples=clamp(triple_cosine) + share_of_best(triple_words),
            sessions=_session_relevance(candidates, semantic),
        )

    def notes(self, ranking: Ranking, row: int) -> tuple[str, ...]:
        """Return nothing: the weighted signals explain the whole score."""
        return ()


def _weights(
    raw: Mapping[str, Floats],
    analysis: Analysis,
    settings: SearchSettings,
    weight_set: WeightSetName,
    long: float,
) -> dict[str, float]:
    """Return the weight of each signal for this question and these settings."""
    chosen = choose(settings.weights, weight_set, has_triples="triple" in raw)
    weights = chosen.relative(enumerates=analysis.enumerates, long=long)
    if not settings.windows:
        # Next to the words of its window, a chunk's own words add nothing, so their learned weight
        # is zero. Without windows they take the place of the window words.
        weights["words"] = weights["window words"]
    return weights


def _weak_decay(gap: Floats, settings: SearchSettings) -> Floats:
    """Decay (n,) between 1 - ``decay_strength`` and 1; all ones if it is switched off."""
    if not settings.decay:
        return np.ones(len(gap))
    decay = weibull_decay(gap, settings.decay_exponent)
    return np.asarray(1 - settings.decay_strength * (1 - decay))


def _session_relevance(candidates: Candidates, semantic: Floats) -> Floats:
    """Relevance (s,) of each session: the mean of its best chunk and its best theme."""
    best = np.zeros(len(candidates.sessions.uids))
    np.maximum.at(best, candidates.chunks.session, scaled(semantic))
    return (best + np.nan_to_num(clamp(candidates.sessions.theme))) / 2
