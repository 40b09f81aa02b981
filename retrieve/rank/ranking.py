"""What a ranking holds and a profile must do, scaling, the paper's scores, and learned weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, or_zero
from cognigraph.errors import ConfigurationError
from cognigraph.model import Role
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.settings import Mean, RankingName, SearchSettings, Weights, WeightSetName
from cognigraph.stores.candidates import Candidates, Evidence


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ranking:
    """Scores of n candidate chunks, m candidate triples and s candidate sessions.

    All arrays except the last two have shape (n,), one value for each chunk:

    - ``score`` = ``semantic`` x ``decay``.
    - ``gap``: seconds between the question and the chunk; NaN where the time is unknown.
    - ``raw``: the signals by name, as computed; ``weighted``: the same after scaling, times their
      weights. They add up to ``semantic`` in a profile that fuses signals, otherwise it is empty.
    - ``session_score``, ``triple_score``, ``harmonic``: the paper's Ss, St and S_sem of the chunk's
      best triple, or of the chunk itself if it has none; NaN where unknown.

    ``triples`` (m,) and ``sessions`` (s,) rank the triples and sessions themselves.
    ``vector_worth`` is the share of their weight that the vectors had.
    """

    score: Floats
    semantic: Floats
    decay: Floats
    gap: Floats
    raw: Mapping[str, Floats]
    weighted: Mapping[str, Floats]
    session_score: Floats
    triple_score: Floats
    harmonic: Floats
    triples: Floats
    sessions: Floats
    vector_worth: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileInputs:
    """Optional inputs that a profile needs from the store and the embedder.

    ``texts``: the texts of the candidates; ``entity_vectors``: a vector for each entity named in
    the question, so that the store can compare them with the keys of sessions.
    """

    texts: bool = False
    entity_vectors: bool = False


class RankingProfile(Protocol):
    """One way to rank candidates. Stateless and thread-safe.

    To add a profile, write a class with these members and list it in
    :mod:`cognigraph.retrieve.rank.profiles`.
    """

    @property
    def name(self) -> RankingName:
        """The name by which settings select this profile."""
        ...

    def inputs(self, settings: SearchSettings) -> ProfileInputs:
        """Return the optional inputs needed with these settings."""
        ...

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
        """Score the candidates.

        ``now`` is the time of the question in seconds since 1970. ``weight_set`` is the set that
        the extractor of the triples declares; the settings may override it. ``contextual`` says
        that the embedder reads words in their context (:class:`Embedder`), ``vector_worth`` from 0
        to 1 how far its vectors tell messages of this space apart.
        """
        ...

    def notes(self, ranking: Ranking, row: int) -> tuple[str, ...]:
        """Explain what is special about the rank of the chunk in ``row``, in full sentences."""
        ...


def best_first(scores: Floats, at: Floats) -> list[int]:
    """Return row numbers by descending score, ties by newest and then in the order of the rows.

    Candidates are sorted by uid. Scores are rounded to 12 decimals first, so that the order is the
    same on every store and in every run.
    """
    order: list[int] = np.lexsort((-or_zero(at), -np.round(scores, 12))).tolist()
    return order


# Scaling of signals, so that they can be added up.


def share_of_best(values: Floats) -> Floats:
    """Divide by the largest value; NaN and negative values become 0.

    Unlike :func:`scaled` it does not stretch small differences when there are few candidates.
    """
    known = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
    best = float(known.max(initial=0.0))
    return known / best if best > 0 else known


def scaled(values: Floats) -> Floats:
    """Scale to [0, 1] by minimum and maximum; NaN becomes 0, and equal values all become 0."""
    return np.asarray(scaled_together(values[None])[0])


def scaled_together(signals: Floats) -> Floats:
    """Scale each row (n,) of a matrix as :func:`scaled` does; a few steps for all rows."""
    if not signals.size:
        return np.zeros(signals.shape)
    known = np.where(np.isfinite(signals), signals, np.nan)
    low = np.fmin.reduce(known, axis=1, keepdims=True)
    spread = np.fmax.reduce(known, axis=1, keepdims=True) - low
    return or_zero((known - low) / np.where(spread > 0, spread, 1.0))


# LiCoMemory (section 3.2): its formulas, and the scores that every profile reports.
#
# | case                     | decision                                                          |
# |--------------------------|-------------------------------------------------------------------|
# | cosine <= 0              | clamped to [0, 1] first: unclamped, HM(.5, -.6) = +6 would win     |
# | no session score         | Ss := St, as missing is not zero; a computed 0 is raised to 0.01   |
# | all gaps zero            | w = 1, no division                                                |
# | unknown time             | gap := median, so w = 1/e                                          |
# | chunk without a triple   | scored as a triple; once its session is enriched, behind the others |
# | time after the question  | gap 0 (clock skew); nothing later than ``as_of`` gets here          |

SESSION_FLOOR = 0.01
"""Lowest Ss of a scored session, so that a perfect triple in an unrelated session still counts."""


def clamp(cosine: npt.NDArray[np.floating]) -> Floats:
    """Clip cosines to [0, 1]; NaN (nothing to compare) stays NaN."""
    return np.asarray(np.clip(np.asarray(cosine, float), 0.0, 1.0))


_SUMMARY_WEIGHT, _TRIPLE_WEIGHT = 0.2, 0.8
"""Of S_s and S_t in a weighted mean: summary_weight of the authors' repository."""


