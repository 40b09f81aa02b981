"""Products that stay in the calling thread."""

from __future__ import annotations

import numpy as np

from cognigraph.arrays import or_zero, products, products_of_rows, single, steps


def test_the_product_of_some_rows_has_the_bits_of_that_of_a_copy():
    rng = np.random.default_rng(7)
    left = rng.standard_normal((3000, 256), np.float32)
    right = rng.standard_normal((5, 256), np.float32)
    for count in (0, 1, 204, 205, 1500):
        rows = np.sort(rng.choice(len(left), count, replace=False))
        found = products_of_rows(left, rows, right)
        assert found.shape == (count, 5)
        assert np.array_equal(found, products(left.take(rows, 0), right))
        assert np.allclose(found, left[rows] @ right.T, atol=1e-4)


def test_every_finite_half_becomes_the_same_number_in_single_precision():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    found = single(halves)
    assert found.dtype == np.float32
    expected = halves.astype(np.float32)
    assert np.array_equal(found, expected)
    assert np.array_equal(np.signbit(found), np.signbit(expected))
    assert single(expected) is expected


def test_what_is_unknown_becomes_zero_and_all_else_stays():
    values = np.array([np.nan, -1.5, 0.0, 2.0, np.nan])
    assert or_zero(values).tolist() == [0.0, -1.5, 0.0, 2.0, 0.0]
    assert np.isnan(values[0])
    assert or_zero(np.empty(0)).tolist() == []


def test_steps_begin_with_the_first_number():
    assert steps(np.array([3, 3, 7, 12])).tolist() == [3, 0, 4, 5]
    assert steps(np.empty(0, np.int64)).tolist() == []
