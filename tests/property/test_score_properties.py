"""Scores: ranges, symmetry, monotony, and what scaling time or candidates must not change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cognigraph import SearchSettings
from cognigraph.retrieve.rank.ranking import (
    SESSION_FLOOR,
    relevance,
    scaled,
    semantic_relevance,
    weibull_decay,
)
from cognigraph.text.word_book import Lexicon, bm25, idf

COSINES = st.floats(-1.0, 1.0)
POSITIVE = st.floats(SESSION_FLOOR, 1.0)
SECONDS = st.integers(0, 10**16).map(lambda micros: micros / 1e6)  # stores keep microseconds
GAPS = arrays(float, st.integers(0, 12), elements=SECONDS)
GAPS_AND_UNKNOWN = arrays(float, st.integers(0, 12), elements=st.one_of(SECONDS, st.just(math.nan)))
EXPONENTS = st.floats(0.01, 0.99)


def hm(session: float, triple: float) -> float:
    return float(semantic_relevance(np.array([session]), np.array([triple]))[0])


@given(COSINES, COSINES)
def test_the_harmonic_mean_stays_in_range(session, triple):
    assert 0.0 <= hm(session, triple) <= 1.0


@given(POSITIVE, POSITIVE)
def test_the_harmonic_mean_is_symmetric_and_between_the_two(left, right):
    assert hm(left, right) == pytest.approx(hm(right, left))
    assert min(left, right) - 1e-12 <= hm(left, right) <= max(left, right) + 1e-12
    assert hm(left, right) <= (left + right) / 2 + 1e-12


@given(COSINES, COSINES, COSINES)
def test_the_harmonic_mean_is_monotone(session, low, high):
    low, high = sorted((low, high))
    assert hm(session, low) <= hm(session, high) + 1e-12
    assert hm(low, session) <= hm(high, session) + 1e-12


@given(COSINES)
def test_unknown_is_neutral(triple):
    assert hm(math.nan, triple) == pytest.approx(max(triple, 0.0))


@given(GAPS_AND_UNKNOWN, EXPONENTS)
def test_decay_stays_in_range(gap, exponent):
    decay = weibull_decay(gap, exponent)
    assert decay.shape == gap.shape
    assert np.isfinite(decay).all()
    assert ((decay >= 0) & (decay <= 1)).all()


@given(GAPS, EXPONENTS)
def test_older_never_weighs_more(gap, exponent):
    order = np.argsort(gap)
    assert (np.diff(weibull_decay(gap, exponent)[order]) <= 1e-12).all()


@given(GAPS_AND_UNKNOWN, EXPONENTS, st.sampled_from([1e-3, 60.0, 3600.0, 86_400.0]))
def test_the_unit_of_time_does_not_matter(gap, exponent, unit):
    assert weibull_decay(gap * unit, exponent) == pytest.approx(weibull_decay(gap, exponent))


@given(GAPS_AND_UNKNOWN, EXPONENTS, st.randoms(use_true_random=False))
def test_the_order_of_candidates_does_not_matter(gap, exponent, random):
    order = list(range(len(gap)))
    random.shuffle(order)
    assert weibull_decay(gap[order], exponent) == pytest.approx(weibull_decay(gap, exponent)[order])


@given(GAPS_AND_UNKNOWN, st.data())
def test_relevance_stays_in_range(gap, data):
    n = len(gap)
    session, triple = (
        np.array(data.draw(st.lists(COSINES, min_size=n, max_size=n)), float) for _ in range(2)
    )
    score, semantic, decay = relevance(session, triple, gap, SearchSettings(ranking="licomemory"))
    assert ((score >= 0) & (score <= semantic + 1e-12) & (score <= decay + 1e-12)).all()


@given(arrays(float, st.integers(0, 12), elements=st.floats(allow_nan=True, width=32)))
def test_scaling_gives_shares(values):
    with np.errstate(over="ignore"):
        found = scaled(values)
    assert found.shape == values.shape
    assert ((found >= 0) & (found <= 1)).all()
    known = np.flatnonzero(np.isfinite(values))
    if len(known) and values[known].max() > values[known].min():
        assert found.max() == 1.0
        order = known[np.argsort(values[known])]
        assert (np.diff(found[order]) >= 0).all()
    else:
        assert not found.any()


@given(
    arrays(float, st.integers(1, 12), elements=st.integers(-1000, 1000).map(float)),
    st.integers(1, 50),
    st.integers(-1000, 1000),
)
def test_scaling_forgets_unit_and_offset(values, unit, offset):
    assert scaled(values * unit + offset) == pytest.approx(scaled(values))


COUNTS = st.integers(0, 40)


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=10), st.integers(1, 99))
def test_bm25_is_bounded_and_monotone(rows, df):
    matches = np.array(rows, float)
    length = matches.sum(axis=1) + 3
    weights = idf(Lexicon(100, 10.0, {"a": df, "b": 1}), ("a", "b"))
    assert (weights > 0).all()
    scores = bm25(matches, length, weights, 10.0)
    assert ((scores >= 0) & (scores <= 2.2 * weights.sum() + 1e-9)).all()
    more = bm25(matches + np.array([1.0, 0.0]), length, weights, 10.0)
    assert (more > scores).all()
    longer = bm25(matches, length + 5, weights, 10.0)
    assert (longer <= scores).all()
