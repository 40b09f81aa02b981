"""LiCoMemory (section 3.2): its candidates from the top down, and its profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector, products
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.question.temporal import nearness
from cognigraph.retrieve.rank.ranking import (
    PaperScores,
    ProfileInputs,
    Ranking,
    gaps,
    is_top_down,
    paper_decay,
    paper_scores,
    session_scores,
)
from cognigraph.settings import RankingName, SearchSettings, WeightSetName
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

_JUST_BELOW = 0.99
Bools = npt.NDArray[np.bool_]


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
_DIGITS = 6
"""Session scores that differ only later are equal, so that stores choose the same sessions."""

Columns = TypeVar("Columns", ChunkCandidates, TripleCandidates)


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


def ranked_here(candidates: Candidates, analysis: Analysis, settings: SearchSettings) -> Candidates:
    """The candidates as this profile ranks them."""
    if settings.licomemory.time_keys:
        candidates = with_time_keys(candidates, analysis)
    return reached_top_down(candidates, settings) if is_top_down(settings) else candidates


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
