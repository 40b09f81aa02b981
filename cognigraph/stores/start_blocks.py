"""Blocks to be shown when a conversation begins, kept in the SQLite file of a memory.

Whoever shows one must be quick and has no time to load the memory: this module imports only
``sqlite3``. A block is a row of ``meta``, so it has the permissions of the file and goes into its
backups. It says which state of its space it was made from: after any change of the space it is no
longer shown, and with the first message that is forgotten it is deleted (:func:`drop`), in the same
transaction.
"""

from __future__ import annotations

import sqlite3

from cognigraph._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_KEY = "'start ' || project.id || ' ' || shown.id"
"""A block is about one space and is shown in a project: that of the person differs by project."""
_STATE = "shown.revision || ' ' || shown.epoch"
_READ = f"""
SELECT shown.name, {_STATE}, m.value FROM space project JOIN space shown
LEFT JOIN meta m ON m.key = {_KEY}
WHERE project.name = ? AND shown.name IN (?, ?)"""
_WRITE = f"""
INSERT OR REPLACE INTO meta SELECT {_KEY}, ? FROM space project JOIN space shown
WHERE project.name = ? AND shown.name = ? AND {_STATE} = ?"""
_DROP = """
DELETE FROM meta WHERE key >= 'start ' AND key < 'start!'
AND (SELECT id FROM space WHERE name = ?) IN (
  CAST(substr(key, 7) AS INTEGER),
  CAST(substr(key, 7 + instr(substr(key, 7), ' ')) AS INTEGER))"""
"""Only the few blocks are read: there may be many spaces."""


def read(path: str, project: str, person: str) -> list[str]:
    """The blocks of a project and of the person that still hold, as they are shown.

    There are none while another process is creating the file or holds it locked.

    Raises:
        sqlite3.DatabaseError: the file is not cognigraph's, or is damaged.
    """
    try:
        rows = _rows(path, project, person)
    except sqlite3.OperationalError:
        return []
    shown = (rows[name] for name in (project, person) if name in rows)
    return [text for _, text in shown if text]


def outdated(path: str, project: str, person: str) -> dict[str, str]:
    """The spaces whose block for a project is missing or of an earlier state: name and state.

    Raises:
        sqlite3.Error: the file cannot be read, or is locked.
    """
    rows = _rows(path, project, person)
    return {name: state for name, (state, text) in rows.items() if text is None}


def write(path: str, project: str, shown: str, state: str, text: str) -> None:
    """Keep the block of a space for a project; not if the space has changed since ``state``.

    Raises:
        sqlite3.Error: the file cannot be read, or is locked.
    """
    connection = sqlite3.connect(_uri(path, "rw"), uri=True, timeout=60, isolation_level=None)
    try:
        # Whether it is on the disk after a power failure does not matter.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        value = f"{_head(state)}{text}"
        connection.execute(_WRITE, (value, project, shown, state))
        connection.execute("COMMIT")
    finally:
        connection.close()


def drop(connection: sqlite3.Connection, space: str) -> None:
    """Delete the blocks that are about a space or are shown in it."""
    connection.execute(_DROP, (space,))


def _rows(path: str, project: str, person: str) -> Mapping[str, tuple[str, str | None]]:
    """The spaces that there are: name, present state, and the block if it is of that state."""
    connection = sqlite3.connect(_uri(path, "ro"), uri=True, timeout=0)
    try:
        found: Sequence[tuple[str, str, str | None]] = connection.execute(
            _READ, (project, project, person)
        ).fetchall()
    finally:
        connection.close()
    return {name: (state, _text(value, state)) for name, state, value in found}


def _text(value: str | None, state: str) -> str | None:
    head = _head(state)
    return value[len(head) :] if value is not None and value.startswith(head) else None


def _head(state: str) -> str:
    """What a block of this state and this version of cognigraph begins with."""
    return f"{__version__} {state}\n"


def _uri(path: str, mode: str) -> str:
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{quoted}?mode={mode}"
