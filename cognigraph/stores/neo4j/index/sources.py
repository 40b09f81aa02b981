"""How a search looks for candidates by vectors and by words, and when it has to look further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from cognigraph.arrays import Vector
from cognigraph.stores.neo4j import tokens
from cognigraph.stores.neo4j.connection import Row
from cognigraph.stores.neo4j.index.packed import Columns
from cognigraph.stores.neo4j.index.vectors import Layer, OwnIndexes
from cognigraph.text.word_book import K1, B

_OVERFETCH = 2
"""An approximate index is asked for so many times as many results as are wanted."""
_MOST_FETCHED = 2000
_FURTHER = 5
_LEAST_PART = 2
"""With a filter, ``limit / _LEAST_PART`` nodes by vector are enough."""
_SPARE = 1.3
"""How many more results than needed on average are fetched if a part of the nodes passes."""
_FEW = 2000
"""So many chunks with the same tags and metadata are compared one by one in any space."""
_WORDS_OVERFETCH = 4
_ALL_WORDS_FETCHED = 1000
"""If no more texts can contain a word, all are fetched, and the result is exact."""
_MOST_WORDS_FETCHED = 4000
"""So many texts are looked at if some with the same words tie, or a filter hides most."""


@dataclass(frozen=True, slots=True)
class ByVector:
    """Nodes near the vector of a query: those of an index, and those that are not in it yet.

    Without an index all nodes that arrived after ``after`` are compared one by one, and none if
    that is ``None``. ``nearest`` (similarity and uid) are those that the store has compared.
    """

    limit: int = 0
    index: str | None = None
    after: int | None = None
    is_filtered: bool = False
    fetch: int = 0
    nearest: tuple[tuple[float, str], ...] = ()

    @classmethod
    def of_index(
        cls, limit: int, index: str, covered: int | None, *, is_filtered: bool, share: float = 1.0
    ) -> ByVector:
        """The nodes of an index that has those that arrived up to ``covered``, or all.

        ``share`` is the part of the nodes that pass a filter.
        """
        enough = ceil(_SPARE * limit / _LEAST_PART / share)
        fetch = max(ceil(_OVERFETCH * limit), min(enough, _MOST_FETCHED))
        return cls(limit, index, covered, is_filtered, fetch)

    @property
    def is_off(self) -> bool:
        """Whether it looks for nothing."""
        return self.index is None and self.after is None

    @property
    def compares_all(self) -> bool:
        """Whether all nodes are compared one by one."""
        return self.index is None and self.after is not None

    def with_share(self, share: float) -> ByVector:
        """The same, if only a part of the nodes has the tags and the metadata of a filter."""
        if self.index is None:
            return self
        return ByVector.of_index(self.limit, self.index, self.after, is_filtered=True, share=share)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a statement."""
        return {
            "index": self.index,
            "fetch": self.fetch,
            "after": self.after,
            "limit": self.limit,
            "nearest": [*map(list, self.nearest)],
        }

    def with_nearest(self, nodes: Columns, vector: Vector) -> ByVector:
        """The same, if the store has compared all ``nodes``, which are in order of arrival."""
        cosine = nodes.cosine(vector)
        rows = [row for row in np.argsort(-cosine, kind="stable")[: self.limit] if cosine[row] > 0]
        uids = nodes.rows(rows).uids
        similarity = ((1.0 + cosine[rows]) / 2.0).tolist()
        return replace(self, after=None, nearest=tuple(zip(similarity, uids, strict=True)))

    def further(self, fetched: int, lowest: float, passing: int, nodes: int) -> ByVector | None:
        """What finds more, if too few nodes pass; ``nodes`` are those of the space, if they matter.

        A filter may hide most results. And of many equal vectors an index reaches only some.
        """
        enough = -(-self.limit // _LEAST_PART) if self.is_filtered else self.limit
        if self.index is None or passing >= enough or lowest is None or lowest <= 0.5:
            return None
        if fetched >= self.fetch and self.fetch < _MOST_FETCHED:
            return replace(self, fetch=min(self.fetch * _FURTHER, _MOST_FETCHED))
        return ByVector(self.limit, after=0) if fetched < nodes else None


@dataclass(frozen=True, slots=True)
class ByWords:
    """Texts with words of a query, the best by idf and length first.

    ``weights`` are the idf of the words, ``mean_length`` the mean length of a text in words. How
    often a text has a word is left to the ranking.
    """

    space: str
    weights: dict[str, float]
    mean_length: float
    limit: int
    fetch: int
    marks: Sequence[str] = ()

    @classmethod
    def best(
        cls,
        space: str,
        weights: dict[str, float],
        mean_length: float,
        limit: int,
        most: int,
        marks: Sequence[str] = (),
    ) -> ByWords | None:
        """The best ``limit`` texts, of ``most`` that can have one of the words."""
        if not limit or not weights:
            return None
        exact = most + 1 if most < _ALL_WORDS_FETCHED else 0
        return cls(space, weights, mean_length, limit, max(_WORDS_OVERFETCH * limit, exact), marks)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of a statement."""
        return {
            "query": tokens.weighted_query(self.space, self.weights, self.marks),
            "fetch": self.fetch,
            "most": _MOST_WORDS_FETCHED,
            "is_last": self.fetch >= _MOST_WORDS_FETCHED,
            "limit": self.limit,
            "constant": 1.0 + K1 * (1.0 - B),
            "slope": K1 * B / max(self.mean_length, 1e-9),
        }

    def further(self, fetched: int, good: int) -> ByWords | None:
        """What finds more, if too few of those fetched pass a filter.

        The statement itself has fetched more than ``fetch`` if too many have the same words.
        """
        if fetched != self.fetch or good >= self.limit or self.fetch >= _MOST_WORDS_FETCHED:
            return None
        return replace(self, fetch=_MOST_WORDS_FETCHED)


def by_vector(
    indexes: OwnIndexes,
    space: str,
    layer: Layer,
    limit: int,
    vector: Vector,
    indexed: bool,
    covered: int | None = None,
    *,
    is_filtered: bool = False,
) -> ByVector:
    """How to find the ``limit`` nodes of a layer nearest to a vector.

    ``indexed`` says that the layer has an index, and ``covered`` up to which arrival number.
    """
    if not limit or not vector.any():
        return OFF
    index = indexes.usable(space, layer, indexed)
    if index is None:
        return ByVector(limit, after=0)
    return ByVector.of_index(limit, index, covered, is_filtered=is_filtered)


def most_marked(limit: int, chunks: int) -> int:
    """How many chunks with the same tags and metadata are compared one by one.

    If there are more, the results of the vector index contain enough of them.
    """
    return max(_FEW, ceil(_SPARE * limit / _LEAST_PART * chunks / _MOST_FETCHED))


OFF = ByVector()
"""Looks for nothing."""
NO_WORDS = {
    "query": None, "fetch": 0, "most": 0, "is_last": True, "limit": 0,
    "constant": 1.0, "slope": 0.0,
}  # fmt: skip
OF_MARKED = (
    """MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
  WHERE node.space = $space AND node.seq > after AND""",
    """CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()
  CALL db.index.fulltext.queryNodes('chunk_lexemes', $having) YIELD node
  WITH node
  WHERE node.space = $space AND node.seq > after AND""",
)
"""What to replace in the statement to compare only chunks with some tags and metadata."""


def looking_further(
    vector: ByVector, words: ByWords | None, counts: Row, nodes: int
) -> tuple[ByVector, ByWords | None] | None:
    """How to look for more, after the statement has counted what it found; ``None`` if that does.

    ``nodes`` are those of the layer, or 0 if not all of them need be compared.
    """
    fetched, lowest, passing, scored, best = counts
    more = vector.further(fetched, lowest, passing, nodes)
    more_words = None if words is None else words.further(scored, best)
    if more is None and more_words is None:
        return None
    return more or vector, more_words or words
