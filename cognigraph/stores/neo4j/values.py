"""Values on their way to Neo4j and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cognigraph.arrays import Floats, Vector

_HALF = np.dtype("<f2")


def vector(values: Vector) -> list[float] | None:
    """A vector as Neo4j takes it; ``None`` for zeros, which have no cosine and are not stored."""
    return values.tolist() if values.any() else None


def packed(values: Vector) -> bytes:
    """The vector of a name, which no index has: 16-bit floats, little-endian."""
    return values.astype(_HALF).tobytes()


def unpacked(found: Sequence[bytes], dimension: int) -> Vector:
    """Vectors of names (number of names, dimension)."""
    joined = np.frombuffer(b"".join(found), _HALF)
    return joined.reshape(-1, dimension).astype(np.float32)


def spread(terms: Mapping[str, int]) -> list[str]:
    """Terms, each as often as it occurs."""
    return [term for term, count in terms.items() for _ in range(count)]


def cosine(scores: Floats) -> Floats:
    """Neo4j's similarity (1 + cos) / 2 back to a cosine."""
    return 2.0 * scores - 1.0