def semantic_relevance(session: Floats, triple: Floats, mean: Mean = "harmonic") -> Floats:
    """Return S_sem (n,) in [0, 1]: 2 Ss St / (Ss + St), the paper's first equation.

    ``session`` and ``triple`` (n,) are cosines, clamped here. NaN in ``session`` means that there
    is nothing to score yet; then S_sem = St. The ``weighted`` mean is that of the authors'
    repository; with the ``arithmetic`` one, for comparison, one high score is enough.
    """
    st = clamp(triple)
    ss = np.maximum(clamp(session), SESSION_FLOOR)
    ss = np.where(np.isnan(ss), st, ss)
    total = ss + st
    if mean == "arithmetic":
        return total / 2
    if mean == "weighted":
        return _SUMMARY_WEIGHT * ss + _TRIPLE_WEIGHT * st
    return np.divide(2 * ss * st, total, out=np.zeros_like(total), where=total > 0)


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


def relevance(
    session: Floats, triple: Floats, gap: Floats, settings: SearchSettings
) -> tuple[Floats, Floats, Floats]:
    """Return R = S_sem x w for n candidate triples, with its factors: (R, S_sem, w)."""
    semantic = semantic_relevance(session, triple, settings.licomemory.mean)
    weight = paper_decay(gap, settings, gap)
    return semantic * weight, semantic, weight


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


def is_top_down(settings: SearchSettings) -> bool:
    """Whether only summaries and triples lead to messages, as in the paper."""
    return settings.ranking == "licomemory" and settings.licomemory.candidates == "paper"


