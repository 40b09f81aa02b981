"""The file of a memory on the disk: whether it can be written, and whether it is still the same.

If a file is deleted, moved or replaced while a connection has it open, SQLite continues to use the
old one, which no path names any more, and what is written there is lost when the process ends.

A file on a read-only disk, or in a folder of another user, is opened without locks and without a
journal of its own. Everything that reads works, and everything that would write is refused.
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


def check_not_emptied(path: str) -> None:
    """Refuse an empty file, and a missing one whose log is there: SQLite would delete that log."""
    log, main = _size(path + "-wal"), _size(path)  # a log is never older than its file
    if main:
        return
    state = "is missing" if main is None else "is empty"
    if log is not None and log > _LOG_HEADER:
        raise StoreError(
            f"{path} {state}, but its journal {path}-wal is there ({log:,} bytes): the memory was "
            "deleted, emptied or moved without it. Put the file back beside its journal; or delete "
            "both and restore a backup. To start a new memory, delete both"
        )
    if main is not None:
        raise StoreError(
            f"{path} {state} (0 bytes), which no memory is: it was emptied, or copying it has "
            "failed. Restore a backup; to start a new memory, delete the file"
        )


_LOG_HEADER = 32
"""Bytes of a write-ahead log before its first page."""


def _size(path: str) -> int | None:
    try:
        return Path(path).stat().st_size
    except OSError:
        return None  # opening it will say why


_BINARY = int(getattr(os, "O_BINARY", 0))
"""Windows would write more than one byte for a line break."""


def create_beside(main: Path, path: str | Path, flags: int) -> int:
    """Open or create a file beside a database; whoever may read the one may read the other."""
    flags |= _BINARY
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        mode = stat.S_IMODE(main.stat().st_mode)
        descriptor = os.open(path, flags | os.O_CREAT, mode)
        Path(path).chmod(mode)  # SQLite, too, gives its journal the permissions of the file
        return descriptor


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


def can_only_be_read(path: str) -> bool:
    """Whether a file exists, but this user may not change it or not keep a journal beside it."""
    file = Path(path)
    try:
        if not file.is_file():
            return False
        folder = file.resolve().parent
    except OSError:
        return False  # opening it will say why
    return not (os.access(file, os.W_OK) and os.access(folder, os.W_OK))


def mode(path: str) -> str:
    """How SQLite opens such a file.

    While another user has the memory open, its journal holds the newest messages and must be read
    too. Without a journal nobody writes, and SQLite need not look for one, which would fail.
    """
    return "mode=ro" if _has_journal(path) else "mode=ro&immutable=1"


def _has_journal(path: str) -> bool:
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    return log.exists() and (log.stat().st_size > 0 or index.exists())


def refusal(path: str) -> str:
    """What to tell somebody who wants to change such a memory."""
    return (
        f"{path} can only be read here: this user may not write the file or its folder, or the "
        "disk is read-only. To change the memory, allow writing to both, or open a copy of the "
        "file in a folder of your own"
    )
