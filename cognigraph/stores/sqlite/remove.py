"""Removing a whole space, in one transaction."""

from __future__ import annotations

import sqlite3

_OF_CHUNKS = "chunk_id IN (SELECT id FROM chunk WHERE space_id = ?)"
_OF_SESSIONS = "session_id IN (SELECT id FROM session WHERE space_id = ?)"
_OF_ENTITIES = "a_id IN (SELECT id FROM entity WHERE space_id = ?)"

_STATEMENTS = (
    f"DELETE FROM evidence WHERE {_OF_CHUNKS}",
    "DELETE FROM written WHERE space_id = ?",
    f"DELETE FROM mention WHERE {_OF_CHUNKS}",
    f"DELETE FROM alias_source WHERE {_OF_CHUNKS}",
    "DELETE FROM alias WHERE space_id = ?",
    "DELETE FROM block WHERE space_id = ?",
    "DELETE FROM pair WHERE space_id = ?",
    f"DELETE FROM ruling WHERE {_OF_ENTITIES}",
    "DELETE FROM merge WHERE space_id = ?",
    "DELETE FROM state_ruling WHERE space_id = ?",
    "DELETE FROM triple_index WHERE space_id = ?",
    "DELETE FROM triple WHERE space_id = ?",
    "UPDATE entity SET shown_id = NULL WHERE space_id = ? AND shown_id IS NOT NULL",
    "DELETE FROM entity WHERE space_id = ?",
    f"DELETE FROM session_key WHERE {_OF_SESSIONS}",
    "DELETE FROM key WHERE space_id = ?",
    f"DELETE FROM covers WHERE theme_id IN (SELECT id FROM theme WHERE {_OF_SESSIONS})",
    f"DELETE FROM theme WHERE {_OF_SESSIONS}",
    f"DELETE FROM revision WHERE {_OF_SESSIONS}",
    "DELETE FROM behind WHERE space_id = ?",
    "DELETE FROM work WHERE space_id = ?",
    "DELETE FROM chunk_index WHERE space_id = ?",
    "DELETE FROM chunk WHERE space_id = ?",
    "DELETE FROM session WHERE space_id = ?",
    "DELETE FROM version WHERE space_id = ?",
)
"""From what refers to other rows to what is referred to."""


def empty(connection: sqlite3.Connection, space: int, *, remember: bool) -> None:
    """Delete the messages of a space with all that was read out of them."""
    if remember:
        connection.execute(
            "INSERT OR IGNORE INTO forgotten "
            "SELECT uid, space_id FROM chunk WHERE space_id = ? AND part = 0",
            (space,),
        )
    connection.execute("PRAGMA defer_foreign_keys = ON")  # triples refer to each other
    for statement in _STATEMENTS:
        connection.execute(statement, (space,))
    connection.execute(
        "UPDATE space SET revision = revision + 1, epoch = epoch + 1 WHERE id = ?", (space,)
    )


def remove(connection: sqlite3.Connection, space: int) -> None:
    """Delete all rows of a space."""
    empty(connection, space, remember=False)
    connection.execute("DELETE FROM forgotten WHERE space_id = ?", (space,))
    connection.execute("DELETE FROM space WHERE id = ?", (space,))
