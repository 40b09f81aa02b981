"""Where the events of agents wait: a folder beside the memory.

Each event is a file, which appears whole or not at all. A process in the background stores the
files and deletes each one afterwards; if it is killed, the next one finds them. An agent waits for
what is here, so it imports next to nothing.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cognigraph.hooks.agents import Event

KEEPER = "--keep"
"""What makes the command the process in the background."""
ANSWER_SECONDS = 5.0
_MOST_LOG = 256 * 1024


def default_db(environ: Mapping[str, str] | None = None) -> Path:
    """The memory of coding agents: ``COGNIGRAPH_DB``, else a file in the user's data folder."""
    environ = os.environ if environ is None else environ
    if given := environ.get("COGNIGRAPH_DB", "").strip():
        return Path(given).expanduser().absolute()
    base = environ.get("XDG_DATA_HOME", "").strip()
    return (Path(base) if base else Path.home() / ".local/share") / "cognigraph" / "agents.db"


class Spool:
    """The folder beside a memory with the events that wait, the log and what belongs to them."""

    def __init__(self, db: Path) -> None:
        self.db = db
        self.folder = db.with_name(f"{db.name}.hooks")
        self.events = self.folder / "events"
        self.failed = self.folder / "failed"
        self.log_file = self.folder / "log"
        self.lock_file = self.folder / "lock"
        self.read_file = self.folder / "read.json"
        self.socket_file = self.folder / "socket"

    def make_folders(self) -> None:
        """Make the folders, which only their owner may read: prompts may hold secrets."""
        self.db.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self.folder, self.events):
            folder.mkdir(0o700, exist_ok=True)

    def put(self, event: Event) -> None:
        """Write an event, to be stored after those before it."""
        self.make_folders()
        name = f"{time.time_ns():020d}-{os.getpid()}"
        part = self.events / f"{name}.part"
        with open(part, "w", encoding="utf-8", opener=_private) as file:
            json.dump(event._asdict(), file)
        part.replace(self.events / f"{name}.json")

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

    def log(self, text: str) -> None:
        """Add a line to the log. The log is bounded: when it is full, its older half is dropped."""
        self.make_folders()
        with suppress(OSError):
            if self.log_file.stat().st_size > _MOST_LOG:
                rest = self.log_file.read_bytes()[-_MOST_LOG // 2 :]
                self.log_file.write_bytes(rest.partition(b"\n")[2])
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {' '.join(text.split())}\n"
        with open(self.log_file, "a", encoding="utf-8", errors="replace", opener=_private) as file:
            file.write(line)

    def last_error(self) -> str | None:
        """The last line of the log."""
        with suppress(OSError):
            lines = self.log_file.read_text("utf-8", "replace").splitlines()
            return lines[-1] if lines else None
        return None

    # The process in the background

    def ask_keeper(self, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the process in the background answers; ``None`` if none runs, or it is too slow."""
        try:
            with self._connected() as connection:
                connection.sendall(json.dumps(request).encode() + b"\n")
                with connection.makefile("rb") as stream:
                    answer = json.loads(stream.readline())
        except (OSError, ValueError):
            return None
        return answer if isinstance(answer, dict) else None

    def wake_keeper(self) -> None:
        """Have the events stored: by the process in the background, or by a new one.

        A connection is enough: the process looks for events once more after it has stopped to
        listen.
        """
        with suppress(OSError), self._connected():
            return
        import subprocess  # takes longer to import than all the rest

        subprocess.Popen(
            [sys.executable, "-P", "-m", "cognigraph", "hook", KEEPER, "--db", str(self.db)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            start_new_session=True,
        )

    def _connected(self) -> socket.socket:
        if not hasattr(socket, "AF_UNIX"):
            raise OSError("this system has no such sockets")
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(ANSWER_SECONDS)
        try:
            connection.connect(str(self.socket_file))
        except OSError:
            connection.close()
            raise
        return connection


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