# Weight sets of the default profile. ``PLAIN`` and ``MODEL`` are as bench/fit_weights.py learned
# them on open data, but for the fusion of ranks, the named speaker and the words of a window, which
# were chosen afterwards. What was set by hand, on other talks, stands beside them: how the
# languages other than English change them (``IN_ANY_LANGUAGE``), messages as questions (``_OPENS``,
# ``_VECTOR_OF_MESSAGE``), an assistant (``_WITH_ASSISTANT``), and that the contextual vector, which
# was learned where messages are long, weighs the same where they are short (bench/TRIED.md).
#
# One set serves all embedders. Which set applies depends on who extracted the triples, because that
# decides how much they can be trusted: an extractor declares its set (:class:`DeclaresWeightSet`).


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSet:
    """Learned weights by signal; only their ratios matter.

    ``list_changes`` are added to the weights when the question asks for a list
    (``Analysis.enumerates``) and messages are short. ``long_changes`` are added where messages are
    long, in proportion to how long they are (:func:`share_of_long`): a window or a whole text of
    many words has something in common with any question. Of these, the contextual vector counts in
    full at any length.
    """

    name: WeightSetName
    weights: Mapping[str, float]
    list_changes: Mapping[str, float]
    long_changes: Mapping[str, float]

    def relative(
        self,
        *,
        enumerates: bool = False,
        long: float = 0.0,
        vector_worth: float = 1.0,
        in_english: bool = True,
        is_message: bool = False,
        contextual: bool = False,
    ) -> dict[str, float]:
        """Return the weights, scaled so that a hit with every positive signal at 1 scores 1.

        ``long`` is 0 for a space of short messages and 1 for one of long messages;
        A question that is not ``in_english`` is ranked without the signals that read English,
        and its vectors count as far as they tell the messages of the space apart:
        ``vector_worth``, from 0 to 1. ``is_message`` says that the question is a message,
        ``contextual`` that the embedder reads words in their context.
        """
        if in_english:
            weights = dict(self.weights)
            shares = [(self.list_changes, (1 - long) * enumerates), (self.long_changes, long)]
            for changes, share in shares:
                for name, change in changes.items():
                    weights[name] = weights.get(name, 0.0) + share * change
            at_any_length = self.long_changes["contextual vector"]
            weights["contextual vector"] = at_any_length if contextual else 0.0
        else:
            weights = {
                name: weight for name, weight in self.weights.items() if name not in OF_ENGLISH
            }
            weights |= IN_ANY_LANGUAGE
            for name in OF_VECTORS.intersection(weights):
                weights[name] *= vector_worth
        if is_message:
            weights["opens"] = _OPENS
            weights["vector"] *= _VECTOR_OF_MESSAGE
        unit = sum(weight for weight in weights.values() if weight > 0)
        return {name: weight / unit for name, weight in weights.items()}


OF_VECTORS = frozenset(
    {"vector", "window vector", "session best", "theme", "fusion"}
    | {"user vector", "contextual vector", "counterpart vector"}
)
"""Signals that are cosines with the question."""

OF_ENGLISH = frozenset({"similar words", "window similar words", "names", "answer form"})
"""Signals that compare words by English vectors, or read English cues."""

IN_ANY_LANGUAGE = {
    "words": 2.0, "window words": 1.0, "asks": 0.0, "answers": 0.0, "length": 0.25,
    "speaker named": 2.0,
    "user": 0.6, "counterpart words": 0.6, "assistant asked": 0.6,
}  # fmt: skip
"""What signals weigh where words are compared by their letters alone.

Chosen on one history in German, one in Chinese, and a year of messages in Chinese. What the user
counts is half of what these asked for: four unseen histories did best without. Words weigh half as
much beside who speaks as they did first, which is better on each of three sets of four languages
(bench/TRIED.md).
"""

_OPENS, _VECTOR_OF_MESSAGE = 2.5, 0.5
"""Where the question is a message: what it weighs that a message opens its session, and the share
of its weight that the vector keeps. Who opens a session says what it is about, and the vector of a
long message is of everything in it. Chosen on two users of RealMem and looked at on
VehicleMemBench; two other users were put aside (bench/TRIED.md).
"""

_SHORT, _LONG = 35.0, 75.0
"""Mean terms of a chunk: friends' talk has 25 to 30, a user with an assistant about 80."""
_WITH_ASSISTANT = 0.25


def share_of_long(mean_length: float, roles: Sequence[Role | None] = ()) -> float:
    """Return how far a space of this mean chunk length counts as one of long messages: 0 to 1.

    Where an assistant is among the ``roles``, it does so at least by a quarter: who talks to one is
    brief at times, as developers are, but says things once, as to no friend.
    """
    least = _WITH_ASSISTANT if "assistant" in roles else 0.0
    return min(max((mean_length - _SHORT) / (_LONG - _SHORT), least), 1.0)


@runtime_checkable
class DeclaresWeightSet(Protocol):
    """An extractor that says which weight set suits its triples; without it, ``"model"`` does."""

    @property
    def weight_set(self) -> WeightSetName:
        """The name of the set: ``"plain"`` or ``"model"``."""
        ...


