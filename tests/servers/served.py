"""A command that serves over HTTP, as a process of its own."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from tests.e2e.command_line import command, environment


@dataclass(frozen=True)
class Served:
    """A running server: its address and its process."""

    url: str
    process: subprocess.Popen[str]

    def stop(self) -> None:
        """End it as an operating system does. It must end without an error."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.process.stderr.read()  # type: ignore[union-attr]


def served(*arguments: object, **extra: str) -> AbstractContextManager[Served]:
    """Start a command of ours; see :func:`started`."""
    return started(command(*arguments), **extra)


@contextmanager
def started(words: Sequence[object], **extra: str) -> Iterator[Served]:
    """Start a command and wait until it listens; stop it at the end, unless it has ended."""
    process = subprocess.Popen(
        [str(word) for word in words], env=environment(**extra), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        lines = iter(process.stderr.readline, "")
        url = next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
        server = Served(url, process)
        yield server
        if process.poll() is None:
            server.stop()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
