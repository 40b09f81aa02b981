"""Fusing rankings in turn: complete, without repetition, and fair to each of them."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cognigraph.retrieve.fusion import at_most_per, in_turns

RANKINGS = st.lists(st.lists(st.integers(0, 40), unique=True, max_size=20), max_size=6)


@given(RANKINGS, st.integers(1, 60))
def test_the_best_of_each_ranking_are_among_the_first(rankings, k):
    fused = [item for _, item in in_turns(rankings, lambda item: item)]
    assert sorted(fused) == sorted({item for ranking in rankings for item in ranking})
    for ranking in rankings:
        # No query crowds out another: of n rankings, each has its best k / n among the first k.
        assert set(ranking[: k // len(rankings)]) <= set(fused[:k])


@given(RANKINGS)
def test_each_ranking_gives_its_items_in_its_order(rankings):
    turns = list(in_turns(rankings, lambda item: item))
    for position, ranking in enumerate(rankings):
        own = [item for giver, item in turns if giver == position]
        assert own == sorted(own, key=ranking.index)


@given(st.lists(st.integers(0, 40), unique=True), st.integers(1, 3) | st.none())
def test_a_group_gives_its_first_items(items, most):
    kept = list(at_most_per(iter(items), lambda item: item % 3, most))
    counts = Counter(item % 3 for item in kept)
    assert all(most is None or count <= most for count in counts.values())
    for group in range(3):
        own = [item for item in items if item % 3 == group]
        assert [item for item in kept if item % 3 == group] == own[:most]
