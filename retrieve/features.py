"""What the default profile knows of each candidate chunk: one array per signal.

Everything is computed from the pools of a probe, so both stores rank alike. A window is a chunk
with its NEXT neighbours: a turn is often meaningless without the one before. Window vectors need
no storage: the mean of the neighbours' cosines ranks as well as embedding the joined text
(bench/TRIED.md), and window BM25 sums their term frequencies.
"""

from __future__ import annotations

import numpy as np

from cognigraph.lexical import words
from cognigraph.retrieve.analyse import Analysis
from cognigraph.retrieve.bm25 import bm25, idf
from cognigraph.settings import SearchSettings
from cognigraph.stores.base import Candidates, ChunkPool, Floats, Ints

_BEST_OF_SESSION = 3


def chunk_features(
    candidates: Candidates, analysis: Analysis, settings: SearchSettings
) -> dict[str, Floats]:
    """Raw signals by name, each (n,); NaN where a signal has nothing to say."""
    pool, lexicon = candidates.chunks, candidates.lexicon
    weights = idf(lexicon, analysis.terms)
    features = {
        "vector": pool.cosine,
        "words": bm25(pool.matches, pool.length, weights, lexicon.mean_length),
    }
    if settings.windows:
        features |= _window_features(pool, weights, lexicon.mean_length)
    if settings.session_leg:
        features |= _session_features(candidates, weights)
    if settings.cues:
        features |= _cues(pool, analysis)
    if settings.triple_leg and candidates.triples.uids:
        features |= _triple_features(candidates, weights)
    return features


def _window_features(pool: ChunkPool, weights: Floats, mean_length: float) -> dict[str, Floats]:
    around = neighbours(pool, 2)  # (n, 5), -1 where there is none
    present = around >= 0
    cosine = np.where(present, pool.cosine[around], 0.0).sum(axis=1) / present.sum(axis=1)
    features = {"window vector": cosine}
    for name, columns in (("words of 3", slice(1, 4)), ("words of 5", slice(0, 5))):
        mask = present[:, columns]
        rows = around[:, columns]
        matches = np.where(mask[:, :, None], pool.matches[rows], 0.0).sum(axis=1)
        length = np.where(mask, pool.length[rows], 0.0).sum(axis=1)
        size = mask.shape[1]
        features[name] = bm25(matches, length, weights, mean_length * size)
    return features


def neighbours(pool: ChunkPool, radius: int) -> Ints:
    """Rows (n, 2 radius + 1) of each chunk's neighbours in session order, itself in the middle."""
    n = len(pool.uids)
    columns = [np.arange(n)]
    backward = forward = columns[0]
    previous, following = np.append(pool.previous, -1), np.append(pool.following, -1)
    for _ in range(radius):
        backward, forward = previous[backward], following[forward]
        columns = [backward, *columns, forward]
    return np.stack(columns, axis=1)


def _session_features(candidates: Candidates, weights: Floats) -> dict[str, Floats]:
    pool, sessions = candidates.chunks, candidates.sessions
    best = np.zeros(len(sessions.uids))
    order = np.lexsort((-pool.cosine, pool.session))
    session = pool.session[order]
    starts = np.flatnonzero(np.r_[True, session[1:] != session[:-1]])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    top = order[rank < _BEST_OF_SESSION]
    np.add.at(best, pool.session[top], np.maximum(pool.cosine[top], 0.0))
    features = {"session best": (best / _BEST_OF_SESSION)[pool.session]}
    if np.isfinite(sessions.theme).any():
        features["theme"] = sessions.theme[pool.session]
        scored = bm25(sessions.matches, sessions.length, weights, max(sessions.length.mean(), 1.0))
        features["theme words"] = scored[pool.session]
    return features


def _cues(pool: ChunkPool, analysis: Analysis) -> dict[str, Floats]:
    asked = set(words(analysis.question))
    speakers = {speaker: set(words(speaker or "")) for speaker in set(pool.speakers)}
    is_named = {speaker: bool(name) and name <= asked for speaker, name in speakers.items()}
    named = [float(is_named[speaker]) for speaker in pool.speakers]
    after_question = np.where(pool.previous >= 0, pool.question[pool.previous], False)
    return {
        "speaker named": np.array(named),
        "asks": pool.question.astype(float),
        "answers": after_question.astype(float),
        "length": np.log1p(pool.length),
    }


def triple_scores(candidates: Candidates, weights: Floats) -> tuple[Floats, Floats]:
    """Cosine and BM25 of each candidate triple."""
    pool = candidates.triples
    mean = float(pool.length.mean()) if len(pool.length) else 1.0
    return pool.cosine, bm25(pool.matches, pool.length, weights, mean)


def _triple_features(candidates: Candidates, weights: Floats) -> dict[str, Floats]:
    cosine, lexical = triple_scores(candidates, weights)
    fused = scaled(cosine) + scaled(lexical)
    n = len(candidates.chunks.uids)
    best = np.zeros(n)
    second = np.zeros(n)
    best_cosine = np.zeros(n)
    for triple, rows in enumerate(candidates.triples.evidence):
        for row in rows:
            value = fused[triple]
            if value > best[row]:
                best[row], second[row] = value, best[row]
            elif value > second[row]:
                second[row] = value
            best_cosine[row] = max(best_cosine[row], cosine[triple])
    return {"triple": best, "second triple": second, "triple vector": best_cosine}


def scaled(values: Floats) -> Floats:
    """Min-max over the candidates, to [0, 1]; NaN counts as the minimum, no spread as zeros."""
    known = values[np.isfinite(values)]
    if not len(known):
        return np.zeros(len(values))
    low, high = float(known.min()), float(known.max())
    if high <= low:
        return np.zeros(len(values))
    return np.where(np.isfinite(values), (values - low) / (high - low), 0.0)
