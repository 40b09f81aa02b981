"""SQL for what writers keep in versions: the core profile and procedures."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence

from cognigraph.model.written import Written
from cognigraph.stores.records import WrittenRow
from cognigraph.stores.written_versions import next_versions, written_uid
from cognigraph.times import from_micros, to_micros


def read(connection: sqlite3.Connection, space_id: int) -> list[Written]:
    """All versions, by chain, oldest first."""
    sources: dict[int, list[tuple[str, str]]] = {}
    for id, session, message in connection.execute(
        """SELECT w.id, s.name, c.message_id FROM written w
           JOIN written_source v ON v.written_id = w.id JOIN chunk c ON c.id = v.chunk_id
           JOIN session s ON s.id = c.session_id WHERE w.space_id = ? ORDER BY c.at, c.id""",
        (space_id,),
    ):
        sources.setdefault(id, []).append((session, message))
    return [
        Written(
            kind, chain, version, from_micros(at), text, title, tuple(json.loads(steps)),
            tuple(dict.fromkeys(sources.get(id, ()))),
        )
        for id, kind, chain, version, at, text, title, steps in connection.execute(
            """SELECT id, kind, chain, version, at, text, title, steps FROM written
               WHERE space_id = ? ORDER BY chain, version""",
            (space_id,),
        )
    ]  # fmt: skip


def write(
    connection: sqlite3.Connection,
    space: str,
    space_id: int,
    session_id: int,
    rows: Sequence[WrittenRow],
) -> None:
    """Add versions, each with its sources in the session; one without a source is left out."""
    if not rows:
        return
    newest = {
        chain: (version, text)
        for chain, version, text in connection.execute(
            "SELECT chain, max(version), text FROM written WHERE space_id = ? GROUP BY chain",
            (space_id,),
        )
    }
    for one in next_versions(space, rows, newest):
        row = one.row
        chunks = connection.execute(
            "SELECT c.id, c.at FROM json_each(?) j JOIN chunk c ON c.uid = j.value "
            "WHERE c.session_id = ?",
            (json.dumps(row.chunks), session_id),
        ).fetchall()
        if not chunks:
            continue
        (id,) = connection.execute(
            """INSERT INTO written (uid, space_id, kind, chain, version, at, title, text, steps)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
            (
                one.uid, space_id, row.kind, row.chain, one.version, max(at for _, at in chunks),
                row.title, one.text, json.dumps(row.steps, ensure_ascii=False),
            ),
        ).fetchone()  # fmt: skip
        connection.executemany(
            "INSERT OR IGNORE INTO written_source VALUES (?, ?)",
            [(id, chunk) for chunk, _ in chunks],
        )


def drop(connection: sqlite3.Connection, space_id: int, chunk_ids: Collection[int]) -> None:
    """Delete the versions that were written from some chunks, and all that were made of those."""
    connection.execute(
        """DELETE FROM written WHERE id IN (
             SELECT later.id FROM json_each(?) j JOIN written_source v ON v.chunk_id = j.value
             JOIN written w ON w.id = v.written_id
             JOIN written later ON later.space_id = w.space_id AND later.chain = w.chain
               AND later.version >= w.version) AND space_id = ?""",
        (json.dumps([*chunk_ids]), space_id),
    )


def restore(
    connection: sqlite3.Connection, space: str, space_id: int, versions: Sequence[Written]
) -> None:
    """Write versions as an export has them."""
    for one in versions:
        (id,) = connection.execute(
            """INSERT INTO written (uid, space_id, kind, chain, version, at, title, text, steps)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id""",
            (
                written_uid(space, one.chain, one.version), space_id, one.kind, one.chain,
                one.version, to_micros(one.at), one.title, one.text,
                json.dumps(one.steps, ensure_ascii=False),
            ),
        ).fetchone()  # fmt: skip
        connection.executemany(
            """INSERT OR IGNORE INTO written_source
               SELECT ?, c.id FROM chunk c JOIN session s ON s.id = c.session_id
               WHERE c.space_id = ? AND c.message_id = ? AND s.name = ?""",
            [(id, space_id, message, session) for session, message in one.sources],
        )
