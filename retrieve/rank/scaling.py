"""Scaling of signals, so that they can be added up."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from cognigraph.arrays import Floats


def share_of_best(values: Floats) -> Floats:
    """Divide by the largest value; NaN and negative values become 0.

    Unlike :func:`scaled` it does not stretch small differences when there are few candidates.
    """
    known = np.where(np.isfinite(values), np.maximum(values, 0.0), 0.0)
    best = float(known.max(initial=0.0))
    return known / best if best > 0 else known


def scaled(values: Floats) -> Floats:
    """Scale to [0, 1] by minimum and maximum; NaN becomes 0, and equal values all become 0."""
    if not len(values):
        return np.zeros(0)
    low, high = float(values.min()), float(values.max())
    if isfinite(high - low):  # as nearly always; a NaN would be the least and the greatest
        return np.zeros(len(values)) if high <= low else (values - low) / (high - low)
    known = np.isfinite(values)
    scores = np.zeros(len(values))
    if known.any() and not known.all():
        scores[known] = scaled(values[known])
    return scores


def scaled_together(signals: Floats) -> Floats:
    """Scale each row (n,) of a matrix as :func:`scaled` does; a few steps for all rows."""
    if not signals.size:
        return np.zeros(signals.shape)
    low, high = np.fmin.reduce(signals, axis=1), np.fmax.reduce(signals, axis=1)
    if not np.isfinite([low, high]).all():  # a row of NaN alone, or an infinite value
        return np.stack([scaled(values) for values in signals])
    spread = high - low
    found = signals - low[:, None]
    found /= np.where(spread > 0, spread, 1.0)[:, None]
    found[np.isnan(found)] = 0.0
    return np.asarray(found)


class Scaler:
    """Scales the signals of one search; what was scaled before is not scaled again."""

    def __init__(self, absolute: frozenset[str]) -> None:
        """Signals with the names ``absolute`` stay as they are, with 0 for what is unknown."""
        self._absolute = absolute
        self._done: dict[str, tuple[Floats, Floats]] = {}

    def scale(self, signals: Mapping[str, Floats]) -> dict[str, Floats]:
        """All signals, scaled, in their order."""
        new = [name for name, values in signals.items() if not self._is_done(name, values)]
        relative = [name for name in new if name not in self._absolute]
        if relative:
            found = scaled_together(np.stack([signals[name] for name in relative]))
            for name, values in zip(relative, found, strict=True):
                self._done[name] = signals[name], values
        for name in self._absolute.intersection(new):
            values = signals[name]
            self._done[name] = values, np.where(np.isnan(values), 0.0, values)
        return {name: self._done[name][1] for name in signals}

    def _is_done(self, name: str, values: Floats) -> bool:
        return name in self._done and self._done[name][0] is values
