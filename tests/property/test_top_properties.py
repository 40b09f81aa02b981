"""The best rows of a scan are those that sorting everything finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.stores.sqlite.index.nearest import top_rows

SCORES = st.sampled_from([-1.0, -0.25, 0.0, 0.125, 0.25, 0.5, 0.5, 0.75, 1.0])


@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 400),
    st.lists(st.tuples(SCORES, st.booleans()), max_size=60),
    st.integers(0, 30),
)
def test_the_best_rows_equal_those_of_a_full_sort(seed, others, written, limit):
    source = np.random.default_rng(seed)
    scores = np.concatenate([[score for score, _ in written], source.normal(size=others)])
    allowed = np.concatenate([[may for _, may in written], source.random(others) < 0.8])
    allowed = allowed.astype(bool)

    found = top_rows(scores, allowed, limit)

    assert len(set(found.tolist())) == len(found)
    assert allowed[found].all()
    best = np.sort(scores[allowed & (scores > 0)])[::-1][:limit]
    assert np.sort(scores[found])[::-1].tolist() == best.tolist()
