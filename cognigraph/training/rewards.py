"""The reward of what a model wrote in one session: MemBuilder, equations 5 to 8.

All sizes are numbers of tokens, counted in the same way on both sides of a comparison. Constants
that the paper gives are defaults. Those that it does not give have no default.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cognigraph.errors import ConfigurationError

Numbers = npt.NDArray[np.float64]
LENGTH_WEIGHT = 0.8
"""lambda, appendix B"""
CORE_FREE, CORE_FULL = 150.0, 400.0
"""theta_min and theta_max, appendix B"""
LEAST_DIFFERENCE = 200.0
"""delta, appendix B"""
LOWER, UPPER = 0.5, 1.3
"""gamma_l and gamma_u, appendix B"""


def task_reward(correct: Sequence[bool] | npt.NDArray[np.bool_]) -> float:
    """Equation 5: the share of a session's questions that were answered correctly.

    Raises:
        ConfigurationError: there is no question.
    """
    answers = np.asarray(correct, bool)
    if not answers.size:
        raise ConfigurationError("a task reward needs at least one question")
    return float(answers.mean())


def reward(
    valid: npt.ArrayLike,
    task: npt.ArrayLike,
    penalty: npt.ArrayLike,
    length_weight: float = LENGTH_WEIGHT,
) -> Numbers:
    """Equation 6: 1[valid] * task * (1 - length_weight * penalty); arguments broadcast."""
    gate = np.asarray(valid, bool)
    short = 1.0 - length_weight * np.asarray(penalty, float)
    return np.asarray(np.where(gate, np.asarray(task, float) * short, 0.0))


def core_penalty(
    before: npt.ArrayLike, after: npt.ArrayLike, free: float = CORE_FREE, full: float = CORE_FULL
) -> Numbers:
    """Equation 7: how far the core profile grew beyond ``free`` tokens; 1 from ``full`` on."""
    if not free < full:
        raise ConfigurationError("the free growth must be less than that of the full penalty")
    grown = np.asarray(after, float) - np.asarray(before, float)
    return np.asarray(np.clip((grown - free) / (full - free), 0.0, 1.0))


def entry_penalty(
    stored: npt.ArrayLike,
    expert: npt.ArrayLike,
    *,
    least: float,
    most: float,
    difference: float = LEAST_DIFFERENCE,
    lower: float = LOWER,
    upper: float = UPPER,
) -> Numbers:
    """Equation 8: how far the size of the other memories is from what the expert stored.

    Args:
        stored: tokens that the policy stored.
        expert: tokens that the expert stored. With 0, the ratio of anything else is infinite.
        least: gamma_min, the ratio below which the penalty is 1. Not published.
        most: gamma_max, the ratio from which on the penalty is 1. Not published.
        difference: a smaller difference in tokens has no penalty.
        lower: gamma_l; ratios from here to ``upper`` have no penalty.
        upper: gamma_u.
    """
    if not 0 <= least < lower <= upper < most:
        raise ConfigurationError("0 <= least < lower <= upper < most must hold")
    own, other = np.broadcast_arrays(np.asarray(stored, float), np.asarray(expert, float))
    ratio = np.full(own.shape, np.inf)
    with np.errstate(over="ignore"):  # infinite is right
        np.divide(own, other, out=ratio, where=other > 0)
    over = (ratio - upper) / (most - upper)
    under = (lower - ratio) / (lower - least)
    outside = np.clip(np.maximum(over, under), 0.0, 1.0)
    return np.asarray(np.where(np.abs(own - other) < difference, 0.0, outside))
