"""The ``Reindexing`` protocol: a change of embedder, as every store implements it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from cognigraph.arrays import Vector

Precision = Literal["float32", "float16"]
"""How vectors are stored on disk; in memory and in every call they are float32."""


@dataclass(frozen=True, slots=True)
class Unindexed:
    """A row that has no vector of the new embedder yet, and the text to embed.

    The vector of an empty text is all zeros. A row with ``name`` is embedded as a name
    (:meth:`cognigraph.embed.CheckedEmbedder.embed_names`).
    """

    layer: str
    key: int | str
    text: str
    name: bool = False


class Reindexing(Protocol):
    """A change of embedder in progress; the store keeps its state, so any process can resume it."""

    @property
    def needed(self) -> bool:
        """False if the store already has this embedder and vector format, and all name vectors."""

    def progress(self) -> tuple[int, int]:
        """The number of vectors made so far, and how many there will be."""

    def waiting(self, limit: int) -> list[Unindexed]:
        """The next rows without a new vector; each is returned once."""

    def write(self, rows: Sequence[Unindexed], vectors: Vector) -> None:
        """Store new vectors beside the ones in use."""

    def switch(self, embed: Callable[[Sequence[Unindexed]], Vector]) -> None:
        """Embed the remaining rows, switch to the new vectors and record the embedder, atomically.

        From then on this store object, and those of other processes, refuse to add and search.
        """

    def clean(self) -> None:
        """Remove what only the old embedder needed."""
