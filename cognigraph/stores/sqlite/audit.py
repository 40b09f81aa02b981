"""The audit log of a file: rows are added, and nothing changes or deletes them."""

from __future__ import annotations

import sqlite3

from cognigraph.model.storage import AuditEntry
from cognigraph.stores.records import audit_entry, audit_row

_INSERT = """
INSERT INTO audit (at, space, action, by, subjects, details)
VALUES (:at, :space, :action, :by, :subjects, :details)"""
_ENTRIES = """
SELECT at, space, action, by, subjects, details FROM audit {of_space}
ORDER BY id DESC LIMIT :limit OFFSET :offset"""


def add_entry(connection: sqlite3.Connection, entry: AuditEntry) -> None:
    """Add an entry in the open transaction."""
    connection.execute(_INSERT, audit_row(entry))


def entries(
    connection: sqlite3.Connection, space: str | None, limit: int, offset: int
) -> list[AuditEntry]:
    """The entries of a space, or all, newest first."""
    of_space = "" if space is None else "WHERE space = :space"
    rows = connection.execute(
        _ENTRIES.format(of_space=of_space), {"space": space, "limit": limit, "offset": offset}
    )
    return [audit_entry(*row) for row in rows]
