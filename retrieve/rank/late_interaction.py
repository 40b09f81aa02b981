"""Late interaction: match each word of the question with the most similar word of each text.

As in ColBERT (Khattab & Zaharia 2020), but with static word vectors, and with the words of the
question weighted by their idf.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.embed.word_vectors import TextWords, word_vectors
from cognigraph.stores.candidates import Candidates


def candidate_words(candidates: Candidates, rows: Ints, texts: Sequence[str]) -> TextWords:
    """Read the words of some chunks (each with its speaker's name), then those of the triples.

    ``texts`` are those of the chunks in ``rows``.
    """
    speakers = candidates.chunks.speakers
    spoken = zip(rows.tolist(), texts, strict=True)
    named = [f"{speakers[row] or ''} {text}" for row, text in spoken]
    return word_vectors().read([*named, *candidates.triples.texts])


def weighted_mean(similar: Floats, weights: Floats) -> Floats:
    """Mean (n,) over the t words of the question of their best matches ``similar`` (n, t).

    ``weights`` (t,) are the idf of the words.
    """
    return np.asarray(similar @ weights / max(float(weights.sum()), 1e-9))


def late_features(similar: Floats, weights: Floats, around: Ints | None) -> dict[str, Floats]:
    """Late interaction of each chunk (n,), and of its window if ``around`` is given.

    ``similar`` (n, t) is the best match of each word of the question in each chunk; ``around``
    (n, w) are the row numbers of the chunks of each window, negative where there is none.
    """
    features = {"similar words": weighted_mean(similar, weights)}
    if around is not None:
        near = similar[np.maximum(around, 0)]  # row 0 stands in for a missing one, masked below
        best = np.where((around >= 0)[:, :, None], near, 0.0).max(axis=1)
        features["window similar words"] = weighted_mean(best, weights)
    return features
