"""Own vector indexes for big spaces.

A vector index shared by all spaces finds other tenants' nodes and misses a small tenant's own, so
there is none. A small space compares all its vectors, which is exact and takes milliseconds; a
space that has outgrown that gets a label and an index of its own, layer by layer.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from threading import Lock
from typing import Literal

from cognigraph.errors import StoreError, StoreUnavailableError
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.index.fulltext import own_label

Layer = Literal["Chunk", "Triple", "Theme"]
_LAYERS: tuple[Layer, ...] = ("Chunk", "Triple", "Theme")

logger = logging.getLogger("cognigraph.neo4j")

_BATCH = 2000
_TAIL = 256
"""So many chunks of a big space are compared before they are taken into its index together."""

# Quantised, a quarter of the memory: candidates are put in order by their stored vectors anyway.
# The graph is denser than by default (16, 100): recall at 100 of the first 200 is 0.99, not 0.96.
_HNSW = {
    "vector.similarity_function": "cosine",
    "vector.quantization.enabled": True,
    "vector.hnsw.m": 24,
    "vector.hnsw.ef_construction": 200,
}


def index_name(layer: Layer, space: str, embedding: str = "embedding") -> str:
    """Name of the vector index of a space's layer, on the property that holds the vectors."""
    return f"vector{embedding.removeprefix('embedding')}_{own_label(layer, space)}"


class OwnIndexes:
    """Makes own indexes and knows which can be searched."""

    def __init__(self, connection: Connection, dimension: int, exact_up_to: int) -> None:
        self._connection = connection
        self._dimension = dimension
        self._exact_up_to = exact_up_to
        self._online: set[str] = set()
        self._tried: set[str] = set()
        self._lock = Lock()

    def grow(self, space: str, layer: Layer, nodes: int, indexed: bool) -> None:
        """Give a layer its own index if it has become too big to compare all.

        Every step can be repeated: after a crash, or a race, the next write finishes the job.
        """
        if indexed or nodes <= self._exact_up_to:
            return
        name = index_name(layer, space, self._connection.embedding)
        with self._lock:
            if name in self._tried:
                return
            self._tried.add(name)
        try:
            self._make(space, layer)
        except StoreUnavailableError:
            # The write that brought us here is done; one of the next tries again.
            with self._lock:
                self._tried.discard(name)
        except StoreError as error:
            logger.warning("space %r keeps comparing all its vectors: %s", space, error)

    def cover(self, space: str, tail: int) -> None:
        """Take the newest chunks into the space's own index, once they are worth a transaction.

        One by one they would cost each insert a second index; until then they are compared.
        """
        if tail < _TAIL:
            return
        labels = [own_label("Chunk", space)]
        try:
            self._connection.write(lambda tx: tx.rows("vectors/cover", space=space, labels=labels))
        except StoreError as error:  # the insert that brought us here is done; the next tries again
            logger.info("space %r keeps comparing its newest vectors: %s", space, error)

    def _make(self, space: str, layer: Layer) -> None:
        of_layer = (":Chunk", f":{layer}")
        labels = [own_label(layer, space)]
        if layer != "Chunk":
            # First the announcement: every node written after it has the label already.
            self._connection.write(
                lambda tx: tx.rows(
                    "vectors/announce",
                    space=space,
                    labels=labels,
                    property=f"{layer.lower()}_labels",
                )
            )
        covered, after = 0, self._label(space, of_layer, labels, 0)
        while after is not None:
            covered, after = after, self._label(space, of_layer, labels, after)
        # The server fills the index in the background; searches stay exact until it is online.
        self._create(layer, space, self._connection.embedding, self._dimension)
        if layer == "Chunk":
            self._connection.write(
                lambda tx: tx.rows("vectors/ready_chunks", space=space, covered=covered)
            )
        else:
            indexed = f"{layer.lower()}_indexed"
            self._connection.write(
                lambda tx: tx.rows("vectors/ready", space=space, property=indexed)
            )

    def _create(self, layer: Layer, space: str, embedding: str, dimension: int) -> None:
        self._connection.command(
            "vectors/create",
            ("OwnLabel", own_label(layer, space)),
            (f"node.{self._connection.embedding}", f"node.{embedding}"),
            name=index_name(layer, space, embedding),
            options={"indexConfig": {"vector.dimensions": dimension, **_HNSW}},
        )

    def _indexed(self) -> Iterator[tuple[Layer, str]]:
        """Layers and names of the spaces that have indexes of their own."""
        for layer in _LAYERS:
            owner = () if layer == "Chunk" else (("(owner:Space ", "(owner:SpaceFacts "),)
            indexed = f"{layer.lower()}_indexed"
            row = self._connection.row("reindex/indexed", *owner, indexed=indexed)
            for space in row[0] if row else ():
                yield layer, space

    def make_again(self, embedding: str, dimension: int) -> None:
        """Make all own indexes on another property; repeating it changes nothing."""
        for layer, space in self._indexed():
            self._create(layer, space, embedding, dimension)

    def drop(self, embedding: str) -> None:
        """Drop all own indexes on a property."""
        for layer, space in self._indexed():
            name = index_name(layer, space, embedding)
            self._connection.command("vectors/drop", name=name)

    def _label(
        self, space: str, of_layer: tuple[str, str], labels: list[str], after: int
    ) -> int | None:
        row = self._connection.write(
            lambda tx: tx.row(
                "vectors/label", of_layer, space=space, after=after, labels=labels, limit=_BATCH
            )
        )
        return None if row is None else row[0]

    def usable(self, space: str, layer: Layer, indexed: bool) -> str | None:
        """Name of the index to search, or None where all vectors have to be compared."""
        if not indexed:
            return None
        name = index_name(layer, space, self._connection.embedding)
        with self._lock:
            if name in self._online:
                return name
        row = self._connection.row("vectors/state", name=name)
        if row is None or row[0] != "ONLINE":
            return None
        with self._lock:
            self._online.add(name)
        return name

    def forget(self, name: str) -> None:
        """Look at the state of an index again before it is searched."""
        with self._lock:
            self._online.discard(name)
