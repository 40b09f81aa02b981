"""Retrieval metrics: relations between them, growth with k, and invariances."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.evaluate.metrics import Scores, bootstrap, mean, percentiles, score

IDS = st.sampled_from("abcdefghij")
FOUND = st.lists(IDS, max_size=12)
EVIDENCE = st.sets(IDS, min_size=1, max_size=6)
K = st.integers(1, 15)
GROUPS = st.lists(
    st.lists(st.floats(0, 1), min_size=1, max_size=8), min_size=1, max_size=4
)  # fmt: skip


@given(FOUND, EVIDENCE, K)
def test_the_recall_metrics_are_ordered_and_bounded(found, evidence, k):
    at_k = score(found, evidence, k)
    assert 0.0 <= at_k.recall_all <= at_k.recall <= at_k.recall_any <= 1.0
    assert 0.0 <= at_k.ndcg <= 1.0 + 1e-12
    assert (at_k.ndcg > 0) == (at_k.recall_any == 1.0)


@given(FOUND, EVIDENCE, K)
def test_recall_grows_with_k(found, evidence, k):
    now, later = score(found, evidence, k), score(found, evidence, k + 1)
    assert now.recall <= later.recall
    assert now.recall_any <= later.recall_any
    assert now.recall_all <= later.recall_all


@given(FOUND, EVIDENCE, K)
def test_a_repeated_id_counts_once(found, evidence, k):
    doubled = [id for id in found for _ in range(2)]
    assert score(doubled, evidence, k) == score(found, evidence, k)


@given(FOUND, EVIDENCE, K)
def test_evidence_moved_up_never_scores_less(found, evidence, k):
    distinct = list(dict.fromkeys(found))
    better = sorted(distinct, key=lambda id: id not in evidence)
    moved, before = score(better, evidence, k), score(distinct, evidence, k)
    assert moved.ndcg >= before.ndcg - 1e-12
    assert moved.recall >= before.recall


@given(EVIDENCE)
def test_evidence_first_is_perfect(evidence):
    ideal = score(sorted(evidence), evidence, len(evidence))
    assert (ideal.recall, ideal.recall_any, ideal.recall_all) == (1.0, 1.0, 1.0)
    assert ideal.ndcg == pytest.approx(1.0)


@given(EVIDENCE, K)
def test_nothing_found_is_zero(evidence, k):
    assert score([], evidence, k) == Scores(0.0, 0.0, 0.0, 0.0)


@given(GROUPS)
def test_intervals_hold_to_the_range_of_the_values(groups):
    found = bootstrap(groups, samples=50)
    values = [value for group in groups for value in group]
    assert found.mean == pytest.approx(math.fsum(values) / len(values))
    for low, high in ((found.low, found.high), (found.low_groups, found.high_groups)):
        assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


@given(st.floats(0, 1), st.integers(1, 4), st.integers(1, 6))
def test_what_does_not_vary_has_no_width(value, groups, size):
    found = bootstrap([[value] * size] * groups, samples=20)
    assert (found.low, found.high_groups) == pytest.approx((value, value))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_percentiles_are_within(values):
    found = percentiles(values)
    assert found is not None
    assert min(values) - 0.01 <= found["p50"] <= found["p95"] <= max(values) + 0.01


def test_nothing_has_no_mean():
    assert mean([]) is None
    assert percentiles([]) is None
