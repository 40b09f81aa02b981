"""What the default profile knows of each candidate chunk: one array per signal.

Everything is computed from the pools of a probe, so both stores rank alike. A window is a chunk
with its NEXT neighbours: a turn is often meaningless without the one before. Window vectors need
no storage: the mean of the neighbours' cosines ranks as well as embedding the joined text
(bench/TRIED.md), and window BM25 sums their term frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.embed.word_vectors import Said, word_vectors
from cognigraph.retrieve.analyse import Analysis
from cognigraph.retrieve.answer_form import form_features
from cognigraph.retrieve.asked_time import nearness
from cognigraph.settings import SearchSettings
from cognigraph.stores.candidates import NONE, OUTSIDE, Candidates, ChunkPool
from cognigraph.text.bm25 import bm25, idf
from cognigraph.text.terms import words

WINDOW = 2
"""A window is a chunk with two neighbours on each side; one and three measured worse."""

_CUES = frozenset({"speaker named", "asks", "answers", "length", "names", "answer form"})
ABSOLUTE = _CUES | {"time", "triple", "second triple"}
"""Signals that mean the same for every question and are not scaled over the candidates."""

_BEST_OF_SESSION = 3
_LONG = 4.0  # log(1 + terms) of a chunk that counts as long: about 54 terms


def chunk_features(
    candidates: Candidates, analysis: Analysis, settings: SearchSettings
) -> dict[str, Floats]:
    """Raw signals by name, each (n,); NaN where a signal has nothing to say."""
    pool, lexicon = candidates.chunks, candidates.lexicon
    weights = idf(lexicon, analysis.terms)
    words_alone = bm25(pool.matches, pool.length, weights, lexicon.mean_length)
    features = {"vector": pool.cosine, "words": words_alone}
    if settings.windows:
        features |= _window_features(pool, weights, lexicon.mean_length)
    of_triples: Floats | None = None
    said = _said(candidates)
    if settings.late_interaction and pool.texts:
        found = word_vectors().best_matches(analysis.words, said)
        similar, of_triples = found[: len(pool.uids)], found[len(pool.uids) :]
        features |= _late_features(pool, similar, weights, windows=settings.windows)
    if settings.session_leg:
        features |= _session_features(candidates, weights)
    if settings.cues:
        features |= _cues(pool, analysis)
        if pool.texts:
            features |= form_features(pool.texts, said, set(pool.speakers), analysis.form)
    if settings.time_cue and analysis.times:
        features["time"] = nearness(analysis.times, pool.at)
    if settings.triple_leg and candidates.triples.uids:
        own = [scaled(pool.cosine), scaled(words_alone)]
        best = [*triple_scores(candidates, weights)]
        if of_triples is not None:
            own.append(scaled(features["similar words"]))
            best.append(_weighted_mean(of_triples, weights))
        features |= _triple_features(candidates, best, own)
    return features


def _said(candidates: Candidates) -> Said:
    """The words of the chunks, each with its speaker, and of the triples; none without texts."""
    pool = candidates.chunks
    spoken = zip(pool.speakers, pool.texts, strict=False)
    said = [f"{speaker or ''} {text}" for speaker, text in spoken]
    return word_vectors().read([*said, *candidates.triples.texts])


def _weighted_mean(similar: Floats, weights: Floats) -> Floats:
    return np.asarray(similar @ weights / max(float(weights.sum()), 1e-9))


def _late_features(
    pool: ChunkPool, similar: Floats, weights: Floats, *, windows: bool
) -> dict[str, Floats]:
    """Late interaction: the mean over the asked words, rare ones first, of the best match."""
    features = {"similar words": _weighted_mean(similar, weights)}
    if windows:
        around = neighbours(pool, WINDOW)
        # Whatever row is read for NONE and OUTSIDE, its value is not used.
        near = similar[np.maximum(around, 0)]
        best = np.where((around >= 0)[:, :, None], near, 0.0).max(axis=1)
        features["window similar words"] = _weighted_mean(best, weights)
    return features


def _window_features(pool: ChunkPool, weights: Floats, mean_length: float) -> dict[str, Floats]:
    around = neighbours(pool, WINDOW)  # (n, 2 WINDOW + 1)
    present, outside = around >= 0, around == OUTSIDE
    around = np.maximum(around, 0)  # a row to read from, whose value is not used
    # A neighbour outside the pool counts as the worst candidate: it was near enough to no leg.
    # Leaving it out would favour chunks at the rim, whose windows lose their worst members.
    worst = float(pool.cosine.min(initial=1.0))
    cosine = np.where(present, pool.cosine[around], worst * outside).sum(axis=1)
    cosine /= (present | outside).sum(axis=1)
    matches = np.where(present[:, :, None], pool.matches[around], 0.0).sum(axis=1)
    length = np.where(present, pool.length[around], mean_length * outside).sum(axis=1)
    words = bm25(matches, length, weights, mean_length * around.shape[1])
    return {"window vector": cosine, "window words": words}


def neighbours(pool: ChunkPool, radius: int) -> Ints:
    """Rows (n, 2 radius + 1) of each chunk's neighbours in session order, itself in the middle.

    ``NONE`` past the ends of the session, ``OUTSIDE`` where the pool does not hold the neighbour.
    """
    n = len(pool.uids)
    columns = [np.arange(n)]
    backward = forward = columns[0]
    # Two more entries, reached by -1 and -2: past NONE comes NONE, past OUTSIDE comes OUTSIDE.
    previous = np.concatenate([pool.previous, [OUTSIDE, NONE]])
    following = np.concatenate([pool.following, [OUTSIDE, NONE]])
    for _ in range(radius):
        backward, forward = previous[backward], following[forward]
        columns = [backward, *columns, forward]
    return np.stack(columns, axis=1)


def _session_features(candidates: Candidates, weights: Floats) -> dict[str, Floats]:
    pool, sessions = candidates.chunks, candidates.sessions
    total, count = np.zeros(len(sessions.uids)), np.zeros(len(sessions.uids))
    order = np.lexsort((-pool.cosine, pool.session))
    session = pool.session[order]
    starts = np.flatnonzero(np.r_[True, session[1:] != session[:-1]])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    top = order[rank < _BEST_OF_SESSION]
    np.add.at(total, pool.session[top], pool.cosine[top])
    np.add.at(count, pool.session[top], 1.0)
    best = total / np.maximum(count, 1.0)
    features = {"session best": best[pool.session]}
    if np.isfinite(sessions.theme).any():
        lexical = bm25(sessions.matches, sessions.length, weights, max(sessions.length.mean(), 1.0))
        unread = np.isnan(sessions.theme)
        features["theme"] = _mean_if(unread, sessions.theme)[pool.session]
        features["theme words"] = _mean_if(unread, lexical)[pool.session]
    return features


def _mean_if(missing: npt.NDArray[np.bool_], values: Floats) -> Floats:
    """Values, the mean of the others where missing: not knowing is not a reason to rank low."""
    return np.where(missing, values[~missing].mean(), values)


def _cues(pool: ChunkPool, analysis: Analysis) -> dict[str, Floats]:
    asked = set(words(analysis.question))
    speakers = {speaker: set(words(speaker or "")) for speaker in set(pool.speakers)}
    is_named = {speaker: bool(name) and name <= asked for speaker, name in speakers.items()}
    named = [float(is_named[speaker]) for speaker in pool.speakers]
    before = np.maximum(pool.previous, 0)  # NONE and OUTSIDE are no rows
    after_question = np.where(pool.previous >= 0, pool.question[before], False)
    return {
        "speaker named": np.array(named),
        "asks": pool.question.astype(float),
        "answers": after_question.astype(float),
        "length": np.minimum(np.log1p(pool.length) / _LONG, 1.0),
    }


def triple_scores(candidates: Candidates, weights: Floats) -> tuple[Floats, Floats]:
    """Cosine and BM25 of each candidate triple."""
    pool = candidates.triples
    mean = float(pool.length.mean()) if len(pool.length) else 1.0
    return pool.cosine, bm25(pool.matches, pool.length, weights, mean)


def _triple_features(
    candidates: Candidates, scores: Sequence[Floats], own_scores: Sequence[Floats]
) -> dict[str, Floats]:
    """The two best triples each chunk is evidence for.

    A session that has no themes yet has not been read: its chunks stand for their own triples, or
    everything said in the last minutes would rank below what has been enriched.
    """
    fused = np.mean([scaled(score) for score in scores], axis=0)
    pool = candidates.chunks
    best, second = np.zeros(len(pool.uids)), np.zeros(len(pool.uids))
    for score, rows in zip(fused.tolist(), candidates.triples.evidence, strict=True):
        for row in rows:
            second[row] = max(second[row], min(best[row], score))
            best[row] = max(best[row], score)
    unread = np.isnan(candidates.sessions.theme)[pool.session]
    own = np.where(unread, np.mean(own_scores, axis=0), 0.0)
    return {"triple": np.maximum(best, own), "second triple": np.maximum(second, own)}


def scaled(values: Floats) -> Floats:
    """Min-max over the candidates, to [0, 1]; NaN counts as the minimum, no spread as zeros."""
    known = values[np.isfinite(values)]
    if not len(known):
        return np.zeros(len(values))
    low, high = float(known.min()), float(known.max())
    if high <= low:
        return np.zeros(len(values))
    return np.where(np.isfinite(values), (values - low) / (high - low), 0.0)
