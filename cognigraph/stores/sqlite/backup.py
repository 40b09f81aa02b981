"""A consistent copy of the file while it is in use."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from cognigraph.errors import StoreError
from cognigraph.stores.sqlite.connection import Pool, mapped_errors

_PAGES = 2048
"""Pages copied at a time; writers may come in between, and what they write is copied too."""


def backup(pool: Pool, path: str) -> None:
    """Copy the file and what is in its journal to a new file."""
    target = Path(path)
    try:
        target.touch(0o600, exist_ok=False)
    except FileExistsError:
        raise StoreError(f"{path} exists already; give the name of a new file") from None
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
    try:
        with (
            pool.connection() as source,
            mapped_errors(path),
            closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy, pages=_PAGES)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a journal
    except BaseException:
        target.unlink(missing_ok=True)
        raise
