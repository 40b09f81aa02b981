"""The legs of a search: which chunks, triples and sessions are candidates, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from cognigraph.retrieve.bm25 import bm25, idf
from cognigraph.stores.base import Floats, Probe
from cognigraph.stores.neo4j import tokens
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.lexicon import SpaceView
from cognigraph.stores.neo4j.values import vector
from cognigraph.stores.neo4j.vectors import Layer, OwnIndexes
from cognigraph.times import to_micros

_OVERFETCH = 2
"""An approximate index finds nearly all of the nearest k among its first 2k."""
_MOST_FETCHED = 2000
_WORDS_OVERFETCH = 4
_MOST_WORDS_FETCHED = 1000
_TIE = 1e-5
_HUB = 1000
"""An entity with more triples than this is searched through the vector index."""
_HUB_FETCH = 600

_TIME: dict[Layer, str] = {"Chunk": "at", "Triple": "first_observed", "Theme": "seq"}


def match_counts(found: Sequence[Sequence[str]], terms: Sequence[str]) -> Floats:
    """Term frequencies (len(found), len(terms)) from the terms found in each text."""
    matches = np.zeros((len(found), len(terms)))
    column = {term: place for place, term in enumerate(terms)}
    for row, words in enumerate(found):
        for word in words:
            matches[row, column[word]] += 1.0
    return matches


@dataclass(frozen=True, slots=True)
class Anchor:
    """An entity the question names, with the triples around it."""

    uid: str
    name: str
    triples: tuple[str, ...]
    hub: bool


class Legs:
    """All legs of one probe in one space."""

    def __init__(
        self, connection: Connection, indexes: OwnIndexes, space: str, probe: Probe
    ) -> None:
        self._connection = connection
        self._indexes = indexes
        self._space = space
        self._probe = probe
        self._vector = vector(probe.vector)
        self._until: datetime | None = probe.as_of

    # Vectors

    def nearest(self, layer: Layer, limit: int, indexed: bool) -> tuple[list[str], list[str]]:
        """Uids and session uids of the ``limit`` nodes nearest to the probe, cosine above 0."""
        if not limit or self._vector is None:
            return [], []
        until = None if layer == "Theme" else self._until
        index = self._indexes.usable(self._space, layer, indexed)
        if index is not None:
            return self._nearest_indexed(index, layer, limit, until)
        replace = () if layer == "Chunk" else ((":Chunk", f":{layer}"),)
        row = self._connection.row(
            "search/nearest",
            *replace,
            space=self._space,
            vector=self._vector,
            limit=limit,
            time=_TIME[layer],
            until=until,
        )
        return (row[0], row[1]) if row else ([], [])

    def _nearest_indexed(
        self, index: str, layer: Layer, limit: int, until: datetime | None
    ) -> tuple[list[str], list[str]]:
        fetch = _OVERFETCH * limit
        while True:
            row = self._connection.row(
                "search/nearest_indexed",
                index=index,
                fetch=fetch,
                vector=self._vector,
                time=_TIME[layer],
                until=until,
            )
            assert row is not None
            uids, sessions, fetched, lowest = row
            exhausted = fetched < fetch or lowest <= 0.5 or fetch >= _MOST_FETCHED
            if len(uids) >= limit or exhausted:
                return uids[:limit], sessions[:limit]
            fetch = min(fetch * 5, _MOST_FETCHED)  # as_of hid most of them: look further

    # Words

    def by_terms(self, layer: Layer, limit: int, view: SpaceView) -> list[str]:
        """Uids of the ``limit`` best by BM25 with the space's own statistics."""
        weights = dict(zip(self._probe.terms, idf(view.lexicon, self._probe.terms), strict=True))
        if layer == "Chunk":
            weights = {t: w for t, w in weights.items() if view.lexicon.frequencies.get(t)}
            mean, most = view.mean_length, min(sum(view.lexicon.frequencies.values()), view.chunks)
        else:
            mean, most = view.mean_triple_length, view.triples
        if not limit or not weights:
            return []
        # Where few rows can match, all are fetched and nothing is approximate.
        fetch = max(_WORDS_OVERFETCH * limit, most + 1 if most < _MOST_WORDS_FETCHED else 0)
        leg = _WordLeg(self._connection, self._space, layer, weights, mean, self._until)
        return leg.best(limit, fetch)

    # Anchors

    def anchors(self, view: SpaceView) -> list[Anchor]:
        """Entities named in the question, each with its nearest triples."""
        probe = self._probe
        if not probe.triples_per_anchor or not probe.anchors:
            return []
        index = self._indexes.usable(self._space, "Triple", view.triple_indexed)
        rows = self._connection.rows(
            "search/anchors",
            space=self._space,
            anchors=[tokens.anchor(self._space, key) for key in probe.anchors],
            names=list(probe.anchors),
            vector=self._vector,
            limit=probe.triples_per_anchor,
            most=view.triples if index is None or self._vector is None else _HUB,
            until=self._until,
        )
        anchors = [Anchor(uid, name, tuple(triples), hub) for uid, name, triples, hub in rows]
        if index is not None and any(anchor.hub for anchor in anchors):
            anchors = self._with_hubs(anchors, index)
        return anchors

    def _with_hubs(self, anchors: list[Anchor], index: str) -> list[Anchor]:
        rows = self._connection.rows(
            "search/hubs",
            index=index,
            fetch=_HUB_FETCH,
            vector=self._vector,
            hubs=[anchor.uid for anchor in anchors if anchor.hub],
            until=self._until,
        )
        around: dict[str, list[str]] = {}
        for entity, triple, *_ in rows:
            around.setdefault(entity, []).append(triple)
        most = self._probe.triples_per_anchor
        return [
            Anchor(a.uid, a.name, tuple(around.get(a.uid, ())[:most]), True) if a.hub else a
            for a in anchors
        ]


