"""The ``default`` profile, a weighted sum of scaled signals, and all profiles by name.

Everything is computed from the candidates alone, so that all stores rank alike. A window is a chunk
with its neighbours in the session, because a turn often means little without the one before. The
vector signal of a window is the mean cosine of its chunks, which ranks as well as an embedding of
their joined text and needs no storage (bench/TRIED.md); its BM25 adds up their term frequencies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, or_zero
from cognigraph.embed.word_vectors import TextWords, word_vectors
from cognigraph.retrieve.question.analyse import Analysis, form_features
from cognigraph.retrieve.question.temporal import nearness
from cognigraph.retrieve.rank.licomemory import LicoMemoryProfile
from cognigraph.retrieve.rank.ranking import (
    ProfileInputs,
    Ranking,
    RankingProfile,
    choose,
    clamp,
    gaps,
    paper_scores,
    scaled,
    scaled_together,
    share_of_best,
    share_of_long,
    weibull_decay,
)
from cognigraph.retrieve.rank.signals import (
    candidate_words,
    changes,
    corrections,
    exchange_features,
    exchange_in_any_language,
    late_features,
    lifts,
    role_features,
    weighted_mean,
    what_is_corrected,
    wishes,
)
from cognigraph.settings import RankingName, SearchSettings, WeightSetName
from cognigraph.stores.candidates import NONE, OUTSIDE, Candidates, ChunkCandidates, texts_at
from cognigraph.text.terms import name_words, parts, terms, words
from cognigraph.text.word_book import B_OF_PARTS, B, bm25, idf

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
        common = basis(candidates, analysis, settings)
        plain = plain_features(candidates, analysis, settings, common, contextual=contextual)
        long = share_of_long(candidates.lexicon.mean_length, candidates.chunks.roles)
        chosen = choose(settings.weights, weight_set, has_triples="triple" in plain)
        weights = chosen.relative(
            enumerates=analysis.enumerates,
            long=long,
            vector_worth=vector_worth,
            in_english=analysis.is_english is not False,
            is_message=analysis.is_message,
            contextual=contextual,
        )
        if not settings.windows:
            # Next to the words of its window, a chunk's own words add little in English. Without
            # windows they take the place of the window words.
            weights["words"] = weights["window words"]
        rows = _worth_reading(candidates, plain, weights)
        raw = text_features(candidates, analysis, settings, common, plain, rows)
        weighted = _weighed(raw, weights)
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


def _weighed(raw: Mapping[str, Floats], weights: Mapping[str, float]) -> dict[str, Floats]:
    """The signals that have a weight, scaled, times their weights; what is unknown counts as 0."""
    weighed = [name for name in raw if weights.get(name)]
    relative = [name for name in weighed if name not in ABSOLUTE]
    rows = scaled_together(np.stack([raw[name] for name in relative])) if relative else ()
    scales = dict(zip(relative, rows, strict=True))
    return {
        name: weights[name] * (scales[name] if name in scales else or_zero(raw[name]))
        for name in weighed
    }


def _worth_reading(
    candidates: Candidates,
    plain: Mapping[str, Floats],
    weights: Mapping[str, float],
) -> Ints | None:
    """The candidates whose texts are read: the best by all other signals. ``None`` for all."""
    chunks = candidates.chunks
    if not chunks.texts or len(chunks.uids) <= _ALL_READ:
        return None
    weighted = _weighed(plain, weights)
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


# The signals of the profile: one array per signal, one value per candidate chunk.

WINDOW = 2
"""Neighbours on each side of a chunk that make its window. One and three measured worse."""

_CUES = frozenset({"speaker named", "asks", "answers", "opens", "length", "names", "answer form"})
_ROLES = frozenset({"user", "user vector", "assistant asked", "wish", "change", "correction"})
_EXCHANGE = frozenset({"counterpart vector", "counterpart triple", "counterpart words"})
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


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What several signals are computed from.

    ``weights`` (t,) are the idf of the terms, ``similarity`` (n,) the scaled cosines of the chunks,
    ``around`` (n, 2 WINDOW + 1) the rows of their windows, if there are windows, and ``triples``
    the cosine (m,) and the BM25 (m,) of the triples.
    """

    weights: Floats
    similarity: Floats
    around: Ints | None
    triples: tuple[Floats, Floats]


