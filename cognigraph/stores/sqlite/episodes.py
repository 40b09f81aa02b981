"""SQL for episodes: themes with the chunks that they cover."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from cognigraph.model import Episode, Theme
from cognigraph.stores.candidates import EpisodeCandidate
from cognigraph.stores.records import ThemeRow
from cognigraph.stores.sqlite.vector_format import VectorFormat, pack_terms
from cognigraph.times import from_micros

Slot = tuple[int, int]
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
           SELECT t.id, s.uid FROM theme t JOIN theme s ON s.session_id = t.session_id
           WHERE t.uid = ? AND s.uid = ?""",
        [(theme.uid, source) for theme in themes for source in theme.derived_from],
    )
    connection.execute(
        """UPDATE theme SET (started_at, ended_at) =
             (SELECT min(c.at), max(c.at) FROM covers v JOIN chunk c ON c.id = v.chunk_id
              WHERE v.theme_id = theme.id) WHERE session_id = ?""",
        (session_id,),
    )


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
        Theme(
            title, summary, uid, tuple(chunk for _, chunk in sorted(json.loads(covers))), reason,
            tuple(sorted(json.loads(sources))),
        )
        for title, summary, uid, reason, covers, sources in rows
    )  # fmt: skip


_EPISODES = """
SELECT t.uid, s.name, t.title, t.summary, t.started_at, t.ended_at, t.reason,
  (SELECT json_group_array(json_array(v.place, c.uid, c.message_id))
   FROM covers v JOIN chunk c ON c.id = v.chunk_id WHERE v.theme_id = t.id),
  t.session_id, t.place
FROM theme t JOIN session s ON s.id = t.session_id
"""


def listed(
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


def candidates(
    connection: sqlite3.Connection,
    space_id: int,
    near: Mapping[Slot, float],
    chunks: Iterable[str],
    cosines: Mapping[Slot, float],
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


def _candidate(
    row: tuple[str, str, str, str, int, int, str, str, int, int], cosines: Mapping[Slot, float]
) -> EpisodeCandidate:
    uid, session, title, summary, started, ended, reason, covers, session_id, place = row
    covered = sorted(json.loads(covers))
    messages = tuple(dict.fromkeys(message for *_, message in covered))
    episode = Episode(
        uid, session, title, summary, from_micros(started), from_micros(ended), reason, messages
    )
    cosine = cosines.get((session_id, place), 0.0)
    return EpisodeCandidate(episode, cosine, tuple(chunk for _, chunk, _ in covered))


def keep_uids(connection: sqlite3.Connection, session_uid: str, uids: Mapping[str, str]) -> None:
    """Give themes of a session, by title, the uids that they had before.

    None is changed if a theme beside them has one of these. They are exchanged by way of uids that
    no theme can have.
    """
    rows = connection.execute(
        """SELECT t.title, t.uid FROM theme t JOIN session s ON s.id = t.session_id
           WHERE s.uid = ? ORDER BY t.place""",
        (session_uid,),
    )
    moved = {old: uids[title] for title, old in rows if uids.get(title, old) != old}
    (taken,) = connection.execute(
        "SELECT count(*) FROM theme WHERE uid IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(set(moved.values()) - moved.keys())),),
    ).fetchone()
    if not taken:
        _rename(connection, [(f"was {old}", old) for old in moved])
        _rename(connection, [(new, f"was {old}") for old, new in moved.items()])


def _rename(connection: sqlite3.Connection, pairs: Sequence[tuple[str, str]]) -> None:
    """Change uids of themes (new, old), also where they are the origin of others."""
    connection.executemany("UPDATE theme SET uid = ? WHERE uid = ?", pairs)
    connection.executemany("UPDATE derived_from SET source_uid = ? WHERE source_uid = ?", pairs)
