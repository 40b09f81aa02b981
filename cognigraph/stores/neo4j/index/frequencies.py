"""How many chunks of a space contain each term, in 12 bytes for each of most terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

_HASH, _COUNT = "<u8", "<u4"
_BYTES = 12
_MOST_RECENT = 20_000
"""So many terms may be in the dictionary, which takes a hundred bytes for each."""
_PER_TERM = 8
"""So many terms in arrays take the memory of one in the dictionary."""


class Frequencies:
    """The counts: sorted hashes of terms, and a dictionary of what was counted since.

    The hashes have 64 bits and depend on the space.
    """

    def __init__(self, space: str) -> None:
        self._seed = blake2b(space.encode("utf-8", "surrogatepass"), digest_size=8, person=b"count")
        self._hashes: npt.NDArray[np.uint64] = np.zeros(0, _HASH)
        self._counts: npt.NDArray[np.uint32] = np.zeros(0, _COUNT)
        self._recent: dict[str, int] = {}

    @classmethod
    def of(cls, space: str, value: bytes) -> Frequencies:
        """The counts that :meth:`packed` has returned."""
        own, terms = cls(space), len(value) // _BYTES
        own._hashes = np.frombuffer(value, _HASH, terms)
        own._counts = np.frombuffer(value, _COUNT, terms, 8 * terms)
        return own

    def packed(self) -> bytes:
        """All counts as bytes: the hashes, then the counts."""
        self._fold()
        return self._hashes.tobytes() + self._counts.tobytes()

    @property
    def cost(self) -> int:
        """What the counts take of memory, in terms of the dictionary."""
        return len(self._recent) + len(self._hashes) // _PER_TERM

    def add(self, terms: Sequence[str], counts: Sequence[int]) -> None:
        """Add further chunks, as many with each term."""
        recent = self._recent
        for term, count in zip(terms, counts, strict=True):
            recent[term] = recent.get(term, 0) + count
        if len(recent) > _MOST_RECENT:
            self._fold()

    def among(self, terms: Sequence[str]) -> dict[str, int]:
        """The number of chunks with each of some terms."""
        rows, known = self._rows(self._hashed(terms))
        found = np.zeros(len(terms), np.int64)
        found[known] = self._counts[rows[known]]
        return {
            term: count + self._recent.get(term, 0)
            for term, count in zip(terms, found.tolist(), strict=True)
        }

    def _fold(self) -> None:
        """Move what is in the dictionary to the arrays."""
        if not self._recent:
            return
        hashes = self._hashed(self._recent)
        order = np.argsort(hashes)
        hashes = hashes[order]
        new = np.fromiter(self._recent.values(), _COUNT, len(self._recent))[order]
        rows, known = self._rows(hashes)
        counts = self._counts.copy()
        counts[rows[known]] += new[known]
        self._hashes = np.insert(self._hashes, rows[~known], hashes[~known])
        self._counts = np.insert(counts, rows[~known], new[~known])
        self._recent = {}

    def _rows(
        self, hashes: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Where hashes are in the arrays, or would be, and which of them are there."""
        rows = np.searchsorted(self._hashes, hashes)
        known = rows < len(self._hashes)
        known[known] = self._hashes[rows[known]] == hashes[known]
        return rows, known

    def _hashed(self, terms: Iterable[str]) -> npt.NDArray[np.uint64]:
        digests = []
        for term in terms:
            one = self._seed.copy()
            one.update(b"\0" + term.encode("utf-8", "surrogatepass"))
            digests.append(one.digest())
        return np.frombuffer(b"".join(digests), _HASH)
