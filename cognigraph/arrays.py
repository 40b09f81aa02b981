"""Types of numpy arrays, products that stay in the calling thread, and work that threads share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
"""Vectors of unit length, so that a dot product is a cosine."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


_UNTHREADED = 1 << 18
"""OpenBLAS computes a product of at most this many multiplications in the calling thread."""
_SIGN_AND_REST = np.int32(-0x70000001)
"""All bits but the three after the first, which repeat the sign of a half after it was widened."""
_HIGHER_EXPONENT = np.float32(2.0**112)


def product(matrix: npt.NDArray[np.number], vector: Vector) -> npt.NDArray[np.floating]:
    """The product (n,) of a matrix (n, d) and a vector, computed in the calling thread.

    OpenBLAS divides all but the smallest products among its threads. In a search, waking them costs
    more than the product, they keep a core busy while they wait for the next one, and the search
    waits for a thread that other programs have displaced.
    """
    return np.asarray(np.einsum("ij,j->i", matrix, vector))


def products(left: npt.NDArray[np.floating], right: npt.NDArray[np.floating]) -> Vector:
    """The product (n, m) of (n, d) and the transposed (m, d), as in :func:`product`."""
    product = np.empty((len(left), len(right)), np.result_type(left, right))
    for part in _parts(len(left), right):
        np.matmul(left[part], right.T, out=product[part])
    return product


def products_of_rows(
    left: npt.NDArray[np.floating], rows: Ints, right: npt.NDArray[np.floating]
) -> Vector:
    """As :func:`products` of some rows (k,), in single precision; a few are copied at a time."""
    product = np.empty((len(rows), len(right)), np.float32)
    for part in _parts(len(rows), right):
        np.matmul(single(left.take(rows[part], 0)), right.T, out=product[part])
    return product


def single(values: npt.NDArray[np.floating]) -> Vector:
    """Finite numbers of 16 or 32 bits in single precision, of 16 in a third of astype's time."""
    if values.dtype != np.float16:
        return np.asarray(values, np.float32)
    # Sign, exponent and fraction move to their positions; the exponents are then 112 too low.
    bits = values.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _SIGN_AND_REST
    widened = bits.view(np.float32)
    widened *= _HIGHER_EXPONENT
    return widened


def _parts(count: int, right: npt.NDArray[np.floating]) -> Iterator[slice]:
    step = max(_UNTHREADED // max(right.size, 1), 1)
    return (slice(start, start + step) for start in range(0, count, step))


def or_zero(values: Floats) -> Floats:
    """The values, with 0 for NaN; np.nan_to_num takes ten times as long."""
    return np.where(np.isnan(values), 0.0, values)


def steps(ascending: Ints) -> Ints:
    """The first of some numbers (n,), and by how much each of the others exceeds the one before.

    Takes a tenth of the time of np.diff with ``prepend=0``.
    """
    differences = ascending.copy()
    differences[1:] -= ascending[:-1]
    return differences


def sorted_unique(*rows: npt.NDArray[np.integer]) -> Ints:
    """The numbers of some arrays, ascending, each once; for few it is faster than np.unique."""
    ascending = np.sort(np.concatenate(rows)).astype(np.int64, copy=False)
    first = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return ascending[first]


# Work divided among threads; worth it where numpy works for long without the interpreter lock.
#
# All searches of a process share its threads. Nothing waits for a thread that is busy elsewhere:
# what no other thread has begun by the time it is needed is done by the thread that needs it.

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
