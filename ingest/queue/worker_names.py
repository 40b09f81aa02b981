"""Names of workers, from which other processes on the machine can tell whether one still runs.

A name is ``host:process:id``. The process is its PID and, where ``/proc`` provides it, its start
time, because PIDs are reused: in a restarted container, often by the very next worker.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

_STATE, _STARTED = 0, 19  # fields of /proc/PID/stat, counted after the name of the program
_DEAD = "ZX"


def worker_name(id: str) -> str:
    """The name of a worker of this process; ``id`` distinguishes the workers of one process."""
    pid = os.getpid()
    fields = _stat(pid)
    return f"{_host()}:{pid}{'-' + fields[_STARTED] if fields else ''}:{id}"


def has_crashed(token: str) -> bool | None:
    """Whether the worker named by a lease's token has ended; ``None`` if that is unknown."""
    host, _, rest = token.partition(":")
    number, _, started = rest.partition(":")[0].partition("-")
    if host != _host() or not number.isdigit() or os.name != "posix":
        return None
    pid = int(number)
    if not _exists(pid):
        return True
    fields = _stat(pid)
    if not fields:
        return False
    return fields[_STATE] in _DEAD or (started != "" and fields[_STARTED] != started)


def _host() -> str:
    return socket.gethostname().replace(":", "-")


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _stat(pid: int) -> list[str]:
    """Fields of ``/proc/PID/stat`` after the program's name; empty on other systems than Linux."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
