"""Locks of the whole process, which a forked process finds free."""

from __future__ import annotations

import os
from threading import Lock


class ProcessLock:
    """A lock for a module. Another thread may hold it when the process forks, and does not go on
    in the child, which gets a new one.

    What it guards must bear that: the thread may have stopped anywhere.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def _renew(self) -> None:
        self._lock = Lock()
