"""The signals of the default profile: one array per signal, one value per candidate chunk.

Everything is computed from the candidates alone, so that all stores rank alike. A window is a chunk
with its neighbours in the session, because a turn often means little without the one before. The
vector signal of a window is the mean cosine of its chunks, which ranks as well as an embedding of
their joined text and needs no storage (bench/TRIED.md); its BM25 adds up their term frequencies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.embed.word_vectors import TextWords, word_vectors
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.question.answer_form import form_features
from cognigraph.retrieve.question.dates import nearness
from cognigraph.retrieve.rank.changes import changes
from cognigraph.retrieve.rank.corrections import corrections
from cognigraph.retrieve.rank.exchanges import exchange_features
from cognigraph.retrieve.rank.late_interaction import (
    candidate_words,
    late_features,
    weighted_mean,
)
from cognigraph.retrieve.rank.roles import role_features
from cognigraph.retrieve.rank.wishes import wishes
from cognigraph.settings import SearchSettings
from cognigraph.stores.candidates import (
    NONE,
    OUTSIDE,
    Candidates,
    ChunkCandidates,
    texts_at,
)
from cognigraph.text.bm25 import bm25, idf
from cognigraph.text.terms import words

WINDOW = 2
"""Neighbours on each side of a chunk that make its window. One and three measured worse."""

_CUES = frozenset({"speaker named", "asks", "answers", "length", "names", "answer form"})
_ROLES = frozenset({"user", "user vector", "assistant asked", "wish", "change", "correction"})
_EXCHANGE = frozenset({"counterpart vector", "counterpart triple"})
_MADE_SCALED = frozenset({"contextual vector", "triple", "second triple", "time", "session rank"})
OF_TEXTS = frozenset(
    {"similar words", "window similar words", "names", "answer form"}
    | {"wish", "change", "correction"}
)
ABSOLUTE = _CUES | _ROLES | _EXCHANGE | _MADE_SCALED
"""Signals with the same meaning for every question; they are not scaled over the candidates."""

_BEST_OF_SESSION = 3
_LAST_RANK = 5
_LONG = 4.0
"""log(1 + terms) from which a chunk counts as long: about 54 terms."""


def chunk_features(
    candidates: Candidates,
    analysis: Analysis,
    settings: SearchSettings,
    *,
    contextual: bool = False,
) -> dict[str, Floats]:
    """Compute the raw signals by name, each (n,); NaN where a signal is unknown.

    ``contextual`` says that the embedder reads words in their context (:class:`Embedder`).
    """
    features = plain_features(candidates, analysis, settings, contextual=contextual)
    return text_features(candidates, analysis, settings, features)


def plain_features(
    candidates: Candidates, analysis: Analysis, settings: SearchSettings, *, contextual: bool
) -> dict[str, Floats]:
    """The signals that need no texts."""
    chunks, lexicon = candidates.chunks, candidates.lexicon
    weights = idf(lexicon, analysis.terms)
    own_words = bm25(chunks.matches, chunks.length, weights, lexicon.mean_length)
    similarity = scaled(chunks.cosine)
    features = {"vector": chunks.cosine, "words": own_words}
    if contextual:
        features["contextual vector"] = similarity
    if settings.windows:
        around = neighbours(chunks, WINDOW)
        features |= _window_features(chunks, around, weights, lexicon.mean_length)
    if settings.sessions:
        features |= _session_features(candidates, weights)
    if settings.cues:
        features |= _cues(chunks, analysis)
        features |= role_features(chunks.roles, similarity, None, None, analysis.aim)
    if settings.time_cue and analysis.times:
        features["time"] = nearness(analysis.times, chunks.at)
    if settings.triples and candidates.triples.uids:
        scores = triple_scores(candidates, weights)
        features |= _triple_features(candidates, scores, [similarity, scaled(own_words)])
    if settings.windows and settings.cues:
        features |= exchange_features(chunks, similarity, features.get("triple"))
    return features


def text_features(
    candidates: Candidates,
    analysis: Analysis,
    settings: SearchSettings,
    plain: Mapping[str, Floats],
    rows: Ints | None = None,
) -> dict[str, Floats]:
    """The signals with those of the texts: of ``rows`` (k,) and their neighbours, if given.

    They are unknown (NaN) for all other rows. A neighbour is read for the window of one of the
    rows; of its own window, only what is read counts.
    """
    chunks = candidates.chunks
    if not chunks.texts:
        return dict(plain)
    read = _with_neighbours(chunks, rows, settings)
    texts = texts_at(chunks.texts, read)
    text_words = candidate_words(candidates, read, texts)
    features = dict(plain)
    if settings.late_interaction:
        features |= _late_features(candidates, analysis, settings, plain, read, text_words)
    if settings.cues:
        features |= _cues_in_texts(chunks, analysis, plain, read, texts, text_words)
    if rows is not None:
        unread = np.ones(len(chunks.uids), bool)
        unread[read] = False
        for name in OF_TEXTS.intersection(features):
            features[name] = np.where(unread, np.nan, features[name])
    return features


def _with_neighbours(chunks: ChunkCandidates, rows: Ints | None, settings: SearchSettings) -> Ints:
    if rows is None:
        return np.arange(len(chunks.uids))
    if not (settings.windows and settings.late_interaction):
        return rows
    around = neighbours(chunks, WINDOW)[rows]
    return np.unique(around[around >= 0])


def _late_features(
    candidates: Candidates,
    analysis: Analysis,
    settings: SearchSettings,
    plain: Mapping[str, Floats],
    read: Ints,
    text_words: TextWords,
) -> dict[str, Floats]:
    """Late interaction of the texts that were read, and of the triples."""
    chunks = candidates.chunks
    weights = idf(candidates.lexicon, analysis.terms)
    matches = word_vectors().best_matches(analysis.words, text_words)
    similar = np.zeros((len(chunks.uids), matches.shape[1]))
    similar[read] = matches[: len(read)]
    around = neighbours(chunks, WINDOW) if settings.windows else None
    features = late_features(similar, weights, around)
    if settings.triples and candidates.triples.uids:
        scores = [*triple_scores(candidates, weights)]
        scores.append(weighted_mean(matches[len(read) :], weights))
        own = [plain["vector"], plain["words"], features["similar words"]]
        features |= _triple_features(candidates, scores, [scaled(values) for values in own])
        if settings.windows and settings.cues:
            features |= exchange_features(chunks, scaled(chunks.cosine), features["triple"])
    return features


def _cues_in_texts(
    chunks: ChunkCandidates,
    analysis: Analysis,
    plain: Mapping[str, Floats],
    read: Ints,
    texts: Sequence[str],
    text_words: TextWords,
) -> dict[str, Floats]:
    """Whether a text has the form of the answer, tells a wish or a change, or corrects another one.

    0 if it is not read; no signal of corrections if there is none.
    """
    found = {**form_features(texts, text_words, set(chunks.speakers), analysis.form)}
    corrects = corrections(texts, text_words)
    if corrects.any():
        found["correction"] = corrects
    if "user" in plain and analysis.aim.request:
        found["wish"] = wishes(text_words)[: len(read)] * plain["user"][read]
    if "user" in plain and analysis.asks_state:
        found["change"] = changes(text_words)[: len(read)] * plain["user"][read]
    features = {name: np.zeros(len(chunks.uids)) for name in found}
    for name, values in found.items():
        features[name][read] = values
    return features


def _window_features(
    chunks: ChunkCandidates, around: Ints, weights: Floats, mean_length: float
) -> dict[str, Floats]:
    """Mean cosine and BM25 of the windows; ``around`` (n, 2 WINDOW + 1) are their rows."""
    present, outside = around >= 0, around == OUTSIDE
    around = np.maximum(around, 0)  # row 0 stands in for a missing one, masked below
    # A neighbour that is not a candidate counts as the worst candidate, since it was not similar
    # enough to become one. Leaving it out would favour the chunks beside it: their windows would
    # lose their worst members.
    worst = float(chunks.cosine.min(initial=1.0))
    cosine = np.where(present, chunks.cosine[around], worst * outside).sum(axis=1)
    cosine /= (present | outside).sum(axis=1)
    matches = np.where(present[:, :, None], chunks.matches[around], 0.0).sum(axis=1)
    length = np.where(present, chunks.length[around], mean_length * outside).sum(axis=1)
    words = bm25(matches, length, weights, mean_length * around.shape[1])
    return {"window vector": cosine, "window words": words}


def neighbours(chunks: ChunkCandidates, radius: int) -> Ints:
    """Rows (n, 2 radius + 1) of each chunk's neighbours in session order, itself in the middle.

    ``NONE`` beyond the ends of the session, ``OUTSIDE`` for a neighbour that is not a candidate and
    for what lies behind it.
    """
    n = len(chunks.uids)
    columns = [np.arange(n)]
    backward = forward = columns[0]
    # NONE (-1) and OUTSIDE (-2) index these two extra entries, so that each leads to itself.
    previous = np.concatenate([chunks.previous, [OUTSIDE, NONE]])
    following = np.concatenate([chunks.following, [OUTSIDE, NONE]])
    for _ in range(radius):
        backward, forward = previous[backward], following[forward]
        columns = [backward, *columns, forward]
    return np.stack(columns, axis=1)


def _session_features(candidates: Candidates, weights: Floats) -> dict[str, Floats]:
    """How well the best chunks of a chunk's session match, and how well its themes do."""
    chunks, sessions = candidates.chunks, candidates.sessions
    total, count = np.zeros(len(sessions.uids)), np.zeros(len(sessions.uids))
    order = np.lexsort((-chunks.cosine, chunks.session))
    session = chunks.session[order]
    starts = np.flatnonzero(np.r_[True, session[1:] != session[:-1]])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    top = order[rank < _BEST_OF_SESSION]
    np.add.at(total, chunks.session[top], chunks.cosine[top])
    np.add.at(count, chunks.session[top], 1.0)
    best = total / np.maximum(count, 1.0)
    features = {"session best": best[chunks.session]}
    if np.isfinite(sessions.theme).any():
        lexical = bm25(sessions.matches, sessions.length, weights, max(sessions.length.mean(), 1.0))
        unread = np.isnan(sessions.theme)
        features["theme"] = _mean_if(unread, sessions.theme)[chunks.session]
        features["theme words"] = _mean_if(unread, lexical)[chunks.session]
    return features


