"""The candidate sources of a search: vectors, words and anchors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Vector
from cognigraph.errors import StoreError, StoreUnavailableError
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index.few_chunks import FewChunks, few_chunks
from cognigraph.stores.neo4j.index.packed import Columns, columns, unpacked_properties
from cognigraph.stores.neo4j.index.vectors import Layer, OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import SpaceView
from cognigraph.stores.neo4j.index.word_source import WordSource
from cognigraph.stores.neo4j.statements import without_filter
from cognigraph.stores.neo4j.tokens import anchor_hash, filter_for_sources, having_marks
from cognigraph.stores.neo4j.values import vector
from cognigraph.text.word_book import idf

_T = TypeVar("_T")
_OVERFETCH = 2
"""The first 2k results of an approximate index contain nearly all of the nearest k."""
_MOST_FETCHED = 2000
_FEW = 2000
"""So many chunks with the same tags and metadata are compared one by one in any space."""
_FEW_PACKED = 600
"""So many chunks that are not in an index yet are compared here rather than by the server."""
_LEAST_PART = 2
"""With a filter, ``limit / _LEAST_PART`` nodes by vector are enough."""
_SPARE = 1.3
"""How many more results than needed on average are fetched if a part of the nodes passes."""
_WORDS_OVERFETCH = 4
_MOST_WORDS_FETCHED = 1000
_HUB = 2000
"""The triples of an entity with more triples than this are left to the vector index, if any."""
_NO_LIMIT = 1 << 62
_OF_MARKED = (
    """MATCH (node:Chunk) USING INDEX node:Chunk(space, seq)
