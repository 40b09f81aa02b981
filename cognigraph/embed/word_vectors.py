"""Late interaction over static word vectors: the best match of each question word in each text.

The word vectors are those of the wordllama wheel, whichever embedder is used for the texts. They
need no model inference, so words are compared at query time and nothing else is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import Lock

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, products
from cognigraph.embed.models import WordLlamaEmbedder
from cognigraph.text.terms import START, STOP_WORDS, marked_words, stem

_MOST_WORDS = 50_000  # 51 MB of vectors; beyond that the vocabulary is reset
_MOST_REMEMBERED = 2_000_000  # words of cached texts: about 30 MB with texts of twenty words


@lru_cache(maxsize=1)
def word_vectors() -> WordVectors:
    """The vocabulary that this process shares."""
    return WordVectors()


@dataclass(frozen=True, slots=True)
class TextWords:
    """The words of some texts.

    ``different`` holds the distinct words and begins with ``START``. ``numbers`` holds, for each
    word in order, its index in ``different``; a 0 (``START``) precedes the words of each text.
    """

    different: tuple[str, ...]
    numbers: Ints

    @property
    def text_count(self) -> int:
        """Number of texts."""
        return int(np.count_nonzero(self.numbers == 0))


def beginning(word: str) -> str:
    """The first two letters of a word, with a second letter y as i: equal for words of one stem.

    The y becomes i because the stem of "dying" is "die".
    """
    return word[0] + word[1:2].replace("y", "i")


class WordVectors:
    """A growing vocabulary: the words seen so far and their unit vectors. Thread-safe.

    Row 0 stands for the start of a text, and stop words follow; their vectors are zero, so they
    match nothing. Vectors are computed when words are compared. Stemming is slowest, so a word is
    stemmed only if its first letters match those of a word it is compared with
    (:func:`beginning`).
    """

    def __init__(self, most: int = _MOST_WORDS, remembered: int = _MOST_REMEMBERED) -> None:
        self._most, self._most_remembered = most, remembered
        self._lock = Lock()
        self._clear()

    def _clear(self) -> None:
        self._words = [START, *sorted(STOP_WORDS)]
        self._rows = {word: row for row, word in enumerate(self._words)}
        self._first = self._embedded = len(self._words)
        self._vectors = np.zeros((self._first, WordLlamaEmbedder.dimension), np.float32)
        self._beginnings: dict[str, int] = {}
        self._beginning = np.zeros(self._first, np.int64)
        self._stems: dict[str, int] = {}
        self._stem = np.zeros(self._first, np.int64)  # 0: not computed yet
        self._read: dict[int, npt.NDArray[np.int32]] = {}
        self._remembered = 0

    def read(self, texts: Sequence[str]) -> TextWords:
        """Convert texts to word numbers. Results are cached, because the same texts recur.

        The cache holds 64-bit hashes and not the texts, which may be deleted in the meantime.
        """
        keys = list(map(hash, texts))
        with self._lock:
            if len(self._words) > self._most or self._remembered > self._most_remembered:
                self._clear()
            self._remember(
                {key: text for key, text in zip(keys, texts, strict=True) if key not in self._read}
            )
            read = [self._read[key] for key in keys]
            rows = np.concatenate(read) if read else np.empty(0, np.int32)
            used = np.zeros(len(self._words), bool)
            used[0] = used[rows] = True
            different = tuple(map(self._words.__getitem__, np.flatnonzero(used).tolist()))
        return TextWords(different, (np.cumsum(used) - 1)[rows])

    def best_matches(self, asked: Sequence[str], said: TextWords) -> Floats:
        """Cosine (texts, len(asked)) of each asked word and its most similar word in each text.

        It is 1 for a word with the same stem, 0 for a text without words, and never negative.
        """
        if not asked or not len(said.numbers):
            return np.zeros((said.text_count, len(asked)))
        with self._lock:
            rows, own = self._rows_of(said.different), self._rows_of(asked)
            self._embed()
            self._stem_some(own[own >= self._first], rows)
            vectors, stems = self._vectors[rows], self._stem[rows]
            questions, question_stems = self._vectors[own], self._stem[own]
            compared = (rows == 0) | (rows >= self._first)
        similar = np.clip(products(vectors, questions), 0.0, 1.0)
        similar[(stems[:, None] == question_stems) & (stems[:, None] > 0)] = 1.0
        numbers = said.numbers[compared[said.numbers]]
        starts = np.flatnonzero(numbers == 0)
        # Rounded because the last bits of a product depend on the other rows of the matrix.
        return np.maximum.reduceat(similar[numbers], starts, axis=0).astype(float).round(5)

    def _rows_of(self, words: Sequence[str]) -> Ints:
        """The rows of words; new words are added to the vocabulary."""
        try:
            return np.fromiter(map(self._rows.__getitem__, words), np.int64, len(words))
        except KeyError:
            for word in dict.fromkeys(words):
                if word not in self._rows:
                    self._rows[word] = len(self._words)
                    self._words.append(word)
            return self._rows_of(words)

    def _remember(self, texts: dict[int, str]) -> None:
        rows = self._rows_of(marked_words([*texts.values()])).astype(np.int32)
        starts = [*np.flatnonzero(rows == 0).tolist(), len(rows)]
        for key, (start, end) in zip(texts, pairwise(starts), strict=True):
            self._read[key] = rows[start:end].copy()  # a view would keep the whole array alive
        self._remembered += len(rows)

    def _embed(self) -> None:
        """Compute the vectors of the words that have none yet."""
        first, count = self._embedded, len(self._words)
        if first == count:
            return
        new = self._words[first:]
        vectors = WordLlamaEmbedder().embed(new)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if count > len(self._vectors):  # doubled, so that adding words takes amortised linear time
            spare = ((0, 2 * count - len(self._vectors)), (0, 0))
            self._vectors = np.pad(self._vectors, spare)
            self._stem = np.pad(self._stem, spare[0])
            self._beginning = np.pad(self._beginning, spare[0])
        np.divide(vectors, norms, out=self._vectors[first:count], where=norms > 0)
        self._beginning[first:count] = [
            self._beginnings.setdefault(beginning(word), len(self._beginnings) + 1) for word in new
        ]
        self._embedded = count

    def _stem_some(self, asked: Ints, present: Ints) -> None:
        """Stem the asked words, and the present words that may share a stem with one of them."""
        alike = present[np.isin(self._beginning[present], self._beginning[asked])]
        for row in np.concatenate([asked, alike]).tolist():
            if not self._stem[row]:
                name = stem(self._words[row])
                self._stem[row] = self._stems.setdefault(name, len(self._stems) + 1)
