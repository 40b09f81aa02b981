"""What a ranking holds, and what a ranking profile must be able to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cognigraph.arrays import Floats, or_zero
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.settings import RankingName, SearchSettings, WeightSetName
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