PLAIN = WeightSet(
    name="plain",
    weights={
        "vector": 1.2,
        "window vector": 1.8,
        "window words": 2.0,
        "similar words": 2.4,
        "window similar words": 2.8,
        "session best": 1.4,
        "fusion": 1.0,
        "speaker named": 1.2,
        "asks": -1.0,
        "answers": 0.7,
        "length": 0.8,
        "names": 1.2,
        "answer form": 1.6,
        "time": 4.4,
    },
    list_changes={
        "vector": 0.5,
        "window vector": 0.3,
        "window words": -1.2,
        "similar words": -0.2,
        "window similar words": -0.7,
        "session best": -0.6,
        "speaker named": 0.7,
        "asks": 0.2,
        "answers": 0.2,
        "length": -0.1,
        "names": 0.1,
        "answer form": -0.3,
        "time": 0.2,
    },
    long_changes={
        "vector": 1.9,
        "window vector": -0.3,
        "window words": -1.3,
        "similar words": -0.6,
        "window similar words": -2.0,
        "asks": 1.0,
        "answers": -0.7,
        "length": 1.7,
        "names": -1.3,
        "answer form": 0.1,
        "user": 2.8,
        "user vector": 0.5,
        "assistant asked": 4.7,
        "wish": 2.7,
        "contextual vector": 2.2,
        "session rank": -1.3,
    },
)
"""For a space without triples, or with the few that the rules extract."""

MODEL = WeightSet(
    name="model",
    weights={
        "vector": 0.3,
        "window vector": 1.7,
        "window words": 1.5,
        "similar words": 0.7,
        "window similar words": 2.4,
        "session best": 0.7,
        "theme": 0.9,
        "theme words": 1.1,
        "speaker named": 0.4,
        "asks": -0.5,
        "answers": 0.4,
        "length": 0.1,
        "names": 1.3,
        "answer form": 1.4,
        "triple": 3.0,
        "second triple": 0.5,
        "time": 3.8,
    },
    list_changes={
        "vector": 0.3,
        "window vector": 0.4,
        "window words": -1.0,
        "window similar words": -0.4,
        "session best": -0.5,
        "theme words": -0.8,
        "speaker named": 0.7,
        "asks": 0.1,
        "answers": 0.1,
        "names": 0.3,
        "triple": -0.2,
        "time": 0.2,
    },
    long_changes={
        "vector": 1.8,
        "window vector": -1.3,
        "window words": -1.5,
        "similar words": -0.5,
        "window similar words": -1.9,
        "session best": -0.1,
        "theme": 0.1,
        "theme words": -1.0,
        "asks": 0.5,
        "answers": -0.4,
        "length": 1.5,
        "names": -1.2,
        "answer form": 0.2,
        "user": 2.5,
        "user vector": -0.2,
        "assistant asked": 4.1,
        "wish": 2.3,
        "contextual vector": 1.7,
        "triple": 0.2,
        "second triple": -0.3,
        "counterpart vector": 1.1,
        "counterpart triple": 1.1,
        "session rank": -0.9,
    },
)
"""For triples that a language model extracted: they carry most of the ranking."""

WEIGHT_SETS: dict[WeightSetName, WeightSet] = {each.name: each for each in (PLAIN, MODEL)}


def declared_weight_set(extractor: object) -> WeightSetName:
    """Return the weight set that an extractor declares, ``"model"`` if it declares none.

    Raises :class:`ConfigurationError` for a set that does not exist.
    """
    if not isinstance(extractor, DeclaresWeightSet):
        return "model"
    declared = extractor.weight_set
    if declared not in WEIGHT_SETS:
        known = ", ".join(repr(name) for name in get_args(WeightSetName))
        raise ConfigurationError(
            f"{type(extractor).__name__}.weight_set is {declared!r}; it must be one of {known}"
        )
    return declared


def choose(wanted: Weights, declared: WeightSetName, *, has_triples: bool) -> WeightSet:
    """Return the set that the settings name; for ``"auto"``, the one that suits the triples."""
    if wanted != "auto":
        return WEIGHT_SETS[wanted]
    return WEIGHT_SETS[declared] if has_triples else PLAIN
