"""An embedder whose near names are chosen by a test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt

from cognigraph.ids import normalise


class Meanings:
    """Texts of one group have one vector, every other text one of its own. Deterministic."""

    def __init__(self, *groups: Iterable[str], name: str = "meanings", dimension: int = 64) -> None:
        self._meaning = {
            normalise(text): str(n) for n, group in enumerate(groups) for text in group
        }
        self.name = name
        self.dimension = dimension
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Vectors (len(texts), dimension)."""
        self.asked += texts
        seeds = [crc32(self._meaning.get(normalise(text), text).encode()) for text in texts]
        directions = [np.random.RandomState(seed).standard_normal(self.dimension) for seed in seeds]
        return np.array(directions, np.float32).reshape(-1, self.dimension)
