"""Signals of the default profile: windows, neighbours, sessions, cues, triples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cognigraph import SearchSettings
from cognigraph.retrieve.analyse import analyse
from cognigraph.retrieve.bm25 import bm25, idf
from cognigraph.retrieve.features import chunk_features, neighbours, scaled
from cognigraph.stores.base import Candidates
from tests.unit.pools import NAN, candidates, chunk_pool, session_pool, triple_pool

ALL = SearchSettings()


def features(found: Candidates, question: str = "oslo", settings: SearchSettings = ALL):
    return chunk_features(found, analyse(question), settings)


def test_neighbours_along_the_chain():
    pool = chunk_pool([0.1] * 4)
    assert neighbours(pool, 1).tolist() == [[-1, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, -1]]
    assert neighbours(pool, 2)[0].tolist() == [-1, -1, 0, 1, 2]
    assert neighbours(pool, 2)[3].tolist() == [1, 2, 3, -1, -1]
    assert neighbours(pool, 0).tolist() == [[0], [1], [2], [3]]


def test_neighbours_follow_links_not_rows():
    pool = chunk_pool([0.1] * 3, previous=[2, -1, 1], following=[-1, 2, 0])  # order 1, 2, 0
    assert neighbours(pool, 2).tolist() == [
        [1, 2, 0, -1, -1],
        [-1, -1, 1, 2, 0],
        [-1, 1, 2, 0, -1],
    ]


def test_a_window_ends_with_its_session():
    pool = chunk_pool([0.9, 0.8, 0.1], session=[0, 0, 1])
    found = features(candidates(pool, sessions=session_pool([NAN, NAN])))
    assert found["window vector"].tolist() == pytest.approx([0.85, 0.85, 0.1])


def test_window_vector_is_the_mean_of_up_to_five():
    cosine = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    found = features(candidates(chunk_pool(cosine)))["window vector"]
    expected = [np.mean(cosine[max(0, n - 2) : n + 3]) for n in range(6)]
    assert found.tolist() == pytest.approx(expected)


def test_window_words_add_up_the_neighbours():
    matches = np.array([[1.0], [0.0], [0.0], [0.0], [2.0]])
    length = [4.0, 5.0, 6.0, 7.0, 8.0]
    pool = chunk_pool([0.5] * 5, matches=matches, length=length)
    frequencies = {"oslo": 3}
    found = features(candidates(pool, frequencies=frequencies))
    weights = idf(candidates(pool, frequencies=frequencies).lexicon, ("oslo",))

    def expected(size: int) -> list[float]:
        half = size // 2
        sums = [
            (sum(matches[max(0, n - half) : n + half + 1, 0]), sum(length[max(0, n - half) : n + half + 1]))
            for n in range(5)
        ]  # fmt: skip
        return [
            bm25(np.array([[m]]), np.array([total]), weights, 5.0 * size)[0] for m, total in sums
        ]

    assert found["words of 3"].tolist() == pytest.approx(expected(3))
    assert found["words of 5"].tolist() == pytest.approx(expected(5))
    assert found["words of 3"][2] == 0.0
    assert found["words of 5"][2] > 0.0


def test_session_best_is_the_mean_of_its_three_best():
    pool = chunk_pool([0.9, 0.6, 0.3, 0.2, 0.5, -0.4], session=[0, 0, 0, 0, 1, 1])
    found = features(candidates(pool, sessions=session_pool([NAN, NAN])))["session best"]
    # One good chunk does not make a good session: divided by three whatever the size.
    assert found.tolist() == pytest.approx([0.6] * 4 + [0.5 / 3] * 2)


def test_themes_reach_their_chunks():
    pool = chunk_pool([0.1, 0.1, 0.1], session=[0, 1, 2])
    sessions = session_pool([0.7, NAN, 0.2], matches=[[2.0], [0.0], [0.0]], length=[10, 0, 6])
    found = features(candidates(pool, sessions=sessions))
    assert found["theme"][[0, 2]].tolist() == [0.7, 0.2]
    assert math.isnan(found["theme"][1])
    assert found["theme words"][0] > 0
    assert found["theme words"][1:].tolist() == [0.0, 0.0]


def test_without_themes_there_is_no_theme_signal():
    assert "theme" not in features(candidates(chunk_pool([0.5])))


def test_cues():
    pool = chunk_pool(
        [0.1] * 4,
        speakers=("Ann Berg", "Ben", "Ann", None),
        question=np.array([True, False, False, True]),
        length=[1.0, 0.0, 3.0, 7.0],
        matches=np.zeros((4, 2)),
    )
    found = features(candidates(pool), "What did Ann say?")
    assert found["speaker named"].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert found["asks"].tolist() == [1.0, 0.0, 0.0, 1.0]
    assert found["answers"].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert found["length"].tolist() == pytest.approx([math.log(2), 0.0, math.log(4), math.log(8)])
    named = features(candidates(pool), "what did ann berg's do?")["speaker named"]
    assert named.tolist() == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("speaker", ["🙂", "???", None])
def test_a_speaker_without_words_is_never_named(speaker):
    pool = chunk_pool([0.1], speakers=(speaker,), matches=np.zeros((1, 2)))
    assert features(candidates(pool), "What did Ann say?")["speaker named"].tolist() == [0.0]


def test_the_best_and_second_best_triple_of_a_chunk():
    pool = chunk_pool([0.1] * 3)
    triples = triple_pool([0.9, 0.5, 0.1], [(0, 1), (0,), (1,)])
    found = features(candidates(pool, triples))
    assert found["triple"].tolist() == pytest.approx([1.0, 1.0, 0.0])
    assert found["second triple"].tolist() == pytest.approx([0.5, 0.0, 0.0])
    assert found["triple vector"].tolist() == pytest.approx([0.9, 0.9, 0.0])


def test_words_of_triples_count_too():
    pool = chunk_pool([0.1] * 2)
    triples = triple_pool([0.5, 0.5], [(0,), (1,)], matches=[[1.0], [0.0]])
    found = features(candidates(pool, triples))
    assert found["triple"][0] > found["triple"][1]


@pytest.mark.parametrize(
    ("switch", "gone"),
    [
        ({"windows": False}, {"window vector", "words of 3", "words of 5"}),
        ({"session_leg": False}, {"session best", "theme", "theme words"}),
        ({"cues": False}, {"speaker named", "asks", "answers", "length"}),
        ({"triple_leg": False}, {"triple", "second triple", "triple vector"}),
    ],
)
def test_each_part_has_its_switch(switch, gone):
    found = candidates(chunk_pool([0.5]), triple_pool([0.5], [(0,)]), session_pool([0.5]))
    everything = set(features(found))
    assert gone <= everything
    assert everything - set(features(found, settings=SearchSettings(**switch))) == gone


def test_an_empty_pool_has_empty_signals():
    found = features(candidates(chunk_pool([]), sessions=session_pool([])))
    assert {len(values) for values in found.values()} == {0}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 3.0, 2.0], [0.0, 1.0, 0.5]),
        ([5.0, 5.0], [0.0, 0.0]),
        ([NAN, 1.0, 2.0], [0.0, 0.0, 1.0]),
        ([NAN, NAN], [0.0, 0.0]),
        ([-1.0, 1.0, math.inf], [0.0, 1.0, 0.0]),
        ([], []),
    ],
)
def test_scaling(values, expected):
    assert scaled(np.array(values, float)).tolist() == expected
