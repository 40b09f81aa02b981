"""Batches that wait for a model are read side by side, each in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from threading import Condition, Event, Lock, Thread
from typing import TypeVar

_T = TypeVar("_T")
_W = TypeVar("_W")

_WAKE_UP = 0.5
"""Seconds after which a waiting thread looks for more work, or for an interrupt, which Windows does
not tell it."""


def side_by_side(
    take: Callable[[], _W | None],
    work: Callable[[_W], _T],
    threads: int,
    is_over: Callable[[], bool],
) -> Iterator[_T]:
    """Yield what ``work`` returns for what ``take`` gives, until that is nothing and none is busy.

    One thread at a time takes. While others are busy, it tries again and again, so that all have
    work again as soon as there is enough for all. When ``is_over`` says so, no more is taken. What
    has begun is finished and yielded. An exception is raised here, after the other threads have
    finished what they had begun.
    """
    results: SimpleQueue[_T | BaseException | None] = SimpleQueue()
    taking, changed = Lock(), Condition()
    ended = Event()  # of this call alone: what a caller ends its work with is not ours to set
    busy = 0

    def next_work() -> _W | None:
        nonlocal busy
        with taking:
            while not (ended.is_set() or is_over()):
                with changed:
                    none_is_busy = not busy
                if (taken := take()) is not None:
                    with changed:
                        busy += 1
                    return taken
                if none_is_busy:
                    ended.set()
                    break
                with changed:
                    changed.wait(_WAKE_UP)
        return None

    def repeat() -> None:
        nonlocal busy
        end: BaseException | None = None
        try:
            while (taken := next_work()) is not None:
                try:
                    results.put(work(taken))
                finally:
                    with changed:
                        busy -= 1
                        changed.notify_all()
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            end = error
            ended.set()
        if end is not None:
            results.put(end)
        results.put(None)

    # Daemons: the end of the program waits for no batch, and a lease of it is taken over.
    running = [Thread(target=repeat, name="cognigraph-batch", daemon=True) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield from _results(results, threads)
    finally:
        ended.set()
        for thread in running:
            thread.join()


def _results(results: SimpleQueue[_T | BaseException | None], threads: int) -> Iterator[_T]:
    failed: BaseException | None = None
    while threads:
        try:
            result = results.get(timeout=_WAKE_UP)
        except Empty:
            continue
        if result is None:
            threads -= 1
        elif isinstance(result, BaseException):
            failed = failed or result
        else:
            yield result
    if failed is not None:
        raise failed
