"""Reading several windows at once: threads that work side by side, and processes.

Reading by rules is work for a processor, of which Python lets one thread run at a time. Each
process gets a pickled copy of the extractor and then window after window through a pipe. Nothing
depends on them: if one cannot start or ends, its windows are read here. They end with this process,
however it ends, because they then read the end of their pipe.

A pool of ``concurrent.futures`` would import the main module of the program again in each process,
which runs a script twice that has no guard for it, and its processes outlive one that is killed.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from sys import path as folders
from threading import Condition, Event, Lock, Thread
from types import TracebackType
from typing import BinaryIO, Self, TypeVar

from cognigraph.ingest.extraction import Extraction, Extractor, Portable, Window
from cognigraph.settings import EnrichSettings

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


logger = logging.getLogger("cognigraph.enrich")

Extract = Callable[[Window], Extraction]

WORTHWHILE = 2000
"""Chunks from which on several processes are faster: each takes half a second to start."""
_MOST = 4
"""With more processes this one is the slowest, which prepares and writes what they have read."""
_START = "from cognigraph.ingest.queue.readers import main; main()"
"""Not the module by its name, so that the program's own main module is not imported again."""


def is_portable(extractor: Extractor) -> bool:
    """Whether an extractor only computes, and so can do it in other processes."""
    return isinstance(extractor, Portable) and extractor.is_portable


def count_readers(
    extractor: Extractor, settings: EnrichSettings, waiting: Callable[[], int]
) -> int:
    """Return how many processes are to read what is waiting; with 1, this process reads it."""
    if not is_portable(extractor) or settings.processes == 1:
        return 1
    if settings.processes is not None:
        return settings.processes if waiting() > settings.batch else 1
    count = min(_cores(), _MOST)
    return count if count > 1 and waiting() >= WORTHWHILE else 1


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Readers:
    """Some processes with a copy of an extractor. Thread-safe; a context manager."""

    def __init__(self, extractor: Extractor, count: int) -> None:
        self._extractor = extractor
        self._all = [_Reader(extractor) for _ in range(count)]
        self._idle: SimpleQueue[_Reader] = SimpleQueue()
        for reader in self._all:
            self._idle.put(reader)

    def extract(self, window: Window) -> Extraction:
        """Extract from a window in the process that is idle next.

        What fails there is done again here, and raises here what it raises.
        """
        reader = self._idle.get()
        try:
            extraction = reader.extract(window)
        finally:
            self._idle.put(reader)
        return self._extractor.extract(window) if extraction is None else extraction

    @property
    def pids(self) -> list[int]:
        """The process ids of the processes that run."""
        return [reader.pid for reader in self._all if reader.pid is not None]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for reader in self._all:
            reader.stop()


class _Reader:
    """One process, started when it is first needed."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._process: subprocess.Popen[bytes] | None = None
        self._is_usable = bool(sys.executable) and not getattr(sys, "frozen", False)

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def extract(self, window: Window) -> Extraction | None:
        """Return what the process extracts; ``None`` if it cannot."""
        if not self._is_usable:
            return None
        self._is_usable = False  # whatever interrupts an exchange leaves half of it in the pipe
        try:
            process = self._process or self._start()
            assert process.stdin is not None and process.stdout is not None
            pickle.dump(window, process.stdin)
            process.stdin.flush()
            extraction: Extraction | None = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.PickleError, AttributeError, TypeError) as error:
            logger.warning("a process that reads messages ended (%r); they are read here", error)
            self.stop()
            return None
        self._is_usable = True
        return extraction

    def _start(self) -> subprocess.Popen[bytes]:
        imports_from_the_same = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START],
            env=imports_from_the_same,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None
        pickle.dump(self._extractor, self._process.stdin)
        return self._process

    def stop(self) -> None:
        """End the process. It holds nothing that must be kept."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what it did not read
                    pipe.close()
        self._process = None


def main() -> None:
    """Answer until there is nothing more to read."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that it reads for
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever is printed must not be an answer
    with suppress(EOFError, BrokenPipeError):
        serve(sys.stdin.buffer, answers)
    os._exit(0)  # without flushing to a pipe that nobody reads any more


def serve(windows: BinaryIO, answers: BinaryIO) -> None:
    """Answer windows until there are no more, which raises :class:`EOFError`."""
    extractor: Extractor = pickle.load(windows)
    while True:
        window = pickle.load(windows)
        extraction: Extraction | None = None
        with suppress(Exception):  # raised again where the window comes from
            extraction = extractor.extract(window)
        pickle.dump(extraction, answers)
        answers.flush()
