"""Late interaction over static word vectors: every question word looks for its best match.

The word vectors are those of the wordllama wheel, whatever embeds the texts: they need no model
run, so words can be compared at query time and nothing more is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from threading import Lock

import numpy as np

from cognigraph.embed.models import WordLlamaEmbedder
from cognigraph.lexical import STOP_WORDS, stem, words
from cognigraph.stores.base import Floats

_MOST_WORDS = 50_000  # 51 MB of vectors; then the vocabulary starts anew


@lru_cache(maxsize=1)
def word_vectors() -> WordVectors:
    """The vocabulary of this process."""
    return WordVectors()


class WordVectors:
    """Vectors of the words seen so far, unit length. Thread-safe.

    Row 0 is no word: stop words and the padding of empty texts, similar to nothing.
    """

    def __init__(self, most: int = _MOST_WORDS) -> None:
        self._most = most
        self._lock = Lock()
        self._clear()

    def _clear(self) -> None:
        self._rows = dict.fromkeys(STOP_WORDS, 0)
        self._vectors = np.zeros((1, WordLlamaEmbedder.dimension), np.float32)
        self._stems: dict[str, int] = {}
        self._stem = np.zeros(1, np.int64)

    def best_matches(self, asked: Sequence[str], texts: Sequence[str]) -> Floats:
        """Cosine (len(texts), len(asked)) of each asked word with its nearest word of each text.

        1 for a word of the same stem, 0 for a text without words, never negative.
        """
        if not asked or not texts:
            return np.zeros((len(texts), len(asked)))
        tokens = [words(text) for text in texts]
        with self._lock:
            if len(self._vectors) > self._most:
                self._clear()
            self._learn(chain(asked, chain.from_iterable(tokens)))
            row = self._rows
            own = np.array([row[word] for word in asked])
            flat: list[int] = []
            starts: list[int] = []
            for found in tokens:
                starts.append(len(flat))
                flat += [row[word] for word in found]
                flat.append(0)
            present, places = np.unique(np.array(flat), return_inverse=True)
            vectors, stems = self._vectors[present], self._stem[present]
            questions, question_stems = self._vectors[own], self._stem[own]
        similar = np.clip(vectors @ questions.T, 0.0, 1.0)
        similar[(stems[:, None] == question_stems) & (stems[:, None] > 0)] = 1.0
        # Rounded: the last bits of a product depend on what else is in the matrix.
        return np.maximum.reduceat(similar[places], np.array(starts), axis=0).astype(float).round(5)

    def _learn(self, seen: chain[str]) -> None:
        new = list(dict.fromkeys(word for word in seen if word not in self._rows))
        if not new:
            return
        vectors = WordLlamaEmbedder().embed(new)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        first = len(self._vectors)
        self._rows |= {word: first + place for place, word in enumerate(new)}
        self._vectors = np.concatenate([self._vectors, vectors.astype(np.float32)])
        stems = [self._stems.setdefault(stem(word), len(self._stems) + 1) for word in new]
        self._stem = np.concatenate([self._stem, np.array(stems, np.int64)])