def basis(candidates: Candidates, analysis: Analysis, settings: SearchSettings) -> Basis:
    """Compute once what several signals need."""
    chunks, weights = candidates.chunks, idf(candidates.lexicon, analysis.sought)
    return Basis(
        weights=weights,
        similarity=scaled(chunks.cosine),
        around=neighbours(chunks, WINDOW) if settings.windows else None,
        triples=triple_scores(candidates, weights),
    )


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
    common = basis(candidates, analysis, settings)
    features = plain_features(candidates, analysis, settings, common, contextual=contextual)
    return text_features(candidates, analysis, settings, common, features)


def plain_features(
    candidates: Candidates,
    analysis: Analysis,
    settings: SearchSettings,
    common: Basis,
    *,
    contextual: bool,
) -> dict[str, Floats]:
    """The signals that need no texts."""
    chunks, lexicon = candidates.chunks, candidates.lexicon
    weights, similarity = common.weights, common.similarity
    in_english = analysis.is_english is not False
    b = B_OF_PARTS if analysis.parts else B
    # Who is named has a signal of its own. Among the words, a name would find what its owner says
    # in a word or two, because little else is in it.
    matches = without_names(chunks, analysis.sought) if settings.cues else chunks.matches
    own_words = bm25(matches, chunks.length, weights, lexicon.mean_length, b)
    features = {
        "vector": chunks.cosine,
        "words": own_words,
        "fusion": reciprocal_ranks([chunks.cosine, own_words]),
    }
    if contextual:
        features["contextual vector"] = similarity
    if common.around is not None:
        features |= _window_features(chunks, common.around, weights, lexicon.mean_length, b)
    if settings.sessions:
        features |= _session_features(candidates, weights)
    if settings.cues:
        features |= _cues(chunks, analysis)
        if in_english:
            features |= role_features(chunks.roles, similarity, analysis.aim)
        else:
            features |= exchange_in_any_language(chunks, scaled(own_words), analysis.aim)
    if settings.time_cue and analysis.times:
        features["time"] = nearness(analysis.times, chunks.at)
    if settings.triples and candidates.triples.uids:
        own = [chunks.cosine, own_words]
        features |= _triple_features(candidates, common.triples, own)
    if settings.windows and settings.cues and in_english:
        features |= exchange_features(chunks, similarity, features.get("triple"))
    return features


