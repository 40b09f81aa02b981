"""Embedders, chosen by name or passed as objects.

The names are ``"wordllama"`` (default), ``"multilingual"``, ``"fastembed:MODEL_OR_FOLDER"``,
``"openai:MODEL"`` (any compatible endpoint), ``"flag:MODEL_OR_FOLDER"`` (BGE-M3) and
``"sentence-transformers:MODEL_OR_FOLDER"``. Any function from texts to vectors works as well.
"""

from __future__ import annotations

from collections.abc import Callable

from cognigraph.embed.embedder import CheckedEmbedder, Embedder, EmbedFunction, FunctionEmbedder
from cognigraph.embed.models import MULTILINGUAL, FastEmbedEmbedder, Prefixes, prefixes_for
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


def _openai(model: str) -> Embedder:
    from cognigraph.embed.openai import OpenAIEmbedder

    return OpenAIEmbedder.from_environment(model)


def _flag(model: str) -> Embedder:
    from cognigraph.embed.flag import FlagEmbedder

    return FlagEmbedder(model) if model else FlagEmbedder()


def _sentence_transformers(model: str) -> Embedder:
    from cognigraph.embed.models import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(model)


_BY_NAME: dict[str, Callable[[str], Embedder]] = {
    "wordllama": lambda _: WordLlamaEmbedder(),
    "multilingual": lambda _: FastEmbedEmbedder(MULTILINGUAL),
    "fastembed": lambda model: FastEmbedEmbedder(model) if model else FastEmbedEmbedder(),
    "openai": _openai,
    "flag": _flag,
    "sentence-transformers": _sentence_transformers,
}


def resolve(embedder: str | Embedder | EmbedFunction) -> Embedder:
    """The embedder for a name, an :class:`Embedder`, or a function from texts to vectors.

    Raises:
        ConfigurationError: the name is unknown, or the object is not an embedder.
    """
    if isinstance(embedder, str):
        kind, _, model = embedder.partition(":")
        if kind not in _BY_NAME:
            raise ConfigurationError(
                f"unknown embedder {embedder!r}; use 'wordllama', 'multilingual', "
                "'fastembed:MODEL', 'fastembed:/path/to/folder', 'openai:MODEL', 'flag:MODEL', "
                "'sentence-transformers:MODEL', or pass a function from texts to vectors"
            )
        return _BY_NAME[kind](model)
    if isinstance(embedder, Embedder):
        return embedder
    if callable(embedder):
        return FunctionEmbedder(embedder)
    raise ConfigurationError(
        f"{type(embedder).__name__} is not an embedder: an embedder has embed, name and "
        "dimension, or is a function from texts to vectors"
    )
