"""Episodes in Neo4j: themes with the chunks that they cover."""

from __future__ import annotations

from collections.abc import Sequence

from cognigraph.ids import session_uid
from cognigraph.model import Episode, Theme
from cognigraph.stores.candidates import EpisodeCandidate
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.records import ThemeRow
from cognigraph.times import from_micros


def write_covers(tx: Transaction, session: str, themes: Sequence[ThemeRow]) -> None:
    """Link the themes of a session, which were just written, to the chunks that they cover."""
    covers = [[theme.uid, list(theme.covers)] for theme in themes if theme.covers]
    if covers:
        tx.rows("derive/covers", session=session, covers=covers)
    pairs = [[theme.uid, list(theme.derived_from)] for theme in themes if theme.derived_from]
    if pairs:
        tx.rows("derive/derived_from", pairs=pairs)


def theme_of(row: Row) -> Theme:
    """A theme of [title, summary, uid, reason, [[index, chunk uid]], [uids of themes]]."""
    title, summary, uid, reason, covers, sources = row
    chunks = tuple(chunk for _, chunk in sorted(covers))
    return Theme(title, summary, uid, chunks, reason or "", tuple(sorted(sources)))


def listed(
    connection: Connection, space: str, session: str | None, limit: int, offset: int
) -> list[Episode]:
    """Episodes, the one that ended last first."""
    rows = connection.rows(
        "read/episodes",
        space=space,
        session=None if session is None else session_uid(space, session),
        skip=offset,
        limit=limit,
    )
    return [candidate_of(row).episode for row in rows]


def candidate_of(row: Row) -> EpisodeCandidate:
    """An episode of a row, with the chunks that it covers."""
    uid, session, title, summary, started, ended, reason, covers, similarity = row
    covered = sorted(covers)
    messages = tuple(dict.fromkeys(message for *_, message in covered))
    episode = Episode(
        uid, session, title, summary, from_micros(started), from_micros(ended), reason or "",
        messages,
    )  # fmt: skip
    return EpisodeCandidate(episode, max(0.0, 2 * similarity - 1), tuple(c for _, c, _ in covered))
