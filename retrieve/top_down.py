"""Candidates as in the paper (section 3.2): from session summaries to triples to their chunks.

Sessions are ranked by how well their keys match the entities of the question. Of the best sessions,
the triples around entities of the question and those nearest to it are candidates, and of the
messages only those that these triples cite. Messages are not searched by vector or words.

A store ranks summaries and triples by their distance to the question, and not by session. So it is
asked for many of both, of which those in the best sessions are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from cognigraph.arrays import Ints
from cognigraph.retrieve.rank.paper_scores import session_scores
from cognigraph.settings import SearchSettings
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
    """Settings without rules for the time in a question: in the paper time counts by decay only."""
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


def why_nothing(candidates: Candidates, settings: SearchSettings) -> list[str]:
    """What to tell the user if no fact led to a message."""
    return [_NO_FACT] if settings.is_top_down and not candidates.chunks.uids else []


def reached_top_down(candidates: Candidates, settings: SearchSettings) -> Candidates:
    """Keep the triples of the best sessions, and the chunks that these triples cite.

    ``sessions_by_vector`` is the number of sessions (0: triples of all), and ``triples_by_vector``
    the number of triples beside those around entities of the question.
    """
    triples = candidates.triples
    allowed = np.ones(len(triples.uids), bool)
    if settings.sessions and settings.sessions_by_vector:
        best = _best_sessions(candidates, settings.sessions_by_vector)
        allowed = np.isin(triples.session, best)
    by_cosine = np.argsort(-np.round(triples.cosine, _DIGITS), kind="stable")
    near = [row for row in by_cosine if allowed[row] and triples.by_vector[row]]
    chosen = allowed & triples.by_anchor
    chosen[near[: settings.triples_by_vector]] = True
    rows = np.flatnonzero(chosen)
    cited = sorted({chunk for row in rows.tolist() for chunk in triples.evidence[row]})
    return _with_rows(candidates, rows, np.array(cited, np.int64))


def _best_sessions(candidates: Candidates, most: int) -> Ints:
    """Rows of the sessions with the best keys; those without keys and themes come last."""
    scores = np.nan_to_num(session_scores(candidates), nan=-1.0)
    return np.argsort(-np.round(scores, _DIGITS), kind="stable")[:most]


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
