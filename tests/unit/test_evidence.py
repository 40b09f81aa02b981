"""Which chunks are evidence of which triples, in flat arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cognigraph.stores.candidates import Evidence
from tests.examples import examples

CITED = st.lists(st.lists(st.integers(0, 5), unique=True, max_size=4), max_size=6)


@given(CITED, st.lists(st.integers(0, 2), min_size=6, max_size=6), st.randoms())
@settings(max_examples=examples(50))
def test_pairs_in_any_order_give_the_rows_of_each_triple(cited, times, source):
    pairs = [(triple, chunk) for triple, own in enumerate(cited) for chunk in own]
    source.shuffle(pairs)
    both = np.array(pairs, np.int64).reshape(-1, 2)
    evidence = Evidence.pairs(both[:, 0], both[:, 1], len(cited))
    expected = [tuple(sorted(own)) for own in cited]
    assert [*evidence] == [*Evidence.of(cited)] == expected
    assert len(evidence) == len(cited)
    assert [evidence[row] for row in range(len(cited))] == expected
    assert [*evidence[1:]] == expected[1:]
    newest = [max(own, key=lambda row: (times[row], row), default=-1) for own in cited]
    assert evidence.newest(np.array(times, float)).tolist() == newest
