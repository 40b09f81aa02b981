"""What is written of sessions: episodes, revisions of summaries, profile and procedures."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from cognigraph.ids import revision_uid
from cognigraph.model import Episode, Summary, Theme
from cognigraph.model.graph import Written
from cognigraph.stores.candidates import EpisodeCandidate
from cognigraph.stores.model_rows import episode_of, summary_of, theme_of, written_of
from cognigraph.stores.records import Derivation, ThemeRow, WrittenRow, next_versions, written_uid
from cognigraph.stores.sqlite.rows import VectorFormat, pack_terms
from cognigraph.times import to_micros

ThemePlace = tuple[int, int]
"""A theme by the id of its session and its position in it."""


def replace_themes(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space_id: int,
    session_id: int,
    themes: Sequence[ThemeRow],
) -> None:
    """Write the themes of a session in place of the old ones, with what they cover."""
    connection.execute("DELETE FROM theme WHERE session_id = ?", (session_id,))
    connection.executemany(
        """INSERT INTO theme (uid, space_id, session_id, place, title, summary, length, terms,
                              vector, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (
                theme.uid, space_id, session_id, index, theme.title, theme.summary,
                sum(theme.terms.values()), pack_terms(theme.terms), vectors.pack(theme.vector),
                theme.reason,
            )
            for index, theme in enumerate(themes)
        ],
    )  # fmt: skip
    connection.executemany(
        """INSERT INTO covers
           SELECT t.id, row_number() OVER (ORDER BY c.at, c.id) - 1, c.id
           FROM theme t, json_each(:covers) j JOIN chunk c ON c.uid = j.value
           WHERE t.uid = :uid AND c.session_id = t.session_id""",
        [
            {"uid": theme.uid, "covers": json.dumps(theme.covers)}
            for theme in themes
            if theme.covers
        ],
    )
    connection.executemany(
        """INSERT OR IGNORE INTO derived_from
           SELECT t.id, s.uid FROM theme t JOIN theme s ON s.space_id = t.space_id
           WHERE t.uid = ? AND s.uid = ?""",
        [(theme.uid, source) for theme in themes for source in theme.derived_from],
    )
    connection.execute(
        """UPDATE theme SET (started_at, ended_at) =
             (SELECT min(c.at), max(c.at) FROM covers v JOIN chunk c ON c.id = v.chunk_id
              WHERE v.theme_id = theme.id) WHERE session_id = ?""",
        (session_id,),
    )


_MADE_OF = """
WITH RECURSIVE concerned(id) AS (
  SELECT ? UNION SELECT t.session_id FROM concerned c JOIN theme s ON s.session_id = c.id
  JOIN derived_from d ON d.source_uid = s.uid JOIN theme t ON t.id = d.theme_id)
SELECT s.id, s.uid FROM concerned c JOIN session s ON s.id = c.id WHERE s.id != ? ORDER BY s.id"""


def sessions_made_of(connection: sqlite3.Connection, session_id: int) -> list[tuple[int, str]]:
    """Ids and uids of the other sessions whose themes were made out of those of a session."""
    return connection.execute(_MADE_OF, (session_id, session_id)).fetchall()


def themes_of(connection: sqlite3.Connection, session_id: int) -> tuple[Theme, ...]:
    """The themes of a session with the chunks that they cover, in order."""
    rows = connection.execute(
        """SELECT t.title, t.summary, t.uid, t.reason,
             (SELECT json_group_array(json_array(v.place, c.uid))
              FROM covers v JOIN chunk c ON c.id = v.chunk_id WHERE v.theme_id = t.id),
             (SELECT json_group_array(source_uid) FROM derived_from WHERE theme_id = t.id)
           FROM theme t WHERE t.session_id = ? ORDER BY t.place""",
        (session_id,),
    )
    return tuple(
        theme_of(title, summary, uid, reason, json.loads(covers), json.loads(sources))
        for title, summary, uid, reason, covers, sources in rows
    )


_EPISODES = """
SELECT t.uid, s.name, t.title, t.summary, t.started_at, t.ended_at, t.reason,
  (SELECT json_group_array(json_array(v.place, c.uid, c.message_id))
   FROM covers v JOIN chunk c ON c.id = v.chunk_id WHERE v.theme_id = t.id),
  t.session_id, t.place
FROM theme t JOIN session s ON s.id = t.session_id
"""


def list_episodes(
    connection: sqlite3.Connection, space_id: int, session: str | None, limit: int, offset: int
) -> list[Episode]:
    """Episodes, newest first."""
    rows = connection.execute(
        f"""{_EPISODES} WHERE t.space_id = :space AND t.ended_at IS NOT NULL
            AND (:session IS NULL OR s.name = :session)
            ORDER BY t.ended_at DESC, t.started_at DESC, t.uid LIMIT :limit OFFSET :offset""",
        {"space": space_id, "session": session, "limit": limit, "offset": offset},
    )
    return [_candidate(row, {}).episode for row in rows]


