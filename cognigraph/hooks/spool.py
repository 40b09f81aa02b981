"""The folder in which events wait, as the process in the background and the commands see it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from cognigraph.hooks.agents import Event
from cognigraph.hooks.handover import Handover

_LOCK_SECONDS = 1.0


class Spool(Handover):
    """The folder beside a memory with the events that wait, the log and what belongs to them."""

    def __init__(self, db: str | Path) -> None:
        super().__init__(str(db))
        self.db = Path(db)
        self.folder = Path(self.folder_path)
        self.events = self.folder / "events"
        self.failed = self.folder / "failed"
        self.log_file = self.folder / "log"
        self.lock_file = self.folder / "lock"
        self.read_file = self.folder / "read.json"
        self.socket_file = self.folder / "socket"

    def names(self) -> list[str]:
        """The names of the events that wait, the oldest first."""
        with suppress(FileNotFoundError):
            return sorted(path.name for path in self.events.iterdir() if path.suffix == ".json")
        return []

    def get(self, name: str) -> Event:
        """An event that waits."""
        return Event(**json.loads((self.events / name).read_text("utf-8")))

    def remove(self, name: str) -> None:
        """Delete an event, once it is stored."""
        (self.events / name).unlink(missing_ok=True)

    def set_aside(self, name: str) -> None:
        """Keep an event that cannot be stored where it does not delay others."""
        self.failed.mkdir(0o700, exist_ok=True)
        (self.events / name).replace(self.failed / name)

    def last_error(self) -> str | None:
        """The last line of the log."""
        with suppress(OSError):
            lines = self.log_file.read_text("utf-8", "replace").splitlines()
            return lines[-1] if lines else None
        return None

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Whether this process is the only one. SQLite's lock ends with it on any system.

        A process that is ending gives its lock up a moment later, so this waits a little for it.
        """
        lock = sqlite3.connect(self.lock_file, timeout=_LOCK_SECONDS, isolation_level=None)
        with closing(lock):
            try:
                lock.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                yield False
            else:
                yield True
