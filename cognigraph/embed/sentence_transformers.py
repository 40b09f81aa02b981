"""An embedder for the models of sentence-transformers (extra ``sentence-transformers``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from cognigraph.embed.models import fingerprint
from cognigraph.embed.prefixes import Prefixes, chosen, identity
from cognigraph.errors import ConfigurationError


class SentenceTransformersEmbedder:
    """Embeds texts with a sentence-transformers model.

    ``model`` is a folder, or a name that sentence-transformers downloads on first use. Prefixes
    that are not given default to the model's own prompts for queries and documents, and then to
    those of its family.
    """

    def __init__(
        self,
        model: str,
        *,
        device: str | None = None,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
    ) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ConfigurationError(
                "this embedder needs an extra: "
                "pip install 'cognigraph-memory[sentence-transformers]'"
            ) from error
        if not model:
            raise ConfigurationError("name a model: sentence-transformers:MODEL_OR_FOLDER")
        folder = Path(model).expanduser()
        try:
            self._model = SentenceTransformer(
                str(folder) if folder.is_dir() else model, device=device
            )
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"cannot load {model!r}: {error}") from error
        known = chosen(model, query_prefix, passage_prefix)
        prompts = self._model.prompts or {}
        own_passage = prompts.get("document") or prompts.get("passage")
        self._prefixes = Prefixes(
            query=(prompts.get("query") or known.query) if query_prefix is None else query_prefix,
            passage=(own_passage or known.passage) if passage_prefix is None else passage_prefix,
        )
        shown = fingerprint(folder) if folder.is_dir() else model
        self.name = identity(f"sentence-transformers:{shown}", self._prefixes)
        self._lock = Lock()
        self.dimension = len(self.embed_query("dimension"))

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of passages."""
        return self._encoded([self._prefixes.passage + text for text in texts])

    def embed_query(self, text: str) -> npt.NDArray[np.floating]:
        """Vector of a question."""
        return np.asarray(self.embed_queries([text])[0])

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of several questions."""
        return self._encoded([self._prefixes.query + text for text in texts])

    def _encoded(self, texts: list[str]) -> npt.NDArray[np.floating]:
        with self._lock:
            # prompt="" because the texts already have the prefix that the model would add.
            vectors = self._model.encode(texts, prompt="", show_progress_bar=False)
        return np.asarray(vectors, np.float32)
