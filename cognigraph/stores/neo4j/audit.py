"""The audit log of a database: nodes are added, and no statement changes or deletes them."""

from __future__ import annotations

from secrets import token_hex
from time import time_ns

from cognigraph.model.storage import AuditEntry
from cognigraph.stores.neo4j.connection import Connection, Transaction
from cognigraph.stores.records import audit_entry, audit_row


def add_entry(tx: Transaction, entry: AuditEntry) -> None:
    """Add an entry in the open transaction."""
    # Entries of one moment have the order in which they were added.
    tx.rows("audit/add", uid=f"{time_ns():016x}{token_hex(8)}", **audit_row(entry))


def entries(connection: Connection, space: str | None, limit: int, offset: int) -> list[AuditEntry]:
    """The entries of a space, or all, newest first."""
    replace = [
        ("Audit(at)", "Audit(owner, at)"),
        ("entry.at IS NOT NULL", "entry.owner = $space AND entry.at IS NOT NULL"),
    ]
    rows = connection.rows(
        "audit/log", *(replace if space is not None else ()), space=space, skip=offset, limit=limit
    )
    return [audit_entry(*row) for row in rows]
