"""Explain the scores of the hits: what each signal was, and what it contributed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, isnan

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.model import Why
from cognigraph.retrieve.rank.ranking import Ranking, RankingProfile
from cognigraph.retrieve.rank.rerank import RankedMessages
from cognigraph.stores.candidates import ChunkCandidates


def explanations(
    ranking: Ranking,
    chunks: ChunkCandidates,
    rows: Sequence[int],
    best: RankedMessages,
    profile: RankingProfile,
) -> list[Why]:
    """Return the explanation of each of these rows of the candidates."""
    at = np.array(rows, np.int64)
    signals, features = _known(ranking.raw, at), _columns(ranking.weighted, at)
    columns = (
        ranking.session_score,
        ranking.triple_score,
        ranking.harmonic,
        ranking.gap,
        ranking.semantic,
        ranking.decay,
        ranking.score,
    )
    numbers = zip(*(values[at].tolist() for values in columns), strict=True)
    explained = []
    for row, own, parts, one in zip(rows, signals, features, numbers, strict=True):
        session, triple, harmonic, gap = (None if isnan(value) else value for value in one[:4])
        change = best.changes.get(row)
        explained.append(
            Why(
                signals=own,
                features=parts,
                session_score=session,
                triple_score=triple,
                harmonic_mean=harmonic,
                semantic=one[4],
                gap_seconds=gap,
                decay=one[5],
                score=one[6],
                notes=(*_notes(chunks, row, best), *profile.notes(ranking, row)),
                rank_before=change.rank_before if change else None,
                rerank_score=change.score if change else None,
            )
        )
    return explained


def _known(values: Mapping[str, Floats], rows: Ints) -> list[dict[str, float]]:
    """As :func:`_columns`, without what is unknown: values that are not finite."""
    found = _columns(values, rows)
    for name in values:
        if not isfinite(sum([own[name] for own in found])):  # most columns are known throughout
            for own in found:
                if not isfinite(own[name]):
                    del own[name]
    return found


def _columns(values: Mapping[str, Floats], rows: Ints) -> list[dict[str, float]]:
    """The values by name of each of the rows."""
    columns = [own[rows].tolist() for own in values.values()]
    found = zip(*columns, strict=True) if columns else [()] * len(rows)
    return [dict(zip(values, own, strict=True)) for own in found]


def _notes(chunks: ChunkCandidates, row: int, best: RankedMessages) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    if not (chunks.by_vector[row] or chunks.by_terms[row]):
        notes = ("found as a neighbour or as evidence, not by its own vector or words",)
    if row in best.newer:
        notes = (*notes, "moved up: newer than what matches the question about as well")
    if row in best.versions:
        note = "moved up: the same speaker said something very like it earlier, which is among the"
        notes = (*notes, f"{note} first")
    return notes
