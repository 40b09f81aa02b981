"""The program of a process that reads windows for another one (see :mod:`.readers`).

It gets a pickled extractor and then pickled windows, and answers each of them with a pickled
extraction, or with ``None`` if the extractor raised something.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from contextlib import suppress
from typing import BinaryIO

from cognigraph.ingest.extraction import Extraction, Extractor


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
