"""Revisions of session summaries; the newest few of each session are kept."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from cognigraph.ids import revision_uid
from cognigraph.model import Summary, Theme
from cognigraph.stores.records import Derivation
from cognigraph.times import from_micros, to_micros


def keep(connection: sqlite3.Connection, session_id: int, derivation: Derivation, now: int) -> None:
    """Record a session's current keys and themes as a revision; delete the oldest revisions."""
    session_uid, version = connection.execute(
        "SELECT uid, version FROM session WHERE id = ?", (session_id,)
    ).fetchone()
    keys = connection.execute(
        "SELECT name FROM session_key JOIN key ON key.id = key_id WHERE session_id = ? "
        "ORDER BY weight DESC, name",
        (session_id,),
    ).fetchall()
    themes = connection.execute(
        "SELECT title, summary FROM theme WHERE session_id = ? ORDER BY place", (session_id,)
    ).fetchall()
    connection.execute(
        "INSERT INTO revision VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            revision_uid(session_uid, version), session_id, version, now, derivation.extractor,
            json.dumps([name for (name,) in keys], ensure_ascii=False),
            json.dumps(themes, ensure_ascii=False),
        ),
    )  # fmt: skip
    connection.execute(
        "DELETE FROM revision WHERE session_id = ? AND version <= ?",
        (session_id, version - derivation.keep_revisions),
    )


def keep_all(
    connection: sqlite3.Connection, uid: str, version: int, revisions: Sequence[Summary]
) -> None:
    """Replace the revisions of the session with this uid, if there is one."""
    found = connection.execute(
        "UPDATE session SET version = ? WHERE uid = ? RETURNING id", (version, uid)
    ).fetchone()
    if found is None:
        return
    (id,) = found
    connection.execute("DELETE FROM revision WHERE session_id = ?", (id,))
    connection.executemany(
        "INSERT INTO revision VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                revision_uid(uid, one.version), id, one.version, to_micros(one.at), one.extractor,
                json.dumps(one.keys, ensure_ascii=False),
                json.dumps(
                    [[theme.title, theme.summary] for theme in one.themes], ensure_ascii=False
                ),
            )
            for one in revisions
        ],
    )  # fmt: skip


def read(connection: sqlite3.Connection, space_id: int, session: str) -> list[Summary]:
    """A session's revisions, newest first."""
    rows = connection.execute(
        """SELECT r.version, r.at, r.extractor, r.keys, r.themes
           FROM revision r JOIN session s ON s.id = r.session_id
           WHERE s.space_id = ? AND s.name = ? ORDER BY r.version DESC""",
        (space_id, session),
    )
    return [
        Summary(
            session=session,
            version=version,
            at=from_micros(at),
            extractor=extractor,
            keys=tuple(json.loads(keys)),
            themes=tuple(Theme(*theme) for theme in json.loads(themes)),
        )
        for version, at, extractor, keys, themes in rows
    ]
