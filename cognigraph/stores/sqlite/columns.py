"""Values as the columns of a file hold them: vectors, terms, uids, roles, states, tags, periods."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints, Vector
from cognigraph.model import Role
from cognigraph.model.graph import Period
from cognigraph.model.messages import ROLES
from cognigraph.stores.reindex import Precision
from cognigraph.times import from_micros

POSTING = np.dtype([("term", "<u8"), ("frequency", "<u4")])
"""One entry of a terms blob: 64-bit hash of the term and its frequency in the text."""


@lru_cache(maxsize=131_072)
def term_hash(term: str) -> int:
    """64-bit hash of a term; the probability that two of a million terms collide is 3e-8."""
    digest = blake2b(term.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def pack_terms(counts: Mapping[str, int]) -> bytes:
    """Pack terms with their frequencies into a blob."""
    return b"".join(map(_posting, counts.keys(), counts.values()))


@lru_cache(maxsize=131_072)
def _posting(term: str, frequency: int) -> bytes:
    """One entry of a terms blob."""
    return struct.pack("<QI", term_hash(term), frequency)


def unpack_terms(joined: bytes, lengths: Ints) -> tuple[npt.NDArray[np.void], Ints]:
    """Unpack the joined blobs of many rows: one array of postings, and each row's number of them.

    ``lengths`` are the lengths of the blobs in bytes.
    """
    return np.frombuffer(joined, dtype=POSTING), lengths // POSTING.itemsize


@dataclass(frozen=True, slots=True)
class VectorFormat:
    """The format of the vectors in a file: little-endian components without a header."""

    dimension: int
    precision: Precision = "float32"

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The type of a component on disk."""
        return np.dtype("<f2" if self.precision == "float16" else "<f4")

    def pack(self, vector: Vector) -> bytes:
        """Pack one vector into a blob."""
        return np.ascontiguousarray(vector, dtype=self.dtype).tobytes()

    def view(self, joined: bytes) -> npt.NDArray[np.floating]:
        """View the joined blobs of n rows as one (n, dimension) matrix in the precision on disk."""
        return np.frombuffer(joined, dtype=self.dtype).reshape(-1, self.dimension)

    def unpack(self, blobs: Sequence[bytes]) -> Vector:
        """Unpack the blobs of n rows into one (n, dimension) float32 matrix."""
        return np.asarray(self.view(b"".join(blobs)), np.float32)


def pack_uid(uid: str) -> bytes:
    """Pack a uid (32 hex digits) into 16 bytes."""
    return bytes.fromhex(uid)


def unpack_uids(joined: bytes) -> npt.NDArray[np.uint8]:
    """View the joined 16-byte uids of n rows as one (n, 16) array."""
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, 16)


def unpack_integers(listed: str) -> Ints:
    """Parse the comma-separated integers that ``group_concat`` returns into an array."""
    return np.fromstring(listed, dtype=np.int64, sep=",")


ROLE_OF_NUMBER: tuple[Role | None, ...] = (None, *ROLES)
"""Roles by their numbers in ``chunk_index``. New roles go to the end."""

_NUMBERS = {role: number for number, role in enumerate(ROLE_OF_NUMBER)}


def role_number(role: Role | None) -> int:
    """The number of a role in ``chunk_index``."""
    return _NUMBERS[role]


def metadata_of(text: str | None) -> Mapping[str, Any]:
    """Metadata as it was given."""
    return json.loads(text) if text else {}


def tags_of(text: str | None) -> tuple[str, ...]:
    """Tags, sorted."""
    return tuple(json.loads(text)) if text else ()


PENDING, DONE, FAILED = 0, 1, 2


def periods(text: str) -> tuple[Period, ...]:
    """The times in which a fact was true before, as they are stored."""
    if text == "[]":  # as nearly always
        return ()
    return tuple((from_micros(start), from_micros(end)) for start, end in json.loads(text))
