"""Reranking: a slower model that reads question and text together reorders the first hits."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Reranked:
    """The new order of texts, as positions in the old one, and how the reranked ones moved.

    ``changes`` is by position in the old order; ``note`` says what went wrong.
    """

    order: tuple[int, ...]
    changes: Mapping[int, RankChange]
    note: str = ""


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


def rerank(reranker: Reranker, question: str, texts: Sequence[str], limit: int) -> Reranked:
    """Sort the first ``limit`` texts by the reranker's scores; the rest follow in their order.

    Texts with equal scores keep their order. If the reranker fails, nothing moves and ``note`` says
    why.
    """
    head = texts[:limit]
    unchanged = tuple(range(len(texts)))
    if not head:
        return Reranked(unchanged, {})
    try:
        scores = _checked(reranker(question, head), len(head))
    except Exception as error:  # noqa: BLE001 - users plug in rerankers, which may raise anything
        logger.warning("the reranker failed: %s: %s", type(error).__name__, error)
        reason = f"{type(error).__name__}: {error}"[:200]
        return Reranked(unchanged, {}, f"not reranked, the reranker failed: {reason}")
    first = sorted(range(len(head)), key=lambda position: -scores[position])
    changes = {position: RankChange(position + 1, scores[position]) for position in first}
    return Reranked((*first, *unchanged[len(head) :]), changes)


def rerank_messages(
    reranker: Reranker, question: str, best: RankedMessages, limit: int, k: int
) -> RankedMessages:
    """Rerank the best messages, each with its speaker's name, and keep the first ``k``."""
    rows, records = best.rows, best.records
    texts = [spoken(records[row].speaker, records[row].text) for row in rows]
    reranked = rerank(reranker, question, texts, limit)
    kept = [rows[position] for position in reranked.order[:k]]
    return RankedMessages(
        rows=kept,
        records={row: records[row] for row in kept},
        changes={rows[position]: change for position, change in reranked.changes.items()},
        note=reranked.note,
    )


def _checked(scores: Sequence[float], count: int) -> list[float]:
    values = [float(score) for score in scores]
    if len(values) != count:
        raise ValueError(f"{len(values)} scores for {count} texts")
    if not all(math.isfinite(value) for value in values):
        raise ValueError("a score is NaN or infinite")
    return values
