"""Do one kind of work in several threads at once, and hand its results to the caller's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TypeVar

_T = TypeVar("_T")

_WAKE_UP = 0.5
"""Seconds after which a waiting thread looks for an interrupt, which Windows does not tell it."""


def side_by_side(
    work: Callable[[], _T | None], threads: int, is_over: Callable[[], bool]
) -> Iterator[_T]:
    """Yield results of ``work`` until it returns ``None`` in each thread, or ``is_over`` says so.

    What has begun is finished and yielded. An exception of ``work`` is raised here, after the other
    threads have finished what they had begun.
    """
    found: SimpleQueue[_T | BaseException | None] = SimpleQueue()
    ended = Event()  # of this call alone: what a caller ends its work with is not ours to set

    def repeat() -> None:
        end: BaseException | None = None
        try:
            while not (ended.is_set() or is_over()) and (one := work()) is not None:
                found.put(one)
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            end = error
            ended.set()
        if end is not None:
            found.put(end)
        found.put(None)

    # Daemons: the end of the program waits for no batch, and a lease of it is taken over.
    running = [Thread(target=repeat, name="cognigraph-batch", daemon=True) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield from _results(found, threads)
    finally:
        ended.set()
        for thread in running:
            thread.join()


def _results(found: SimpleQueue[_T | BaseException | None], threads: int) -> Iterator[_T]:
    failed: BaseException | None = None
    while threads:
        try:
            one = found.get(timeout=_WAKE_UP)
        except Empty:
            continue
        if one is None:
            threads -= 1
        elif isinstance(one, BaseException):
            failed = failed or one
        else:
            yield one
    if failed is not None:
        raise failed
