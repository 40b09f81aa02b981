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
from cognigraph.lexical import START, STOP_WORDS, stem
from cognigraph.stores.arrays import Floats, Ints

_MOST_WORDS = 50_000  # 51 MB of vectors; then the vocabulary starts anew


@lru_cache(maxsize=1)
def word_vectors() -> WordVectors:
    """The vocabulary of this process."""
    return WordVectors()


class WordVectors:
    """Vectors of the words seen so far, unit length. Thread-safe.

    Rows 0 and 1 are no words, similar to nothing: stop words, and the start of each text. Stems are
    made when they may matter, as making them takes longest: a stem keeps the word's first letter.
    """

    def __init__(self, most: int = _MOST_WORDS) -> None:
        self._most = most
        self._lock = Lock()
        self._clear()

    def _clear(self) -> None:
        self._rows = dict.fromkeys(STOP_WORDS, 0) | {START: 1}
        self._words = ["", ""]
        self._vectors = np.zeros((2, WordLlamaEmbedder.dimension), np.float32)
        self._initial = np.zeros(2, np.int64)
        self._stems: dict[str, int] = {}
        self._stem = np.zeros(2, np.int64)  # 0: not made
        self._count = 2

    def best_matches(self, asked: Sequence[str], said: Sequence[str]) -> Floats:
        """Cosine (texts, len(asked)) of each asked word with its nearest word of each text.

        ``said`` are the words of the texts, from :func:`cognigraph.lexical.marked_words`. 1 for a
        word of the same stem, 0 for a text without words, never negative.
        """
        if not asked or not said:
            return np.zeros((said.count(START), len(asked)))
        with self._lock:
            if self._count > self._most:
                self._clear()
            try:
                flat, own = self._places(said), self._places(asked)
            except KeyError:
                self._learn([*asked, *said])
                flat, own = self._places(said), self._places(asked)
            flat = flat[flat > 0]
            used = np.zeros(self._count, bool)
            used[flat] = True
            present = np.flatnonzero(used)
            self._stem_some(own[own > 0], present)
            vectors, stems = self._vectors[present], self._stem[present]
            questions, question_stems = self._vectors[own], self._stem[own]
            place = np.cumsum(used) - 1
        similar = np.clip(vectors @ questions.T, 0.0, 1.0)
        similar[(stems[:, None] == question_stems) & (stems[:, None] > 0)] = 1.0
        starts = np.flatnonzero(flat == 1)
        # Rounded: the last bits of a product depend on what else is in the matrix.
        return np.maximum.reduceat(similar[place[flat]], starts, axis=0).astype(float).round(5)

    def _places(self, words: Sequence[str]) -> Ints:
        return np.fromiter(map(self._rows.__getitem__, words), np.int64, len(words))

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
            self._initial = np.pad(self._initial, spare[0])
        np.divide(vectors, norms, out=self._vectors[first : self._count], where=norms > 0)
        self._initial[first : self._count] = [ord(word[0]) for word in new]
        self._words += new
        self._rows |= {word: first + place for place, word in enumerate(new)}

    def _stem_some(self, asked: Ints, present: Ints) -> None:
        """Make the stems of the asked words and of those that may have one of them."""
        alike = present[np.isin(self._initial[present], self._initial[asked])]
        for row in np.concatenate([asked, alike]).tolist():
            if not self._stem[row]:
                name = stem(self._words[row])
                self._stem[row] = self._stems.setdefault(name, len(self._stems) + 1)
