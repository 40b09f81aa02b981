"""Divides work among threads; worth it where numpy works for long without the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

Task = Callable[[], None]

_MOST_THREADS = 4
"""More would not be faster: they wait for the memory. Others may be searching too."""


def run_all(tasks: Sequence[Task], threads: int) -> None:
    """Run tasks in this thread and in others, with up to ``threads`` in all."""
    others = min(threads, len(tasks), _MOST_THREADS, os.cpu_count() or 1) - 1
    waiting = iter(tasks)
    if others < 1:
        _run(waiting)
        return
    with ThreadPoolExecutor(others, thread_name_prefix="cognigraph-scan") as pool:
        running = [pool.submit(_run, waiting) for _ in range(others)]
        _run(waiting)
        for one in running:
            one.result()


def _run(waiting: Iterator[Task]) -> None:
    for task in waiting:
        task()