def text_features(
    candidates: Candidates,
    analysis: Analysis,
    settings: SearchSettings,
    common: Basis,
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
    read = _with_neighbours(common, len(chunks.uids), rows, settings)
    texts = texts_at(chunks.texts, read)
    text_words = candidate_words(candidates, read, texts)
    features = dict(plain)
    if settings.late_interaction:
        features |= _late_features(candidates, analysis, settings, common, plain, read, text_words)
    if settings.cues:
        features |= _cues_in_texts(chunks, analysis, plain, read, texts, text_words)
    if rows is not None:
        unread = np.ones(len(chunks.uids), bool)
        unread[read] = False
        for name in OF_TEXTS.intersection(features):
            features[name] = np.where(unread, np.nan, features[name])
    return features


def _with_neighbours(
    common: Basis, count: int, rows: Ints | None, settings: SearchSettings
) -> Ints:
    """Which of ``count`` chunks are read."""
    if rows is None:
        return np.arange(count)
    if common.around is None or not settings.late_interaction:
        return rows
    read = np.zeros(count + 2, bool)  # NONE and OUTSIDE are the two extra ones
    read[common.around[rows]] = True
    return np.flatnonzero(read[:count])


def _late_features(
    candidates: Candidates,
    analysis: Analysis,
    settings: SearchSettings,
    common: Basis,
    plain: Mapping[str, Floats],
    read: Ints,
    text_words: TextWords,
) -> dict[str, Floats]:
    """Late interaction of the texts that were read, and of the triples.

    In other languages than English it ranks neither, but tells how sure the search is.
    """
    chunks, weights = candidates.chunks, common.weights[: len(analysis.words)]
    matches = word_vectors().best_matches(analysis.words, text_words)
    similar = np.zeros((len(chunks.uids), matches.shape[1]))
    similar[read] = matches[: len(read)]
    features = late_features(similar, weights, common.around)
    if settings.triples and candidates.triples.uids and analysis.is_english is not False:
        scores = [*common.triples, weighted_mean(matches[len(read) :], weights)]
        own = [plain["vector"], plain["words"], features["similar words"]]
        features |= _triple_features(candidates, scores, own)
        if settings.windows and settings.cues:
            features |= exchange_features(chunks, common.similarity, features["triple"])
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
    found = dict[str, Floats]()
    if analysis.is_english is not False:
        found |= form_features(texts, text_words, set(chunks.speakers), analysis.form)
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
    chunks: ChunkCandidates, around: Ints, weights: Floats, mean_length: float, b: float
) -> dict[str, Floats]:
    """Mean cosine and BM25 of the windows; ``around`` (n, 2 WINDOW + 1) are their rows."""
    present, outside = around >= 0, around == OUTSIDE
    around = np.where(present, around, len(chunks.uids))  # an extra row for what is missing
    # A neighbour that is not a candidate counts as the worst candidate, since it was not similar
    # enough to become one. Leaving it out would favour the chunks beside it: their windows would
    # lose their worst members.
    worst = float(chunks.cosine.min(initial=1.0))
    cosine = (np.append(chunks.cosine, 0.0)[around] + worst * outside).sum(axis=1)
    cosine /= (present | outside).sum(axis=1)
    length = (np.append(chunks.length, 0.0)[around] + mean_length * outside).sum(axis=1)
    matches = np.concatenate([chunks.matches, np.zeros((1, chunks.matches.shape[1]))])
    found = matches[around[:, 0]]
    for column in range(1, around.shape[1]):
        found += matches[around[:, column]]
    words = bm25(found, length, weights, mean_length * around.shape[1], b)
    return {"window vector": cosine, "window words": words}


def without_names(chunks: ChunkCandidates, sought: Sequence[str]) -> Floats:
    """The term frequencies (n, t) of the texts without the speakers' names before them."""
    column = {term: place for place, term in enumerate(sought)}
    named = {
        speaker: {column[term]: count for term, count in _name_counts(speaker).items()
                  if term in column}
        for speaker in {speaker for speaker in chunks.speakers if speaker}
    }  # fmt: skip
    if not any(named.values()):
        return chunks.matches
    matches, speakers = chunks.matches.copy(), np.array(chunks.speakers, object)
    for speaker, counts in named.items():
        for place, count in counts.items():
            matches[speakers == speaker, place] -= count
    np.maximum(matches, 0.0, out=matches)
    return matches


@lru_cache(maxsize=4096)
def _name_counts(name: str) -> Counter[str]:
    """What may be indexed of a name that recurs: its terms, and its parts in another language."""
    return Counter([*terms(name), *parts(name)])


_SMOOTHING = 10
_EQUAL = 6
"""Decimals of scores whose ranks are told apart: the last bits differ from store to store."""


def reciprocal_ranks(scores: Sequence[Floats]) -> Floats:
    """The sum (n,) of the reciprocal ranks by several scores (n,); equals share the best rank.

    Unlike the sum of scaled scores, it says the same of the best few however far they are ahead.
    """
    total = np.zeros(len(scores[0]))
    for values in scores:
        falling = -np.round(values, _EQUAL)
        total += 1 / (_SMOOTHING + np.searchsorted(np.sort(falling), falling))
    return total


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
    top = order[_positions_in_groups(chunks.session[order]) < _BEST_OF_SESSION]
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
    ranks = np.zeros(len(order))
    ranks[order] = _positions_in_groups(session[order])
    return np.minimum(ranks / _LAST_RANK, 1.0)


