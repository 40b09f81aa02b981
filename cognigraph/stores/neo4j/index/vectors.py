"""A separate vector index for each layer of a large space.

A vector index shared by all spaces would find the nodes of other tenants and miss those of a small
one, so there is none. In a small space all vectors are compared, which is exact and takes
milliseconds; each layer that outgrows this gets a label and an index of its own.

To index each chunk on insert would cost every insert the update of a second index. So the newest
chunks of a large space are compared one by one, until there are enough for a transaction. It runs
in a thread of its own and without the lock of the space, so that a bulk load goes on meanwhile.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Collection, Iterator
from concurrent.futures import Future, wait
from threading import Lock
from typing import Literal

from cognigraph.errors import StoreError, StoreUnavailableError
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.stores.neo4j.tokens import own_label

Layer = Literal["Chunk", "Triple", "Theme"]

_LAYERS: tuple[Layer, ...] = ("Chunk", "Triple", "Theme")
logger = logging.getLogger("cognigraph.neo4j")
_BATCH = 2000
_PATIENCE = 30.0
"""Seconds for the command that creates a missing index; the server then builds it by itself."""
# Quantisation takes a quarter of the memory; candidates are ranked by their stored vectors anyway.
# The HNSW graph is denser than by default (16, 100), so that the first 200 results contain 0.99 of
# the nearest 100, not 0.96.
_HNSW = {
    "vector.similarity_function": "cosine",
    "vector.quantization.enabled": True,
    "vector.hnsw.m": 24,
    "vector.hnsw.ef_construction": 200,
}
_TAIL = 256
"""This many new chunks are compared one by one before they are indexed."""
_MOST_WAITING = 4096
"""With so many, an insert waits until they are indexed."""
_CLOSING = 5.0
"""Seconds to wait when the store is closed; its server may be silent."""
_FIRST_DELAY = 0.02
_LONGEST_DELAY = 2.0
_REPORT = 10.0
"""Seconds between two lines of the log."""
_ANSWER = 30.0
"""Seconds for the last question to the server, in addition to the time of waiting."""


class OwnIndexes:
    """Creates the vector indexes of large spaces and records which of them can be searched."""

    def __init__(self, connection: Connection, dimension: int, exact_up_to: int) -> None:
        self._connection = connection
        self._dimension = dimension
        self._exact_up_to = exact_up_to
        self._online: set[str] = set()
        self._tried: set[str] = set()
        self._restoring: set[tuple[int, str]] = set()
        self._lock = Lock()

    def grow(self, space: str, layer: Layer, nodes: int, indexed: bool) -> None:
        """Create an index for a layer that has become too large to compare all its vectors.

        Every step can be repeated: after a crash or a race, the next write finishes the work.
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
            # The write that called this is committed; a later write tries again.
            with self._lock:
                self._tried.discard(name)
        except StoreError as error:
            logger.warning("space %r keeps comparing all its vectors: %s", space, error)

    def _make(self, space: str, layer: Layer) -> None:
        of_layer = (":Chunk", f":{layer}")
        labels = [own_label(layer, space)]
        if layer != "Chunk":
            # Announce the label first: every node written afterwards gets it at once.
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
        # The server builds the index in the background; searches stay exact until it is online.
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
        """Layer and space of every index."""
        for layer in _LAYERS:
            owner = () if layer == "Chunk" else (("(owner:Space ", "(owner:SpaceFacts "),)
            indexed = f"{layer.lower()}_indexed"
            row = self._connection.row("reindex/indexed", *owner, indexed=indexed)
            for space in row[0] if row else ():
                yield layer, space

    def make_again(self, embedding: str, dimension: int) -> list[str]:
        """Create the indexes of all large spaces on another property; their names. Idempotent."""
        names = []
        for layer, space in self._indexed():
            self._create(layer, space, embedding, dimension)
            names.append(index_name(layer, space, embedding))
        return names

    def drop(self, embedding: str) -> None:
        """Drop the indexes of all large spaces on a property."""
        for layer, space in self._indexed():
            name = index_name(layer, space, embedding)
            self._connection.command("vectors/drop", name=name)

    def expected(self, space: str | None = None) -> dict[str, tuple[Layer, str]]:
        """Layer and space by name of index: those that must exist, of one space or of all."""
        return {
            index_name(layer, owner, self._connection.embedding): (layer, owner)
            for layer, owner in self._indexed()
            if space in (None, owner)
        }

    def drop_of(self, names: Collection[str]) -> None:
        """Drop the indexes of a space that is removed."""
        for name in names:
            self._connection.command("vectors/drop", name=name)
            self.forget(name)
            with self._lock:
                self._tried.discard(name)

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
        """The name of the index to search; ``None`` if all vectors must be compared."""
        if not indexed:
            return None
        name = index_name(layer, space, self._connection.embedding)
        with self._lock:
            if name in self._online:
                return name
        row = self._connection.row("schema/states", names=[name])
        if row is None:
            self._restore(layer, space, name)
            return None
        if row[1] != "ONLINE":
            return None
        with self._lock:
            self._online.add(name)
        return name

    def _restore(self, layer: Layer, space: str, name: str) -> None:
        """Create an index that was dropped, or not imported, in a thread beside the searches.

        Its nodes still have the label, so the server finds them. What fails for another reason
        than an outage, such as a missing right, is not tried again.
        """
        key = os.getpid(), name  # a forked process has none of the threads
        with self._lock:
            if key in self._restoring:
                return
            self._restoring.add(key)
        logger.warning(
            "the vector index %s of space %r (%s) is missing in %s; it is created again, and until "
            "the server has built it, each search compares all vectors, which is exact but slow",
            name, space, layer, self._connection.uri,
        )  # fmt: skip
        self._connection.start(self._create_again, layer, space, key)

    def _create_again(self, layer: Layer, space: str, key: tuple[int, str]) -> None:
        try:
            with within(_PATIENCE):
                self._create(layer, space, self._connection.embedding, self._dimension)
                if (layer, space) not in self._indexed():
                    # The space was removed meanwhile, with its flag.
                    self._connection.command("vectors/drop", name=key[1])
        except StoreUnavailableError as error:
            logger.info("%s was not created again, a later search tries: %s", key[1], error)
        except StoreError as error:
            logger.warning("space %r keeps comparing all its vectors: %s", space, error)
            return
        with self._lock:
            self._restoring.discard(key)

    def forget_all(self, space: str) -> None:
        """Discard the recorded states of the indexes of a space."""
        for layer in _LAYERS:
            self.forget(index_name(layer, space, self._connection.embedding))

    def forget(self, name: str) -> None:
        """Discard the recorded state of an index, so that the next search reads it again."""
        with self._lock:
            self._online.discard(name)


