"""Fusing rankings: complete, without repetition, and fair to each of them."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from cognigraph.retrieve.search import at_most_per, fuse_rankings, in_turns

RANKINGS = st.lists(st.lists(st.integers(0, 40), unique=True, max_size=20), max_size=6)


@given(RANKINGS, st.integers(1, 60))
def test_the_best_of_each_ranking_are_among_the_chosen(rankings, k):
    items = fuse_rankings(rankings, lambda item: item, k)
    assert sorted(items) == sorted({item for ranking in rankings for item in ranking})
    for ranking in rankings:
        assert set(ranking[: k // 2 // len(rankings)]) <= set(items[:k])


@given(RANKINGS, st.integers(1, 60))
def test_an_item_is_given_by_the_ranking_that_puts_it_highest(rankings, k):
    marked = [[(number, item) for item in own] for number, own in enumerate(rankings)]
    for position, item in fuse_rankings(marked, lambda pair: pair[1], k):
        ranks = [ranking.index(item) if item in ranking else 99 for ranking in rankings]
        assert position == ranks.index(min(ranks))


@given(st.lists(st.integers(0, 40), unique=True, min_size=1), st.integers(1, 60))
def test_one_ranking_stays_as_it_is(ranking, k):
    assert fuse_rankings([ranking], lambda item: item, k) == ranking
    assert fuse_rankings([ranking] * 3, lambda item: item, k) == ranking


def test_many_wordings_of_one_question_do_not_crowd_out_another():
    wordings = [[n, *range(10, 40)] for n in range(5)]
    other = list(range(100, 130))
    chosen = fuse_rankings([*wordings, other], lambda item: item, 24)[:24]
    assert other[:2] == [item for item in chosen if item in other]
    assert {0, 1, 2, 3, 4} <= set(chosen)


@given(RANKINGS)
def test_rankings_in_turn_give_every_item_once(rankings):
    turns = list(in_turns(rankings, lambda item: item))
    assert sorted(turns) == sorted({item for ranking in rankings for item in ranking})
    for ranking in rankings:
        for count in range(len(ranking)):
            assert set(ranking[:count]) <= set(turns[: count * len(rankings)])


@given(st.lists(st.integers(0, 40), unique=True), st.integers(1, 3) | st.none())
def test_a_group_gives_its_first_items(items, most):
    kept = list(at_most_per(iter(items), lambda item: item % 3, most))
    counts = Counter(item % 3 for item in kept)
    assert all(most is None or count <= most for count in counts.values())
    for group in range(3):
        own = [item for item in items if item % 3 == group]
        assert [item for item in kept if item % 3 == group] == own[:most]
