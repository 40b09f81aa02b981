"""Chunks of a large space that a filter confines to some sessions, or to a stretch of time.

The indexes of vectors and words return the best of the whole space, of which such a filter may let
none pass. If there are few of these chunks, each of them is read and compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cognigraph.ids import session_uid
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.neo4j.connection import Connection

_MOST = 2000
_BY_TIME = (
    ("node:Chunk(session_uid, at, seq)", "node:Chunk(space, at, seq)"),
    ("node.session_uid = key", "node.space = key"),
)
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FewChunks:
    """The chunks that pass, in order of arrival."""

    uids: list[str]
    similarity: list[float]
    sessions: list[str]
    lengths: list[int]
    found: list[list[str]]

    def nearest(self, limit: int) -> tuple[list[float], list[str], list[str]]:
        """Similarities, uids and sessions of those with a cosine above 0, nearest first."""
        rows = [row for row, score in enumerate(self.similarity) if score > 0.5]
        rows = sorted(rows, key=lambda row: -self.similarity[row])[:limit]
        columns = (self.similarity, self.uids, self.sessions)
        similarity, uids, sessions = ([column[row] for row in rows] for column in columns)
        return similarity, uids, sessions  # type: ignore[return-value]

    def with_words(self) -> tuple[list[str], list[int], list[list[str]]]:
        """Uids and lengths of those that contain terms of the query, and these terms."""
        rows = [row for row, words in enumerate(self.found) if words]
        return (
            [self.uids[row] for row in rows],
            [self.lengths[row] for row in rows],
            [self.found[row] for row in rows],
        )


def few_chunks(
    connection: Connection, space: str, query: CandidateQuery, common: dict[str, Any]
) -> FewChunks | None:
    """The chunks of the sessions or the time that a filter names; ``None`` if they are many.

    ``common`` has the parameters ``space``, ``vector``, ``until``, ``terms`` and ``where``.
    """
    where = query.where
    if not where.sessions and where.since is None and where.latest is None:
        return None
    keys = [session_uid(space, id) for id in dict.fromkeys(where.sessions)] or [space]
    if len(keys) > _MOST:
        return None
    row = connection.row(
        "search/few_chunks",
        *(() if where.sessions else _BY_TIME),
        keys=keys,
        since=where.since or _EARLIEST,
        latest=where.latest or _LATEST,
        most=_MOST,
        **common,
    )
    assert row is not None
    count, *columns = row
    return None if count > _MOST else FewChunks(*columns)
