"""``Readers``: processes that read windows for this one, so that several are read at once.

Reading by rules is work for a processor, of which Python lets one thread run at a time. Each
process gets a copy of the extractor and then window after window through a pipe. Nothing depends on
them: if one cannot start or ends, its windows are read here. They end with this process, however it
ends, because they then read the end of their pipe.
"""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from sys import path as folders
from types import TracebackType
from typing import Self

from cognigraph.ingest.extraction import Extraction, Extractor, Portable, Window
from cognigraph.settings import EnrichSettings

logger = logging.getLogger("cognigraph.enrich")

Extract = Callable[[Window], Extraction]

WORTHWHILE = 2000
"""Chunks from which on several processes are faster: each takes half a second to start."""
_MOST = 4
"""With more processes this one is the slowest, which prepares and writes what they have read."""
_START = "from cognigraph.ingest.queue.reader_process import main; main()"
"""Not the module by its name, so that the program's own main module is not imported again."""


def count_readers(
    extractor: Extractor, settings: EnrichSettings, waiting: Callable[[], int]
) -> int:
    """Return how many processes are to read what is waiting; with 1, this process reads it."""
    if not (isinstance(extractor, Portable) and extractor.is_portable) or settings.processes == 1:
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
