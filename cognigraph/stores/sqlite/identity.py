"""Detects that a database file was deleted, moved or replaced while a connection has it open.

SQLite continues to use the old file, which no path names any more, and what is written there is
lost when the process ends.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from cognigraph.errors import StoreError

_Id = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Files:
    """Device and inode of a database and of its write-ahead log; ``None`` for a missing file."""

    main: _Id | None
    log: _Id | None


def files(path: str) -> Files:
    """The files that a path names now.

    Files are not opened for this: closing one of them would release SQLite's locks.
    """
    return Files(_id(path), _id(path + "-wal"))


def _id(path: str) -> _Id | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - called twice for each insert
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(
            f"cannot look up {path}: {error.strerror}; give the path of a file in a folder that "
            "exists and that this user may read"
        ) from error
    return found.st_dev, found.st_ino


def check_regular(path: str) -> None:
    """Refuse a path that cannot be a database file, which SQLite would report as an I/O error."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return  # the file does not exist yet, or SQLite will report why it cannot be read
    if stat.S_ISDIR(mode):
        raise StoreError(f"{path} is a folder; give the path of a file, such as {path}/memory.db")
    if not stat.S_ISREG(mode):
        raise StoreError(
            f"{path} is a device, pipe or socket and cannot hold a memory; give the path of a "
            "regular file"
        )


def check_same(path: str, opened: Files) -> None:
    """Raise :class:`StoreError` if the path no longer names the files that were opened."""
    now = files(path)
    if now == opened:
        return
    if now.main == opened.main:
        raise StoreError(
            f"the journal {path}-wal was deleted or replaced while the memory is open; what was "
            "written lately is safe only once this memory is closed: close it and open it again, "
            "then repeat the call"
        )
    happened = "deleted or moved" if now.main is None else "replaced by another file"
    raise StoreError(
        f"{path} was {happened} while the memory is open; put it back, or close the memory and "
        "open it again, then repeat the call: it was not stored"
    )
