"""Comparing new entities with those that share a small block with them, never all with all.

The pairs that result are a function of the set of entities: of their keys, of which blocks are
small, and of what is said of two names. Only what new entities touch is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from cognigraph.ingest.groups import Pair

MOST_IN_BLOCK = 50
"""A block with more names than this says nothing about any two of them."""

Ends = tuple[str, str]
Keys = Mapping[str, frozenset[int]]


class Blocks(Protocol):
    """Where a store keeps who is in which block."""

    def enter(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Put entities into blocks; for each key the size now, and how many of it are new.

        A size beyond :data:`MOST_IN_BLOCK` and what is new may be given as anything beyond it.
        """
        ...

    def leave(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Take entities out of blocks; for each key the size now, and how many left it."""
        ...

    def blocks(self, keys: Collection[int]) -> dict[int, list[str]]:
        """Members of blocks."""
        ...

    def sizes(self, keys: Collection[int]) -> dict[int, int]:
        """Sizes of blocks."""
        ...


class Comparison(Protocol):
    """One way in which entities belong together: by their names' letters, or by their vectors."""

    def keys(self, uids: Collection[str]) -> Keys:
        """Keys of the blocks of entities."""
        ...

    def relate(self, ends: Iterable[Ends]) -> list[Pair]:
        """Those of some pairs that belong together; ``ends`` are in order."""
        ...

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        """Every pair kept with at least one of these ends."""
        ...

    def write(self, pairs: Sequence[Pair]) -> None:
        """Keep pairs, in place of what is kept of the same ends."""
        ...

    def drop(self, pairs: Sequence[Pair]) -> None:
        """Keep pairs no longer."""
        ...


def compare(blocks: Blocks, by: Comparison, touched: Collection[str]) -> set[str]:
    """Relate entities to the members of their blocks; return the ends of what changed."""
    keys = by.keys(touched)
    entered = blocks.enter(keys)
    small = {key for key, (size, _) in entered.items() if 1 < size <= MOST_IN_BLOCK}
    burst = {key for key, (size, new) in entered.items() if size > MOST_IN_BLOCK >= size - new}
    members = blocks.blocks(small | burst) if small or burst else {}
    candidates = {
        (min(uid, other), max(uid, other))
        for uid, own in keys.items()
        for key in own & small
        for other in members[key]
        if other != uid
    }
    found = by.relate(sorted(candidates)) if candidates else []
    dropped = _burst(blocks, by, {uid for key in burst for uid in members[key]})
    # A new spelling can end a relation as well.
    related = {pair.ends for pair in found}
    ended = [pair for pair in by.pairs(touched) if pair.ends not in related]
    if ended:
        by.drop(ended)
    if found:
        by.write(found)
    return {uid for pair in [*found, *dropped, *ended] for uid in pair.ends}


def leave(blocks: Blocks, keys: Keys) -> set[str]:
    """Take entities out of blocks; return the members of those that say something again."""
    left = blocks.leave(keys)
    revived = {key for key, (size, gone) in left.items() if size <= MOST_IN_BLOCK < size + gone}
    return {uid for members in blocks.blocks(revived).values() for uid in members}


def _burst(blocks: Blocks, by: Comparison, inside: set[str]) -> list[Pair]:
    """Drop the pairs that rest on nothing but blocks that have become too big."""
    if not inside:
        return []
    pairs = [pair for pair in by.pairs(inside) if inside.issuperset(pair.ends)]
    keys = by.keys({uid for pair in pairs for uid in pair.ends})
    shared = {pair.ends: keys[pair.a] & keys[pair.b] for pair in pairs}
    sizes = blocks.sizes({key for common in shared.values() for key in common})
    dropped = [
        pair
        for pair in pairs
        if all(sizes.get(key, 0) > MOST_IN_BLOCK for key in shared[pair.ends])
    ]
    if dropped:
        by.drop(dropped)
    return dropped
