"""The candidates of an empty space."""

from __future__ import annotations

import numpy as np

from cognigraph.stores.candidates import (
    CandidateQuery,
    Candidates,
    ChunkCandidates,
    Evidence,
    SessionCandidates,
    TripleCandidates,
)
from cognigraph.text.bm25 import Lexicon


def no_candidates(query: CandidateQuery) -> Candidates:
    """Candidates without rows, in the right shapes."""
    none, rows, flags = np.empty(0), np.empty(0, np.int64), np.empty(0, bool)
    matches = np.empty((0, len(query.terms)))
    return Candidates(
        lexicon=Lexicon(0, 0.0, {}),
        chunks=ChunkCandidates(
            (), none, matches, none, rows, none, flags, rows, rows, flags, flags, (), ()
        ),
        triples=TripleCandidates(
            (), none, matches, none, none, rows, Evidence.of(()), flags, flags, flags
        ),
        sessions=SessionCandidates(
            (), (), none, np.empty((0, len(query.entity_vectors))), matches, none
        ),
    )
