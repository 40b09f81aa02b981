"""The objective of attributed dense rewards: MemBuilder, equations 9 to 12.

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
Kind = Literal["core", "episodic", "semantic", "procedural"]
KINDS: tuple[Kind, ...] = ("core", "episodic", "semantic", "procedural")
RETRIEVED: tuple[Kind, ...] = ("episodic", "semantic", "procedural")
"""The kinds of memory that are retrieved; the core profile is part of every prompt."""
AMPLIFICATION = 4.0
"""alpha, section 4.4.1"""
CLIP = 0.2
"""epsilon of the clipping, appendix B"""


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


def advantages(rewards: npt.ArrayLike, *, epsilon: float) -> Numbers:
    """Equation 11: the rewards of one session's rollouts, normalised within the group.

    ``epsilon`` keeps the denominator above 0; the paper does not give it. The standard deviation
    is that of the group (divided by N). Equal rewards have advantage 0, exactly.
    """
    found = np.asarray(rewards, float)
    if epsilon <= 0:
        raise ConfigurationError("epsilon must be positive")
    if not found.size or np.ptp(found) == 0:
        return np.zeros(found.shape)
    return np.asarray((found - found.mean()) / (found.std() + epsilon))


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
    weight: Mapping[Kind, float],
    *,
    beta: float,
    clip: float = CLIP,
) -> float:
    """Equation 12 for the rollouts of one session; larger is better.

    Args:
        policy: for each kind of memory and each rollout, the log-probability of each token under
            the policy. An empty output contributes nothing.
        reference: the same under the reference policy.
        advantage: of each rollout, see :func:`advantages`.
        weight: of each kind, see :func:`weights`.
        beta: how much the divergence from the reference counts. Not published.
        clip: the ratio is clipped to 1 - clip and 1 + clip.
    """
    found = np.asarray(advantage, float)
    total = np.zeros(len(found))
    tokens: list[tuple[Numbers, Numbers]] = []
    for kind, rollouts in policy.items():
        pairs = zip(rollouts, reference[kind], strict=True)
        for row, (own, other) in enumerate(pairs):
            new, old = np.asarray(own, float), np.asarray(other, float)
            if new.shape != old.shape:
                raise ConfigurationError(f"{kind}, rollout {row}: {new.size} and {old.size} tokens")
            if new.size:
                tokens.append((new, old))
                total[row] += _surrogate(new, old, found[row], weight[kind], clip)
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
