"""Fuse the results of several queries into one, fairly: no query crowds out another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def in_turns(
    rankings: Sequence[Sequence[_T]], key: Callable[[_T], Hashable]
) -> Iterator[tuple[int, _T]]:
    """Let each ranking in turn give its best item that no other has given, until all are empty.

    Yields the position of the ranking with the item. Items with the same ``key`` are the same.
    """
    given: set[Hashable] = set()
    waiting = [(position, iter(ranking)) for position, ranking in enumerate(rankings)]
    while waiting:
        left = []
        for position, items in waiting:
            item = next((item for item in items if key(item) not in given), None)
            if item is not None:
                given.add(key(item))
                left.append((position, items))
                yield position, item
        waiting = left


def at_most_per(
    items: Iterator[_T], group: Callable[[_T], Hashable], most: int | None
) -> Iterator[_T]:
    """The items without those of a group of which there were ``most`` already."""
    taken: Counter[Hashable] = Counter()
    for item in items:
        taken[group(item)] += 1
        if most is None or taken[group(item)] <= most:
            yield item
