"""Reads the evidence of facts that an index has not yet read, beside the searches.

An index is told of a fact again when its evidence has changed, and marks it as restated. A search
reads the evidence of such facts, and of those that came since, from the rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np

from cognigraph.arrays import Ints
from cognigraph.stores.sqlite.in_list import select_in
from cognigraph.stores.sqlite.index.number_lists import NumberLists
from cognigraph.stores.sqlite.index.sources import Connect
from cognigraph.stores.sqlite.index.space_index import SpaceIndex

EVIDENCE = "SELECT DISTINCT triple_id, chunk_id FROM evidence WHERE {}triple_id IN ({{}})"
_BATCH = 4096
_FEW_RESTATED = 16
"""If more than one fact in this many was restated, the evidence of all facts is read again."""


def read_evidence(index: SpaceIndex, connect: Connect) -> None:
    """Read the evidence of all facts of an index.

    The lock of the index is held only for short times, so a search may run in between. If the
    evidence of a fact changes meanwhile, the search marks the fact as restated and no longer uses
    what was read here.
    """
    with index.lock:
        restated = index.triples["restated"]
        if np.count_nonzero(restated) * _FEW_RESTATED > index.triples.rows:
            index.evidence = NumberLists(np.int64)
            restated[:] = False
    while True:
        with index.lock:
            evidence = index.evidence
            first = evidence.rows
            ids = index.triples["id"][first : first + _BATCH].copy()
        if not len(ids):
            return
        chunks, sizes = _lists(connect, ids)
        with index.lock:
            # Unless rows were removed meanwhile, or another thread has read the same.
            if index.evidence is evidence and evidence.rows == first:
                evidence.append(chunks, sizes)


def _lists(connect: Connect, ids: Ints) -> tuple[Ints, Ints]:
    """The ids of the chunks that are evidence of triples, one after another, and their numbers."""
    with connect() as connection:
        pairs = pairs_of(connection, ids.tolist())
    order = np.argsort(ids, kind="stable")
    positions = order[np.searchsorted(ids, pairs[:, 0], sorter=order)]
    by_triple = np.argsort(positions, kind="stable")
    return pairs[by_triple, 1], np.bincount(positions, minlength=len(ids))


def pairs_of(connection: sqlite3.Connection, ids: Sequence[int], until: int | None = None) -> Ints:
    """The evidence (e, 2) of triples that was observed by ``until``: ids of triples and chunks."""
    if not ids:
        return np.empty((0, 2), np.int64)
    before, first = ("", ()) if until is None else ("observed_at <= ? AND ", (until,))
    pairs = select_in(connection, EVIDENCE.format(before), ids, *first)
    return np.array(pairs, np.int64).reshape(-1, 2)
