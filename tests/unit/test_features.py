"""Signals of the default profile: windows, neighbours, sessions, cues, triples."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from cognigraph import SearchSettings
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.retrieve.rank.profiles import (
    chunk_features,
    neighbours,
    reciprocal_ranks,
    without_names,
)
from cognigraph.retrieve.rank.ranking import scaled
from cognigraph.stores.candidates import OUTSIDE, Candidates
from cognigraph.text.word_book import bm25, idf
from tests.cases import each
from tests.unit.pools import NAN, candidates, chunk_pool, session_pool, triple_pool

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

ALL = SearchSettings()


def features(found: Candidates, question: str = "oslo", settings: SearchSettings = ALL):
    return chunk_features(found, analyse(question, NOW), settings)


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


def test_window_vector_is_the_mean_of_five():
    cosine = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9]
    found = features(candidates(chunk_pool(cosine)))["window vector"]
    expected = [np.mean(cosine[max(0, n - 2) : n + 3]) for n in range(7)]
    assert found.tolist() == pytest.approx(expected)


def test_a_neighbour_outside_the_pool_counts_as_the_worst():
    """Otherwise a chunk at the edge of the candidates would have no bad neighbours."""
    pool = chunk_pool([0.6, 0.9, 0.3], previous=[-2, 0, 1], following=[1, 2, -2])
    found = features(candidates(pool))["window vector"]
    assert found.tolist() == pytest.approx(
        [np.mean(v) for v in ([0.3, 0.3, 0.6, 0.9, 0.3], [0.3, 0.6, 0.9, 0.3, 0.3],
                              [0.6, 0.9, 0.3, 0.3, 0.3])]
    )  # fmt: skip


def test_words_at_the_rim_of_the_candidates_have_no_advantage():
    """A window that is cut off does not count as a short one."""
    matches = np.array([[0.0], [0.0], [1.0], [0.0], [0.0]])
    pool = chunk_pool(
        [0.0, 0.0, 1.0, 0.0, 0.0],
        matches=matches,
        previous=[-2, 0, 1, 2, 3],
        following=[1, 2, 3, 4, -2],
    )
    found = features(candidates(pool, frequencies={"oslo": 1}))["window words"]
    assert found.tolist() == pytest.approx([found[2]] * 5)


def test_window_words_add_up_the_neighbours():
    matches = np.array([[1.0], [0.0], [0.0], [0.0], [2.0], [0.0], [0.0], [0.0]])
    length = [4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 3.0, 3.0]
    found = candidates(chunk_pool([0.5] * 8, matches=matches, length=length),
                       frequencies={"oslo": 3})  # fmt: skip
    weights = idf(found.lexicon, ("oslo",))
    inner = slice(2, 6)  # windows that end with the session are another matter

    def expected(n: int) -> float:
        rows = slice(n - 2, n + 3)
        total = np.array([sum(length[rows])])
        return float(bm25(np.array([[matches[rows, 0].sum()]]), total, weights, 5.0 * 5)[0])

    words = features(found)["window words"]
    assert words[inner].tolist() == pytest.approx([expected(n) for n in range(2, 6)])
    assert words[3] > 0.0, "its own words are none"
    assert words[7] == 0.0, "out of reach"


def test_session_best_is_the_mean_of_its_up_to_three_best():
    pool = chunk_pool([0.9, 0.6, 0.3, 0.2, 0.5, -0.4], session=[0, 0, 0, 0, 1, 1])
    found = features(candidates(pool, sessions=session_pool([NAN, NAN])))["session best"]
    assert found.tolist() == pytest.approx([0.6] * 4 + [0.05] * 2)


def test_themes_reach_their_chunks_and_unread_sessions_are_average():
    pool = chunk_pool([0.1, 0.1, 0.1], session=[0, 1, 2])
    sessions = session_pool([0.7, NAN, 0.2], matches=[[2.0], [0.0], [0.0]], length=[10, 0, 6])
    found = features(candidates(pool, sessions=sessions))
    assert found["theme"].tolist() == pytest.approx([0.7, 0.45, 0.2])
    first, unread, last = found["theme words"]
    assert first > last == 0.0
    assert unread == pytest.approx(first / 2)


def test_without_themes_there_is_no_theme_signal():
    assert "theme" not in features(candidates(chunk_pool([0.5])))


def test_cue_signals():
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
    assert found["length"].tolist() == pytest.approx(
        [math.log(2) / 4, 0.0, math.log(4) / 4, math.log(8) / 4]
    )
    named = features(candidates(pool), "what did ann berg's do?")["speaker named"]
    assert named.tolist() == [1.0, 0.0, 1.0, 0.0]


def test_the_length_signal_is_bounded():
    pool = chunk_pool([0.1] * 2, length=[60.0, 6000.0])
    assert features(candidates(pool))["length"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("question", ["in May 2023 oslo", "2023 oslo"])
def test_the_time_cue_knows_what_was_said_then(question):
    at = [datetime(year, 5, 20, tzinfo=UTC).timestamp() for year in (2023, 2021)]
    terms = len(analyse(question, NOW).terms)
    pool = chunk_pool([0.1] * 2, at=at, matches=np.zeros((2, terms)))
    found = features(candidates(pool), question)
    assert found["time"][0] == 1.0
    assert found["time"][1] < 1e-6
    assert "time" not in features(candidates(chunk_pool([0.1], at=at[:1])), "oslo")


@pytest.mark.parametrize("speaker", ["🙂", "???", None])
def test_a_speaker_without_words_is_never_named(speaker):
    pool = chunk_pool([0.1], speakers=(speaker,), matches=np.zeros((1, 2)))
    assert features(candidates(pool), "What did Ann say?")["speaker named"].tolist() == [0.0]


def test_a_chunk_is_as_good_as_its_best_triple():
    pool = chunk_pool([0.1] * 3)
    triples = triple_pool([0.9, 0.5, 0.1], [(0, 1), (0,), (1,)])
    found = features(candidates(pool, triples, session_pool([0.3])))
    assert found["triple"].tolist() == pytest.approx([0.5, 0.5, 0.0])
    lexical = triple_pool([0.9, 0.5], [(0,), (1,)], matches=[[0.0], [3.0]])
    found = features(candidates(pool, lexical, session_pool([0.3])))
    assert found["triple"].tolist() == pytest.approx([0.5, 0.5, 0.0])


def test_chunks_of_sessions_that_are_not_enriched_count_as_their_own_triple():
    pool = chunk_pool([0.9, 0.1, 0.5], session=[0, 0, 1])
    triples = triple_pool([0.9, 0.1], [(2,), (2,)])
    read = features(candidates(pool, triples, session_pool([0.3, 0.3])))["triple"]
    assert read.tolist() == pytest.approx([0.0, 0.0, 0.5])
    unread = features(candidates(pool, triples, session_pool([NAN, 0.3])))["triple"]
    assert unread.tolist() == pytest.approx([0.5, 0.0, 0.5])


def test_words_of_triples_count_too():
    pool = chunk_pool([0.1] * 2)
    triples = triple_pool([0.5, 0.5], [(0,), (1,)], matches=[[1.0], [0.0]])
    found = features(candidates(pool, triples, session_pool([0.3])))
    assert found["triple"][0] > found["triple"][1]


@each(
    ("switch", "gone"),
    [
        ({"windows": False}, {"window vector", "window words"}),
        ({"sessions": False}, {"session best", "theme", "theme words"}),
        ({"cues": False}, {"speaker named", "asks", "answers", "length"}),
        ({"triples": False}, {"triple", "second triple"}),
    ],
)
def test_each_part_has_its_switch(switch, gone):
    found = candidates(chunk_pool([0.5]), triple_pool([0.5], [(0,)]), session_pool([0.5]))
    everything = set(features(found))
    assert gone <= everything
    assert everything - set(features(found, settings=SearchSettings(**switch))) == gone


def test_late_interaction_needs_texts():
    texts = ("Clara adopted a puppy.", "The chain broke.", "")
    pool = chunk_pool([0.5] * 3, texts=texts, matches=np.zeros((3, 2)))
    triples = triple_pool([0.5, 0.5], [(0,), (1,)], texts=("Clara has dog", "chain is broken"),
                          terms=2)  # fmt: skip
    found = features(candidates(pool, triples, session_pool([0.5], terms=2)), "dogs, Clara")
    assert found["similar words"][0] > 0.7 > 0.5 > found["similar words"][1]
    assert found["similar words"][2] == 0.0
    assert found["window similar words"].tolist() == [found["similar words"][0]] * 3
    assert found["triple"].tolist() == pytest.approx([1 / 3, 0.0, 0.0])
    without = features(candidates(chunk_pool([0.5] * 3)))
    assert not {"similar words", "window similar words"} & set(without)


def test_rare_words_weigh_more():
    texts = ("about Clara", "about Zanzibar")
    pool = chunk_pool([0.5] * 2, session=[0, 1], texts=texts, matches=np.zeros((2, 2)))
    found = features(
        candidates(pool, sessions=session_pool([NAN, NAN], terms=2), frequencies={"clara": 90}),
        "Clara Zanzibar",
    )["similar words"]
    assert found[1] > found[0]


def test_a_window_takes_each_word_where_it_matches_best():
    texts = ("Zanzibar!", "Yes.", "Clara?", "", "", "Clara Zanzibar")
    pool = chunk_pool([0.5] * 6, texts=texts, matches=np.zeros((6, 2)))
    found = features(candidates(pool, sessions=session_pool([NAN], terms=2)), "Clara Zanzibar")
    assert found["window similar words"].tolist()[:3] == pytest.approx([1.0] * 3)
    assert found["similar words"][0] < 0.9


def test_the_second_best_triple_counts_apart():
    pool = chunk_pool([0.1] * 2)
    triples = triple_pool([0.9, 0.5, 0.1, 0.7], [(0,), (0, 1), (1,), (0,)])
    found = features(candidates(pool, triples, session_pool([0.3])))
    assert found["triple"].tolist() == pytest.approx([0.5, 0.25])
    assert found["second triple"].tolist() == pytest.approx([0.375, 0.0])


def test_an_empty_pool_has_empty_signals():
    found = features(candidates(chunk_pool([]), sessions=session_pool([])))
    assert {len(values) for values in found.values()} == {0}


@each(
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
def test_scaling_of_signals(values, expected):
    assert scaled(np.array(values, float)).tolist() == expected


def test_a_lone_candidate_with_a_neighbour_outside():
    pool = chunk_pool([0.5])
    pool = replace(pool, previous=np.array([OUTSIDE]), following=np.array([OUTSIDE]))
    assert features(candidates(pool))["answers"].tolist() == [0.0]


def test_reciprocal_ranks_add_up_and_equals_share_the_best_rank():
    first, second = np.array([0.9, 0.5, 0.5, 0.1]), np.array([2.0, 8.0, 0.0, 0.0])
    assert reciprocal_ranks([first, second]).tolist() == pytest.approx(
        [1 / 10 + 1 / 11, 1 / 11 + 1 / 10, 1 / 11 + 1 / 12, 1 / 13 + 1 / 12]
    )


def test_reciprocal_ranks_do_not_depend_on_the_last_bits():
    """Two stores add up the same numbers in another order."""
    one = reciprocal_ranks([np.array([0.1 + 0.2, 0.3, 0.2])])
    assert one.tolist() == reciprocal_ranks([np.array([0.3, 0.1 + 0.2, 0.2])]).tolist()
    assert one[0] == one[1] > one[2]


def test_the_name_before_a_message_is_not_among_its_words():
    """What Bo says of himself still counts, and so does his name in what others say."""
    pool = chunk_pool(
        [0.1] * 3, speakers=("Bo", "Bo", "Ann"), matches=[[1.0, 1.0], [2.0, 0.0], [1.0, 0.0]]
    )
    assert without_names(pool, ["bo", "boat"]).tolist() == [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]
    assert without_names(pool, ["cat", "boat"]) is pool.matches
