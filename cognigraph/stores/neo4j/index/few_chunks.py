"""Chunks of a large space that a filter confines: to sessions, to tags and metadata, or to a time.

The indexes of vectors and words return the best of the whole space, of which such a filter may let
none pass. If there are few of these chunks, each of them is read and compared. How many have the
tags and the metadata also says how many results of the vector index it takes to find enough of
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from cognigraph.ids import session_uid
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.neo4j import tokens
from cognigraph.stores.neo4j.connection import Connection, Row

_MOST = 2000
_COUNTED = 20_000
"""Chunks with the same tags and metadata are counted up to this number."""
_SAMPLE = 200
"""If they are many, so many of them show which part passes the other conditions."""
_BY_TIME = (
    ("node:Chunk(session_uid, at, seq)", "node:Chunk(space, at, seq)"),
    ("node.session_uid = key", "node.space = key"),
)
_BY_MARKS = (
    (
        """MATCH (node:Chunk) USING INDEX node:Chunk(session_uid, at, seq)
WHERE node.session_uid = key AND node.at >= $since AND node.at <= $latest
  AND node.seq IS NOT NULL
WITH node LIMIT toInteger($most) + 1
""",
        """CALL db.index.fulltext.queryNodes('chunk_lexemes', key, {limit: $counted}) YIELD node
""",
    ),
)
_EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FewChunks:
    """The chunks that pass, in order of arrival; none if there are too many to compare.

    ``share`` is then about the part of the space that passes, if it is known.
    """

    is_complete: bool
    share: float = 1.0

    uids: Sequence[str] = ()
    similarity: Sequence[float] = ()
    sessions: Sequence[str] = ()
    lengths: Sequence[int] = ()
    found: Sequence[list[str]] = ()

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
    connection: Connection,
    space: str,
    total: int,
    query: CandidateQuery,
    common: dict[str, Any],
    most_marked: int,
) -> FewChunks:
    """The chunks to which a filter confines a search, if they are few.

    ``total`` counts the chunks of the space. ``common`` has the parameters ``space``, ``vector``,
    ``until``, ``terms`` and ``where``. Up to ``most_marked`` chunks with the same tags and metadata
    are few.
    """
    where, marks = query.where, common["where"]["marks"]
    share = 1.0
    if marks and not where.sessions:
        keys = [tokens.having_marks(space, marks)]
        count, *columns = _read(connection, _BY_MARKS, keys, most_marked, query, common)
        if count <= most_marked:
            return FewChunks(True, 1.0, *columns)
        share = min(1.0, count / max(total, 1)) * max(1, len(columns[0])) / _SAMPLE
    if where.sessions or where.since is not None or where.latest is not None:
        keys = [session_uid(space, id) for id in dict.fromkeys(where.sessions)] or [space]
        replace = () if where.sessions else _BY_TIME
        if len(keys) <= _MOST:
            found, *columns = _read(connection, replace, keys, _MOST, query, common)
            if found <= _MOST:
                return FewChunks(True, 1.0, *columns)
    return FewChunks(False, share)


def _read(
    connection: Connection,
    replace: tuple[tuple[str, str], ...],
    keys: list[str],
    most: int,
    query: CandidateQuery,
    common: dict[str, Any],
) -> Row:
    row = connection.row(
        "search/few_chunks",
        *replace,
        keys=keys,
        since=query.where.since or _EARLIEST,
        latest=query.where.latest or _LATEST,
        most=most,
        counted=max(_COUNTED, most + 1),
        sample=_SAMPLE if replace is _BY_MARKS else 0,
        **common,
    )
    assert row is not None
    return row