class _WordLeg:
    """Candidates by words: the full-text index finds them, BM25 orders them."""

    def __init__(
        self,
        connection: Connection,
        space: str,
        layer: Layer,
        weights: dict[str, float],
        mean_length: float,
        until: datetime | None,
    ) -> None:
        self._connection = connection
        self._space = space
        self._layer = layer
        self._terms = list(weights)
        self._weights = weights
        self._mean_length = mean_length
        self._until = until

    def best(self, limit: int, fetch: int) -> list[str]:
        uids, scores, lengths, found, times, fetched = self._fetch(fetch)
        keep = len(uids)
        tied: list[str] | None = None
        if fetched >= fetch:
            # Which of the rows with the lowest score came in depends on the index's segments, and
            # so on other spaces: leave that whole group out.
            floor = scores[-1] * (1 + _TIE)
            keep = int(np.searchsorted(-np.asarray(scores), -floor, side="left"))
            tied = sorted(set(found[-1]))
        if self._until is not None:
            until = to_micros(self._until)
            rows = [row for row in range(keep) if times[row] <= until]
        else:
            rows = list(range(keep))
        uids, lengths, found = ([column[row] for row in rows] for column in (uids, lengths, found))
        if tied is not None and len(uids) < limit:
            self._fill(uids, lengths, found, tied, limit)
        return self._ranked(uids, lengths, found, limit)

    def _fetch(self, limit: int) -> Row:
        row = self._connection.row(
            "search/by_terms",
            index=f"{self._layer.lower()}_lexemes",
            query=tokens.query(self._space, self._weights),
            limit=limit,
            space=self._space,
            terms=self._terms,
            time=_TIME[self._layer],
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
        """Take the newest of the group that was left out: a choice of the space's own."""
        replace = () if self._layer == "Chunk" else ((":Chunk", f":{self._layer}"),)
        row = self._connection.row(
            "search/newest_with_terms",
            *replace,
            space=self._space,
            all=tied,
            terms=self._terms,
            limit=limit,
            time=_TIME[self._layer],
            until=self._until,
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
