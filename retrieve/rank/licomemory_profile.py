"""The ``licomemory`` profile: a chunk ranks by its best triple, as in the paper (section 3.2)."""

from __future__ import annotations

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.rank.licomemory import factors_below, gaps, paper_decay
from cognigraph.retrieve.rank.paper_scores import PaperScores, paper_scores
from cognigraph.retrieve.rank.ranking import ProfileInputs, Ranking
from cognigraph.settings import RankingName, SearchSettings, WeightSetName
from cognigraph.stores.candidates import Candidates


class LicoMemoryProfile:
    """Rank by R, the semantic relevance of the best triple times its temporal decay.

    A chunk of a session that has not been enriched yet is scored as if it were a triple. A chunk of
    an enriched session from which no triple was extracted ranks as ``bare_chunks`` in the settings
    says.
    """

    name: RankingName = "licomemory"

    def inputs(self, settings: SearchSettings) -> ProfileInputs:
        """Return the inputs: the session score compares keys with the question's entities."""
        return ProfileInputs(entity_vectors=settings.sessions)

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
        paper = paper_scores(candidates, settings, now)
        gap = gaps(candidates.chunks.at, now)
        decay = paper_decay(gap, settings, gaps(candidates.triples.at, now))
        has_triple = ~np.isnan(paper.best_triple)
        score = np.where(has_triple, paper.best_triple, paper.harmonic * decay)
        semantic = paper.harmonic
        if settings.licomemory.bare_chunks == "behind":
            factor = _bare_chunk_factors(candidates, paper, score)
            score, semantic = score * factor, semantic * factor
        return Ranking(
            score=score,
            semantic=semantic,
            # A hit reports score = semantic x decay, so the decay is that of its best triple.
            decay=np.divide(score, semantic, out=decay.copy(), where=has_triple & (semantic > 0)),
            gap=gap,
            raw={"vector": candidates.chunks.cosine},
            weighted={},
            session_score=paper.session,
            triple_score=paper.triple,
            harmonic=paper.harmonic,
            triples=paper.triples,
            sessions=paper.sessions,
        )

    def notes(self, ranking: Ranking, row: int) -> tuple[str, ...]:
        """Say whether the chunk was put behind all chunks that a triple leads to."""
        if ranking.semantic[row] < ranking.harmonic[row]:
            return ("no candidate triple cites it, so it ranks behind all messages that one cites",)
        return ()


def _bare_chunk_factors(candidates: Candidates, paper: PaperScores, score: Floats) -> Floats:
    """Factors (n,) that put chunks without a triple, of enriched sessions, behind the others."""
    has_triple = ~np.isnan(paper.best_triple)
    is_enriched = ~np.isnan(candidates.sessions.theme)[candidates.chunks.session]
    return factors_below(score, has_triple, is_enriched & ~has_triple)
