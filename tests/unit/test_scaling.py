"""Signals that are scaled together have the values of signals that are scaled one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognigraph.retrieve.rank.ranking import median, scaled, scaled_together
from tests.examples import examples

NAN, INF = float("nan"), float("inf")
VALUES = st.sampled_from([0.0, 1.0, 1.0, -2.5, 0.1, 1e-9, NAN, NAN, INF])


@pytest.mark.slow
@given(st.integers(0, 6).flatmap(lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n))))
@settings(max_examples=examples(100))
def test_rows_of_a_matrix_are_scaled_as_each_alone(rows):
    matrix = np.array(rows, float).reshape(len(rows), len(rows[0]) if rows else 0)
    found = scaled_together(matrix)
    assert found.tolist() == [scaled(np.array(row, float)).tolist() for row in rows]


def test_signals_are_scaled_by_what_is_known_of_them():
    matrix = np.array([[1.0, 3.0, 2.0], [5.0, NAN, 6.0], [NAN, NAN, NAN], [INF, 1.0, 2.0]])
    scales = [[0.0, 1.0, 0.5], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert scaled_together(matrix).tolist() == scales


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_the_median_is_that_of_numpy(values):
    assert median(np.array(values)) == float(np.median(values))