class NewestChunks:
    """Indexes the newest chunks of spaces, of each space in one thread at a time.

    Every step can be repeated: after a crash or an error, a later insert finishes the work.
    """

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout
        self._lock = Lock()
        self._wanted: dict[str, tuple[int, int]] = {}
        self._running: dict[tuple[int, str], Future[None]] = {}

    def cover(self, space: str, tail: int, covered: int, last: int) -> None:
        """Index the ``tail`` chunks with arrival numbers above ``covered`` and up to ``last``."""
        if tail < _TAIL:
            return
        key = os.getpid(), space  # a forked process has none of the threads
        with self._lock:
            self._wanted[space] = covered, last
            running = self._running.get(key)
            if running is None:
                running = self._running[key] = self._connection.start(self._work, key)
        if tail >= _MOST_WAITING:
            wait([running], self._timeout)

    def finish(self) -> None:
        """Wait, but not for long, until what was begun is done: later searches compare less."""
        with self._lock:
            own = [value for (pid, _), value in self._running.items() if pid == os.getpid()]
        wait(own, _CLOSING)

    def _work(self, key: tuple[int, str]) -> None:
        space = key[1]
        while True:
            with self._lock:
                wanted = self._wanted.pop(space, None)
                if wanted is None:
                    del self._running[key]
                    return
            try:
                with within(self._timeout):
                    self._index(space, *wanted)
            except StoreError as error:  # the inserts are committed; a later one tries again
                logger.info("space %r keeps comparing its newest vectors: %s", space, error)

    def _index(self, space: str, covered: int, last: int) -> None:
        labels = [own_label("Chunk", space)]
        self._connection.write(
            lambda tx: tx.rows(
                "vectors/label_newest", space=space, labels=labels, covered=covered, until=last
            )
        )
        self._connection.write(
            lambda tx: tx.rows("vectors/cover", space=space, labels=labels, until=last)
        )


def index_name(layer: Layer, space: str, embedding: str = "embedding") -> str:
    """The name of the vector index of a space's layer on the given vector property."""
    return f"vector{embedding.removeprefix('embedding')}_{own_label(layer, space)}"


def wait_until_built(connection: Connection, names: Collection[str], seconds: float) -> None:
    """Wait until those of some indexes that exist are online.

    Raises:
        StoreUnavailableError: they are not complete after ``seconds``; it says how far they are.
        StoreError: the server could not build one of them.
    """
    with within(seconds + _ANSWER):
        started = reported = time.monotonic()
        delay = _FIRST_DELAY
        while waiting := _unfinished(connection, names):
            now = time.monotonic()
            if now - started >= seconds:
                raise StoreUnavailableError(
                    f"{connection.uri} has not built all indexes within {seconds:g} s: "
                    f"{', '.join(waiting)}; the server goes on with it, repeat the call later"
                )
            if now - reported >= _REPORT:
                reported = now
                logger.warning("waiting for indexes of %s: %s", connection.uri, ", ".join(waiting))
            time.sleep(min(delay, seconds))
            delay = min(2 * delay, _LONGEST_DELAY)


def _unfinished(connection: Connection, names: Collection[str]) -> list[str]:
    """The indexes that are not online, and how far they are."""
    rows = connection.rows("schema/states", names=sorted(names))
    for name, state, _, reason in rows:
        if state == "FAILED":
            cause = reason.strip().partition("\n")[0]  # a trace of the server's calls follows
            raise StoreError(
                f"{connection.uri} could not build the index {name} ({cause}); drop it with DROP "
                "INDEX or DROP CONSTRAINT and open the memory again, which creates it anew"
            )
    return sorted(f"{name} ({built:.0f} %)" for name, state, built, _ in rows if state != "ONLINE")
