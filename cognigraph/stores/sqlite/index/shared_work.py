"""Divides work among threads; worth it where numpy works for long without the interpreter lock.

All searches of a process share its threads. Nothing waits for a thread that is busy elsewhere: what
no other thread has begun by the time it is needed is done by the thread that needs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
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

    def submit(self, work: Callable[[], None]) -> Future[None] | None:
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


class SharedTasks(Generic[T]):
    """Tasks that other threads begin to run, and that this one helps to finish.

    They are taken in order, so the longest should be the first. At the end of the ``with`` block
    nobody works at them any more. ``others`` limits the number of other threads.
    """

    def __init__(self, tasks: Sequence[Callable[[], T]], others: int = _MOST_THREADS) -> None:
        self._results: dict[int, T] = {}
        self._waiting = iter(enumerate(tasks))  # each thread takes the next one
        helpers = min(len(tasks), others, _THREADS.count)
        submitted = [_THREADS.submit(self._run) for _ in range(helpers)]
        self._helpers = [helper for helper in submitted if helper is not None]

    def __enter__(self) -> SharedTasks[T]:
        return self

    def __exit__(self, *error: object) -> None:
        for _ in self._waiting:  # after an error, what is left is not begun
            pass
        wait([helper for helper in self._helpers if not helper.cancel()])

    def finish(self) -> list[T]:
        """Run what is left, wait for the others, and return the results in the order of the tasks.

        Raises what a task has raised.
        """
        self._run()
        for helper in self._helpers:
            if not helper.cancel():
                helper.result()
        return [self._results[position] for position in sorted(self._results)]

    def _run(self) -> None:
        for position, task in self._waiting:
            self._results[position] = task()


def run_all(tasks: Sequence[Task]) -> None:
    """Run tasks in this thread and in others."""
    if len(tasks) == 1:
        tasks[0]()
        return
    with SharedTasks(tasks) as shared:
        shared.finish()
