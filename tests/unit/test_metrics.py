"""Metrics compared with values computed by hand."""

from __future__ import annotations

import math

import pytest

from cognigraph.evaluate.metrics import (
    bleu_1,
    bootstrap,
    mean,
    percentiles,
    rounded,
    score,
    token_f1,
)
from tests.cases import each


def test_a_question_by_hand():
    found = score(["x", "a", "y", "b", "c"], {"a", "b", "d"}, 4)
    assert found.recall == pytest.approx(2 / 3)
    assert (found.recall_any, found.recall_all) == (1.0, 0.0)
    # DCG: places 2 and 4 give 1/log2(2) + 1/log2(4) = 1.5; ideal 1 + 1 + 1/log2(3)
    assert found.ndcg == pytest.approx(1.5 / (2 + 1 / math.log2(3)))


def test_the_ideal_is_cut_at_k():
    assert score(["a"], {"a", "b", "c"}, 1).ndcg == 1.0


def test_what_lies_behind_k_does_not_count():
    assert score(["x", "a"], {"a"}, 1).recall_any == 0.0


def test_a_question_without_evidence_has_no_score():
    with pytest.raises(ValueError, match="without evidence"):
        score(["a"], set(), 5)
    with pytest.raises(ValueError, match="at least 1"):
        score(["a"], {"a"}, 0)


def test_means_and_percentiles():
    assert mean([0.5, 0.25, 0.33333]) == 0.3611
    assert percentiles([1.0, 2.0, 3.0, 4.0, 5.0]) == {"p50": 3.0, "p95": 4.8}
    assert percentiles([7.0]) == {"p50": 7.0, "p95": 7.0}


def test_bootstrap_is_repeatable_and_weighs_questions_not_groups():
    groups = [[1.0] * 9, [0.0]]
    found = bootstrap(groups, samples=4000)
    assert found == bootstrap(groups, samples=4000)
    assert found.mean == 0.9
    # Within the groups nothing varies; drawn as wholes, a quarter of the draws is 0 and 0.
    assert (found.low, found.high) == (0.9, 0.9)
    assert (found.low_groups, found.high_groups) == (0.0, 1.0)


def test_the_interval_is_that_of_a_binomial_share():
    found = bootstrap([[1.0] * 50 + [0.0] * 50], samples=4000)
    half = 1.96 * math.sqrt(0.25 / 100)
    assert found.low == pytest.approx(0.5 - half, abs=0.015)
    assert found.high == pytest.approx(0.5 + half, abs=0.015)
    assert rounded(found)["mean"] == 0.5


def test_nothing_to_resample():
    with pytest.raises(ValueError, match="nothing"):
        bootstrap([[], []])


ANSWERS = [
    ("Comet", "comet", 1.0, 1.0),
    ("It is Comet.", "Comet", 0.5, 1 / 3),
    ("Comet Comet", "Comet", 2 / 3, 0.5),
    ("Comet", "Comet of Turku", 0.5, math.exp(1 - 3)),
    ("", "Comet", 0.0, 0.0),
    ("no", "yes", 0.0, 0.0),
    ("東京", "東京都", 0.8, math.exp(1 - 3 / 2)),
]


@each(("answer", "expected", "f1", "bleu"), ANSWERS)
def test_words_of_answers_by_hand(answer, expected, f1, bleu):
    assert token_f1(answer, expected) == pytest.approx(f1)
    assert bleu_1(answer, expected) == pytest.approx(bleu)
