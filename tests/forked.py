"""Functions in processes that are forked from one that has imported the library.

They are processes like any other: they share no memory, and a kill ends them at once. To start an
interpreter and import the library takes half a second of a processor, a fork a hundredth of that.
All of them have the hash seed of the process they are forked from, and handlers of ``atexit`` do
not run in them: what depends on either needs ``subprocess``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from typing import Any

_CONTEXT = get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        *("cognigraph.testing", "cognigraph.stores.sqlite", "cognigraph.stores.neo4j"),
        *("openai.resources.chat", "tests.storage.readers", "tests.storage.writers"),
        "tests.warmed",
    ]
)


class Forked:
    """A process that calls a function of a module; what it prints can be read here."""

    def __init__(self, function: Callable[..., object], *arguments: Any) -> None:
        ours, theirs = Pipe(duplex=False)
        self._process = _CONTEXT.Process(
            target=_call, args=(theirs, function, arguments), daemon=True
        )
        self._process.start()
        theirs.close()
        self.stdout = os.fdopen(os.dup(ours.fileno()), encoding="utf-8")
        ours.close()

    @property
    def pid(self) -> int:
        pid = self._process.pid
        assert pid is not None
        return pid

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        """End it by SIGKILL."""
        self._process.kill()

    def wait(self) -> int:
        """Return its exit status once it has ended: the negative number of a signal, if killed."""
        self._process.join()
        code = self._process.exitcode
        assert code is not None
        return code

    def finish(self) -> str:
        """Return what it prints until it has ended."""
        with self.stdout as output:
            text = output.read()
        self.wait()
        return text


def _call(output: Connection, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    os.dup2(output.fileno(), sys.stdout.fileno())
    output.close()
    function(*arguments)