WHERE node.space = $space AND node.seq > $after AND ($until""",
    """CALL db.index.fulltext.queryNodes('chunk_lexemes', $having) YIELD node
WITH node
WHERE node.space = $space AND node.seq > $after AND ($until""",
)

_TIME: dict[Layer, str] = {"Chunk": "at", "Triple": "first_observed", "Theme": "seq"}


@dataclass(frozen=True, slots=True)
class Nearest:
    """The results of a vector search, nearest first; the first ``limit`` are candidates."""

    limit: int
    similarity: Sequence[float] = ()
    all: Sequence[str] = ()
    all_sessions: Sequence[str] = ()
    subjects: Sequence[str] = ()
    objects: Sequence[str] = ()
    is_cut_off: bool = False
    """Whether there may be more chunks that pass than an index has returned."""

    @property
    def uids(self) -> Sequence[str]:
        """Uids of the first ``limit``."""
        return self.all[: self.limit]

    @property
    def sessions(self) -> Sequence[str]:
        """Uids of the sessions of the candidate chunks or themes."""
        return self.all_sessions[: self.limit]

    def with_those_of(self, newest: Nearest) -> Nearest:
        """Merge two results for chunks, nearest first; ``newest`` wins for the same uid."""
        found: dict[str, tuple[float, str]] = {}
        for part in (newest, self):
            for score, uid, session in zip(
                part.similarity, part.all, part.all_sessions, strict=True
            ):
                found[uid] = score, session
        order = sorted(found, key=lambda uid: -found[uid][0])
        scores, sessions = [found[uid][0] for uid in order], [found[uid][1] for uid in order]
        return Nearest(self.limit, scores, order, sessions)

    def around(self, entity: str) -> list[str]:
        """Uids of the triples that have an entity as subject or object."""
        # Without any hub, subjects and objects are not read.
        ends = zip(self.all, self.subjects, self.objects, strict=True) if self.subjects else ()
        return [uid for uid, subject, object in ends if entity in (subject, object)]


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a vector index has returned: nodes, in any order, and which of them pass a filter."""

    nodes: Columns
    similarity: Floats
    passes: npt.NDArray[np.bool_]
    ends: Sequence[Sequence[str]]
    """Uids of the subjects and objects of triples, if they were asked for."""
    limit: int

    @classmethod
    def from_row(
        cls, row: Row, space: str, vector: Vector, roles: Sequence[str] | None, limit: int
    ) -> Indexed:
        """Of a row of ``nearest_indexed``; ``roles`` are those of chunks that pass."""
        values, passes, ends = row
        nodes = columns(values, len(vector))
        similarity = (1.0 + nodes.cosine(vector)) / 2.0
        good = np.array(passes, bool) & nodes.are_of(space) & (similarity > 0.5)
        if roles is not None:
            good &= nodes.have_role(roles)
        return cls(nodes, similarity, good, ends, limit)

    @property
    def lowest(self) -> float:
        """The lowest similarity of all nodes."""
        return float(self.similarity.min(initial=1.0))

    def nearest(self) -> Nearest:
        """The nodes that pass, nearest first."""
        order = np.argsort(-self.similarity, kind="stable")
        rows = order[self.passes[order]].tolist()
        uids, sessions, ends = self.nodes.uids, self.nodes.sessions, self.ends
        return Nearest(
            self.limit,
            self.similarity[rows].tolist(),
            [uids[row] for row in rows],
            [sessions[row] for row in rows],
            [ends[row][0] for row in rows] if ends else (),
            [ends[row][1] for row in rows] if ends else (),
        )


@dataclass(frozen=True, slots=True)
class Anchor:
    """An entity that the question names, with its triples; ``hub`` if it has very many."""

    uid: str
    name: str
    triples: tuple[str, ...]
    hub: bool


@dataclass(frozen=True, slots=True)
class ChunkSources:
    """The chunks that were found by vector, and the uids of those found by words."""

    nearest: Nearest
    by_terms: list[str]


@dataclass(frozen=True, slots=True)
class TripleSources:
    """The triples and themes that were found by vector, the triples by words, and the anchors."""

    nearest: Nearest
    by_terms: list[str]
    anchors: list[Anchor]
    themes: Nearest

    @property
    def by_anchor(self) -> list[str]:
        """Uids of the triples of all anchors."""
        return [uid for anchor in self.anchors for uid in anchor.triples]


class CandidateSources:
    """The candidate sources for one query in one space.

    Those of chunks run in one statement, those of triples and themes in another. Only if a filter
    hides most of what an index returns, or scores are tied, more statements follow.
    """

    def __init__(
        self,
        connection: Connection,
        indexes: OwnIndexes,
        space: str,
        query: CandidateQuery,
        view: SpaceView,
    ) -> None:
        self._connection = connection
        self._indexes = indexes
        self._space = space
        self._query = query
        self._view = view
        self._vector = vector(query.vector)
        self._until: datetime | None = query.as_of
        self._where = filter_for_sources(query.where, query.without)
        self._unfiltered = is_unfiltered(query)

    def chunks(self) -> ChunkSources:
        """Chunks by vector and by words."""
        return self._with_indexes(self._of_chunks)

    def triples_and_themes(self) -> TripleSources:
        """Triples by vector and by words, the entities that are named, and themes."""
        return self._with_indexes(self._of_triples_and_themes)

    def _with_indexes(self, work: Callable[[], _T]) -> _T:
        try:
            return work()
        except StoreUnavailableError:
            raise
        except StoreError:
            # An administrator may have dropped an index: look again which there are.
            self._indexes.forget_all(self._space)
            return work()

    def _of_chunks(self) -> ChunkSources:
        query, view = self._query, self._view
        words = self._words("Chunk", query.chunks_by_terms)
        chunk = self._by_vector("Chunk", query.chunks_by_vector, view.chunk_indexed, view.covered)
        if words is None and chunk.is_off:
            return ChunkSources(Nearest(chunk.limit), [])
        common = {**self._common(words), "where": self._where}
        if view.chunk_indexed:
            most = most_marked(chunk.limit, view.chunks)
            without_words = {name: value for name, value in common.items() if name != "words"}
            few = few_chunks(self._connection, self._space, view.chunks, query, without_words, most)
            if few.is_complete:
                return self._of_few(few, chunk, words)
            chunk = replace(chunk, share=few.share)
        name = "search/chunk_sources"
        replace_filter = without_filter(name) if self._unfiltered else ()
        row = self._connection.row(name, *replace_filter, **common, chunk=chunk.parameters)
        assert row is not None
        indexed, newest, compared, by_words = row
        nearest = self._nearest(chunk, indexed, compared, newest)
        return ChunkSources(nearest, [] if words is None else words.best(by_words))

    def _of_few(self, few: FewChunks, chunk: _ByVector, words: WordSource | None) -> ChunkSources:
        nearest = Nearest(chunk.limit)
        if not chunk.is_off:
            nearest = Nearest(chunk.limit, *few.nearest(chunk.limit))
        by_terms = [] if words is None else words.best_of(*few.with_words())
        return ChunkSources(nearest, by_terms)

    def _of_triples_and_themes(self) -> TripleSources:
        query, view = self._query, self._view
        words = self._words("Triple", query.triples_by_terms)
        triple = self._by_vector("Triple", query.triples_by_vector, view.triple_indexed)
        theme = self._by_vector("Theme", query.sessions_by_vector, view.theme_indexed)
        anchors = query.anchors if query.triples_per_anchor else ()
        if words is None and triple.is_off and theme.is_off and not anchors:
            return TripleSources(Nearest(triple.limit), [], [], Nearest(theme.limit))
        row = self._connection.row(
            "search/triple_sources",
            **self._common(words),
            triple=triple.parameters,
            theme=theme.parameters,
            anchors=[anchor_hash(self._space, key) for key in anchors],
            names=list(anchors),
            limit=query.triples_per_anchor,
            most=_HUB if triple.index and not triple.is_off else _NO_LIMIT,
            few=_HUB,
        )
        assert row is not None
        anchored, indexed, compared, by_words, themes_indexed, themes_compared = row
        nearest = self._nearest(triple, indexed, compared)
        found = [
            Anchor(uid, name, tuple(best or self._best_of(*own)), hub)
            for uid, name, own, hub, best in anchored
        ]
        by_terms = [] if words is None else words.best(by_words)
        themes = self._nearest(theme, themes_indexed, themes_compared)
        return TripleSources(nearest, by_terms, self._with_hubs(found, nearest), themes)

    def _common(self, words: WordSource | None) -> dict[str, Any]:
        return {
            "space": self._space,
            "vector": self._vector,
            "until": self._until,
            "terms": [] if words is None else words.terms,
            "words": {} if words is None else words.parameters,
            "unpacked": unpacked_properties(self._connection.embedding),
        }

    # Vectors

    def _by_vector(
        self, layer: Layer, limit: int, indexed: bool, covered: int | None = None
    ) -> _ByVector:
        """How to find the ``limit`` nodes of a layer nearest to the query vector.

        An index returns some more, because it is approximate and for hubs. Nodes that arrived after
        ``covered`` are not in the index yet and are compared one by one.
        """
        if not limit or self._vector is None:
            return _ByVector(layer, limit, is_off=True)
        index = self._indexes.usable(self._space, layer, indexed)
        return _ByVector(layer, limit, index, covered if index else 0)

    def _nearest(
        self, source: _ByVector, indexed: Row, compared: Row, packed: Sequence[Any] = ()
    ) -> Nearest:
        """The nodes with a cosine above 0, nearest first, from the first rows of a source."""
        if source.is_off:
            return Nearest(source.limit)
        newest = Nearest(source.limit, *compared)
        if packed:
            newest = self._of_index([packed, [True] * len(packed), []], source).nearest()
        if source.index is None:
            return newest
        found = self._enough(source, indexed)
        if len(found.all) < self._enough_of(source.limit) and found.is_cut_off:
            return self._nearest_of_all(source)
        return found if source.after is None else found.with_those_of(newest)

    def _enough(self, source: _ByVector, row: Row) -> Nearest:
        """The results of an index; more of them are fetched if a filter hides most."""
        limit, fetch = source.limit, source.fetch
        while True:
            found = self._of_index(row, source)
            fetched, lowest = len(found.nodes), found.lowest
            is_last = fetched < fetch or lowest <= 0.5 or fetch >= _MOST_FETCHED
            if is_last or found.passes.sum() >= self._enough_of(limit):
                # An index may stop short: of many equal vectors it reaches only some.
                rest = lowest > 0.5 and fetched < self._view.chunks
                return replace(found.nearest(), is_cut_off=rest and source.layer == "Chunk")
            fetch = min(fetch * 5, _MOST_FETCHED)
            more = self._connection.row(
                "search/nearest_indexed",
                index=source.index,
                fetch=fetch,
                vector=self._vector,
                unpacked=unpacked_properties(self._connection.embedding),
                **self._visible(source.layer),
            )
            assert more is not None
            row = more

    def _of_index(self, row: Row, source: _ByVector) -> Indexed:
        roles = self._where["roles"] if source.layer == "Chunk" else None
        return Indexed.from_row(row, self._space, self._query.vector, roles, source.limit)

    def _enough_of(self, limit: int) -> int:
        """How many nodes by vector do; to find more with a filter, an index takes far longer."""
        return -(-limit // _LEAST_PART) if self._query.where.is_narrow else limit

    def _nearest_of_all(self, source: _ByVector) -> Nearest:
        marks = self._where["marks"]
        row = self._connection.row(
            "search/nearest",
            *((_OF_MARKED,) if marks else ()),
            space=self._space,
            having=having_marks(self._space, marks),
            after=0,
            vector=self._vector,
            limit=source.limit,
            **self._visible(source.layer),
        )
        assert row is not None
        return Nearest(source.limit, *row)

    def _visible(self, layer: Layer) -> dict[str, Any]:
        """Which nodes of a layer pass; triples and themes do if chunks that they are found with do.

        Of the themes, those that ``as_of`` hides are left out later.
        """
        return {
            "time": _TIME[layer],
            "until": None if layer == "Theme" else self._until,
            "where": self._where if layer == "Chunk" else None,
        }

    # Words

    def _words(self, layer: Layer, limit: int) -> WordSource | None:
        """How to find the ``limit`` best nodes by BM25 with the statistics of the space."""
        view, terms = self._view, self._query.terms
        weights = dict(zip(terms, idf(view.lexicon, terms), strict=True))
        if layer == "Chunk":
            weights = {t: w for t, w in weights.items() if view.lexicon.frequencies.get(t)}
            mean, most = view.mean_length, min(sum(view.lexicon.frequencies.values()), view.chunks)
        else:
            mean, most = view.mean_triple_length, view.triples
        if not limit or not weights:
            return None
        # If few rows can match, all are fetched and the result is exact.
        fetch = max(_WORDS_OVERFETCH * limit, most + 1 if most < _MOST_WORDS_FETCHED else 0)
        marks = self._where["marks"] if layer == "Chunk" else ()
        visible = self._visible(layer)
        return WordSource(
            self._connection, self._space, layer, weights, mean, visible, limit, fetch, marks,
            dimension=len(self._query.vector), unfiltered=self._unfiltered,
        )  # fmt: skip

    # Anchors

    def _best_of(self, values: Sequence[Any], observed: Sequence[int]) -> list[str]:
        """The uids of the triples of an anchor most similar to the query; of equal ones the newest.

        The server would decode the vector of each, which takes it ten times as long.
        """
        nodes = columns(values, len(self._query.vector))
        cosine, uids = nodes.cosine_row_by_row(self._query.vector), nodes.uids
        order = sorted(range(len(uids)), key=lambda row: (-cosine[row], -observed[row], uids[row]))
        return [uids[row] for row in order[: self._query.triples_per_anchor]]

    def _with_hubs(self, anchors: Sequence[Anchor], nearest: Nearest) -> list[Anchor]:
        """The anchors that have triples; a hub gets its own among the nearest of the space."""
        most = self._query.triples_per_anchor
        filled = [
            replace(anchor, triples=tuple(nearest.around(anchor.uid)[:most]))
            if anchor.hub
            else anchor
            for anchor in anchors
        ]
        return [anchor for anchor in filled if anchor.triples]


def is_unfiltered(query: CandidateQuery) -> bool:
    """Whether only roles are a condition, at which the caller looks."""
    return query.as_of is None and not query.where.is_narrow and not query.without


def most_marked(limit: int, chunks: int) -> int:
    """How many chunks with the same tags and metadata are compared one by one.

    If there are more, the results of the vector index contain enough of them.
    """
    return max(_FEW, ceil(_SPARE * limit / _LEAST_PART * chunks / _MOST_FETCHED))


@dataclass(frozen=True, slots=True)
class _ByVector:
    """A source by vector: its index, and the arrival number after which nodes are not in it."""

    layer: Layer
    limit: int
    index: str | None = None
    after: int | None = None
    is_off: bool = False
    share: float = 1.0
    """Which part of the nodes has the tags and the metadata of a filter."""

    @property
    def fetch(self) -> int:
        """How many nodes the index is asked for."""
        enough = ceil(_SPARE * self.limit / _LEAST_PART / self.share)
        return max(_OVERFETCH * self.limit, min(enough, _MOST_FETCHED))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of this source in a statement."""
        if self.is_off:
            return {"index": None, "fetch": 0, "after": None, "limit": 0, "few": 0}
        return {
            "index": self.index,
            "fetch": self.fetch,
            "after": self.after,
            "limit": self.limit,
            "few": _FEW_PACKED,
        }
