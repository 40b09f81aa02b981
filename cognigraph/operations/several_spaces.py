"""Search several spaces: each by itself, and their hits in one order."""

from __future__ import annotations

from collections.abc import Mapping

from cognigraph.model import Hit, SearchResult, SpaceHit


def merged(results: Mapping[str, SearchResult], k: int) -> tuple[SpaceHit, ...]:
    """The ``k`` best hits. The order within each space is kept.

    Scores are relative to the best of a space. What is compared across spaces is the similarity of
    the vectors, which is the same measure everywhere.
    """
    waiting = {space: list(result.hits) for space, result in results.items() if result.hits}
    found: list[SpaceHit] = []
    while waiting and len(found) < k:
        space = max(waiting, key=lambda name: (_strength(waiting[name][0]), name))
        found.append(SpaceHit(space, waiting[space].pop(0)))
        if not waiting[space]:
            del waiting[space]
    return tuple(found)


def _strength(hit: Hit) -> float:
    return hit.why.signals.get("vector", hit.score)
