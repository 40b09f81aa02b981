"""What a user says and what the assistant answers, as one unit of evidence.

The answer repeats in other words what it is about, and often the fact itself, so a message whose
counterpart matches the question is more likely to be evidence. Windows do not see this: they mix
two exchanges or three, and one long answer decides their score.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.stores.candidates import ChunkCandidates


def counterparts(chunks: ChunkCandidates) -> Ints:
    """Return the row of each chunk's counterpart (n,); negative where there is no candidate.

    For what a user says it is the answer that follows, or the beginning of a long one; for the
    beginning of an answer what the user said before.
    """
    roles = np.array([role or "" for role in chunks.roles], dtype=object)
    after, before = chunks.following, chunks.previous
    # Row 0 stands in for a missing neighbour, which does not count.
    follows, precedes = roles[np.maximum(after, 0)], roles[np.maximum(before, 0)]
    answered = (roles == "user") & (after >= 0) & (follows == "assistant")
    answers = (roles == "assistant") & (before >= 0) & (precedes == "user")
    return np.where(answered, after, np.where(answers, before, -1))


def exchange_features(
    chunks: ChunkCandidates, similarity: Floats, triple: Floats | None
) -> Mapping[str, Floats]:
    """How well the counterpart of each chunk matches; each (n,) in [0, 1].

    There is no signal unless an assistant is among those who speak. ``similarity`` (n,) is the
    cosine, scaled over the candidates; ``triple`` (n,) the score of the best fact of each chunk.
    """
    if "assistant" not in chunks.roles:
        return {}
    rows = counterparts(chunks)
    features = {"counterpart vector": _of(rows, similarity)}
    if triple is not None:
        features["counterpart triple"] = _of(rows, triple)
    return features


def _of(rows: Ints, values: Floats) -> Floats:
    """Values (n,) of the counterparts; 0 where there is none."""
    return np.where(rows >= 0, values[np.maximum(rows, 0)], 0.0)
