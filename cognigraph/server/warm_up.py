"""Load at the start what the first questions need, so that no client waits for it."""

from __future__ import annotations

import logging
from threading import Event, Thread

from cognigraph.errors import CogniGraphError
from cognigraph.memory import Memory

logger = logging.getLogger("cognigraph.server")
_MOST_SPACES = 10
"""Each has an index of its own; those of further spaces are loaded with their first question."""
_SECONDS_TO_STOP = 10
_QUESTION = "Where does everybody live now?"


class WarmUp:
    """Asks a question of some spaces in a thread: that loads the embedder and their indexes."""

    def __init__(self, memory: Memory, *, is_wanted: bool) -> None:
        self._memory = memory
        self._done, self._stopping = Event(), Event()
        self._thread: Thread | None = None
        if not is_wanted:
            self._done.set()

    @property
    def is_done(self) -> bool:
        """Whether everything is loaded."""
        return self._done.is_set()

    def start(self) -> None:
        """Begin, unless it is done or not wanted."""
        if not self.is_done:
            self._thread = Thread(target=self._run, name="cognigraph-warm-up", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End it after the present space, because the memory is about to be closed."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(_SECONDS_TO_STOP)

    def _run(self) -> None:
        try:
            for name in self._memory.spaces()[:_MOST_SPACES] or ("default",):
                if self._stopping.is_set():
                    return
                self._memory.space(name).search(_QUESTION, 1)
        except CogniGraphError as error:  # each request will say so again
            logger.warning("the server could not load everything at its start: %s", error)
        finally:
            self._done.set()
