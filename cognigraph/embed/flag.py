"""FlagEmbedding: BGE-M3 as embedder and reranker, and BGE's cross-encoders (extra ``flag``).

BGE-M3 gives three scores. The dense score is computed from a vector, which is stored. The sparse
and ColBERT scores need a weight and a vector for each token (about a hundred times the size of the
dense vector of a chunk). No store keeps these; they are computed from the texts of the top
candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.embed.models import fingerprint, require_model
from cognigraph.errors import ConfigurationError

_WEIGHTS = [0.4, 0.2, 0.4]
"""Weights of the dense, sparse and ColBERT scores in their mean, from the model card."""

_BATCH = 32
_MOST_TOKENS = 1024
"""Longer passages are truncated; a chunk has at most about 400 tokens."""


class FlagEmbedder:
    """BGE-M3: dense vectors, and :meth:`rerank` by all three of its scores.

    ``model`` is a folder, or a name that FlagEmbedding downloads on first use.
    """

    batch = _BATCH

    def __init__(self, model: str = "BAAI/bge-m3") -> None:
        self._lock = Lock()
        self._model = _loaded("BGEM3FlagModel", model)
        self.name = _name(model)
        self.dimension = len(self.embed_query("dimension"))

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Dense vectors of passages; BGE-M3 needs no prefix."""
        with self._lock:
            answer = self._model.encode_corpus(
                list(texts), batch_size=_BATCH, max_length=_MOST_TOKENS, return_dense=True,
                return_sparse=False, return_colbert_vecs=False,
            )  # fmt: skip
        return np.asarray(answer["dense_vecs"])

    def embed_query(self, text: str) -> npt.NDArray[np.floating]:
        """Dense vector of a question."""
        return np.asarray(self.embed([text])[0])

    def interactions(self, question: str, texts: Sequence[str]) -> dict[str, list[float]]:
        """Scores of each text: ``dense``, ``sparse``, ``colbert``, and their mean, ``all``."""
        with self._lock:
            scores = self._model.compute_score(
                [(question, text) for text in texts], batch_size=_BATCH,
                max_query_length=_MOST_TOKENS, max_passage_length=_MOST_TOKENS,
                weights_for_different_modes=_WEIGHTS,
            )  # fmt: skip
        return {
            "dense": scores["dense"],
            "sparse": scores["sparse"],
            "colbert": scores["colbert"],
            "all": scores["colbert+sparse+dense"],
        }

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """The weighted mean of the three scores of each text."""
        return self.interactions(question, texts)["all"] if texts else []


class FlagReranker:
    """A cross-encoder that reads question and text together, such as bge-reranker-v2-m3."""

    def __init__(self, model: str = "BAAI/bge-reranker-v2-m3") -> None:
        self._lock = Lock()
        self._model = _loaded("FlagReranker", model)
        self.name = _name(model)

    def __call__(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Scores between 0 and 1, one for each text."""
        if not texts:
            return []
        with self._lock:
            scores = self._model.compute_score(
                [(question, text) for text in texts], batch_size=_BATCH,
                max_length=_MOST_TOKENS, normalize=True,
            )  # fmt: skip
        return [float(score) for score in np.atleast_1d(scores)]


def _loaded(kind: str, model: str) -> Any:
    """A model of one of the classes of FlagEmbedding, on the GPU if there is one."""
    try:
        import FlagEmbedding
        import torch
    except ImportError as error:
        raise ConfigurationError(
            "BGE-M3 and its rerankers need the extra 'flag': pip install 'cognigraph-memory[flag]'"
        ) from error
    if not Path(model).expanduser().is_dir():
        require_model(model, "flag")
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    try:
        return getattr(FlagEmbedding, kind)(model, use_fp16=device != "cpu", devices=device)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"cannot load {model!r}: {error}") from error


def _name(model: str) -> str:
    folder = Path(model).expanduser()
    return f"flag:{fingerprint(folder) if folder.is_dir() else model}"