def _positions_in_groups(sorted_groups: Ints) -> Ints:
    """The position (n,) of each element among those of its group; ``sorted_groups`` (n,) ascend."""
    is_first = np.ones(len(sorted_groups), bool)
    np.not_equal(sorted_groups[1:], sorted_groups[:-1], out=is_first[1:])
    at = np.arange(len(sorted_groups))
    return at - np.maximum.accumulate(np.where(is_first, at, 0))


def _mean_if(missing: npt.NDArray[np.bool_], values: Floats) -> Floats:
    """Replace missing values by the mean of the others, so that they do not lower a rank."""
    return np.where(missing, values[~missing].mean(), values)


def _cues(chunks: ChunkCandidates, analysis: Analysis) -> dict[str, Floats]:
    """Who speaks, whether the chunk asks or follows a question, and how long it is; in [0, 1].

    Where the question is a message, also whether a person opens a session with the chunk.
    """
    asked = set(words(analysis.question))
    names = {speaker: name_words(speaker or "") for speaker in set(chunks.speakers)}
    is_named = {speaker: bool(name) and name <= asked for speaker, name in names.items()}
    named = np.fromiter(map(is_named.__getitem__, chunks.speakers), float, len(chunks.speakers))
    before = np.maximum(chunks.previous, 0)  # row 0 stands in for a missing one, masked below
    after_question = np.where(chunks.previous >= 0, chunks.question[before], False)
    cues = {
        "speaker named": named,
        "asks": chunks.question.astype(float),
        "answers": after_question.astype(float),
        "length": np.minimum(np.log1p(chunks.length) / _LONG, 1.0),
    }
    if analysis.is_message:
        person = np.array([role in (None, "user") for role in chunks.roles], bool)
        cues["opens"] = (person & (chunks.previous == NONE)).astype(float)
    return cues


def triple_scores(candidates: Candidates, weights: Floats) -> tuple[Floats, Floats]:
    """Cosine (m,) and BM25 (m,) of the candidate triples; ``weights`` (t,) are idf."""
    triples = candidates.triples
    if not triples.uids:
        return np.zeros(0), np.zeros(0)
    mean = float(triples.length.mean())
    return triples.cosine, bm25(triples.matches, triples.length, weights, mean)


def _triple_features(
    candidates: Candidates, scores: Sequence[Floats], chunk_scores: Sequence[Floats]
) -> dict[str, Floats]:
    """Scores (n,) of the two best triples that cite each chunk as evidence.

    ``scores`` are of the triples, each (m,), ``chunk_scores`` of the chunks themselves, each (n,);
    both are scaled.
    A session without themes has not been enriched yet. Its chunks stand in for their triples;
    otherwise everything said in the last minutes would rank below what has been enriched.
    """
    fused = scaled_together(np.stack(scores)).mean(axis=0)
    chunks = candidates.chunks
    best, second = np.zeros(len(chunks.uids)), np.zeros(len(chunks.uids))
    evidence = candidates.triples.evidence
    scores_of, rows = fused[evidence.triples], evidence.chunks
    order = np.lexsort((-scores_of, rows))
    scores_of, rows = scores_of[order], rows[order]
    position = _positions_in_groups(rows)
    first, following = np.flatnonzero(position == 0), np.flatnonzero(position == 1)
    best[rows[first]] = scores_of[first]
    second[rows[following]] = scores_of[following]
    unread = np.isnan(candidates.sessions.theme)[chunks.session]
    if unread.any():
        own = np.where(unread, scaled_together(np.stack(chunk_scores)).mean(axis=0), 0.0)
        best, second = np.maximum(best, own), np.maximum(second, own)
    return {"triple": best, "second triple": second}


# All ranking profiles, by the name that settings use.

PROFILES: dict[RankingName, RankingProfile] = {
    profile.name: profile
    for profile in tuple[RankingProfile, ...]((DefaultProfile(), LicoMemoryProfile()))
}
