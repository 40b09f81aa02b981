"""LiCoMemory (section 3.2): its formulas and scores, its candidates from the top down, its profile.

| case                     | decision                                                          |
|--------------------------|-------------------------------------------------------------------|
| cosine <= 0              | clamped to [0, 1] first: unclamped, HM(.5, -.6) = +6 would win     |
| no session score         | Ss := St, as missing is not zero; a computed 0 is raised to 0.01   |
| all gaps zero            | w = 1, no division                                                |
| unknown time             | gap := median, so w = 1/e                                          |
| chunk without a triple   | scored as a triple; once its session is enriched, behind the others |
| time after the question  | gap 0 (clock skew); nothing later than ``as_of`` gets here          |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector, products
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.question.temporal import nearness
from cognigraph.retrieve.rank.ranking import ProfileInputs, Ranking
from cognigraph.settings import Mean, RankingName, SearchSettings, WeightSetName
from cognigraph.stores.candidates import (
    NONE,
    OUTSIDE,
    CandidateQuery,
    Candidates,
    ChunkCandidates,
    Evidence,
    StoredTexts,
    TripleCandidates,
    texts_at,
)
from cognigraph.stores.records import EntityNames
from cognigraph.text.terms import terms

SESSION_FLOOR = 0.01
"""Lowest Ss of a scored session, so that a perfect triple in an unrelated session still counts."""

_JUST_BELOW = 0.99
Bools = npt.NDArray[np.bool_]


def clamp(cosine: npt.NDArray[np.floating]) -> Floats:
    """Clip cosines to [0, 1]; NaN (nothing to compare) stays NaN."""
    return np.asarray(np.clip(np.asarray(cosine, float), 0.0, 1.0))


def harmonic_mean(session: Floats, triple: Floats) -> Floats:
    """Return S_sem = 2 Ss St / (Ss + St), the paper's first equation.

    ``session`` and ``triple`` (n,) are cosines, clamped here. NaN in ``session`` means that there
    is nothing to score yet; then S_sem = St. Returns (n,) in [0, 1].
    """
    st = clamp(triple)
    ss = np.maximum(clamp(session), SESSION_FLOOR)
    ss = np.where(np.isnan(ss), st, ss)
    total = ss + st
    return np.divide(2 * ss * st, total, out=np.zeros_like(total), where=total > 0)


def arithmetic_mean(session: Floats, triple: Floats) -> Floats:
    """Return (Ss + St) / 2 (n,), for comparison: one high score is then enough. NaN as above."""
    st = clamp(triple)
    ss = np.maximum(clamp(session), SESSION_FLOOR)
    return (np.where(np.isnan(ss), st, ss) + st) / 2


WEIGHTS = 0.2, 0.8
"""Of S_s and S_t in a weighted mean: summary_weight of the authors' repository."""


def weighted_mean(session: Floats, triple: Floats) -> Floats:
    """Return .2 Ss + .8 St (n,), as the authors' repository has it. NaN as above."""
    st = clamp(triple)
    ss = np.maximum(clamp(session), SESSION_FLOOR)
    return WEIGHTS[0] * np.where(np.isnan(ss), st, ss) + WEIGHTS[1] * st


def semantic_relevance(session: Floats, triple: Floats, mean: Mean = "harmonic") -> Floats:
    """Return S_sem (n,) by the mean that the settings name; the paper's is harmonic."""
    by_mean = {"arithmetic": arithmetic_mean, "weighted": weighted_mean}
    return by_mean.get(mean, harmonic_mean)(session, triple)


def gaps(at: Floats, now: float) -> Floats:
    """Return seconds from each time (n,) to ``now``: NaN where unknown, 0 for later times."""
    return np.asarray(np.where(np.isnan(at), np.nan, np.maximum(now - at, 0.0)))


def median_gap(gap: Floats) -> float:
    """Return tau, the median of the known gaps, in seconds; 0 if no gap is known and above 0.

    If the median is 0 because most messages are new, it is the median of the gaps above 0.
    """
    known = gap[~np.isnan(gap)]
    middle = median(known) if len(known) else 0.0
    if middle or not (known > 0).any():
        return middle
    return median(known[known > 0])


def median(values: Floats) -> float:
    """Return the median of at least one value; numpy's takes ten times as long for a thousand."""
    middle = np.sort(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]
    return float(middle.sum() / len(middle))


def weibull_decay(gap: Floats, exponent: float, tau: float | None = None) -> Floats:
    """Return w = exp(-(gap / tau)^tk), the paper's second equation; tau is the median gap.

    ``gap`` (n,) in seconds, NaN where unknown; ``exponent`` is tk, 0 < tk < 1 (paper: 0.1), and 1
    makes it exponential; ``tau`` in seconds replaces the median. Returns (n,) in (0, 1].
    """
    known = gap[~np.isnan(gap)]
    if not len(known):
        return np.full(len(gap), np.exp(-1.0))
    filled = gap if len(known) == len(gap) else np.where(np.isnan(gap), median(known), gap)
    scale = median_gap(gap) if tau is None else tau
    if scale == 0.0:
        return np.ones(len(gap))
    return np.asarray(np.exp(-((filled / scale) ** exponent)))


