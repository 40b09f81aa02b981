"""Selects the rows with the highest scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints

_SAMPLED = 16
"""One row in this many is sampled."""


def top_rows(
    scores: npt.NDArray[np.floating], allowed: npt.NDArray[np.bool_] | None, limit: int
) -> Ints:
    """The rows with the ``limit`` highest positive scores (n,) among the allowed (n,), unordered.

    Which of several equal scores at the limit are chosen is not defined.
    """
    if not limit:
        return np.empty(0, np.int64)
    enough = scores > 0 if allowed is None else allowed & (scores > 0)
    # The limit-th highest score of a sample is a lower bound of that of all rows, and it leaves
    # few rows to compare.
    sample = scores[::_SAMPLED][enough[::_SAMPLED]]
    if len(sample) > limit:
        enough &= scores >= np.partition(sample, len(sample) - limit)[len(sample) - limit]
    rows = np.flatnonzero(enough)
    if len(rows) > limit:
        cut = len(rows) - limit
        rows = rows[np.argpartition(scores[rows], cut)[cut:]]
    return np.asarray(rows, np.int64)
