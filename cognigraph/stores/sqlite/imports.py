"""Imports that fill a space: while one runs, and after it was interrupted, the file names it."""

from __future__ import annotations

import sqlite3
from uuid import uuid4

from cognigraph.stores.sqlite import read, remove

_KEY = "import "
"""Before the name of the space, in the metadata of the file; the value is a token."""

FILLED = f"'{_KEY}' || name NOT IN (SELECT key FROM meta)"
"""A condition for spaces that no import is filling."""


def importer_of(connection: sqlite3.Connection, space: str) -> str:
    """The token of the import that fills a space, or an empty text."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY + space,)).fetchone()
    return "" if row is None else str(row[0])


def begin(connection: sqlite3.Connection, space: str) -> str | None:
    """Give a new token to an import into a space; ``None`` if it holds messages of its own."""
    space_id = read.space_id(connection, space)
    if importer_of(connection, space):
        undo(connection, space)
    elif space_id is not None:
        held = "SELECT 1 FROM session WHERE space_id = ? LIMIT 1"
        if connection.execute(held, (space_id,)).fetchone() is not None:
            return None
    token = uuid4().hex
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_KEY + space, token))
    return token


def end(connection: sqlite3.Connection, space: str) -> None:
    """Note that no import fills a space."""
    connection.execute("DELETE FROM meta WHERE key = ?", (_KEY + space,))


def undo(connection: sqlite3.Connection, space: str) -> None:
    """Delete what an import has left."""
    space_id = read.space_id(connection, space)
    if space_id is not None:
        remove.empty(connection, space_id, remember=False)
    end(connection, space)


def unfinished(connection: sqlite3.Connection) -> list[str]:
    """The spaces that imports have not filled yet."""
    keys = connection.execute("SELECT key FROM meta WHERE key GLOB ? ORDER BY key", (f"{_KEY}*",))
    return [key.removeprefix(_KEY) for (key,) in keys]