def paper_decay(gap: Floats, settings: SearchSettings, retrieved: Floats) -> Floats:
    """Return w (n,) with the settings' exponent; tau is the median of the gaps ``retrieved`` (m,).

    ``retrieved`` are the gaps of the triples; without triples tau is the median of ``gap``.
    All ones if decay is switched off.
    """
    if not settings.decay:
        return np.ones(len(gap))
    tau = median_gap(retrieved) or median_gap(gap)
    return weibull_decay(gap, settings.decay_exponent, tau * settings.licomemory.tau_scale)


def factors_below(score: Floats, first: Bools, second: Bools) -> Floats:
    """Return factors (n,) by which the ``second`` rows score below all ``first`` rows.

    The second rows keep their order among themselves. Factors are 1 for all other rows, and for all
    rows if there are no first ones. First rows with a score of 0 do not count.
    """
    factors = np.ones(len(score))
    low = score[first & (score > 0)].min(initial=np.inf)
    high = score[second].max(initial=0.0)
    if np.isfinite(low) and high >= low:
        factors[second] = _JUST_BELOW * low / high
    return factors


def relevance(
    session: Floats, triple: Floats, gap: Floats, settings: SearchSettings
) -> tuple[Floats, Floats, Floats]:
    """Return R = S_sem x w for n candidate triples, with its factors: (R, S_sem, w)."""
    semantic = semantic_relevance(session, triple, settings.licomemory.mean)
    weight = paper_decay(gap, settings, gap)
    return semantic * weight, semantic, weight


# The LiCoMemory scores of sessions, triples and chunks; every profile reports them.


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
        sessions = session_scores(candidates, settings.licomemory.session_matches)
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


def session_scores(candidates: Candidates, matches: int | None = None) -> Floats:
    """Ss (s,): how well the keys of a session match the question's entities, on average.

    The average is that of all entities, or of the ``matches`` that match best. A session without
    keys is scored by its themes; without themes either, its score is NaN.
    """
    keys = clamp(candidates.sessions.keys)
    if matches is not None:
        keys = -np.sort(-keys, axis=1)[:, :matches]
    if keys.shape[1]:
        by_keys = keys.mean(axis=1)
        return np.where(np.isnan(by_keys), clamp(candidates.sessions.theme), by_keys)
    return clamp(candidates.sessions.theme)


# Candidates as in the paper (section 3.2): from session summaries to triples to their chunks.
#
# Sessions are ranked by how well their keys match the entities of the question. Of the best
# sessions, the triples around entities of the question and those nearest to it are candidates, and
# of the messages only those that these triples cite. Messages are not searched by vector or words.
#
# A store ranks summaries and triples by their distance to the question, and not by session. So it
# is asked for many of both, of which those in the best sessions are kept.

_SUMMARIES = 200
"""Number of themes whose sessions are ranked by their keys."""
_WIDER = 10
"""How many times as many triples are fetched as may be kept, because most are in other sessions."""
_NO_FACT = (
    "the profile licomemory finds messages through facts, and none leads to one here; facts come "
    "from enrichment (flush() or `cognigraph enrich`). The default profile needs none, nor does "
    "LicoMemorySettings(candidates='wide')"
)
_DIGITS = 6
"""Session scores that differ only later are equal, so that stores choose the same sessions."""

Columns = TypeVar("Columns", ChunkCandidates, TripleCandidates)


def as_in_the_paper(settings: SearchSettings) -> SearchSettings:
    """Top down, settings without rules for times in a question: they count by decay and keys."""
    if not is_top_down(settings):
        return settings
    return replace(settings, time_order=False, time_anchor=False)


def top_down_query(query: CandidateQuery) -> CandidateQuery:
    """The query without searches for chunks or by words, and with more triples and summaries."""
    return replace(
        query,
        chunks_by_vector=0,
        chunks_by_terms=0,
        triples_by_terms=0,
        triples_by_vector=_WIDER * query.triples_by_vector,
        triples_per_anchor=_WIDER * query.triples_per_anchor,
        sessions_by_vector=_SUMMARIES if query.sessions_by_vector else 0,
        radius=0,
    )


def is_top_down(settings: SearchSettings) -> bool:
    """Whether only summaries and triples lead to messages, as in the paper."""
    return settings.ranking == "licomemory" and settings.licomemory.candidates == "paper"


def has_anchors_by_vectors(settings: SearchSettings) -> bool:
    """Whether anchors are the entities whose names are most similar to the question's."""
    return settings.ranking == "licomemory" and settings.licomemory.anchors == "vectors"


