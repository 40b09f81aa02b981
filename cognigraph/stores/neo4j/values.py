"""Converts vectors, terms and scores to and from their representation in Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from cognigraph.arrays import Floats, Vector
from cognigraph.times import to_micros

_HALF = np.dtype("<f2")


def vector(values: Vector) -> list[float] | None:
    """A vector as a list; ``None`` for the zero vector, which has no cosine and is not stored."""
    return values.tolist() if values.any() else None


def instant(moment: datetime) -> list[int]:
    """Seconds and nanoseconds since 1970. The driver takes a tenth of a millisecond to convert a
    ``datetime``, which is most of what it does for a message."""
    seconds, micros = divmod(to_micros(moment), 1_000_000)
    return [seconds, 1000 * micros]


def packed(values: Vector) -> bytes:
    """Pack the vector of a name, which is in no index, into little-endian 16-bit floats."""
    return values.astype(_HALF).tobytes()


def unpacked(found: Sequence[bytes], dimension: int) -> Vector:
    """Unpack the vectors of names into a matrix (number of names, dimension)."""
    joined = np.frombuffer(b"".join(found), _HALF)
    return joined.reshape(-1, dimension).astype(np.float32)


def spread(terms: Mapping[str, int]) -> list[str]:
    """A list with each term as often as it occurs."""
    return [term for term, count in terms.items() for _ in range(count)]


def cosine(scores: Floats) -> Floats:
    """Convert Neo4j's similarity, (1 + cos) / 2, to the cosine."""
    return 2.0 * scores - 1.0
