"""Late interaction over static word vectors: every question word looks for its best match.

The word vectors are those of the wordllama wheel, whatever embeds the texts: they need no model
run, so words can be compared at query time and nothing more is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock

import numpy as np

from cognigraph.embed.models import WordLlamaEmbedder
from cognigraph.lexical import STOP_WORDS, fold, stem, words
from cognigraph.stores.arrays import Floats

_START = "\0"  # before the words of each text
_WORDS_ONLY = bytes(byte if chr(byte).isalnum() or byte in b"_\0" else 0x20 for byte in range(128))
_WORDS_ONLY += bytes(range(128, 256))
_MOST_WORDS = 50_000  # 51 MB of vectors; then the vocabulary starts anew


@lru_cache(maxsize=1)
def word_vectors() -> WordVectors:
    """The vocabulary of this process."""
    return WordVectors()


class WordVectors:
    """Vectors of the words seen so far, unit length. Thread-safe.

    Rows 0 and 1 are no words, similar to nothing: stop words, and the start of each text.
    """

    def __init__(self, most: int = _MOST_WORDS) -> None:
        self._most = most
        self._lock = Lock()
        self._clear()

    def _clear(self) -> None:
        self._rows = dict.fromkeys(STOP_WORDS, 0) | {_START: 1}
        self._vectors = np.zeros((2, WordLlamaEmbedder.dimension), np.float32)
        self._stems: dict[str, int] = {}
        self._stem = np.zeros(2, np.int64)
        self._count = 2

    def best_matches(self, asked: Sequence[str], texts: Sequence[str]) -> Floats:
        """Cosine (len(texts), len(asked)) of each asked word with its nearest word of each text.

        1 for a word of the same stem, 0 for a text without words, never negative.
        """
        if not asked or not texts:
            return np.zeros((len(texts), len(asked)))
        tokens = _tokens(texts)
        with self._lock:
            if self._count > self._most:
                self._clear()
            rows = list(map(self._rows.get, tokens))
            if None in rows or not self._rows.keys() >= set(asked):
                self._learn([*asked, *tokens])
                rows = [self._rows[token] for token in tokens]
            flat, own = np.array(rows), np.array([self._rows[word] for word in asked])
            flat = flat[flat > 0]
            used = np.zeros(self._count, bool)
            used[flat] = True
            present = np.flatnonzero(used)
            vectors, stems = self._vectors[present], self._stem[present]
            questions, question_stems = self._vectors[own], self._stem[own]
            place = np.cumsum(used) - 1
        similar = np.clip(vectors @ questions.T, 0.0, 1.0)
        similar[(stems[:, None] == question_stems) & (stems[:, None] > 0)] = 1.0
        starts = np.flatnonzero(flat == 1)
        # Rounded: the last bits of a product depend on what else is in the matrix.
        return np.maximum.reduceat(similar[place[flat]], starts, axis=0).astype(float).round(5)

    def _learn(self, seen: list[str]) -> None:
        new = list(dict.fromkeys(word for word in seen if word not in self._rows))
        if not new:
            return
        vectors = WordLlamaEmbedder().embed(new)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        first, self._count = self._count, self._count + len(new)
        if self._count > len(self._vectors):  # room for twice as many, or each word would copy all
            spare = ((0, 2 * self._count - len(self._vectors)), (0, 0))
            self._vectors = np.pad(self._vectors, spare)
            self._stem = np.pad(self._stem, spare[0])
        np.divide(vectors, norms, out=self._vectors[first : self._count], where=norms > 0)
        self._stem[first : self._count] = [
            self._stems.setdefault(stem(word), len(self._stems) + 1) for word in new
        ]
        self._rows |= {word: first + place for place, word in enumerate(new)}


def _tokens(texts: Sequence[str]) -> list[str]:
    """Words of all texts, each text after a start mark."""
    joined = _START + _START.join(texts)
    if joined.isascii() and joined.count(_START) == len(texts):  # all at once: much faster
        plain = fold(joined).encode("ascii").translate(_WORDS_ONLY)
        return plain.replace(b"\0", b" \0 ").decode("ascii").split()
    return [token for text in texts for token in (_START, *words(text))]