def episode_candidates(
    connection: sqlite3.Connection,
    space_id: int,
    near: Iterable[ThemePlace],
    chunks: Iterable[str],
    cosines: Mapping[ThemePlace, float],
) -> list[EpisodeCandidate]:
    """The episodes among the nearest themes, and those that cover one of some chunks."""
    rows = connection.execute(
        f"""{_EPISODES} WHERE t.space_id = :space AND t.ended_at IS NOT NULL AND t.id IN (
              SELECT n.id FROM json_each(:near) j JOIN theme n
                ON n.session_id = json_extract(j.value, '$[0]')
                AND n.place = json_extract(j.value, '$[1]')
              UNION SELECT v.theme_id FROM json_each(:chunks) j JOIN chunk c ON c.uid = j.value
                JOIN covers v ON v.chunk_id = c.id)
            ORDER BY t.uid""",
        {"space": space_id, "near": json.dumps([*near]), "chunks": json.dumps([*chunks])},
    )
    return [_candidate(row, cosines) for row in rows]


def _candidate(row: tuple[Any, ...], cosines: Mapping[ThemePlace, float]) -> EpisodeCandidate:
    *shown, covers, session_id, place = row
    return episode_of(shown, json.loads(covers), cosines.get((session_id, place), 0.0))


def keep_revision(
    connection: sqlite3.Connection, session_id: int, derivation: Derivation, now: int
) -> None:
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


def replace_revisions(
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
                revision_uid(uid, revision.version), id, revision.version, to_micros(revision.at),
                revision.extractor,
                json.dumps(revision.keys, ensure_ascii=False),
                json.dumps(
                    [[theme.title, theme.summary] for theme in revision.themes], ensure_ascii=False
                ),
            )
            for revision in revisions
        ],
    )  # fmt: skip


def read_revisions(connection: sqlite3.Connection, space_id: int, session: str) -> list[Summary]:
    """A session's revisions, newest first."""
    rows = connection.execute(
        """SELECT r.version, r.at, r.extractor, r.keys, r.themes
           FROM revision r JOIN session s ON s.id = r.session_id
           WHERE s.space_id = ? AND s.name = ? ORDER BY r.version DESC""",
        (space_id, session),
    )
    return [
        summary_of(session, row, json.loads(keys), json.loads(themes))
        for *row, keys, themes in rows
    ]


def read_written(connection: sqlite3.Connection, space_id: int) -> list[Written]:
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
        written_of(row, json.loads(steps), sources.get(id, ()))
        for id, *row, steps in connection.execute(
            """SELECT id, kind, chain, version, at, text, title, steps FROM written
               WHERE space_id = ? ORDER BY chain, version""",
            (space_id,),
        )
    ]


_INSERT_WRITTEN = """
INSERT INTO written (uid, space_id, kind, chain, version, at, title, text, steps)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"""


def write_written(
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
    for item in next_versions(space, rows, newest):
        row = item.row
        chunks = connection.execute(
            "SELECT c.id, c.at FROM json_each(?) j JOIN chunk c ON c.uid = j.value "
            "WHERE c.session_id = ?",
            (json.dumps(row.chunks), session_id),
        ).fetchall()
        if not chunks:
            continue
        (id,) = connection.execute(
            _INSERT_WRITTEN,
            (
                item.uid, space_id, row.kind, row.chain, item.version, max(at for _, at in chunks),
                row.title, item.text, json.dumps(row.steps, ensure_ascii=False),
            ),
        ).fetchone()  # fmt: skip
        connection.executemany(
            "INSERT OR IGNORE INTO written_source VALUES (?, ?)",
            [(id, chunk) for chunk, _ in chunks],
        )


def drop_written(connection: sqlite3.Connection, space_id: int, chunk_ids: Collection[int]) -> None:
    """Delete the versions that were written from some chunks, and all that were made of those."""
    connection.execute(
        """DELETE FROM written WHERE id IN (
             SELECT later.id FROM json_each(?) j JOIN written_source v ON v.chunk_id = j.value
             JOIN written w ON w.id = v.written_id
             JOIN written later ON later.space_id = w.space_id AND later.chain = w.chain
               AND later.version >= w.version) AND space_id = ?""",
        (json.dumps([*chunk_ids]), space_id),
    )


def restore_written(
    connection: sqlite3.Connection, space: str, space_id: int, versions: Sequence[Written]
) -> None:
    """Write versions as an export has them."""
    for version in versions:
        (id,) = connection.execute(
            _INSERT_WRITTEN,
            (
                written_uid(space, version.chain, version.version), space_id, version.kind,
                version.chain, version.version, to_micros(version.at), version.title, version.text,
                json.dumps(version.steps, ensure_ascii=False),
            ),
        ).fetchone()  # fmt: skip
        connection.executemany(
            """INSERT OR IGNORE INTO written_source
               SELECT ?, c.id FROM chunk c JOIN session s ON s.id = c.session_id
               WHERE c.space_id = ? AND c.message_id = ? AND s.name = ?""",
            [(id, space_id, message, session) for session, message in version.sources],
        )
