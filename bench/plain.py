"""Plain rankings of the messages of a conversation: cosine, BM25, and their fusion.

They are what is put together in an afternoon, and share no code with the ranking of cognigraph but
the embedder. A message is ranked as a whole, with its speaker, as "Ann: I moved to Oslo."
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.embed import Embedder

Array = npt.NDArray[np.floating]
COSINE, WORDS, BOTH = "cosine", "bm25", "rrf"
K1, B = 1.2, 0.75
RRF = 60
"""The constant of reciprocal rank fusion (Cormack et al., 2009)."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"(?P<run>[{_UNSPACED}]+)|(?:(?![{_UNSPACED}])\w)+")


def tokens(text: str) -> list[str]:
    """Words in lower case; of Chinese, Japanese and Thai, characters and pairs of them."""
    made: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = match["run"]
        if run is None:
            made.append(match[0])
        else:
            made += [*run, *(run[at : at + 2] for at in range(len(run) - 1))]
    return made


class Plain:
    """Ranks the first messages of a conversation."""

    def __init__(self, embedder: Embedder, messages: Sequence[Mapping[str, Any]]) -> None:
        texts = [f"{message['speaker']}: {message['text']}" for message in messages]
        self._embedder = embedder
        self._ids = [message["id"] for message in messages]
        self._vectors = _unit(np.asarray(embedder.embed(texts), np.float32))
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = []
        for row, text in enumerate(texts):
            words = tokens(text)
            lengths.append(len(words))
            for word, count in Counter(words).items():
                postings[word].append((row, count))
        self._postings = {word: np.array(rows) for word, rows in postings.items()}
        self._lengths = np.array(lengths, float)

    def rankings(self, question: str, sees: int) -> dict[str, tuple[list[str], float]]:
        """Return the messages from best to worst by each ranking, and its milliseconds.

        Only the first ``sees`` messages count, also for the frequency of words.
        """
        started = perf_counter()
        near = self._by_cosine(question, sees)
        embedded = perf_counter()
        told = self._by_words(question, sees)
        counted = perf_counter()
        both = fused([near, told], sees)
        ended = perf_counter()
        return {
            COSINE: (self._named(near), 1000 * (embedded - started)),
            WORDS: (self._named(told), 1000 * (counted - embedded)),
            BOTH: (self._named(both), 1000 * (ended - started)),
        }

    def _by_cosine(self, question: str, sees: int) -> list[int]:
        query = getattr(self._embedder, "embed_query", None)
        asked = query(question) if query else self._embedder.embed([question])[0]
        cosine = self._vectors[:sees] @ _unit(np.asarray(asked, np.float32)[None])[0]
        return _descending(cosine)

    def _by_words(self, question: str, sees: int) -> list[int]:
        """Rank the messages that share a word with the question."""
        scores = np.zeros(sees)
        length = self._lengths[:sees] / max(self._lengths[:sees].mean(), 1)
        for word in set(tokens(question)):
            postings = self._postings.get(word)
            if postings is None:
                continue
            rows, counts = postings[: np.searchsorted(postings[:, 0], sees)].T
            idf = np.log1p((sees - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += idf * counts * (K1 + 1) / (counts + K1 * (1 - B + B * length[rows]))
        return [row for row in _descending(scores) if scores[row] > 0]

    def _named(self, rows: Sequence[int]) -> list[str]:
        return [self._ids[row] for row in rows]


def fused(rankings: Sequence[Sequence[int]], count: int) -> list[int]:
    """Fuse rankings of ``count`` messages by their ranks."""
    scores = np.zeros(count)
    for ranking in rankings:
        scores[np.asarray(ranking, int)] += 1 / (RRF + 1 + np.arange(len(ranking)))
    return _descending(scores)


def _unit(vectors: Array) -> Array:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms == 0, 1, norms))


def _descending(scores: Array) -> list[int]:
    return [int(row) for row in np.argsort(-scores, kind="stable")]
