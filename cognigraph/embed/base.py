"""The embedder protocol and what every embedder is wrapped in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from cognigraph.errors import EmbeddingError
from cognigraph.stores.arrays import Vector
from cognigraph.stores.base import EmbedderIdentity


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Must be thread-safe.

    ``name`` identifies the model: two embedders with one name must give the same vectors.
    An embedder may also have ``embed_query(text)``, the vector (dimension,) of a question (many
    models want a prefix there), and ``batch``, how many texts it takes at a time.
    """

    @property
    def name(self) -> str:
        """Model name, recorded in the store."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors (len(texts), dimension), of any length; they are normalised afterwards."""
        ...


_BATCH = 64

EmbedFunction = Callable[[Sequence[str]], Sequence[Sequence[float]] | npt.NDArray[np.floating]]
"""Any function from texts to vectors can serve as an embedder."""


class FunctionEmbedder:
    """Makes an :class:`Embedder` of a plain function; its dimension is found by one call."""

    def __init__(self, function: EmbedFunction, name: str | None = None) -> None:
        self._function = function
        own_name = getattr(function, "__qualname__", None) or type(function).__qualname__
        self._name: str = name or own_name
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        """The name given, or the function's."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a vector, measured on a probe text at first use."""
        if self._dimension is None:
            self._dimension = int(np.asarray(self._function(["dimension"])).shape[-1])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of texts."""
        return np.asarray(self._function(texts), np.float32)


class CheckedEmbedder:
    """What the engine uses: unit vectors, checked, in batches, with an LRU of query vectors."""

    def __init__(
        self, embedder: Embedder, *, batch: int | None = None, query_cache: int = 1024
    ) -> None:
        self.inner = embedder
        own_batch: int = getattr(embedder, "batch", _BATCH)
        self._batch = own_batch if batch is None else batch
        self._capacity = query_cache
        self._queries: OrderedDict[str, Vector] = OrderedDict()
        self._lock = Lock()
        try:
            self.identity = EmbedderIdentity(embedder.name, embedder.dimension)
        except Exception as error:  # any embedder may be plugged in here
            raise EmbeddingError(
                f"the embedder cannot be used: {type(error).__name__}: {error}"
            ) from error
        if self.identity.dimension < 1:
            raise EmbeddingError(f"embedder {embedder.name!r} makes vectors of no dimension")

    def embed(self, texts: Sequence[str]) -> Vector:
        """Unit vectors (len(texts), dimension) as float32; a text without content gets zeros."""
        if not texts:
            return np.empty((0, self.identity.dimension), np.float32)
        parts = [
            self._checked(self._call(texts[start : start + self._batch]))
            for start in range(0, len(texts), self._batch)
        ]
        vectors = np.concatenate(parts)
        if len(vectors) != len(texts):
            raise EmbeddingError(
                f"embedder {self.identity.name!r} returned {len(vectors)} vectors "
                f"for {len(texts)} texts"
            )
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Unit vector (dimension,) of a question; repeated questions cost nothing."""
        with self._lock:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text]
        try:
            query = getattr(self.inner, "embed_query", None)
            raw = self.inner.embed([text])[0] if query is None else query(text)
        except EmbeddingError:
            raise
        except Exception as error:  # any embedder may be plugged in here
            raise self._failed(error) from error
        vector: Vector = self._checked(np.asarray(raw)[None])[0]
        with self._lock:
            self._queries[text] = vector
            while len(self._queries) > self._capacity:
                self._queries.popitem(last=False)
        return vector

    def _call(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        try:
            return np.asarray(self.inner.embed(texts))
        except EmbeddingError:
            raise
        except Exception as error:  # any embedder may be plugged in here
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> EmbeddingError:
        return EmbeddingError(
            f"embedder {self.identity.name!r} failed: {type(error).__name__}: {error}; "
            "nothing was stored, the same call can be repeated"
        )

    def _checked(self, raw: npt.NDArray[np.floating]) -> Vector:
        try:
            vectors = np.asarray(raw, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise EmbeddingError(
                f"embedder {self.identity.name!r} did not return numbers: {error}"
            ) from error
        if vectors.ndim != 2 or vectors.shape[1] != self.identity.dimension:
            raise EmbeddingError(
                f"embedder {self.identity.name!r} returned an array of shape {vectors.shape}, "
                f"expected (n, {self.identity.dimension})"
            )
        if not np.isfinite(vectors).all():
            raise EmbeddingError(f"embedder {self.identity.name!r} returned NaN or infinity")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        return np.asarray(unit, np.float32)
