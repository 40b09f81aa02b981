"""What a ranking holds and a profile must do, how signals are scaled, and their learned weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol, get_args, runtime_checkable

import numpy as np

from cognigraph.arrays import Floats, or_zero
from cognigraph.errors import ConfigurationError
from cognigraph.model import Role
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.settings import RankingName, SearchSettings, Weights, WeightSetName
from cognigraph.stores.candidates import Candidates


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


def scaled_together(signals: Floats) -> Floats:
    """Scale each row (n,) of a matrix as :func:`scaled` does; a few steps for all rows."""
    if not signals.size:
        return np.zeros(signals.shape)
    low, high = np.fmin.reduce(signals, axis=1), np.fmax.reduce(signals, axis=1)
    if not np.isfinite([low, high]).all():  # a row of NaN alone, or an infinite value
        return np.stack([scaled(values) for values in signals])
    spread = high - low
    found = signals - low[:, None]
    found /= np.where(spread > 0, spread, 1.0)[:, None]
    found[np.isnan(found)] = 0.0
    return np.asarray(found)


class Scaler:
    """Scales the signals of one search; what was scaled before is not scaled again."""

    def __init__(self, absolute: frozenset[str]) -> None:
        """Signals with the names ``absolute`` stay as they are, with 0 for what is unknown."""
        self._absolute = absolute
        self._done: dict[str, tuple[Floats, Floats]] = {}

    def scale(self, signals: Mapping[str, Floats]) -> dict[str, Floats]:
        """All signals, scaled, in their order."""
        new = [name for name, values in signals.items() if not self._is_done(name, values)]
        relative = [name for name in new if name not in self._absolute]
        if relative:
            found = scaled_together(np.stack([signals[name] for name in relative]))
            for name, values in zip(relative, found, strict=True):
                self._done[name] = signals[name], values
        for name in self._absolute.intersection(new):
            values = signals[name]
            self._done[name] = values, np.where(np.isnan(values), 0.0, values)
        return {name: self._done[name][1] for name in signals}

    def _is_done(self, name: str, values: Floats) -> bool:
        return name in self._done and self._done[name][0] is values


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
