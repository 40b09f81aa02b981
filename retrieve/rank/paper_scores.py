"""The LiCoMemory scores of sessions, triples and chunks; every profile reports them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.retrieve.rank.licomemory import clamp, gaps, relevance, semantic_relevance
from cognigraph.settings import SearchSettings
from cognigraph.stores.candidates import Candidates, Evidence


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PaperScores:
    """The paper's scores of s sessions, m triples and n chunks.

    ``sessions`` (s,) is Ss and ``triples`` (m,) is R. The others have shape (n,): ``best_triple``
    is R of the best triple that cites the chunk, NaN if there is none; ``session``, ``triple`` and
    ``harmonic`` are Ss, St and S_sem of that triple, or of the chunk itself if there is none.
    """

    sessions: Floats
    triples: Floats
    best_triple: Floats
    session: Floats
    triple: Floats
    harmonic: Floats


def paper_scores(candidates: Candidates, settings: SearchSettings, now: float) -> PaperScores:
    """Compute the paper's scores for a question asked at ``now`` (seconds since 1970)."""
    chunks, triples = candidates.chunks, candidates.triples
    if settings.sessions:
        sessions = session_scores(candidates)
    else:
        sessions = np.full(len(candidates.sessions.uids), np.nan)
    session_of_triple = sessions[triples.session] if len(triples.uids) else np.empty(0)
    gap = gaps(triples.at, now)
    triple_relevance, _, _ = relevance(session_of_triple, triples.cosine, gap, settings)
    best_triple = np.full(len(chunks.uids), np.nan)
    triple_score = clamp(chunks.cosine)
    session_score = sessions[chunks.session]
    if settings.triples and settings.licomemory.hyperlinks:
        cosine = clamp(triples.cosine)
        best, cited = _best_of_each(triple_relevance, triples.evidence)
        best_triple[cited] = triple_relevance[best]
        triple_score[cited] = cosine[best]
        session_score[cited] = session_of_triple[best]
    return PaperScores(
        sessions=sessions,
        triples=triple_relevance,
        best_triple=best_triple,
        session=session_score,
        triple=triple_score,
        harmonic=semantic_relevance(session_score, triple_score, settings.licomemory.mean),
    )


def _best_of_each(relevance: Floats, evidence: Evidence) -> tuple[Ints, Ints]:
    """The best triple of each chunk that is evidence, the later one of equals; and the chunks."""
    position = np.empty(len(relevance), np.int64)
    position[np.argsort(relevance, kind="stable")] = np.arange(len(relevance))
    order = np.lexsort((position[evidence.triples], evidence.chunks))
    triples, chunks = evidence.triples[order], evidence.chunks[order]
    last = np.flatnonzero(np.append(chunks[1:] != chunks[:-1], True)[: len(chunks)])
    return triples[last], chunks[last]


def session_scores(candidates: Candidates) -> Floats:
    """Ss (s,): how well the keys of a session match the question's entities, on average.

    A session without keys is scored by its themes; without themes either, its score is NaN.
    """
    keys = clamp(candidates.sessions.keys)
    if keys.shape[1]:
        by_keys = keys.mean(axis=1)
        return np.where(np.isnan(by_keys), clamp(candidates.sessions.theme), by_keys)
    return clamp(candidates.sessions.theme)
