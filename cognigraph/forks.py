"""Locks of the whole process, which a forked process finds free."""

from __future__ import annotations

import os
from threading import Lock


class ProcessLock:
    """A lock for the state of a module.

    If another thread holds it while the process forks, that thread does not exist in the child and
    would never release it. So the child gets a new lock. What the lock guards may be in any state
    by then, and must be usable all the same.
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
