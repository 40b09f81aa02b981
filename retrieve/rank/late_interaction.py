"""Late interaction: match each word of the question with the most similar word of each text.

As in ColBERT (Khattab & Zaharia 2020), but with static word vectors, and with the words of the
question weighted by their idf.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.embed.word_vectors import TextWords, Vocabulary, joined, word_vectors
from cognigraph.stores.candidates import Candidates, StoredTexts, texts_at
from cognigraph.text.word_book import WordBook


def candidate_words(candidates: Candidates, rows: Ints, texts: Sequence[str]) -> TextWords:
    """Read the words of some chunks (each with its speaker's name), then those of the triples.

    ``texts`` are those of the chunks in ``rows``. Only those are read whose words are not stored.
    """
    speakers = candidates.chunks.speakers
    said = _Said([speakers[row] or "" for row in rows.tolist()], texts)
    stated = candidates.triples.texts
    return _put_together([said, _Said([""] * len(stated), stated)], word_vectors().current())


class _Said(NamedTuple):
    """Texts, and what stands before each of them."""

    before: Sequence[str]
    texts: Sequence[str]


def _put_together(said: Sequence[_Said], vocabulary: Vocabulary) -> TextWords:
    """The words of texts, from those that are stored and from the texts of the others.

    Each text is made of two pieces: what stands before it or, if its words are not stored, the
    whole; and its words, or none. The first piece of all is empty.
    """
    whole: list[str] = []
    stored, pieces, count = [(np.empty(0, np.int32), np.zeros(1, np.int64))], [], 1
    for before, texts in said:
        words = texts.words if isinstance(texts, StoredTexts) else None
        known = np.zeros(len(texts), bool) if words is None else words.known
        own = np.zeros((len(texts), 2), np.int64)
        if words is not None and known.any():
            assert isinstance(words.book, WordBook)
            stored.append((vocabulary.rows_of(words.book, words.values), words.sizes))
            own[known, 1] = count + np.flatnonzero(known)
            count += len(texts)
        # Numbers from -1 downwards are those of the pieces that are read, which come after these.
        spoken = {one: ~(len(whole) + number) for number, one in enumerate(dict.fromkeys(before))}
        whole += spoken
        own[:, 0] = np.fromiter(map(spoken.__getitem__, before), np.int64, len(before))
        unknown = np.flatnonzero(~known)
        own[unknown, 0] = ~(len(whole) + np.arange(len(unknown)))
        for row, text in zip(unknown.tolist(), texts_at(texts, unknown), strict=True):
            whole.append(f"{before[row]} {text}")
        pieces.append(own)
    read, order = vocabulary.read(whole), np.concatenate(pieces)
    order = np.where(order < 0, count + ~order, order)
    return joined([*stored, (read.rows, read.sizes)], order, vocabulary)


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
        # An extra row stands in for the missing ones, whose numbers are negative.
        padded = np.concatenate([similar, np.zeros((1, similar.shape[1]))])
        near = np.where(around >= 0, around, len(similar))
        best = padded[near[:, 0]]
        for column in range(1, near.shape[1]):
            np.maximum(best, padded[near[:, column]], out=best)
        features["window similar words"] = weighted_mean(best, weights)
    return features
