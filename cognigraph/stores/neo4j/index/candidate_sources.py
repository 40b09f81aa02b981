"""The candidate sources of a search: vectors, words and anchors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.errors import StoreError, StoreUnavailableError
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index import fulltext
from cognigraph.stores.neo4j.index.allowed import sought
from cognigraph.stores.neo4j.index.vectors import Layer, OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import SpaceView
from cognigraph.stores.neo4j.values import vector
from cognigraph.text.bm25 import bm25, idf

_OVERFETCH = 2
"""The first 2k results of an approximate index contain nearly all of the nearest k."""
_MOST_FETCHED = 2000
_WORDS_OVERFETCH = 4
_MOST_WORDS_FETCHED = 1000
_MOST_WORDS_HIDDEN = 4000
_TIE = 1e-5
_HUB = 2000
"""The triples of an entity with more triples than this are not compared one by one."""
_NO_LIMIT = 1 << 62

_TIME: dict[Layer, str] = {"Chunk": "at", "Triple": "first_observed", "Theme": "seq"}


def match_counts(found: Sequence[Sequence[str]], terms: Sequence[str]) -> Floats:
    """Term frequencies (len(found), len(terms)) from the query terms found in each text."""
    matches = np.zeros((len(found), len(terms)))
    column = {term: position for position, term in enumerate(terms)}
    for row, words in enumerate(found):
        for word in words:
            matches[row, column[word]] += 1.0
    return matches


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
    """Whether a filter hid so many that there may be more than an index could say."""

    @property
    def uids(self) -> Sequence[str]:
        """Uids of the candidates."""
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
        ends = zip(self.all, self.subjects, self.objects, strict=True)
        return [uid for uid, subject, object in ends if entity in (subject, object)]


@dataclass(frozen=True, slots=True)
class Anchor:
    """An entity that the question names, with its triples; ``hub`` if it has very many."""

    uid: str
    name: str
    triples: tuple[str, ...]
    hub: bool


class CandidateSources:
    """The candidate sources for one query in one space."""

    def __init__(
        self, connection: Connection, indexes: OwnIndexes, space: str, query: CandidateQuery
    ) -> None:
        self._connection = connection
        self._indexes = indexes
        self._space = space
        self._query = query
        self._vector = vector(query.vector)
        self._until: datetime | None = query.as_of
        self._where = sought(query.where, query.without)

    # Vectors

    def nearest(
        self, layer: Layer, limit: int, indexed: bool, covered: int | None = None
    ) -> Nearest:
        """The ``limit`` nodes nearest to the query vector with a cosine above 0, nearest first.

        An index returns some more, because it is approximate and for :meth:`with_hubs`. Nodes that
        arrived after ``covered`` are not in the index yet and are compared one by one.
        """
        if not limit or self._vector is None:
            return Nearest(limit)
        until = None if layer == "Theme" else self._until
        index = self._indexes.usable(self._space, layer, indexed)
        if index is not None:
            try:
                found = self._nearest_indexed(index, layer, limit, until)
                if len(found.all) < limit and found.is_cut_off:
                    return self._nearest_of_all(layer, limit, until, 0)
                if covered is None:
                    return found
                return found.with_those_of(self._nearest_of_all(layer, limit, until, covered))
            except StoreUnavailableError:
                raise
            except StoreError:
                self._indexes.forget(index)  # an administrator dropped it: compare all vectors
        return self._nearest_of_all(layer, limit, until, 0)

    def _nearest_of_all(
        self, layer: Layer, limit: int, until: datetime | None, after: int
    ) -> Nearest:
        of_layer = () if layer == "Chunk" else ((":Chunk", f":{layer}"),)
        row = self._connection.row(
            "search/nearest",
            *of_layer,
            space=self._space,
            after=after,
            vector=self._vector,
            limit=limit,
            time=_TIME[layer],
            until=until,
            where=self._where_of(layer),
        )
        assert row is not None
        return Nearest(limit, *row)

    def _where_of(self, layer: Layer) -> dict[str, Any] | None:
        """The filter; triples and themes pass if chunks that they are found with do."""
        return self._where if layer == "Chunk" else None

    def _nearest_indexed(
        self, index: str, layer: Layer, limit: int, until: datetime | None
    ) -> Nearest:
        fetch = _OVERFETCH * limit
        while True:
            row = self._connection.row(
                "search/nearest_indexed",
                index=index,
                fetch=fetch,
                vector=self._vector,
                time=_TIME[layer],
                until=until,
                where=self._where_of(layer),
            )
            assert row is not None
            *columns, fetched, lowest = row
            exhausted = fetched < fetch or lowest <= 0.5
            if len(columns[0]) >= limit or exhausted or fetch >= _MOST_FETCHED:
                is_cut_off = layer == "Chunk" and not exhausted
                return replace(Nearest(limit, *columns), is_cut_off=is_cut_off)
            fetch = min(fetch * 5, _MOST_FETCHED)  # most results are hidden: fetch more

    # Words

    def by_terms(self, layer: Layer, limit: int, view: SpaceView) -> list[str]:
        """Uids of the ``limit`` best nodes by BM25 with the statistics of the space."""
        weights = dict(zip(self._query.terms, idf(view.lexicon, self._query.terms), strict=True))
        if layer == "Chunk":
            weights = {t: w for t, w in weights.items() if view.lexicon.frequencies.get(t)}
            mean, most = view.mean_length, min(sum(view.lexicon.frequencies.values()), view.chunks)
        else:
            mean, most = view.mean_triple_length, view.triples
        if not limit or not weights:
            return []
        # If few rows can match, all are fetched and the result is exact.
        fetch = max(_WORDS_OVERFETCH * limit, most + 1 if most < _MOST_WORDS_FETCHED else 0)
        source = _WordSource(
            self._connection,
            self._space,
            layer,
            weights,
            mean,
            self._until,
            self._where_of(layer),
        )
        return source.best(limit, fetch)

    # Anchors

    def anchors(self, view: SpaceView) -> list[Anchor]:
        """The entities named in the question with their nearest triples, except those of hubs."""
        query = self._query
        if not query.triples_per_anchor or not query.anchors:
            return []
        index = self._indexes.usable(self._space, "Triple", view.triple_indexed)
        exact = index is None or self._vector is None or not query.triples_by_vector
        rows = self._connection.rows(
            "search/anchors",
            space=self._space,
            anchors=[fulltext.anchor(self._space, key) for key in query.anchors],
            names=list(query.anchors),
            vector=self._vector,
            limit=query.triples_per_anchor,
            most=_NO_LIMIT if exact else _HUB,
            until=self._until,
        )
        return [Anchor(uid, name, tuple(triples), hub) for uid, name, triples, hub in rows]

    def with_hubs(self, anchors: Sequence[Anchor], nearest: Nearest) -> list[Anchor]:
        """The anchors that have triples; a hub gets its own among the nearest of the space."""
        most = self._query.triples_per_anchor
        filled = [
            replace(anchor, triples=tuple(nearest.around(anchor.uid)[:most]))
            if anchor.hub
            else anchor
            for anchor in anchors
        ]
        return [anchor for anchor in filled if anchor.triples]


class _WordSource:
    """Candidates by words: the full-text index finds them, BM25 ranks them."""

    def __init__(
        self,
        connection: Connection,
        space: str,
        layer: Layer,
        weights: dict[str, float],
        mean_length: float,
        until: datetime | None,
        where: dict[str, Any] | None,
    ) -> None:
        self._connection = connection
        self._space = space
        self._layer = layer
        self._where = where
        self._terms = list(weights)
        self._weights = weights
        self._mean_length = mean_length
        self._until = until

    def best(self, limit: int, fetch: int) -> list[str]:
        uids, scores, lengths, found, visible, fetched = self._fetch(fetch)
        if not all(visible) and fetched >= fetch and sum(visible) < limit:
            # Hidden rows took the place of visible ones: fetch more, once.
            fetch = max(fetch, _MOST_WORDS_HIDDEN)
            uids, scores, lengths, found, visible, fetched = self._fetch(fetch)
        keep = len(uids)
        tied: list[str] | None = None
        if fetched >= fetch:
            # Which rows of the lowest score were fetched depends on the segments of the index, and
            # so on other spaces: leave out all rows of that score.
            floor = scores[-1] * (1 + _TIE)
            keep = int(np.searchsorted(-np.asarray(scores), -floor, side="left"))
            tied = sorted(set(found[-1]))
        rows = [row for row in range(keep) if visible[row]]
        uids, lengths, found = ([column[row] for row in rows] for column in (uids, lengths, found))
        if tied is not None and len(uids) < limit:
            self._fill(uids, lengths, found, tied, limit)
        return self._ranked(uids, lengths, found, limit)

    def _fetch(self, limit: int) -> Row:
        row = self._connection.row(
            "search/by_terms",
            index=f"{self._layer.lower()}_lexemes",
            query=fulltext.query(self._space, self._weights),
            limit=limit,
            space=self._space,
            terms=self._terms,
            time=_TIME[self._layer],
            until=self._until,
            where=self._where,
        )
        assert row is not None
        return row

    def _fill(
        self,
        uids: list[str],
        lengths: list[int],
        found: list[list[str]],
        tied: list[str],
        limit: int,
    ) -> None:
        """Add the newest rows of the score that was left out, which depend on this space alone."""
        of_layer = () if self._layer == "Chunk" else ((":Chunk", f":{self._layer}"),)
        row = self._connection.row(
            "search/newest_with_terms",
            *of_layer,
            space=self._space,
            all=tied,
            terms=self._terms,
            limit=limit,
            time=_TIME[self._layer],
            until=self._until,
            where=self._where,
        )
        assert row is not None
        known = set(uids)
        for uid, length, words in zip(*row, strict=True):
            if uid not in known:
                uids.append(uid)
                lengths.append(length)
                found.append(words)

    def _ranked(
        self, uids: list[str], lengths: list[int], found: list[list[str]], limit: int
    ) -> list[str]:
        if len(uids) <= limit:
            return uids
        scores = bm25(
            match_counts(found, self._terms),
            np.asarray(lengths, float),
            np.array(list(self._weights.values())),
            self._mean_length,
        )
        order = sorted(range(len(uids)), key=lambda row: (-scores[row], uids[row]))
        return [uids[row] for row in order[:limit]]
