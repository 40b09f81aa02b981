"""Fuse the rankings of several queries into one, fairly: no query crowds out another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

_T = TypeVar("_T")
_Key = Callable[[_T], Hashable]

_SMOOTHING = 1
"""Added to ranks before they are inverted. Fusions are equally good for 0 to 10; for 60, as it is
common, messages that several queries find a little push out what one query finds first."""

_OWN_SHARE = 0.5
"""Of the items that a ranking would give in turn, this share is certain to be chosen."""


def fused(rankings: Sequence[Sequence[_T]], key: _Key[_T], k: int) -> list[tuple[int, _T]]:
    """Fuse rankings by the sum of their reciprocal ranks; all items, the ``k`` chosen ones first.

    Items with the same ``key`` are the same. Each ranking has its first items among the chosen, at
    least half as many as if the rankings gave an item each in turn. Returns each item as it is in
    the ranking that puts it highest, with the position of that ranking.
    """
    best: dict[Hashable, tuple[int, int, _T]] = {}
    score: defaultdict[Hashable, float] = defaultdict(float)
    for position, ranking in enumerate(rankings):
        for rank, item in enumerate(ranking, 1):
            score[key(item)] += 1 / (_SMOOTHING + rank)
            if key(item) not in best or rank < best[key(item)][0]:
                best[key(item)] = (rank, position, item)
    order = sorted(best, key=lambda one: (-round(score[one], 12), best[one][:2]))
    own = int(_OWN_SHARE * k / max(len(rankings), 1))
    certain = {key(item) for ranking in rankings for item in ranking[:own]}
    free = [one for one in order if one not in certain][: max(k - len(certain), 0)]
    chosen = certain.union(free)
    first = [one for one in order if one in chosen]
    rest = [one for one in order if one not in chosen]
    return [best[one][1:] for one in (*first, *rest)]


def in_turns(rankings: Sequence[Sequence[_T]], key: _Key[_T]) -> Iterator[_T]:
    """Let each ranking in turn give its best item that no other has given, until all are empty."""
    given: set[Hashable] = set()
    waiting = [iter(ranking) for ranking in rankings]
    while waiting:
        left = []
        for items in waiting:
            item = next((item for item in items if key(item) not in given), None)
            if item is not None:
                given.add(key(item))
                left.append(items)
                yield item
        waiting = left


def at_most_per(items: Iterable[_T], group: _Key[_T], most: int | None) -> Iterator[_T]:
    """The items without those of a group of which there were ``most`` already."""
    taken: Counter[Hashable] = Counter()
    for item in items:
        taken[group(item)] += 1
        if most is None or taken[group(item)] <= most:
            yield item