def session_ranks(scores: Floats, session: Ints) -> Floats:
    """Return how many chunks of its session score better (n,): 0 for none, 1 for five or more."""
    order = np.lexsort((-scores, session))
    starts = np.flatnonzero(np.r_[True, np.diff(session[order]) != 0])
    sizes = np.diff(np.r_[starts, len(order)])
    ranks = np.zeros(len(order))
    ranks[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    return np.minimum(ranks / _LAST_RANK, 1.0)


def _mean_if(missing: npt.NDArray[np.bool_], values: Floats) -> Floats:
    """Replace missing values by the mean of the others, so that they do not lower a rank."""
    return np.where(missing, values[~missing].mean(), values)


def _cues(chunks: ChunkCandidates, analysis: Analysis) -> dict[str, Floats]:
    """Who speaks, whether the chunk asks or follows a question, and how long it is; in [0, 1]."""
    asked = set(words(analysis.question))
    names = {speaker: set(words(speaker or "")) for speaker in set(chunks.speakers)}
    is_named = {speaker: bool(name) and name <= asked for speaker, name in names.items()}
    named = [float(is_named[speaker]) for speaker in chunks.speakers]
    before = np.maximum(chunks.previous, 0)  # row 0 stands in for a missing one, masked below
    after_question = np.where(chunks.previous >= 0, chunks.question[before], False)
    return {
        "speaker named": np.array(named),
        "asks": chunks.question.astype(float),
        "answers": after_question.astype(float),
        "length": np.minimum(np.log1p(chunks.length) / _LONG, 1.0),
    }


def triple_scores(candidates: Candidates, weights: Floats) -> tuple[Floats, Floats]:
    """Cosine (m,) and BM25 (m,) of the candidate triples; ``weights`` (t,) are idf."""
    triples = candidates.triples
    mean = float(triples.length.mean()) if len(triples.length) else 1.0
    return triples.cosine, bm25(triples.matches, triples.length, weights, mean)


def _triple_features(
    candidates: Candidates, scores: Sequence[Floats], chunk_scores: Sequence[Floats]
) -> dict[str, Floats]:
    """Scores (n,) of the two best triples that cite each chunk as evidence.

    ``scores`` are of the triples, each (m,), ``chunk_scores`` of the chunks themselves, each (n,).
    A session without themes has not been enriched yet. Its chunks stand in for their triples;
    otherwise everything said in the last minutes would rank below what has been enriched.
    """
    fused = np.mean([scaled(score) for score in scores], axis=0)
    chunks = candidates.chunks
    best, second = np.zeros(len(chunks.uids)), np.zeros(len(chunks.uids))
    evidence = candidates.triples.evidence
    scores_of, rows = fused[evidence.triples], evidence.chunks
    order = np.lexsort((-scores_of, rows))
    scores_of, rows = scores_of[order], rows[order]
    again = rows[1:] == rows[:-1]
    first = np.flatnonzero(np.r_[True, ~again][: len(rows)])
    best[rows[first]] = scores_of[first]
    following = first[np.r_[again, False][first]] + 1
    second[rows[following]] = scores_of[following]
    unread = np.isnan(candidates.sessions.theme)[chunks.session]
    own = np.where(unread, np.mean(chunk_scores, axis=0), 0.0)
    return {"triple": np.maximum(best, own), "second triple": np.maximum(second, own)}


def share_of_best(values: Floats) -> Floats:
    """Divide by the largest value; NaN and negative values become 0.

    Unlike :func:`scaled` it does not stretch small differences when there are few candidates.
    """
    known = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
    best = float(known.max(initial=0.0))
    return known / best if best > 0 else known


def scaled(values: Floats) -> Floats:
    """Scale to [0, 1] by minimum and maximum; NaN becomes 0, and equal values all become 0."""
    if not len(values):
        return np.zeros(0)
    low, high = float(values.min()), float(values.max())
    if isfinite(high - low):  # as nearly always; a NaN would be the least and the greatest
        return np.zeros(len(values)) if high <= low else (values - low) / (high - low)
    known = np.isfinite(values)
    scores = np.zeros(len(values))
    if known.any() and not known.all():
        scores[known] = scaled(values[known])
    return scores
