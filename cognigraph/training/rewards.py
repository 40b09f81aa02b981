"""Rewards of what a model wrote in one session, and the objective of attributed dense rewards.

MemBuilder, equations 5 to 12. All sizes are numbers of tokens, counted in the same way on both
sides of a comparison. The defaults are the paper's constants; those that it does not give are of
the authors' repository (https://github.com/Zh1yuShen/MemBuilder).

As printed, the ratio of equation 12 is that of the policy to the *reference* policy, where GRPO has
the policy that produced the rollout. Which log-probabilities are given is up to the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

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
LEAST, MOST = 0.2, 2.0
"""gamma_min and gamma_max, of the repository"""


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
    least: float = LEAST,
    most: float = MOST,
    difference: float = LEAST_DIFFERENCE,
    lower: float = LOWER,
    upper: float = UPPER,
) -> Numbers:
    """Equation 8: how far the size of the other memories is from what the expert stored.

    Args:
        stored: tokens that the policy stored.
        expert: tokens that the expert stored. With 0, the ratio of anything else is infinite.
        least: gamma_min, the ratio below which the penalty is 1.
        most: gamma_max, the ratio from which on the penalty is 1.
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


Kind = Literal["core", "episodic", "semantic", "procedural"]
KINDS: tuple[Kind, ...] = ("core", "episodic", "semantic", "procedural")
RETRIEVED: tuple[Kind, ...] = ("episodic", "semantic", "procedural")
"""The kinds of memory that are retrieved; the core profile is part of every prompt."""
AMPLIFICATION = 4.0
"""alpha, section 4.4.1"""
CLIP = 0.2
"""epsilon of the clipping, appendix B"""
EPSILON = 1e-8
"""epsilon of the normalisation, of the repository"""
DIVERGENCE = 0.02
"""beta, how much the divergence from the reference counts, of the repository"""


def dominant(retrieved: Mapping[Kind, int]) -> Kind | None:
    """Equation 9: the kind of memory that was retrieved most often while questions were answered.

    Of equal kinds it is the first in :data:`RETRIEVED`. Without any retrieval there is none.
    """
    counts = [retrieved.get(kind, 0) for kind in RETRIEVED]
    if any(count < 0 for count in counts):
        raise ConfigurationError("retrieval counts must not be negative")
    return RETRIEVED[int(np.argmax(counts))] if any(counts) else None


def weights(retrieved: Mapping[Kind, int], alpha: float = AMPLIFICATION) -> dict[Kind, float]:
    """Equation 10: ``alpha`` for the dominant kind, 1 for the others."""
    best = dominant(retrieved)
    return {kind: alpha if kind == best else 1.0 for kind in KINDS}


def advantages(rewards: npt.ArrayLike, *, epsilon: float = EPSILON) -> Numbers:
    """Equation 11: the rewards of one session's rollouts, normalised within the group.

    ``epsilon`` keeps the denominator above 0. The standard deviation is that of the group (divided
    by N). Equal rewards have advantage 0, exactly.
    """
    values = np.asarray(rewards, float)
    if epsilon <= 0:
        raise ConfigurationError("epsilon must be positive")
    if not values.size or np.ptp(values) == 0:
        return np.zeros(values.shape)
    return np.asarray((values - values.mean()) / (values.std() + epsilon))


def kl_estimate(policy: npt.ArrayLike, reference: npt.ArrayLike) -> float:
    """Estimate the divergence of the policy from the reference over sampled tokens.

    The estimator is that of GRPO: the mean of r - ln r - 1 with r = reference / policy. It is never
    negative, and 0 only for equal log-probabilities.
    """
    log_ratio = np.asarray(reference, float) - np.asarray(policy, float)
    return float(np.mean(np.expm1(log_ratio) - log_ratio)) if log_ratio.size else 0.0


def adrpo(
    policy: Mapping[Kind, Sequence[npt.ArrayLike]],
    reference: Mapping[Kind, Sequence[npt.ArrayLike]],
    advantage: npt.ArrayLike,
    weight: Sequence[Mapping[Kind, float]],
    *,
    beta: float = DIVERGENCE,
    clip: float = CLIP,
) -> float:
    """Equation 12 for the rollouts of one session; larger is better.

    Args:
        policy: for each kind of memory and each rollout, the log-probability of each token under
            the policy. An empty output contributes nothing.
        reference: the same under the reference policy.
        advantage: of each rollout, see :func:`advantages`.
        weight: of each rollout, that of each kind: see :func:`weights`. What is retrieved, and
            with it the dominant kind, differs between the rollouts of a session.
        beta: how much the divergence from the reference counts.
        clip: the ratio is clipped to 1 - clip and 1 + clip.
    """
    scaled = np.asarray(advantage, float)
    if len(weight) != len(scaled):
        raise ConfigurationError(f"{len(scaled)} rollouts and {len(weight)} sets of weights")
    total = np.zeros(len(scaled))
    tokens: list[tuple[Numbers, Numbers]] = []
    for kind, rollouts in policy.items():
        pairs = zip(rollouts, reference[kind], strict=True)
        for row, (own, other) in enumerate(pairs):
            new, old = np.asarray(own, float), np.asarray(other, float)
            if new.shape != old.shape:
                raise ConfigurationError(f"{kind}, rollout {row}: {new.size} and {old.size} tokens")
            if new.size:
                tokens.append((new, old))
                total[row] += _surrogate(new, old, scaled[row], weight[row][kind], clip)
    divergence = 0.0
    if tokens:
        divergence = kl_estimate(*(np.concatenate(side) for side in zip(*tokens, strict=True)))
    return float(total.mean()) - beta * divergence


def _surrogate(
    policy: Numbers, reference: Numbers, advantage: float, weight: float, clip: float
) -> float:
    """The mean of min(w rho A, w clip(rho) A) over the tokens of one output."""
    ratio = np.exp(policy - reference)
    clipped = np.clip(ratio, 1 - clip, 1 + clip)
    return float(np.mean(np.minimum(weight * ratio * advantage, weight * clipped * advantage)))
