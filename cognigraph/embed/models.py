"""Embedders that run on this machine: wordllama (default) and fastembed (extra)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.embed.prefixes import chosen, identity
from cognigraph.embed.static_model import load
from cognigraph.embed.token_means import TokenMeans
from cognigraph.errors import ConfigurationError
from cognigraph.forks import ProcessLock


class WordLlamaEmbedder:
    """Static word vectors with weights in the wheel: offline, 256 dimensions, about 15 µs a text.

    See https://github.com/dleemiller/WordLlama (MIT).
    """

    name = "wordllama-l2-256"
    dimension = 256
    static = True
    batch = 512

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Mean of the token vectors of each text."""
        return token_means().of(texts)

    def embed_query(self, text: str) -> npt.NDArray[np.floating]:
        """Vector of a question, computed as for any other text."""
        return np.asarray(self.embed([text])[0])


_loading = ProcessLock()


def token_means() -> TokenMeans:
    """The static model that this process shares."""
    with _loading:  # otherwise concurrent threads would each load the model
        return _loaded()


@lru_cache(maxsize=1)
def _loaded() -> TokenMeans:
    return TokenMeans(load())


class FastEmbedEmbedder:
    """ONNX sentence embedders run by fastembed, given as a model name or a local folder.

    A folder must hold ``model_optimized.onnx`` (or ``model.onnx``) and the tokenizer files; it is
    loaded without network access. A named model is downloaded by fastembed on first use. Prefixes
    default to those of the model's family (:mod:`cognigraph.embed.prefixes`).
    """

    varies = True  # dynamic quantisation makes vectors of many models depend on their batch

    def __init__(
        self,
        model: str = "BAAI/bge-small-en-v1.5",
        *,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
    ) -> None:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise ConfigurationError(
                "fastembed needs an extra: pip install 'cognigraph-memory[fastembed]'"
            ) from error
        self._lock = Lock()
        folder = Path(model).expanduser()
        if folder.is_dir():
            self._model = TextEmbedding(**_local_model(folder))
            self.name = f"fastembed:{fingerprint(folder)}"
        else:
            try:
                self._model = TextEmbedding(model)
            except ValueError as error:
                raise ConfigurationError(
                    f"{model!r} is neither a folder nor a model that fastembed knows"
                ) from error
            self.name = f"fastembed:{model}"
        self._prefixes = chosen(model, query_prefix, passage_prefix)
        self.name = identity(self.name, self._prefixes)
        self.dimension = len(next(iter(self._model.embed(["dimension"]))))

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of passages."""
        with self._lock:
            prefix = self._prefixes.passage
            return np.stack(list(self._model.embed([prefix + text for text in texts])))

    def embed_query(self, text: str) -> npt.NDArray[np.floating]:
        """Vector of a question."""
        with self._lock:
            # query_embed may add its own prefix.
            return np.asarray(next(iter(self._model.embed([self._prefixes.query + text]))))


def _local_model(folder: Path) -> dict[str, Any]:
    """Arguments that make fastembed load a folder, as a known model if its name is one."""
    import json

    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    files = [name for name in ("model_optimized.onnx", "model.onnx") if (folder / name).is_file()]
    if not files or not (folder / "tokenizer.json").is_file():
        raise ConfigurationError(
            f"{folder} must contain tokenizer.json and model_optimized.onnx or model.onnx"
        )
    for known in TextEmbedding.list_supported_models():
        if known["model"].rsplit("/", 1)[-1].lower() == folder.name.lower() and (
            known["model_file"] == files[0]
        ):
            return {"model_name": known["model"], "specific_model_path": str(folder)}
    config = json.loads((folder / "config.json").read_text("utf-8"))
    name = f"local/{fingerprint(folder)}"
    TextEmbedding.add_custom_model(
        model=name,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(url=folder.as_uri()),
        dim=int(config["hidden_size"]),
        model_file=files[0],
    )
    return {"model_name": name, "specific_model_path": str(folder)}


_WEIGHTS = ("*.onnx", "*.safetensors", "*.bin", "*.pt")


def fingerprint(folder: Path) -> str:
    """The name of a folder and a digest of its weights, so that a moved folder is recognised."""
    digest = blake2b(digest_size=6)
    for file in sorted(file for pattern in _WEIGHTS for file in folder.glob(pattern)):
        digest.update(file.name.encode())
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return f"{folder.name}-{digest.hexdigest()}"
