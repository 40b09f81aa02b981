"""The paper's ranking, exactly (LiCoMemory, section 3.2), with its open cases decided.

| case                     | decision                                                          |
|--------------------------|-------------------------------------------------------------------|
| cosine <= 0              | clamped to [0, 1] first: unclamped, HM(.5, -.6) = +6 would win     |
| no session score         | missing is not zero: Ss := St; a computed 0 is floored at 0.01     |
| all gaps zero            | w = 1, no division                                                |
| unknown time             | gap := median, so w = 1/e                                          |
| time after the question  | gap 0 (clock skew); what is later than ``as_of`` never gets here   |
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cognigraph.stores.base import Floats

SESSION_FLOOR = 0.01
"""A session that was scored and found unrelated still lets a perfect triple through, barely."""


def clamp(cosine: npt.NDArray[np.floating]) -> Floats:
    """Cosines to [0, 1]; NaN (nothing to compare) stays NaN."""
    return np.asarray(np.clip(np.asarray(cosine, float), 0.0, 1.0))


def harmonic_mean(session: Floats, triple: Floats) -> Floats:
    """S_sem = 2 Ss St / (Ss + St), the paper's first equation.

    ``session`` and ``triple`` (n,) are cosines, clamped here. NaN in ``session`` means that there
    is nothing to score yet, and then S_sem = St. Returns (n,) in [0, 1].
    """
    st = clamp(triple)
    ss = np.maximum(clamp(session), SESSION_FLOOR)
    ss = np.where(np.isnan(ss), st, ss)
    total = ss + st
    return np.divide(2 * ss * st, total, out=np.zeros_like(total), where=total > 0)


def gaps(at: Floats, now: float) -> Floats:
    """Seconds between the question and each time; NaN where unknown, 0 for times after ``now``."""
    return np.asarray(np.where(np.isnan(at), np.nan, np.maximum(now - at, 0.0)))


def weibull_decay(gap: Floats, exponent: float) -> Floats:
    """w = exp(-(gap / tau)^tk), the paper's second equation; tau is the median of the gaps.

    ``gap`` (n,) in seconds, NaN where unknown; ``exponent`` is tk, 0 < tk < 1 (paper: 0.1).
    Returns (n,) in (0, 1].
    """
    known = gap[~np.isnan(gap)]
    if not len(known):
        return np.full(len(gap), np.exp(-1.0)) if len(gap) else np.empty(0)
    tau = float(np.median(known))
    filled = np.where(np.isnan(gap), tau, gap)
    if tau == 0.0:
        # Most candidates were said just now: the scale is that of the others, if there are any.
        later = known[known > 0]
        if not len(later):
            return np.ones(len(gap))
        tau = float(np.median(later))
    return np.asarray(np.exp(-((filled / tau) ** exponent)))


def relevance(
    session: Floats, triple: Floats, gap: Floats, exponent: float
) -> tuple[Floats, Floats, Floats]:
    """R = S_sem x w for n candidates; returns (R, S_sem, w)."""
    semantic = harmonic_mean(session, triple)
    decay = weibull_decay(gap, exponent)
    return semantic * decay, semantic, decay