def ranked_here(candidates: Candidates, analysis: Analysis, settings: SearchSettings) -> Candidates:
    """The candidates as this profile ranks them; as they are if the settings name another one."""
    if settings.ranking != "licomemory":
        return candidates
    if settings.licomemory.time_keys:
        candidates = with_time_keys(candidates, analysis)
    return reached_top_down(candidates, settings) if is_top_down(settings) else candidates


def why_nothing(candidates: Candidates, settings: SearchSettings) -> list[str]:
    """What to tell the user if no fact led to a message."""
    return [_NO_FACT] if is_top_down(settings) and not candidates.chunks.uids else []


def reached_top_down(candidates: Candidates, settings: SearchSettings) -> Candidates:
    """Keep the triples of the best sessions, and the chunks that these triples cite.

    ``sessions_by_vector`` is the number of sessions (0: triples of all), and ``triples_by_vector``
    the number of triples beside those around entities of the question.
    """
    triples = candidates.triples
    allowed = np.ones(len(triples.uids), bool)
    if settings.sessions and settings.sessions_by_vector:
        best = _best_sessions(candidates, settings)
        allowed = np.isin(triples.session, best)
    by_cosine = np.argsort(-np.round(triples.cosine, _DIGITS), kind="stable")
    near = [row for row in by_cosine if allowed[row] and triples.by_vector[row]]
    chosen = allowed & triples.by_anchor
    chosen[near[: settings.triples_by_vector]] = True
    rows = np.flatnonzero(chosen)
    cited = sorted({chunk for row in rows.tolist() for chunk in triples.evidence[row]})
    return _with_rows(candidates, rows, np.array(cited, np.int64))


_NAMES = 5


def most_similar_names(names: EntityNames, entities: Vector) -> tuple[str, ...]:
    """The stemmed names (keys) of the five entities nearest to each of a question's ``entities``.

    The authors' repository weights the similarity of the names by .7 and that of the types by .3;
    an entity of a question has no type here, so that it does not change the order.
    """
    if not len(names.uids):
        return ()
    cosines = products(entities, names.vectors).round(_DIGITS)
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :_NAMES]
    return tuple(dict.fromkeys(" ".join(terms(names.names[row])) for row in best.ravel().tolist()))


def with_time_keys(candidates: Candidates, analysis: Analysis) -> Candidates:
    """Let the times of a question be entities of it, and the times of sessions keys of theirs.

    Keys of the paper are temporal markers as well. They are not compared as words here: a session
    matches a time as far as something was said near it.
    """
    sessions = candidates.sessions
    if not analysis.times or not sessions.keys.shape[1]:
        return candidates
    best = np.zeros(len(sessions.uids))
    for found in (candidates.triples, candidates.chunks):
        np.maximum.at(best, found.session, nearness(analysis.times, found.at))
    best[np.isnan(sessions.keys).all(axis=1)] = np.nan  # without keys, the themes count
    return replace(
        candidates, sessions=replace(sessions, keys=np.column_stack([sessions.keys, best]))
    )


def _best_sessions(candidates: Candidates, settings: SearchSettings) -> Ints:
    """Rows of the sessions with the best keys; those without keys and themes come last."""
    matches = settings.licomemory.session_matches
    scores = np.nan_to_num(session_scores(candidates, matches), nan=-1.0)
    best = np.argsort(-np.round(scores, _DIGITS), kind="stable")
    return best[: settings.sessions_by_vector]


def _with_rows(candidates: Candidates, triples: Ints, chunks: Ints) -> Candidates:
    """The candidates with only these rows of triples and of chunks, and all sessions."""
    found = candidates.chunks
    position = np.full(len(found.uids) + 2, OUTSIDE, np.int64)
    position[chunks] = np.arange(len(chunks))
    position[NONE] = NONE  # -1 and -2 stay what they are, at the end of the array
    kept = _taken(found, chunks)
    kept = replace(kept, previous=position[kept.previous], following=position[kept.following])
    cited = _taken(candidates.triples, triples)
    evidence = Evidence.of([position[[*rows]].tolist() for rows in cited.evidence])
    return replace(candidates, chunks=kept, triples=replace(cited, evidence=evidence))


def _taken(columns: Columns, rows: Ints) -> Columns:
    """All columns with only these rows; a column that is empty stays empty."""
    values = {field.name: _of_rows(getattr(columns, field.name), rows) for field in fields(columns)}
    return replace(columns, **values)


def _of_rows(values: Any, rows: Ints) -> Any:
    if isinstance(values, np.ndarray):
        return values[rows]
    if isinstance(values, StoredTexts):
        return texts_at(values, rows)
    given: Sequence[Any] = values
    return tuple(given[row] for row in rows) if given else ()


# The ``licomemory`` profile: a chunk ranks by its best triple, as in the paper (section 3.2).


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
