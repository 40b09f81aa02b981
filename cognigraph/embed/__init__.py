"""Embedders: ``"wordllama"`` (default), ``"fastembed:MODEL_OR_FOLDER"``, or any callable."""

from __future__ import annotations

from collections.abc import Callable

from cognigraph.embed.base import CheckedEmbedder, Embedder, EmbedFunction, FunctionEmbedder
from cognigraph.embed.models import FastEmbedEmbedder, WordLlamaEmbedder
from cognigraph.errors import ConfigurationError

__all__ = [
    "CheckedEmbedder",
    "EmbedFunction",
    "Embedder",
    "FastEmbedEmbedder",
    "FunctionEmbedder",
    "WordLlamaEmbedder",
    "resolve",
]

_BY_NAME: dict[str, Callable[[str], Embedder]] = {
    "wordllama": lambda _: WordLlamaEmbedder(),
    "fastembed": lambda model: FastEmbedEmbedder(model) if model else FastEmbedEmbedder(),
}


def resolve(embedder: str | Embedder | EmbedFunction) -> Embedder:
    """Make an embedder of what the user gave: a name, an :class:`Embedder`, or a function."""
    if isinstance(embedder, str):
        kind, _, model = embedder.partition(":")
        if kind not in _BY_NAME:
            raise ConfigurationError(
                f"unknown embedder {embedder!r}; use 'wordllama', 'fastembed:MODEL', "
                "'fastembed:/path/to/folder', or pass a function from texts to vectors"
            )
        return _BY_NAME[kind](model)
    if isinstance(embedder, Embedder):
        return embedder
    if callable(embedder):
        return FunctionEmbedder(embedder)
    raise ConfigurationError(
        f"{type(embedder).__name__} is not an embedder: it needs embed, embed_query, name and "
        "dimension, or must be a function from texts to vectors"
    )
