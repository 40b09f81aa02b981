"""Metrics of retrieval and of answers, their means, percentiles and bootstrap intervals. Pure.

Evidence is the set of ids that answer a question; ``found`` are ids, best first. A question without
evidence has no score. nDCG is the one LongMemEval's own evaluation computes, so that figures
can be compared with published ones: gains are 0 or 1, DCG = g1 + sum over i >= 2 of g_i / log2(i).
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one question at one k, each in [0, 1].

    ``recall`` is the share of the evidence among the first k, ``recall_any`` whether any of it is
    there, ``recall_all`` whether all of it is.
    """

    recall: float
    recall_any: float
    recall_all: float
    ndcg: float


METRICS = ("recall", "recall_any", "recall_all", "ndcg")


def score(found: Sequence[str], evidence: Collection[str], k: int) -> Scores:
    """Score the first ``k`` distinct ids; raises ValueError without evidence or if ``k`` < 1."""
    wanted = set(evidence)
    if not wanted:
        raise ValueError("a question without evidence has no score")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    first = list(dict.fromkeys(found))[:k]
    hits = sum(id in wanted for id in first)
    return Scores(
        recall=hits / len(wanted),
        recall_any=float(hits > 0),
        recall_all=float(hits == len(wanted)),
        ndcg=_dcg([id in wanted for id in first]) / _dcg([True] * min(k, len(wanted))),
    )


def _dcg(gains: Sequence[bool]) -> float:
    return sum(
        gain / (math.log2(position) if position > 1 else 1.0)
        for position, gain in enumerate(gains, 1)
    )


_EAST_ASIAN = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_EAST_ASIAN}]|[^\W{_EAST_ASIAN}]+")


def answer_words(text: str) -> Counter[str]:
    """The words of an answer in lower case with their numbers, without punctuation.

    Characters of Chinese, Japanese and Korean count as words.
    """
    return Counter(_WORD.findall(text.lower()))


def token_f1(answer: str, expected: str) -> float:
    """F1 of the words of an answer: the harmonic mean of precision and recall (AMA, A.2).

    >>> round(token_f1("In Turin, since May.", "in Turin"), 3)
    0.667
    """
    own, wanted = answer_words(answer), answer_words(expected)
    same = (own & wanted).total()
    return 2 * same / (own.total() + wanted.total()) if same else 0.0


def bleu_1(answer: str, expected: str) -> float:
    """BLEU-1: the clipped share of the answer's words, less if it is too short (AMA, A.2).

    >>> round(bleu_1("Turin", "in Turin"), 3)
    0.368
    """
    own, wanted = answer_words(answer), answer_words(expected)
    if not own:
        return 0.0
    brevity = min(1.0, math.exp(1 - wanted.total() / own.total()))
    return brevity * (own & wanted).total() / own.total()


def mean(values: Sequence[float], digits: int = 4) -> float | None:
    """Return the rounded mean; ``None`` without values."""
    return round(statistics.fmean(values), digits) if len(values) else None


def percentiles(values: Sequence[float], digits: int = 2) -> dict[str, float] | None:
    """Return p50 and p95, interpolated linearly; ``None`` without values."""
    if not len(values):
        return None
    middle, high = np.percentile(np.asarray(values, float), [50, 95])
    return {"p50": round(float(middle), digits), "p95": round(float(high), digits)}


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % bootstrap intervals.

    ``low``/``high``: questions resampled within each group (the groups are as they are);
    ``low_groups``/``high_groups``: whole groups are resampled, to estimate results on other groups.
    """

    mean: float
    low: float
    high: float
    low_groups: float
    high_groups: float


def bootstrap(
    groups: Sequence[Sequence[float]], *, samples: int = 2000, seed: int = 1, level: float = 0.95
) -> Interval:
    """Return the mean over all values of all groups, with percentile intervals.

    A group holds the values of one conversation. Raises ValueError if all groups are empty.
    """
    arrays = [np.asarray(group, float) for group in groups if len(group)]
    if not arrays:
        raise ValueError("there is nothing to resample")
    rng = np.random.default_rng(seed)
    sizes = np.array([len(group) for group in arrays], float)
    sums = np.stack([_resampled(group, samples, rng) for group in arrays])  # (groups, samples)
    within = sums.sum(axis=0) / sizes.sum()
    own = np.array([group.sum() for group in arrays])
    drawn = rng.integers(0, len(arrays), (samples, len(arrays)))
    across = own[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    edges = [50 * (1 - level), 50 * (1 + level)]
    low, high = np.percentile(within, edges)
    low_groups, high_groups = np.percentile(across, edges)
    return Interval(
        float(own.sum() / sizes.sum()),
        float(low),
        float(high),
        float(low_groups),
        float(high_groups),
    )


def _resampled(values: Values, samples: int, rng: np.random.Generator) -> Values:
    """Return (samples,) sums, each of as many draws with replacement as there are values."""
    counts = rng.multinomial(len(values), np.full(len(values), 1 / len(values)), size=samples)
    return np.asarray(counts @ values, float)


def rounded(interval: Interval, digits: int = 4) -> dict[str, float | list[float]]:
    """Return the interval as JSON data."""
    return {
        "mean": round(interval.mean, digits),
        "interval": [round(interval.low, digits), round(interval.high, digits)],
        "interval_conversations": [
            round(interval.low_groups, digits),
            round(interval.high_groups, digits),
        ],
    }
