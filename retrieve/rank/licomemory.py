"""The formulas of LiCoMemory (section 3.2), with decisions for the cases that it leaves open.

| case                     | decision                                                          |
|--------------------------|-------------------------------------------------------------------|
| cosine <= 0              | clamped to [0, 1] first: unclamped, HM(.5, -.6) = +6 would win     |
| no session score         | Ss := St, as missing is not zero; a computed 0 is raised to 0.01   |
| all gaps zero            | w = 1, no division                                                |
| unknown time             | gap := median, so w = 1/e                                          |
| chunk without a triple   | scored as a triple; once its session is enriched, behind the others |
| time after the question  | gap 0 (clock skew); nothing later than ``as_of`` gets here          |
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats
from cognigraph.settings import Mean, SearchSettings

SESSION_FLOOR = 0.01
"""Lowest Ss of a scored session, so that a perfect triple in an unrelated session still counts."""

_JUST_BELOW = 0.99
Bools = npt.NDArray[np.bool_]


def clamp(cosine: npt.NDArray[np.floating]) -> Floats:
    """Clip cosines to [0, 1]; NaN (nothing to compare) stays NaN."""
    return np.asarray(np.clip(np.asarray(cosine, float), 0.0, 1.0))


def harmonic_mean(session: Floats, triple: Floats) -> Floats:
    """Return S_sem = 2 Ss St / (Ss + St), the paper's first equation.

    ``session`` and ``triple`` (n,) are cosines, clamped here. NaN in ``session`` means that there
    is nothing to score yet; then S_sem = St. Returns (n,) in [0, 1].
    """
    st = clamp(triple)
    ss = np.maximum(clamp(session), SESSION_FLOOR)
    ss = np.where(np.isnan(ss), st, ss)
    total = ss + st
    return np.divide(2 * ss * st, total, out=np.zeros_like(total), where=total > 0)


def arithmetic_mean(session: Floats, triple: Floats) -> Floats:
    """Return (Ss + St) / 2 (n,), for comparison: one high score is then enough. NaN as above."""
    st = clamp(triple)
    ss = np.maximum(clamp(session), SESSION_FLOOR)
    return (np.where(np.isnan(ss), st, ss) + st) / 2


def semantic_relevance(session: Floats, triple: Floats, mean: Mean = "harmonic") -> Floats:
    """Return S_sem (n,) by the mean that the settings name; the paper's is harmonic."""
    return (harmonic_mean if mean == "harmonic" else arithmetic_mean)(session, triple)


def gaps(at: Floats, now: float) -> Floats:
    """Return seconds from each time (n,) to ``now``: NaN where unknown, 0 for later times."""
    return np.asarray(np.where(np.isnan(at), np.nan, np.maximum(now - at, 0.0)))


def median_gap(gap: Floats) -> float:
    """Return tau, the median of the known gaps, in seconds; 0 if no gap is known and above 0.

    If the median is 0 because most messages are new, it is the median of the gaps above 0.
    """
    known = gap[~np.isnan(gap)]
    middle = median(known) if len(known) else 0.0
    if middle or not (known > 0).any():
        return middle
    return median(known[known > 0])


def median(values: Floats) -> float:
    """Return the median of at least one value; numpy's takes ten times as long for a thousand."""
    middle = np.sort(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]
    return float(middle.sum() / len(middle))


def weibull_decay(gap: Floats, exponent: float, tau: float | None = None) -> Floats:
    """Return w = exp(-(gap / tau)^tk), the paper's second equation; tau is the median gap.

    ``gap`` (n,) in seconds, NaN where unknown; ``exponent`` is tk, 0 < tk < 1 (paper: 0.1), and 1
    makes it exponential; ``tau`` in seconds replaces the median. Returns (n,) in (0, 1].
    """
    known = gap[~np.isnan(gap)]
    if not len(known):
        return np.full(len(gap), np.exp(-1.0))
    filled = gap if len(known) == len(gap) else np.where(np.isnan(gap), median(known), gap)
    scale = median_gap(gap) if tau is None else tau
    if scale == 0.0:
        return np.ones(len(gap))
    return np.asarray(np.exp(-((filled / scale) ** exponent)))


def paper_decay(gap: Floats, settings: SearchSettings, retrieved: Floats) -> Floats:
    """Return w (n,) with the settings' exponent; tau is the median of the gaps ``retrieved`` (m,).

    ``retrieved`` are the gaps of the triples; without triples tau is the median of ``gap``.
    All ones if decay is switched off.
    """
    if not settings.decay:
        return np.ones(len(gap))
    tau = median_gap(retrieved) or median_gap(gap)
    return weibull_decay(gap, settings.decay_exponent, tau * settings.licomemory.tau_scale)


def factors_below(score: Floats, first: Bools, second: Bools) -> Floats:
    """Return factors (n,) by which the ``second`` rows score below all ``first`` rows.

    The second rows keep their order among themselves. Factors are 1 for all other rows, and for all
    rows if there are no first ones. First rows with a score of 0 do not count.
    """
    factors = np.ones(len(score))
    low = score[first & (score > 0)].min(initial=np.inf)
    high = score[second].max(initial=0.0)
    if np.isfinite(low) and high >= low:
        factors[second] = _JUST_BELOW * low / high
    return factors


def relevance(
    session: Floats, triple: Floats, gap: Floats, settings: SearchSettings
) -> tuple[Floats, Floats, Floats]:
    """Return R = S_sem x w for n candidate triples, with its factors: (R, S_sem, w)."""
    semantic = semantic_relevance(session, triple, settings.licomemory.mean)
    weight = paper_decay(gap, settings, gap)
    return semantic * weight, semantic, weight
