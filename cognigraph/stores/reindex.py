"""A change of embedder, as every store offers it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from cognigraph.arrays import Vector

Precision = Literal["float32", "float16"]
"""How vectors lie on disk; in memory and in every call they are float32."""


@dataclass(frozen=True, slots=True)
class Unindexed:
    """A row that has no vector of the new embedder yet, and the text to make it from.

    Of an empty text the vector is zeros. A ``name`` is embedded as one
    (:meth:`cognigraph.embed.CheckedEmbedder.embed_names`).
    """

    layer: str
    key: int | str
    text: str
    name: bool = False


class Reindexing(Protocol):
    """A change of embedder under way, kept in the store: it survives the process doing it."""

    @property
    def needed(self) -> bool:
        """False if the store has that embedder (and vector format) already, for all its names."""
        ...

    def progress(self) -> tuple[int, int]:
        """Vectors that are there, and how many there will be."""
        ...

    def waiting(self, limit: int) -> list[Unindexed]:
        """The next rows without a new vector; each is given once."""
        ...

    def write(self, rows: Sequence[Unindexed], vectors: Vector) -> None:
        """Keep some new vectors, beside the ones in use."""
        ...

    def switch(self, embed: Callable[[Sequence[Unindexed]], Vector]) -> None:
        """Embed what is still missing, use the new vectors, record the embedder: all or nothing.

        From then on this store object, and those of other processes, refuse to add and search.
        """
        ...

    def clean(self) -> None:
        """Remove what only the old embedder needed."""
        ...
