"""How vectors, terms and uids are kept in BLOB columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from cognigraph.stores.base import Vector

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


def unpack_terms(blobs: Sequence[bytes]) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
    """Blobs of many rows to one array of postings, and the number of postings in each row."""
    sizes = np.array([len(blob) for blob in blobs], dtype=np.int64) // POSTING.itemsize
    return np.frombuffer(b"".join(blobs), dtype=POSTING), sizes


def pack_vector(vector: Vector) -> bytes:
    """A vector as little-endian float32."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def unpack_vectors(blobs: Sequence[bytes], dimension: int) -> Vector:
    """Blobs of many rows to one (n, dimension) matrix."""
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(-1, dimension)


def pack_uid(uid: str) -> bytes:
    """A uid (32 hex digits) as 16 bytes."""
    return bytes.fromhex(uid)


def unpack_uids(blobs: Sequence[bytes]) -> npt.NDArray[np.uint8]:
    """16-byte uids of many rows to one (n, 16) array."""
    return np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(-1, 16)
