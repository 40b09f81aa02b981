"""From what a memory returns to evidence recall, and other figures of a run. Pure."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cognigraph.evaluate.metrics import percentiles

WARM_UP = 5
"""The first adds open connections and compile statements; they do not count."""
_WORD = re.compile(r"\w+")


def ranked(hits: Sequence[Mapping[str, Any]], texts: Mapping[str, str], k: int) -> list[str]:
    """Return the first k distinct messages that the hits lead to.

    A hit that names messages counts for these, in its order. A hit with text only counts for the
    messages whose whole text it contains, in the order of the text.
    """
    found: dict[str, None] = {}
    for hit in hits:
        for id in hit["ids"] if "ids" in hit else contained(hit["text"], texts):
            found.setdefault(id)
    return list(found)[:k]


def contained(text: str, texts: Mapping[str, str]) -> list[str]:
    """Return the messages whose words stand in ``text``, by where they begin."""
    words = _plain(text)
    at = {id: words.find(_plain(said)) for id, said in texts.items()}
    return sorted((id for id, index in at.items() if index >= 0), key=lambda id: at[id])


def _plain(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def curve(stored: Sequence[int], latencies: Sequence[float], points: int = 12) -> list[list[float]]:
    """Return the median latency of stretches, each with the messages stored at its end."""
    size = max(1, len(latencies) // points)
    return [
        [stored[n + size - 1], round(statistics.median(latencies[n : n + size]), 3)]
        for n in range(0, len(latencies) - size + 1, size)
    ]


def spread(latencies: Sequence[float]) -> dict[str, float] | None:
    """Return p50 and p95 without the warm-up."""
    return percentiles(latencies[WARM_UP:] or latencies)


def kept(
    stored: Sequence[str], acknowledged: Collection[str], refused: Collection[str]
) -> dict[str, int]:
    """Say what became of messages: of those acknowledged and of those refused, and copies."""
    copies = Counter(stored)
    return {
        "acknowledged": len(acknowledged),
        "refused": len(refused),
        "lost": sum(id not in copies for id in acknowledged),
        "refused_but_kept": sum(id in copies for id in refused),
        "doubled": sum(count > 1 for count in copies.values()),
    }
