"""Checks of a file for ``doctor``, and the role of housekeeping."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from cognigraph.model.filters import MessageQuery
from cognigraph.model.storage import AuditEntry, Check
from cognigraph.new_file import new_file
from cognigraph.stores.protocols import imports_check
from cognigraph.stores.records import Placed
from cognigraph.stores.sqlite.connection import mapped_errors
from cognigraph.stores.sqlite.erase import erase_deleted
from cognigraph.stores.sqlite.export import SQLiteExport
from cognigraph.stores.sqlite.file import KEYS
from cognigraph.stores.sqlite.forget import SQLiteForgetting
from cognigraph.stores.sqlite.messages import list_messages, unfinished_imports
from cognigraph.stores.sqlite.rows import add_audit_entry

_LOW_DISK = 200 << 20


def run_checks(
    connection: sqlite3.Connection, path: str, is_read_only: bool = False
) -> list[Check]:
    """Check integrity, durability settings, disk space, and that index tables are complete."""
    integrity = _integrity(connection)
    checks = [
        Check("SQLite", True, sqlite3.sqlite_version),
        Check("access", True, "it can only be read") if is_read_only else _durability(connection),
        Check(
            "integrity", integrity == "ok", integrity, "restore the file from a backup of the disk"
        ),
    ]
    if integrity != "ok":  # counting the rows of a damaged file would raise an error
        return checks
    for table, index, column in (
        ("chunk", "chunk_index", "chunk_id"),
        ("triple", "triple_index", "triple_id"),
        ("chunk", "work", "chunk_id"),
    ):
        missing = connection.execute(
            f"SELECT count(*) FROM {table} t WHERE NOT EXISTS "
            f"(SELECT 1 FROM {index} i WHERE i.{column} = t.id)"
        ).fetchone()[0]
        rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        checks.append(
            Check(
                f"{index} of {table}s",
                missing == 0,
                f"{rows - missing} of {rows} rows",
                "the file was changed by another program; restore a backup",
            )
        )
    checks.append(_episodes(connection))
    checks += imports_check(unfinished_imports(connection))
    if Path(path).exists() and not is_read_only:
        free = shutil.disk_usage(Path(path).resolve().parent).free
        size = Path(path).stat().st_size
        checks.append(
            Check(
                "disk",
                free > _LOW_DISK,
                f"{size / 1e6:.1f} MB used, {free / 1e9:.1f} GB free",
                "free some disk space",
            )
        )
    return checks


def _durability(connection: sqlite3.Connection) -> Check:
    journal = connection.execute("PRAGMA journal_mode").fetchone()[0]
    synchronous = connection.execute("PRAGMA synchronous").fetchone()[0]
    return Check(
        "durability",
        journal == "wal" and synchronous == 2,
        f"journal_mode={journal} synchronous={synchronous}",
        "put the file on a local disk: WAL does not work on network file systems",
    )


def _episodes(connection: sqlite3.Connection) -> Check:
    """Check that each episode covers chunks, and only those of its session."""
    episodes, wrong = connection.execute(
        """SELECT count(*), coalesce(sum(
             NOT EXISTS (SELECT 1 FROM covers v WHERE v.theme_id = t.id)
             OR EXISTS (SELECT 1 FROM covers v JOIN chunk c ON c.id = v.chunk_id
                        WHERE v.theme_id = t.id AND c.session_id != t.session_id)), 0)
           FROM theme t WHERE t.ended_at IS NOT NULL"""
    ).fetchone()
    return Check(
        "episodes",
        wrong == 0,
        f"{episodes - wrong} of {episodes} cover messages of their session",
        "the file was changed by another program; enrich its sessions again (redo)",
    )


def _integrity(connection: sqlite3.Connection) -> str:
    try:
        return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return str(error)


# ``SQLiteHousekeeping``: lists, forgets, exports and imports messages, and copies the file.

_PAGES = 2048
"""Pages copied at a time; writers may come in between, and what they write is copied too."""


class SQLiteHousekeeping(SQLiteForgetting, SQLiteExport):
    """See :class:`cognigraph.stores.protocols.HousekeepingStore`."""

    def messages(self, space: str, query: MessageQuery) -> list[Placed]:
        key = self._file.key
        return self._file.query(space, [], lambda c, s: list_messages(c, s, query, key))

    def audit(self, entry: AuditEntry) -> None:
        with self._file.write() as connection:
            add_audit_entry(connection, entry)

    def backup(self, path: str) -> None:
        """Copy the file, and what is in its journal, to a new file while it is in use."""
        with (
            new_file(Path(path)) as part,
            self._file.pool.connection() as source,
            mapped_errors(path),
            closing(sqlite3.connect(part, isolation_level=None)) as copy,
        ):
            source.backup(copy, pages=_PAGES)
            copy.executemany("DELETE FROM meta WHERE key = ?", [(key,) for key in KEYS])
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a journal

    def erase(self) -> bool | None:
        """Rewrite the file without what was deleted."""
        return erase_deleted(self._file.pool)
