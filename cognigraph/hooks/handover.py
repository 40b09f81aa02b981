"""How a hook hands an event over: it writes a file, and asks the process in the background.

An agent waits for what is here, so it imports next to nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time

try:
    import _socket as sockets
except ImportError:  # socket has the same, and makes hundreds of constants into enumerations
    import socket as sockets  # type: ignore[no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cognigraph.hooks.agents import Event

KEEPER = "--keep"
"""The word with which the command is the process in the background."""
_MAX_SECONDS = 0.1
"""An agent waits no longer for a hook than this, from the start of its process to its end.
``COGNIGRAPH_HOOKS_WAIT`` has other seconds."""
_ENDING_SECONDS = 0.012
"""What a hook still needs after the answer has come."""
_BUSY_SECONDS = 0.3
"""On a busy or slow machine, where Python alone takes the whole time, a hook waits for an answer as
long as it took to start, up to this."""
_CONNECT_SECONDS = 0.05
"""How long a connection to the process in the background may take."""
_MAX_LOG = 256 * 1024


def default_db() -> str:
    """The memory of coding agents: ``COGNIGRAPH_DB``, else a file in the user's data folder."""
    if given := os.environ.get("COGNIGRAPH_DB", "").strip():
        return absolute(given)
    base = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
    return os.path.join(base, "cognigraph", "agents.db")


def absolute(path: str) -> str:
    """An absolute path, as a shell in the current folder would understand it."""
    return os.path.join(os.getcwd(), os.path.expanduser(path))


class Handover:
    """The folder beside a memory in which a hook leaves its event, and the process that reads it.

    Each event is a file, which appears whole or not at all. The process in the background stores it
    and deletes it afterwards; if that process is killed, the next one finds the file.

    Args:
        db: the path of the memory, which is absolute.
    """

    def __init__(self, db: str) -> None:
        self.db_path = db
        self.folder_path = f"{db}.hooks"

    def enter(self) -> None:
        """Make the folders, which only their owner may read: prompts may hold secrets.

        The folder becomes the current one, since the name of a socket may have about 100
        characters only.
        """
        os.makedirs(os.path.dirname(self.db_path), exist_ok=True)
        for folder in (self.folder_path, self._in("events")):
            try:
                os.mkdir(folder, 0o700)
            except FileExistsError:
                pass
        os.chdir(self.folder_path)

    def put(self, event: Event) -> None:
        """Write an event, to be stored after those before it."""
        name = self._in("events", f"{time.time_ns():020d}-{os.getpid()}")
        with open(f"{name}.part", "w", encoding="utf-8", opener=_private) as file:
            file.write(json.dumps(vars(event)))
        os.replace(f"{name}.part", f"{name}.json")

    def log(self, text: str) -> None:
        """Add a line to the log. The log is bounded: when it is full, its older half is dropped."""
        path = self._in("log")
        try:
            if os.path.getsize(path) > _MAX_LOG:
                with open(path, "r+b") as file:
                    file.seek(-_MAX_LOG // 2, os.SEEK_END)
                    rest = file.read().partition(b"\n")[2]
                    file.seek(0)
                    file.write(rest)
                    file.truncate()
        except OSError:
            pass
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {' '.join(text.split())}\n"
        with open(path, "a", encoding="utf-8", errors="replace", opener=_private) as file:
            file.write(line)

    # The process in the background

    def ask_keeper(self, request: Mapping[str, Any]) -> sockets.socket | None:
        """Send a request to the process in the background; ``None`` if none listens."""
        connection = self._connected()
        if connection is not None:
            try:
                connection.sendall(json.dumps(request).encode() + b"\n")
            except OSError:
                connection.close()
                return None
        return connection

    def answers(self, connection: sockets.socket) -> list[str]:
        """The texts that the process in the background sends in time, each in a line of its own."""
        seconds = float(os.environ.get("COGNIGRAPH_HOOKS_WAIT") or _MAX_SECONDS)
        age = _age()
        end = time.monotonic() + max(seconds - _ENDING_SECONDS - age, min(age, _BUSY_SECONDS))
        received = b""
        try:
            while (left := end - time.monotonic()) > 0:
                connection.settimeout(left)
                if not (piece := connection.recv(1 << 16)):
                    break
                received += piece
        except OSError:  # also the end of the time: what came before it is an answer
            pass
        finally:
            connection.close()
        return [json.loads(line) for line in received.split(b"\n")[:-1]]

    def wake_keeper(self) -> None:
        """Have the events stored: by the process in the background, or by a new one.

        A connection is enough: the process looks for events once more after it has stopped to
        listen.
        """
        connection = self._connected()
        if connection is not None:
            connection.close()
            return
        import subprocess  # takes longer to import than all the rest

        subprocess.Popen(
            [sys.executable, "-P", "-m", "cognigraph", "hook", KEEPER, "--db", self.db_path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder_path,
            start_new_session=True,
        )

    def _connected(self) -> sockets.socket | None:
        if not hasattr(sockets, "AF_UNIX"):
            return None
        connection = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        connection.settimeout(_CONNECT_SECONDS)
        try:
            connection.connect("socket")
        except OSError:
            connection.close()
            return None
        return connection

    def _in(self, *names: str) -> str:
        return os.path.join(self.folder_path, *names)


def _age() -> float:
    """For how long this process has run, in seconds: Linux says it to a hundredth.

    Elsewhere it is the time in which it computed, which is less where others compute, too.
    """
    try:
        with open("/proc/self/stat", "rb") as file:
            started = int(file.read().rpartition(b")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError):
        return time.process_time()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
