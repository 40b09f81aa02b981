"""Divides work among threads; worth it where numpy works for long without the interpreter lock.

All searches of a process share its threads. Nothing waits for a thread that is busy elsewhere: what
no other thread has begun by the time it is needed is done by the thread that needs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Generic, TypeVar

T = TypeVar("T")
Task = Callable[[], None]

_MOST_THREADS = 4
"""More would not be faster: they wait for the memory. Others may be searching too."""


def _processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Threads:
    """The other threads. They start when they are first needed, also in a forked process."""

    def __init__(self) -> None:
        self.count = min(_MOST_THREADS, _processors()) - 1
        self.renew()

    def renew(self) -> None:
        """Begin without threads, as a forked process has none of its parent."""
        self._pool = ThreadPoolExecutor(max(self.count, 1), thread_name_prefix="cognigraph-scan")

    def submit(self, work: Callable[[], T]) -> Future[T] | None:
        """Let another thread do some work; None if there is none, as when the process ends."""
        if self.count < 1:
            return None
        try:
            return self._pool.submit(work)
        except RuntimeError:  # the interpreter is about to exit, or the system has no more threads
            return None


_THREADS = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_THREADS.renew)


class Begun(Generic[T]):
    """Work that another thread does if one is free; otherwise it is done when it is needed.

    At the end of the ``with`` block nobody works at it any more.
    """

    def __init__(self, work: Callable[[], T], aside: bool = True) -> None:
        self._work = work
        self._elsewhere = _THREADS.submit(work) if aside else None

    def __enter__(self) -> Begun[T]:
        return self

    def __exit__(self, *error: object) -> None:
        if self._elsewhere is not None and not self._elsewhere.cancel():
            wait([self._elsewhere])

    def result(self) -> T:
        """What the work returns, or the error that it raises. To be called once."""
        if self._elsewhere is None or self._elsewhere.cancel():
            return self._work()
        return self._elsewhere.result()


class Together:
    """Tasks that other threads begin to run, and that this one helps to finish.

    They are taken in order, so the longest should be the first. At the end of the ``with`` block
    nobody works at them any more. ``others`` limits the number of other threads.
    """

    def __init__(self, tasks: Sequence[Task], others: int = _MOST_THREADS) -> None:
        self._waiting = iter(tasks)
        helpers = min(len(tasks), others, _THREADS.count)
        self._helping = [Begun(partial(_run, self._waiting)) for _ in range(helpers)]

    def __enter__(self) -> Together:
        return self

    def __exit__(self, *error: object) -> None:
        for _ in self._waiting:  # after an error, what is left is not begun
            pass
        for one in self._helping:
            one.__exit__()

    def finish(self) -> None:
        """Run what is left, and wait for the others; raises what a task has raised."""
        _run(self._waiting)
        for one in self._helping:
            one.result()


class Later(Generic[T]):
    """A task that keeps its result."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._results: list[T] = []

    def __call__(self) -> None:
        """Do the work."""
        self._results.append(self._work())

    @property
    def value(self) -> T:
        """The result, after the task was run."""
        return self._results[0]


def run_all(tasks: Sequence[Task]) -> None:
    """Run tasks in this thread and in others."""
    if len(tasks) == 1:
        tasks[0]()
        return
    with Together(tasks) as running:
        running.finish()


def _run(waiting: Iterator[Task]) -> None:
    for task in waiting:
        task()
