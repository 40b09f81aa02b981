"""A consistent copy of the file while it is in use."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from cognigraph.new_file import new_file
from cognigraph.stores.sqlite.changes import KEYS
from cognigraph.stores.sqlite.connection import Pool, mapped_errors

_PAGES = 2048
"""Pages copied at a time; writers may come in between, and what they write is copied too."""


def backup(pool: Pool, path: str) -> None:
    """Copy the file and what is in its journal to a new file."""
    with (
        new_file(Path(path)) as part,
        pool.connection() as source,
        mapped_errors(path),
        closing(sqlite3.connect(part, isolation_level=None)) as copy,
    ):
        source.backup(copy, pages=_PAGES)
        copy.executemany("DELETE FROM meta WHERE key = ?", [(key,) for key in KEYS])
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a journal
