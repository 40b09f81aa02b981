"""How far the vectors of a space separate what belongs together from what does not.

An embedder that does not know the language of a space finds all of its messages alike, and then its
cosines only add noise to a ranking. Nobody has to say so: consecutive messages of a session are
about the same thing more often than messages of different sessions, so their cosines must be
higher. The distance of the two means, in standard deviations of the latter (Glass's delta), is .5
to 2.9 for English with an embedder that knows it, and .1 to .3 for the same one on German or
Chinese.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.model.storage import Check
from cognigraph.stores.candidates import ConsecutiveChunks
from cognigraph.stores.protocols import Store

MEASURED = 512
"""The number of newest chunks that are compared."""

LITTLE, ENOUGH = 0.35, 0.65
"""Distances up to which vectors count for nothing, and from which they count in full."""

_MOST_SPACES = 10_000
_FEWEST = 24
_PAIRS = 4 * MEASURED
"""With fewer consecutive pairs than this, nothing is concluded."""


def worth_of(chunks: ConsecutiveChunks) -> float | None:
    """What the vectors are worth, from 0 to 1; ``None`` if there are too few pairs to tell."""
    distance = distance_of_means(chunks)
    if distance is None:
        return None
    return float(np.clip((distance - LITTLE) / (ENOUGH - LITTLE), 0.0, 1.0))


def distance_of_means(chunks: ConsecutiveChunks) -> float | None:
    """Glass's delta of the cosines of consecutive chunks over those of different sessions."""
    sessions = chunks.sessions
    if not len(sessions):
        return None
    together = np.flatnonzero(sessions[1:] == sessions[:-1])
    one, other = _strangers(sessions)
    if len(together) < _FEWEST or len(one) < _FEWEST:
        return None
    norms = np.linalg.norm(chunks.vectors, axis=1, keepdims=True)
    unit = chunks.vectors / np.where(norms > 0, norms, 1.0)
    near = _cosines(unit, together, together + 1)
    far = _cosines(unit, one, other)
    spread = float(far.std())
    return float(near.mean() - far.mean()) / spread if spread > 0 else 0.0


def _strangers(sessions: Ints) -> tuple[Ints, Ints]:
    """Random pairs of chunks of different sessions, the same ones each time."""
    one, other = np.random.default_rng(0).integers(0, len(sessions), (2, _PAIRS))
    apart = sessions[one] != sessions[other]
    return one[apart], other[apart]


def _cosines(unit: Floats, one: Ints, other: Ints) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", unit[one], unit[other]), float)


class VectorWorth:
    """What each space's vectors are worth, measured again when the space doubles or halves."""

    UNKNOWN = 0.25
    """The worth where there is too little to measure: words always tell something."""

    def __init__(self) -> None:
        self._measured: dict[str, tuple[int, float]] = {}
        self._lock = Lock()

    def of(self, store: Store, space: str, chunks: int) -> float:
        """Return the worth of the vectors of a space that has so many chunks, from 0 to 1."""
        with self._lock:
            known = self._measured.get(space)
        if known is not None and known[0] <= 2 * chunks and chunks < 2 * known[0]:
            return known[1]
        worth = worth_of(store.search.consecutive(space, MEASURED))
        found = self.UNKNOWN if worth is None else worth
        with self._lock:
            if len(self._measured) >= _MOST_SPACES:
                self._measured.clear()
            self._measured[space] = (max(chunks, 1), found)
        return found


_SPACES_CHECKED = 20


def check_vectors(store: Store) -> Check:
    """Say in which spaces the vectors tell messages apart too little, and what to do about it."""
    spaces = store.spaces()[:_SPACES_CHECKED]
    distances = {
        space: distance_of_means(store.search.consecutive(space, MEASURED)) for space in spaces
    }
    known = {space: far for space, far in distances.items() if far is not None}
    weak = [f"{space!r} ({far:.2f})" for space, far in known.items() if far < ENOUGH]
    if not weak:
        return Check("vectors", True, f"tell messages apart in {len(known)} spaces that were tried")
    return Check(
        "vectors",
        True,
        f"tell messages apart little in {', '.join(weak)}; from {ENOUGH} on they count in full. In "
        "other languages than English, words rank instead. If the embedder does not know the "
        "language: cognigraph reindex --embedder multilingual",
    )
