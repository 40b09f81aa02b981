"""Reranking: a slower model that reads question and text together reorders the first hits."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cognigraph.errors import ConfigurationError
from cognigraph.stores.candidates import ChunkRecord
from cognigraph.text.terms import spoken

logger = logging.getLogger("cognigraph.rerank")

Reranker = Callable[[str, Sequence[str]], Sequence[float]]
"""Takes a question and texts; returns one score per text, higher is better, on any scale.

Must be thread-safe.
"""


@dataclass(frozen=True, slots=True)
class RankChange:
    """What reranking did to one hit: its rank before (from 1) and the reranker's score."""

    rank_before: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMessages:
    """Messages, best first, by the candidate row that ranks each.

    ``records`` holds the chunk that is shown for each row, ``changes`` what a reranker did to it,
    and ``note`` what went wrong with reranking. ``newer`` are the rows that moved up because they
    are newer than what they moved past, ``versions`` those that moved up as later versions of one
    of the first messages.
    """

    rows: Sequence[int]
    records: Mapping[int, ChunkRecord]
    changes: Mapping[int, RankChange] = field(default_factory=dict)
    note: str = ""
    newer: frozenset[int] = frozenset()
    versions: frozenset[int] = frozenset()


def resolve_reranker(reranker: str | Reranker | None, embedder: object = None) -> Reranker | None:
    """Return the reranker that the user names or passes; ``None`` if there is none.

    ``"flag:MODEL_OR_FOLDER"`` is a cross-encoder run by FlagEmbedding; ``"embedder"`` uses the
    embedder itself if it can score pairs of texts (BGE-M3's sparse and ColBERT scores). Anything
    that cannot rerank raises :class:`ConfigurationError`.
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


def rerank(
    reranker: Reranker, question: str, best: RankedMessages, limit: int, k: int
) -> RankedMessages:
    """Sort the first ``limit`` messages by the reranker's scores, and keep the first ``k`` of all.

    It reads each with its speaker's name. The others follow in their order, and messages with equal
    scores keep theirs. If the reranker fails, nothing moves and ``note`` says why.
    """
    head = best.rows[:limit]
    if not head:
        return replace(best, rows=best.rows[:k])
    records = [best.records[row] for row in head]
    texts = [spoken(record.speaker, record.text) for record in records]
    try:
        scores = _checked(reranker(question, texts), len(texts))
    except Exception as error:  # noqa: BLE001 - users plug in rerankers, which may raise anything
        logger.warning("the reranker failed: %s: %s", type(error).__name__, error)
        reason = f"{type(error).__name__}: {error}"[:200]
        note = f"not reranked, the reranker failed: {reason}"
        return replace(best, rows=best.rows[:k], note=note)
    changes = {
        row: RankChange(rank, score)
        for rank, (row, score) in enumerate(zip(head, scores, strict=True), 1)
    }
    first = sorted(head, key=lambda row: -changes[row].score)
    return replace(best, rows=[*first, *best.rows[limit:]][:k], changes=changes)


def _checked(scores: Sequence[float], count: int) -> list[float]:
    values = [float(score) for score in scores]
    if len(values) != count:
        raise ValueError(f"{len(values)} scores for {count} texts")
    if not all(math.isfinite(value) for value in values):
        raise ValueError("a score is NaN or infinite")
    return values
