"""The ``default`` profile: a weighted sum of scaled signals, times a weak temporal decay."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

import numpy as np

from cognigraph.arrays import Floats, Ints, or_zero
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.rank.corrections import lifts, what_is_corrected
from cognigraph.retrieve.rank.features import (
    ABSOLUTE,
    OF_TEXTS,
    basis,
    plain_features,
    session_ranks,
    text_features,
)
from cognigraph.retrieve.rank.licomemory import clamp, gaps, weibull_decay
from cognigraph.retrieve.rank.paper_scores import paper_scores
from cognigraph.retrieve.rank.ranking import ProfileInputs, Ranking
from cognigraph.retrieve.rank.scaling import Scaler, scaled, share_of_best
from cognigraph.retrieve.rank.weights import choose, share_of_long
from cognigraph.settings import RankingName, SearchSettings, WeightSetName
from cognigraph.stores.candidates import Candidates

_ALL_READ, _READ, _WORST_READ = 400, 150, 10
"""The texts of more candidates than the first number are read only of the best, and of the worst,
which show how little a text can match: signals are scaled between the least and the greatest.
"""


class DefaultProfile:
    """Fuse all signals with learned weights; decay only separates chunks of nearly equal score."""

    name: RankingName = "default"

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
        vector_worth: float = 1.0,
    ) -> Ranking:
        """Score the candidates; see :class:`RankingProfile`."""
        scaler = Scaler(ABSOLUTE)
        common = basis(candidates, analysis, settings)
        plain = plain_features(candidates, analysis, settings, common, contextual=contextual)
        long = share_of_long(candidates.lexicon.mean_length)
        chosen = choose(settings.weights, weight_set, has_triples="triple" in plain)
        weights = chosen.relative(
            enumerates=analysis.enumerates,
            long=long,
            vector_worth=vector_worth,
            in_english=analysis.is_english is not False,
        )
        if not settings.windows:
            # Next to the words of its window, a chunk's own words add little in English. Without
            # windows they take the place of the window words.
            weights["words"] = weights["window words"]
        rows = _worth_reading(candidates, scaler, plain, weights)
        raw = text_features(candidates, analysis, settings, common, plain, rows)
        weighted = _weighed(scaler, raw, weights)
        n = len(candidates.chunks.uids)
        semantic = np.sum(list(weighted.values()), axis=0) if weighted else np.zeros(n)
        if n and settings.sessions and analysis.enumerates and weights.get("session rank"):
            # The items of a list are in several sessions, and one of them could fill the first k.
            raw["session rank"] = session_ranks(semantic, candidates.chunks.session)
            weighted["session rank"] = weights["session rank"] * raw["session rank"]
            semantic = semantic + weighted["session rank"]
        if "correction" in raw:
            corrected = what_is_corrected(candidates.chunks, raw["correction"])
            weighted["correction"] = lifts(semantic, corrected)
            semantic = semantic + weighted["correction"]
        gap = gaps(candidates.chunks.at, now)
        decay = _weak_decay(gap, settings)
        paper = paper_scores(candidates, settings, now)
        triple_cosine, triple_words = common.triples
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
            vector_worth=vector_worth,
        )

    def notes(self, ranking: Ranking, row: int) -> tuple[str, ...]:
        """Say whether the text was not read, and whether the message ranks by what it corrects.

        Else the weighted signals explain the whole score.
        """
        if any(isnan(ranking.raw[name][row]) for name in OF_TEXTS.intersection(ranking.raw)):
            return (f"not among the {_READ} best by the other signals, so its text was not read",)
        if "correction" in ranking.weighted and ranking.weighted["correction"][row] > 0:
            return ("corrects what the same speaker said before, and comes before it",)
        return ()


def _weighed(
    scaler: Scaler, raw: Mapping[str, Floats], weights: Mapping[str, float]
) -> dict[str, Floats]:
    """The signals that have a weight, scaled, times their weights; what is unknown counts as 0."""
    found = scaler.scale({name: values for name, values in raw.items() if weights.get(name)})
    return {name: weights[name] * values for name, values in found.items()}


def _worth_reading(
    candidates: Candidates,
    scaler: Scaler,
    plain: Mapping[str, Floats],
    weights: Mapping[str, float],
) -> Ints | None:
    """The candidates whose texts are read: the best by all other signals. ``None`` for all."""
    chunks = candidates.chunks
    if not chunks.texts or len(chunks.uids) <= _ALL_READ:
        return None
    weighted = _weighed(scaler, plain, weights)
    score = np.round(np.sum(list(weighted.values()), axis=0), 9)
    order = np.lexsort((-chunks.at, -score))
    return np.sort(np.concatenate([order[:_READ], order[_READ:][-_WORST_READ:]]))


def _weak_decay(gap: Floats, settings: SearchSettings) -> Floats:
    """Decay (n,) between 1 - ``decay_strength`` and 1; all ones if it is switched off."""
    if not settings.decay:
        return np.ones(len(gap))
    decay = weibull_decay(gap, settings.decay_exponent)
    return np.asarray(1 - settings.decay_strength * (1 - decay))


def _session_relevance(candidates: Candidates, semantic: Floats) -> Floats:
    """Relevance (s,) of each session in [0, 1], by its best chunk and its best theme.

    The chunk counts twice: half as many sessions are found at the first place by themes alone.
    """
    best = np.zeros(len(candidates.sessions.uids))
    np.maximum.at(best, candidates.chunks.session, scaled(semantic))
    return (2 * best + or_zero(clamp(candidates.sessions.theme))) / 3
