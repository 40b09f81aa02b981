"""Embedders, chosen by name or passed as objects.

The names are ``"wordllama"`` (default), ``"multilingual"``, ``"fastembed:MODEL_OR_FOLDER"``,
``"openai:MODEL"`` (any compatible endpoint), ``"flag:MODEL_OR_FOLDER"`` (BGE-M3) and
``"sentence-transformers:MODEL_OR_FOLDER"``. Any function from texts to vectors works as well.
"""

from __future__ import annotations

from cognigraph.embed.embedder import CheckedEmbedder, Embedder, EmbedFunction, FunctionEmbedder
from cognigraph.embed.flag import FlagEmbedder
from cognigraph.embed.models import (
    MULTILINGUAL,
    FastEmbedEmbedder,
    Prefixes,
    SentenceTransformersEmbedder,
    prefixes_for,
)
from cognigraph.embed.word_vectors import WordLlamaEmbedder
from cognigraph.errors import ConfigurationError

__all__ = [
    "CheckedEmbedder",
    "EmbedFunction",
    "Embedder",
    "FastEmbedEmbedder",
    "FunctionEmbedder",
    "Prefixes",
    "WordLlamaEmbedder",
    "prefixes_for",
    "resolve",
]


def resolve(embedder: str | Embedder | EmbedFunction) -> Embedder:
    """The embedder for a name, an :class:`Embedder`, or a function from texts to vectors.

    Raises:
        ConfigurationError: the name is unknown, or the object is not an embedder.
    """
    if isinstance(embedder, str):
        return _named(embedder)
    if isinstance(embedder, Embedder):
        return embedder
    if callable(embedder):
        return FunctionEmbedder(embedder)
    raise ConfigurationError(
        f"{type(embedder).__name__} is not an embedder: an embedder has embed, name and "
        "dimension, or is a function from texts to vectors"
    )


def _named(name: str) -> Embedder:
    kind, _, model = name.partition(":")
    match kind:
        case "wordllama":
            return WordLlamaEmbedder()
        case "multilingual":
            return FastEmbedEmbedder(MULTILINGUAL)
        case "fastembed":
            return FastEmbedEmbedder(model) if model else FastEmbedEmbedder()
        case "openai":
            from cognigraph.embed.openai import OpenAIEmbedder  # imports a client

            return OpenAIEmbedder.from_environment(model)
        case "flag":
            return FlagEmbedder(model) if model else FlagEmbedder()
        case "sentence-transformers":
            return SentenceTransformersEmbedder(model)
    raise ConfigurationError(
        f"unknown embedder {name!r}; use 'wordllama', 'multilingual', "
        "'fastembed:MODEL', 'fastembed:/path/to/folder', 'openai:MODEL', 'flag:MODEL', "
        "'sentence-transformers:MODEL', or pass a function from texts to vectors"
    )
