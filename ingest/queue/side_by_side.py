"""Batches that wait for a model are read side by side, each in a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

_T = TypeVar("_T")
_W = TypeVar("_W")

_WAKE_UP = 0.5
"""Seconds after which the caller looks for more work, or for an interrupt, which Windows does not
tell a waiting thread."""


def side_by_side(
    take: Callable[[], _W | None],
    work: Callable[[_W], _T],
    threads: int,
    is_over: Callable[[], bool],
) -> Iterator[_T]:
    """Yield what ``work`` returns for what ``take`` gives, until that is nothing and none is busy.

    The caller's thread takes. While others are busy, it tries again and again, so that all have
    work again as soon as there is enough for all. When ``is_over`` says so, or work has failed, no
    more is taken. What has begun is finished and yielded; then the first exception is raised.
    """
    results: SimpleQueue[tuple[_T] | BaseException] = SimpleQueue()
    busy, failed = 0, list[BaseException]()

    def run(taken: _W) -> None:
        try:
            results.put((work(taken),))
        except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
            results.put(error)

    try:
        while True:
            while busy < threads and not (failed or is_over()) and (taken := take()) is not None:
                # A daemon: the end of the program waits for no batch, whose lease is taken over.
                Thread(target=run, args=(taken,), name="cognigraph-batch", daemon=True).start()
                busy += 1
            if not busy:
                break
            try:
                result = results.get(timeout=_WAKE_UP)
            except Empty:
                continue
            busy -= 1
            if isinstance(result, BaseException):
                failed.append(result)
            else:
                yield result[0]
    finally:
        for _ in range(busy):
            results.get()
    if failed:
        raise failed[0]
