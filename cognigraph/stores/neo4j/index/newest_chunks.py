"""Adds the newest chunks of a large space to its own vector index, beside the inserts.

To index each chunk on insert would cost every insert the update of a second index. So the newest
chunks are compared one by one, until there are enough for a transaction. It runs in a thread of its
own and without the lock of the space, so that a bulk load goes on meanwhile.
"""

from __future__ import annotations

import logging
import os
from concurrent.futures import Future, wait
from threading import Lock

from cognigraph.errors import StoreError
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.stores.neo4j.index.fulltext import own_label

_TAIL = 256
"""This many new chunks are compared one by one before they are indexed."""
_MOST = 4096
"""With so many, an insert waits until they are indexed."""

_CLOSING = 5.0
"""Seconds to wait when the store is closed; its server may be silent."""

logger = logging.getLogger("cognigraph.neo4j")


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
        if tail >= _MOST:
            wait([running], self._timeout)

    def finish(self) -> None:
        """Wait, but not for long, until what was begun is done: later searches compare less."""
        with self._lock:
            own = [one for (pid, _), one in self._running.items() if pid == os.getpid()]
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
