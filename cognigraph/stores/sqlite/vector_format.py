"""How vectors, terms and uids are kept in BLOB columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints, Vector
from cognigraph.stores.reindex import Precision

POSTING = np.dtype([("term", "<u8"), ("frequency", "<u4")])
"""One entry of a terms blob: 64-bit hash of the term and its frequency in the text."""


@lru_cache(maxsize=131_072)
def term_hash(term: str) -> int:
    """64-bit hash of a term; collisions are as rare as 1 in 10^10 for a million terms a space."""
    digest = blake2b(term.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def pack_terms(counts: Mapping[str, int]) -> bytes:
    """Terms with frequencies to a blob."""
    entries = [(term_hash(term), count) for term, count in counts.items()]
    return np.array(entries, dtype=POSTING).tobytes()


def unpack_terms(joined: bytes, lengths: Ints) -> tuple[npt.NDArray[np.void], Ints]:
    """Blobs of many rows, joined, to one array of postings, and the number of each row's."""
    return np.frombuffer(joined, dtype=POSTING), lengths // POSTING.itemsize


@dataclass(frozen=True, slots=True)
class VectorFormat:
    """How the vectors of a file are packed: little-endian, without a header."""

    dimension: int
    precision: Precision = "float32"

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Type of a component on disk."""
        return np.dtype("<f2" if self.precision == "float16" else "<f4")

    def pack(self, vector: Vector) -> bytes:
        """One vector to a blob."""
        return np.ascontiguousarray(vector, dtype=self.dtype).tobytes()

    def view(self, joined: bytes) -> npt.NDArray[np.floating]:
        """Blobs of many rows, joined, to one (n, dimension) matrix as it is on disk."""
        return np.frombuffer(joined, dtype=self.dtype).reshape(-1, self.dimension)

    def unpack(self, blobs: Sequence[bytes]) -> Vector:
        """Blobs of many rows to one (n, dimension) float32 matrix."""
        return np.asarray(self.view(b"".join(blobs)), np.float32)


def pack_uid(uid: str) -> bytes:
    """A uid (32 hex digits) as 16 bytes."""
    return bytes.fromhex(uid)


def unpack_uids(joined: bytes) -> npt.NDArray[np.uint8]:
    """16-byte uids of many rows, joined, to one (n, 16) array."""
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, 16)


def unpack_integers(listed: str) -> Ints:
    """Integers as ``group_concat`` lists them, to an array."""
    return np.fromstring(listed, dtype=np.int64, sep=",")
