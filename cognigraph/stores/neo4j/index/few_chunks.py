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

import numpy as np

from cognigraph.ids import session_uid
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.neo4j import tokens
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index.sources import ByWords
from cognigraph.stores.neo4j.values import vector
from cognigraph.text.word_book import bm25

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
        """CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()
CALL db.index.fulltext.queryNodes('chunk_lexemes', key, {limit: $counted}) YIELD node
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

    def nearest(self, limit: int) -> list[str]:
        """The uids of those with a cosine above 0, nearest first."""
        rows = [row for row, score in enumerate(self.similarity) if score > 0.5]
        rows.sort(key=lambda row: -self.similarity[row])
        return [self.uids[row] for row in rows[:limit]]

    def best(self, words: ByWords) -> list[str]:
        """The uids of the best by words."""
        uids = np.array(self.uids)
        weights = np.array(list(words.weights.values()))
        counts = [[found.count(term) for term in words.weights] for found in self.found]
        scores = bm25(
            np.array(counts, float).reshape(len(uids), len(weights)),
            np.array(self.lengths, float),
            weights,
            words.mean_length,
        )
        rows = np.argsort(-scores, kind="stable")[: words.limit]
        return [str(uid) for uid in uids[rows[scores[rows] > 0]]]


def few_chunks(
    connection: Connection,
    space: str,
    total: int,
    query: CandidateQuery,
    where: dict[str, Any],
    most: int,
) -> FewChunks:
    """The chunks to which a filter confines a search, if they are few.

    ``total`` counts the chunks of the space, and ``where`` is the parameter of statements. Up to
    ``most`` chunks with the same tags and metadata are few.
    """
    common = {
        "space": space,
        "vector": vector(query.vector),
        "until": query.as_of,
        "terms": list(query.terms),
        "where": where,
    }
    wanted, marks, share = query.where, where["marks"], 1.0
    if marks and not wanted.sessions:
        keys = [tokens.having_marks(space, marks)]
        count, *columns = _read(connection, _BY_MARKS, keys, most, query, common)
        if count <= most:
            return FewChunks(True, 1.0, *columns)
        share = min(1.0, count / max(total, 1)) * max(1, len(columns[0])) / _SAMPLE
    if wanted.sessions or wanted.since is not None or wanted.latest is not None:
        keys = [session_uid(space, id) for id in dict.fromkeys(wanted.sessions)] or [space]
        replace = () if wanted.sessions else _BY_TIME
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
