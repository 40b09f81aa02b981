"""BM25 scores, computed from the statistics of one space, whichever index found the candidates.

Robertson & Zaragoza, "The Probabilistic Relevance Framework" (2009), with the idf kept positive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats

K1 = 1.2
B = 0.4
"""Length normalisation. It is mild, because turns are short and length says little about topic."""

B_OF_PARTS = 0.75
"""The same where parts of words count: any long text has some of any word's."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Statistics of one space: number of chunks, mean length in terms, document frequencies."""

    chunks: int
    mean_length: float
    frequencies: Mapping[str, int]


def idf(lexicon: Lexicon, terms: tuple[str, ...]) -> Floats:
    """Inverse document frequency of each term: ln(1 + (N - df + 1/2) / (df + 1/2)) > 0."""
    df = np.array([lexicon.frequencies.get(term, 0) for term in terms], float)
    return np.log1p((max(lexicon.chunks, 1) - df + 0.5).clip(min=0.5) / (df + 0.5))


def bm25(
    matches: Floats,
    length: npt.NDArray[np.floating] | Floats,
    weights: Floats,
    mean_length: float,
    b: float = B,
) -> Floats:
    """BM25 of n texts.

    ``matches`` (n, t) are term frequencies, ``length`` (n,) the lengths of the texts in terms,
    ``weights`` (t,) the idf of the terms, and ``mean_length`` the mean length of such texts in
    terms. Returns scores (n,).
    """
    if not matches.shape[1]:
        return np.zeros(len(matches))
    norm = K1 * (1 - b + b * length / max(mean_length, 1e-9))
    saturated = matches * (K1 + 1) / (matches + norm[:, None])
    return np.asarray(saturated @ weights)
