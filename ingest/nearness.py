"""Keeping which names lie near each other, inside a store's transaction.

What :func:`~cognigraph.ingest.likeness.alike` says of two entities is kept for every pair that
shares a small block of vectors: a function of the set of entities and of the embedder. These pairs
are only ever suspected, so they are apart from those that decide what is merged. While one embedder
is changed for another, an entity has a vector, blocks and pairs of each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cognigraph.ingest.blocking import Blocks, Ends, Keys, compare, leave
from cognigraph.ingest.groups import Pair
from cognigraph.ingest.likeness import NEAR, alike, cosines, near_keys
from cognigraph.ingest.resolve import Named

Half = npt.NDArray[np.float16]


class NameLedger(Blocks, Protocol):
    """What a store offers on the names of one space and the vectors of one embedder."""

    @property
    def embedder(self) -> str:
        """Whose vectors are meant: dimension and name."""
        ...

    def named(self, uids: Collection[str]) -> list[Named]:
        """Entities by uid."""
        ...

    def vectors(self, uids: Collection[str]) -> dict[str, Half]:
        """Vectors (dimension,) of names; those without one are missing."""
        ...

    def drop_vectors(self, uids: Collection[str]) -> None:
        """Delete vectors of names."""
        ...

    def near(self, uids: Collection[str]) -> list[Pair]:
        """Every pair of near names with at least one of these ends."""
        ...

    def write_near(self, pairs: Sequence[Pair]) -> None:
        """Insert or overwrite pairs of near names."""
        ...

    def drop_near(self, pairs: Sequence[Pair]) -> None:
        """Delete pairs of near names."""
        ...


def place(ledger: NameLedger, touched: Collection[str]) -> None:
    """Find what lies near entities that are new, have a vector now, or are spelled otherwise."""
    if touched:
        compare(ledger, _Near(ledger), touched)


def remove(ledger: NameLedger, gone: Collection[str]) -> None:
    """Take entities that are about to be deleted out of pairs and blocks."""
    names = _Near(ledger)
    ledger.drop_near(ledger.near(gone))
    place(ledger, leave(ledger, names.keys(gone)) - set(gone))
    ledger.drop_vectors(gone)


def withdraw(ledger: NameLedger, uids: Collection[str]) -> None:
    """Delete what an embedder that is not in use any more led to."""
    ledger.drop_near(ledger.near(uids))
    ledger.leave(_Near(ledger).keys(uids))
    ledger.drop_vectors(uids)


class _Near:
    """Names compared by their vectors: a :class:`~cognigraph.ingest.blocking.Comparison`."""

    def __init__(self, ledger: NameLedger) -> None:
        self._ledger = ledger
        self._vectors: dict[str, Half] = {}

    def _load(self, uids: Iterable[str]) -> Mapping[str, Half]:
        if missing := set(uids) - self._vectors.keys():
            self._vectors.update(self._ledger.vectors(missing))
        return self._vectors

    def keys(self, uids: Collection[str]) -> Keys:
        vectors = self._load(uids)
        named = [one for one in self._ledger.named(uids) if one.uid in vectors]
        own = near_keys(named, np.array([vectors[one.uid] for one in named]), self._ledger.embedder)
        return {one.uid: keys for one, keys in zip(named, own, strict=True)}

    def relate(self, ends: Iterable[Ends]) -> list[Pair]:
        listed = list(ends)
        vectors = self._load(uid for pair in listed for uid in pair)
        left, right = (np.array([vectors[pair[side]] for pair in listed]) for side in (0, 1))
        found = cosines(left, right)
        close = [(listed[place], float(found[place])) for place in np.flatnonzero(found >= NEAR)]
        named = {one.uid: one for one in self._ledger.named({u for pair, _ in close for u in pair})}
        related = [(pair, alike(named[pair[0]], named[pair[1]], cosine)) for pair, cosine in close]
        return [Pair(*pair, relation) for pair, relation in related if relation is not None]

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        return self._ledger.near(uids)

    def write(self, pairs: Sequence[Pair]) -> None:
        self._ledger.write_near(pairs)

    def drop(self, pairs: Sequence[Pair]) -> None:
        self._ledger.drop_near(pairs)
