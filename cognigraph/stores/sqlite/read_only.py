"""Memories that can only be read: on a read-only disk, or in a folder of another user.

Such a file is opened without locks and without a journal of its own. Everything that reads works,
and everything that would write is refused.
"""

from __future__ import annotations

import os
from pathlib import Path


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
