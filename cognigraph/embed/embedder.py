"""The embedder protocol, and the wrapper that batches, checks, normalises and caches vectors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from threading import Lock
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Vector
from cognigraph.errors import EmbeddingError
from cognigraph.model.storage import EmbedderIdentity
from cognigraph.text.redaction import redacted


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Must be thread-safe.

    ``name`` identifies the model: two embedders with the same name must give the same vectors.
    An embedder may also have ``embed_query(text)``, which returns the vector (dimension,) of a
    question (many models need a prefix there), and ``embed_queries(texts)`` for the vectors
    (len(texts), dimension) of several, so that a search with several queries makes one call;
    ``batch``, the number of texts it takes at a time;
    ``varies``, true if the vector of a text depends on the other texts of its batch; and
    ``static``, true if a word has the same vector in every text. Other embedders read words in
    their context, and their cosine counts more where messages are long.
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
        """Vectors (len(texts), dimension) of any norm; they are normalised afterwards."""
        ...


_BATCH = 64
_KEPT_BYTES = 8 << 20

_PHRASES = tuple(
    """a new job;the old house;my best friend;a walk in the park;summer holiday;family dinner;
    the local library;a good book;running every morning;a birthday party;the first day of school;
    a cup of coffee;music festival;a piece of advice;the next meeting;a small town by the sea;
    health and fitness;art class;support from friends;a long journey;the blue car;
    cooking for others;a difficult decision;the football team;learning a language;
    a letter from home;feeling of hope;two cats and a dog;the city council;an online course;
    a photo of the mountains;plans for the future""".replace("\n    ", "").split(";")
)
"""Everyday phrases with no topic in common; the mean of their vectors centres those of names."""

EmbedFunction = Callable[[Sequence[str]], Sequence[Sequence[float]] | npt.NDArray[np.floating]]
"""Any function from texts to vectors can serve as an embedder."""


_Embed = Callable[[Sequence[str]], npt.NDArray[np.floating]]


class FunctionEmbedder:
    """Wraps a plain function as an :class:`Embedder`; its dimension is measured by one call."""

    def __init__(self, function: EmbedFunction, name: str | None = None) -> None:
        self._function = function
        own_name = getattr(function, "__qualname__", None) or type(function).__qualname__
        self._name: str = name or own_name
        self._dimension: int | None = None

    @property
    def name(self) -> str:
        """The given name, or the name of the function."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a vector, measured on a sample text at first use."""
        if self._dimension is None:
            self._dimension = int(np.asarray(self._function(["dimension"])).shape[-1])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of texts."""
        return np.asarray(self._function(texts), np.float32)


class _RecentVectors:
    """Keeps the vectors that were used last, up to a number of them. Thread-safe."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self._lock = Lock()

    def get(self, keys: Iterable[str]) -> dict[str, Vector]:
        """The vectors of those keys that are kept."""
        with self._lock:
            found = {key: self._vectors[key] for key in keys if key in self._vectors}
            for key in found:
                self._vectors.move_to_end(key)
        return found

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors, and drop those that were not used for longest."""
        with self._lock:
            for key, vector in vectors.items():
                self._vectors[key] = vector
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._capacity:
                self._vectors.popitem(last=False)


class CheckedEmbedder:
    """Wraps an embedder for the engine: batches texts, validates and normalises vectors.

    The vectors of texts, names and queries that were used last are kept, because keys, facts and
    names recur from batch to batch. Thread-safe.

    Raises:
        EmbeddingError: the embedder fails, or returns vectors of a wrong shape or value.
    """

    def __init__(self, embedder: Embedder, *, query_cache: int = 1024) -> None:
        self.inner = embedder
        self._batch: int = getattr(embedder, "batch", _BATCH)
        self._centre: Vector | None = None
        try:
            self.identity = EmbedderIdentity(embedder.name, embedder.dimension)
        except Exception as error:  # a custom embedder may raise anything
            raise EmbeddingError(
                f"the embedder cannot be used: {type(error).__name__}: {redacted(str(error))}"
            ) from error
        if self.identity.dimension < 1:
            raise EmbeddingError(f"embedder {embedder.name!r} has a dimension below 1")
        most = max(1, _KEPT_BYTES // (4 * self.identity.dimension))
        self._texts, self._names = _RecentVectors(most), _RecentVectors(most)
        self._queries = _RecentVectors(query_cache)

    @property
    def static(self) -> bool:
        """Whether the embedder declares that a word has the same vector in every text."""
        return bool(getattr(self.inner, "static", False))

    def embed(self, texts: Sequence[str]) -> Vector:
        """Unit vectors (len(texts), dimension) as float32; zeros if the embedder gives zeros."""
        if self.static:  # faster than a look at what is kept
            return self._in_batches(texts, self._batch)
        keys = [_digest(text) for text in texts]
        vectors = self._texts.get(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        made = self._in_batches([*missing.values()], self._batch)
        new = {key: row.copy() for key, row in zip(missing, made, strict=True)}
        self._texts.keep(new)
        vectors |= new
        return np.array([vectors[key] for key in keys]).reshape(-1, self.identity.dimension)

    def embed_names(self, names: Sequence[str]) -> Vector:
        """Centred unit vectors (len(names), dimension) of names, as float32.

        The mean vector of everyday phrases is subtracted, so that a cosine means the same with
        every embedder: with some, any two texts have a cosine of 0.5. A vector depends only on
        its name.
        """
        vectors = self._names.get(names)
        if missing := [name for name in dict.fromkeys(names) if name not in vectors]:
            made = self._centred(missing)
            vectors.update((name, row.copy()) for name, row in zip(missing, made, strict=True))
        self._names.keep(vectors)
        return np.array([vectors[name] for name in names]).reshape(-1, self.identity.dimension)

    def _centred(self, names: Sequence[str]) -> Vector:
        # A name may be a key of a session, too; but its vector must depend on nothing else.
        varies = getattr(self.inner, "varies", False)
        embed = partial(self._in_batches, size=1) if varies else self.embed
        if self._centre is None:
            self._centre = embed(_PHRASES).mean(axis=0)
        vectors = embed(names)
        return _unit(np.where(vectors.any(axis=1, keepdims=True), vectors - self._centre, 0.0))

    def _in_batches(self, texts: Sequence[str], size: int, embed: _Embed | None = None) -> Vector:
        if not texts:
            return np.empty((0, self.identity.dimension), np.float32)
        parts = [
            self._checked(self._call(texts[start : start + size], embed))
            for start in range(0, len(texts), size)
        ]
        vectors = np.concatenate(parts)
        if len(vectors) != len(texts):
            raise EmbeddingError(
                f"embedder {self.identity.name!r} returned {len(vectors)} vectors "
                f"for {len(texts)} texts"
            )
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Unit vector (dimension,) of a question; repeated questions come from a cache."""
        if kept := self._queries.get([text]):
            return kept[text]
        query = getattr(self.inner, "embed_query", None)
        embed = None if query is None else lambda texts: np.asarray(query(texts[0]))[None]
        vector: Vector = self._in_batches([text], 1, embed)[0]
        self._queries.keep({text: vector})
        return vector

    def embed_queries(self, texts: Sequence[str]) -> None:
        """Embed several questions in one batch, for the calls of :meth:`embed_query` that follow.

        Nothing happens if the embedder embeds a question in a way of its own and only one by one,
        or if the batch would change the vectors.
        """
        own = getattr(self.inner, "embed_queries", None)
        one_by_one = own is None and hasattr(self.inner, "embed_query")
        if one_by_one or getattr(self.inner, "varies", False):
            return
        kept = self._queries.get(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in kept]
        vectors = self._in_batches(missing, self._batch, own or self.inner.embed)
        self._queries.keep(dict(zip(missing, vectors, strict=True)))

    def _call(self, texts: Sequence[str], embed: _Embed | None) -> npt.NDArray[np.floating]:
        try:
            return np.asarray((embed or self.inner.embed)(texts))
        except EmbeddingError:
            raise
        except Exception as error:  # a custom embedder may raise anything
            raise EmbeddingError(
                f"embedder {self.identity.name!r} failed: {type(error).__name__}: "
                f"{redacted(str(error))}; nothing was stored; the same call can be repeated"
            ) from error

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
        return _unit(vectors)


def _digest(text: str) -> str:
    """The key of a text, which may be forgotten before its vector is dropped."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _unit(vectors: npt.NDArray[np.floating]) -> Vector:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return np.asarray(unit, np.float32)
