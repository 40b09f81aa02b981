"""The best rows of a scan."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Ints

_SAMPLED = 16  # every so many rows


def top_rows(scores: npt.NDArray[np.floating], allowed: npt.NDArray[np.bool_], limit: int) -> Ints:
    """Rows of the ``limit`` highest positive scores (n,) among the allowed (n,), in no order.

    Of equal scores at the limit any may be chosen.
    """
    if not limit:
        return np.empty(0, np.int64)
    enough = allowed & (scores > 0)
    # The limit-th of a sample is no higher than that of all, and leaves few rows to compare.
    sample = scores[::_SAMPLED][enough[::_SAMPLED]]
    if len(sample) > limit:
        enough &= scores >= np.partition(sample, len(sample) - limit)[len(sample) - limit]
    rows = np.flatnonzero(enough)
    if len(rows) > limit:
        cut = len(rows) - limit
        rows = rows[np.argpartition(scores[rows], cut)[cut:]]
    return np.asarray(rows, np.int64)
