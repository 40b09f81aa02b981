"""Add many messages in batches.

With a store on a server, the next batch is prepared while the server stores the one before it. With
a file, both are work of this process: two threads took as much time as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from itertools import islice
from types import TracebackType

from cognigraph.engine import Engine
from cognigraph.model import AddResult
from cognigraph.operations.inserting import Item, Prepared, prepare, store, total

Progress = Callable[[int], None]
"""Called after each transaction with the number of messages read so far."""


def add_all(
    engine: Engine,
    space: str,
    messages: Iterable[Item],
    *,
    on_progress: Progress | None,
    skip_invalid: bool,
) -> AddResult:
    """Store messages in batches; see ``Space.add_many``."""
    size = engine.settings.insert.batch
    seen: Counter[str] = Counter()
    read = 0
    with _Transactions(
        partial(store, engine, space, skip_invalid=skip_invalid), on_progress
    ) as transactions:
        items = transactions.reported_while(messages)
        while batch := list(islice(items, size)):
            prepared = prepare(engine, space, batch, seen, first=read, skip_invalid=skip_invalid)
            read += len(batch)
            is_last = len(batch) < size or prepared.invalid is not None
            transactions.run(prepared, read, wait=is_last or not engine.store.is_on_server)
    return total(transactions.results)


class _Transactions:
    """Stores batches one after the other, in a second thread if the caller does not wait.

    At most one batch is being stored. Its outcome is known before the next one begins and before
    the block ends, whatever ends it, so no message is stored after one that failed. The caller's
    thread reports on all of them.
    """

    def __init__(
        self, store: Callable[[Prepared], AddResult], on_progress: Progress | None
    ) -> None:
        self.results: list[AddResult] = []
        self._store = store
        self._on_progress = on_progress
        self._thread: ThreadPoolExecutor | None = None
        self._pending: tuple[Future[AddResult], int] | None = None

    def __enter__(self) -> _Transactions:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._finish()
        finally:
            if self._thread is not None:
                self._thread.shutdown()

    def run(self, batch: Prepared, read: int, *, wait: bool) -> None:
        """Store a batch after the one before it; ``read`` messages have been read by then."""
        self._finish()
        if wait:
            self._report(self._store(batch), read)
        else:
            self._pending = self._start(batch), read

    def reported_while(self, messages: Iterable[Item]) -> Iterator[Item]:
        """Yield the messages, which may take long to come, and report on what was stored."""
        for message in messages:
            if self._pending is not None and self._pending[0].done():
                self._finish()
            yield message

    def _start(self, batch: Prepared) -> Future[AddResult]:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="cognigraph-store")
        try:
            return self._thread.submit(copy_context().run, self._store, batch)
        except RuntimeError:  # the interpreter is exiting and starts no more threads
            future: Future[AddResult] = Future()
            future.set_result(self._store(batch))
            return future

    def _finish(self) -> None:
        """Wait for the batch that is being stored, and report on it."""
        if self._pending is None:
            return
        future, read = self._pending
        try:
            result = future.result()
        finally:
            if future.done():  # not if this thread was interrupted
                self._pending = None
        self._report(result, read)

    def _report(self, result: AddResult, read: int) -> None:
        self.results.append(result)
        if self._on_progress is not None:
            self._on_progress(read)
