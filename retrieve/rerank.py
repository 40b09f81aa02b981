"""Reranking: a second, slower look at the first hits, by a model that reads question and text."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cognigraph.errors import ConfigurationError
from cognigraph.stores.candidates import ChunkRecord
from cognigraph.text.clean import spoken

logger = logging.getLogger("cognigraph.rerank")

Reranker = Callable[[str, Sequence[str]], Sequence[float]]
"""Scores of texts for a question, higher is better, on any scale. Must be thread-safe."""

Messages = tuple[list[int], dict[int, ChunkRecord]]
"""Rows of the best messages in order, and of each the chunk that is shown."""


@dataclass(frozen=True, slots=True)
class Place:
    """What reranking did to one hit: its rank before (from 1) and the model's score."""

    before: int
    score: float


@dataclass(frozen=True, slots=True)
class Reranked:
    """A new order of what was given, by position, and what is to be said about it."""

    order: tuple[int, ...]
    places: dict[int, Place]
    note: str = ""


def resolve_reranker(reranker: str | Reranker | None, embedder: object = None) -> Reranker | None:
    """Make a reranker of what the user gave.

    ``"flag:MODEL_OR_FOLDER"`` is a cross-encoder through FlagEmbedding; ``"embedder"`` asks the
    embedder itself, where it can score pairs of texts (BGE-M3's sparse and ColBERT scores).
    """
    if reranker is None or not isinstance(reranker, str):
        if reranker is not None and not callable(reranker):
            raise ConfigurationError(
                f"{type(reranker).__name__} is not a reranker: it must be callable with a "
                "question and texts, and return a score for each"
            )
        return reranker
    kind, _, model = reranker.partition(":")
    if reranker == "embedder":
        own: Reranker | None = getattr(embedder, "rerank", None)
        if own is None:
            raise ConfigurationError(
                f"{type(embedder).__name__} cannot rerank; use it with embedder='flag:MODEL', or "
                "give a reranker of its own"
            )
        return own
    if kind == "flag":
        from cognigraph.embed.flag import FlagReranker

        return FlagReranker(model) if model else FlagReranker()
    raise ConfigurationError(
        f"unknown reranker {reranker!r}; use 'flag:MODEL', 'embedder', or a function of a question "
        "and texts"
    )


def rerank(reranker: Reranker, question: str, texts: Sequence[str], limit: int) -> Reranked:
    """Order the first ``limit`` texts by the reranker, the rest staying behind them.

    Equal scores keep their order. A reranker that fails changes nothing, and the note says so.
    """
    head = texts[:limit]
    unchanged = tuple(range(len(texts)))
    if not head:
        return Reranked(unchanged, {})
    try:
        scores = _checked(reranker(question, head), len(head))
    except Exception as error:  # noqa: BLE001 - any reranker may be plugged in here
        logger.warning("the reranker failed: %s: %s", type(error).__name__, error)
        reason = f"{type(error).__name__}: {error}"[:200]
        return Reranked(unchanged, {}, f"not reranked, the reranker failed: {reason}")
    first = sorted(range(len(head)), key=lambda place: -scores[place])
    places = {place: Place(place + 1, scores[place]) for place in first}
    return Reranked((*first, *unchanged[len(head) :]), places)


def rerank_messages(
    reranker: Reranker, question: str, best: Messages, limit: int, k: int
) -> tuple[Messages, Reranked]:
    """Rerank the best messages as a reader sees them, and keep ``k``; places are by row."""
    rows, records = best
    texts = [spoken(records[row].speaker, records[row].text) for row in rows]
    done = rerank(reranker, question, texts, limit)
    kept = [rows[place] for place in done.order[:k]]
    places = {rows[place]: moved for place, moved in done.places.items()}
    return (kept, {row: records[row] for row in kept}), Reranked(tuple(kept), places, done.note)


def _checked(scores: Sequence[float], count: int) -> list[float]:
    values = [float(score) for score in scores]
    if len(values) != count:
        raise ValueError(f"{len(values)} scores for {count} texts")
    if not all(math.isfinite(value) for value in values):
        raise ValueError("a score is NaN or infinite")
    return values
