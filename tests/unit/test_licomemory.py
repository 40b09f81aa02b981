"""The paper's formulas by hand-computed values, and each decided case of its table."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from cognigraph import LicoMemorySettings, SearchSettings
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.retrieve.rank.licomemory import (
    factors_below,
    most_similar_names,
    reached_top_down,
    top_down_query,
    with_time_keys,
)
from cognigraph.retrieve.rank.ranking import (
    SESSION_FLOOR,
    clamp,
    gaps,
    is_top_down,
    median_gap,
    paper_decay,
    paper_scores,
    relevance,
    semantic_relevance,
    weibull_decay,
)
from cognigraph.stores.candidates import NONE, OUTSIDE, CandidateQuery, Candidates
from cognigraph.stores.records import EntityNames
from tests.cases import each
from tests.unit.pools import candidates, chunk_pool, session_pool, triple_pool

NAN = math.nan
DAY = 86_400.0
WIDE = LicoMemorySettings(candidates="wide")
PAPER = SearchSettings(ranking="licomemory", licomemory=WIDE)


def paper(decay_exponent: float = 0.1, decay: bool = True, **variant: object) -> SearchSettings:
    return SearchSettings(
        ranking="licomemory", decay_exponent=decay_exponent, decay=decay,
        licomemory=replace(WIDE, **variant),
    )  # fmt: skip


def one(session: float, triple: float) -> float:
    return float(semantic_relevance(np.array([session]), np.array([triple]))[0])


@each(
    ("session", "triple", "expected"),
    [
        (0.5, 0.5, 0.5),
        (0.8, 0.4, 0.64 / 1.2),  # 2*.8*.4/(.8+.4) = .5333
        (0.4, 0.8, 0.64 / 1.2),
        (1.0, 1.0, 1.0),
        (1.0, 0.0, 0.0),
        (0.9, 0.1, 0.18),
    ],
)
def test_equation_1_harmonic_mean(session, triple, expected):
    assert one(session, triple) == pytest.approx(expected, abs=1e-12)


def test_one_strong_score_does_not_outweigh_a_weak_one():
    """Why the mean is harmonic: (.9, .1) has the same sum as (.5, .5) and scores a third of it."""
    assert one(0.9, 0.1) < one(0.5, 0.5) / 2


def test_case_negative_cosines_are_clamped_first():
    # Unclamped, 2*.5*-.6/(.5-.6) = +6 would beat everything.
    assert one(0.5, -0.6) == 0.0
    assert one(-0.6, 0.5) == pytest.approx(2 * SESSION_FLOOR * 0.5 / (SESSION_FLOOR + 0.5))
    assert one(-0.5, -0.5) == 0.0
    assert one(1.0000001, 1.0000001) == 1.0
    assert clamp(np.array([-0.1, 0.3, 1.2])).tolist() == [0.0, 0.3, 1.0]


def test_case_no_summary_yet_is_not_zero():
    assert one(NAN, 0.7) == 0.7
    assert one(NAN, -0.3) == 0.0
    assert one(NAN, 0.7) > one(0.2, 0.7)


def test_case_a_computed_zero_is_floored():
    assert one(0.0, 1.0) == pytest.approx(0.02 / 1.01)
    assert one(0.0, 1.0) > 0
    assert one(0.005, 0.5) == one(0.01, 0.5)


def test_case_all_gaps_zero():
    assert weibull_decay(np.zeros(3), 0.1).tolist() == [1.0, 1.0, 1.0]


def test_equation_2_decay():
    # tau is the median, 10 days.
    decay = weibull_decay(np.array([0.0, 1.0, 10.0, 100.0, 1000.0]) * DAY, 0.1)
    expected = [1.0] + [math.exp(-(10.0**power)) for power in (-0.1, 0.0, 0.1, 0.2)]
    assert decay.tolist() == pytest.approx(expected, abs=1e-12)
    assert decay[2] == pytest.approx(1 / math.e)


def test_case_the_cliff_at_zero_for_tk_a_tenth():
    """The values that the design states: w(0)=1, w(.01 tau)=.53, w(tau)=.37, w(100 tau)=.21."""
    gap = np.array([0.0, 0.01, 1.0, 1.0, 1.0, 1.0, 100.0])
    assert weibull_decay(gap, 0.1)[[0, 1, 2, 6]].tolist() == pytest.approx(
        [1.0, 0.532, 0.368, 0.205], abs=0.001
    )


def test_the_exponent_shapes_the_decay():
    gap = np.array([1.0, 2.0, 3.0])
    assert weibull_decay(gap, 0.5).tolist() == pytest.approx(
        [math.exp(-math.sqrt(ratio)) for ratio in (0.5, 1.0, 1.5)]
    )


def test_the_median_of_an_even_number_is_between():
    decay = weibull_decay(np.array([1.0, 3.0]) * DAY, 0.5)
    assert decay.tolist() == pytest.approx([math.exp(-math.sqrt(g / 2)) for g in (1.0, 3.0)])


def test_case_unknown_time_is_the_median():
    decay = weibull_decay(np.array([DAY, NAN, 5 * DAY, 9 * DAY]), 0.1)
    assert decay[1] == pytest.approx(1 / math.e)
    # and the known ones are as without it
    assert decay[[0, 2, 3]].tolist() == pytest.approx(
        weibull_decay(np.array([1.0, 5.0, 9.0]) * DAY, 0.1).tolist()
    )
    # An unknown time beats no fresh fact and loses to none that is older than the median.
    assert decay[0] > decay[1] > decay[3]


def test_case_all_times_unknown():
    assert weibull_decay(np.array([NAN, NAN]), 0.1).tolist() == pytest.approx([1 / math.e] * 2)
    assert weibull_decay(np.empty(0), 0.1).tolist() == []


def test_case_most_gaps_zero_takes_the_scale_of_the_others():
    decay = weibull_decay(np.array([0.0, 0.0, 0.0, 2 * DAY, 8 * DAY]), 0.5)
    assert decay[:3].tolist() == [1.0, 1.0, 1.0]
    assert decay[3:].tolist() == pytest.approx([math.exp(-math.sqrt(g / 5)) for g in (2, 8)])


def test_case_time_after_the_question_is_gap_zero():
    found = gaps(np.array([50.0, 100.0, 150.0, NAN]), 100.0)
    assert found[:3].tolist() == [50.0, 0.0, 0.0]
    assert math.isnan(found[3])


def test_relevance_is_the_product():
    session, triple = np.array([0.8, NAN]), np.array([0.4, 0.6])
    gap = np.array([DAY, 3 * DAY])
    score, semantic, decay = relevance(session, triple, gap, PAPER)
    assert semantic.tolist() == pytest.approx([0.64 / 1.2, 0.6])
    assert decay.tolist() == pytest.approx([math.exp(-(0.5**0.1)), math.exp(-(1.5**0.1))])
    assert score.tolist() == pytest.approx((semantic * decay).tolist())


def test_said_just_now_wins_by_the_known_factor():
    """Known property of tk = 0.1, not a wish: a fresh fact beats one at the median by e."""
    score, _, _ = relevance(
        np.full(3, NAN), np.array([0.3, 0.8, 0.3]), np.array([0.0, DAY, 2 * DAY]), PAPER
    )
    assert score[0] > score[1]
    assert score[0] / (0.3 * math.exp(-1)) == pytest.approx(math.e)


# Variants of the formulas, each by hand


@each(
    ("session", "triple", "expected"),
    [(0.8, 0.4, 0.6), (1.0, 0.0, 0.5), (-0.6, 0.5, (SESSION_FLOOR + 0.5) / 2), (NAN, 0.7, 0.7)],
)
def test_variant_arithmetic_mean(session, triple, expected):
    found = semantic_relevance(np.array([session]), np.array([triple]), "arithmetic")
    assert found.tolist() == pytest.approx([expected])
    assert semantic_relevance(np.array([session]), np.array([triple])) <= found


def test_variant_exponential_decay():
    gap = np.array([0.0, 1.0, 2.0, 3.0, 6.0]) * DAY  # tau is 2 days
    assert paper_decay(gap, paper(decay_exponent=1.0), gap).tolist() == pytest.approx(
        [math.exp(-ratio) for ratio in (0.0, 0.5, 1.0, 1.5, 3.0)]
    )


@each("scale", [0.25, 0.5, 1.0, 2.0, 4.0])
def test_variant_tau_as_a_multiple_of_the_median(scale):
    gap = np.array([1.0, 2.0, 8.0]) * DAY
    assert paper_decay(gap, paper(tau_scale=scale), gap).tolist() == pytest.approx(
        [math.exp(-((days / (2 * scale)) ** 0.1)) for days in (1.0, 2.0, 8.0)]
    )


def test_variant_no_decay():
    gap = np.array([0.0, DAY, NAN])
    assert paper_decay(gap, paper(decay=False), gap).tolist() == [1.0, 1.0, 1.0]


def test_tau_is_the_median_over_the_retrieved_triples():
    chunks, triples = np.array([1.0, 100.0]) * DAY, np.array([2.0, 4.0, 9.0]) * DAY
    assert paper_decay(chunks, PAPER, triples).tolist() == pytest.approx(
        [math.exp(-((days / 4) ** 0.1)) for days in (1.0, 100.0)]
    )
    alone = paper_decay(chunks, PAPER, np.empty(0))
    assert alone.tolist() == pytest.approx(
        [math.exp(-((days / 50.5) ** 0.1)) for days in (1.0, 100.0)]
    )


def test_the_median_gap_and_its_cases():
    assert median_gap(np.array([1.0, NAN, 3.0, 10.0])) == 3.0
    assert median_gap(np.array([0.0, 0.0, 0.0, 2.0, 8.0])) == 5.0
    assert median_gap(np.array([0.0, NAN])) == 0.0
    assert median_gap(np.empty(0)) == 0.0


def test_items_put_behind_keep_their_order():
    score = np.array([0.5, 0.2, 0.9, 0.45, 0.0])
    first = np.array([True, True, False, False, False])
    factors = factors_below(score, first, ~first)
    assert factors.tolist() == pytest.approx([1, 1, 0.99 * 0.2 / 0.9, 0.99 * 0.2 / 0.9, 0.22])
    assert (score * factors)[2:4].tolist() == pytest.approx([0.198, 0.099])


def test_putting_behind_changes_nothing_if_the_order_is_already_right():
    score, none = np.array([0.5, 0.2]), np.array([False, False])
    assert factors_below(score, none, ~none).tolist() == [1, 1]
    assert factors_below(score, np.array([True, False]), np.array([False, True])).tolist() == [1, 1]
    assert factors_below(np.array([0.0, 0.2]), np.array([True, False]), ~none).tolist() == [1, 1]
    assert factors_below(np.empty(0), none[:0], none[:0]).tolist() == []


# Candidates from the top down


def layered() -> Candidates:
    """Three sessions by their keys: s01 (.9), s02 (.5), s00 (nothing known).

    Chunk 0 is of s00, 1 and 2 of s01, 3 and 4 of s02. Triple 0 cites chunk 0, 1 and 2 cite
    chunk 1, 3 cites chunks 3 and 1. Nothing cites chunks 2 and 4.
    """
    chunks = chunk_pool([0.9, 0.1, 0.8, 0.1, 0.7], session=[0, 1, 1, 2, 2])
    triples = triple_pool(
        [0.9, 0.2, 0.4, 0.3],
        [[0], [1], [1], [1, 3]],
        session=[0, 1, 1, 2],
        by_vector=[True, False, True, True],
        by_anchor=[False, True, False, False],
    )
    keys = np.array([[NAN], [0.9], [0.5]])
    return candidates(chunks, triples, session_pool([NAN, 0.1, 0.1], keys=keys))


def top_down(**changes: object) -> SearchSettings:
    return SearchSettings(ranking="licomemory", **changes)


@each(
    ("changes", "triples", "chunks"),
    [
        ({"sessions_by_vector": 1}, ["t01", "t02"], ["c01"]),
        ({"sessions_by_vector": 2}, ["t01", "t02", "t03"], ["c01", "c03"]),
        ({"sessions_by_vector": 3}, ["t00", "t01", "t02", "t03"], ["c00", "c01", "c03"]),
        ({"sessions_by_vector": 2, "triples_by_vector": 1}, ["t01", "t02"], ["c01"]),
        ({"sessions_by_vector": 2, "triples_by_vector": 0}, ["t01"], ["c01"]),
        ({"sessions": False, "triples_by_vector": 1}, ["t00", "t01"], ["c00", "c01"]),
        ({"sessions_by_vector": 0, "triples_by_vector": 1}, ["t00", "t01"], ["c00", "c01"]),
    ],
)
def test_only_triples_of_the_best_sessions_lead_to_chunks(changes, triples, chunks):
    found = reached_top_down(layered(), top_down(**changes))
    assert (list(found.triples.uids), list(found.chunks.uids)) == (triples, chunks)


def test_times_in_the_question_are_keys_of_the_sessions_near_them():
    may = datetime(2026, 5, 20, tzinfo=UTC).timestamp()
    at = np.array([may, may - 300 * DAY, may])
    sessions = session_pool([0.9] * 3, keys=[[0.2], [0.6], [NAN]])
    given = candidates(chunk_pool([0.1] * 3, session=[0, 1, 2], at=at), sessions=sessions)
    asked = analyse("What did Ann paint in May 2026?", datetime(2026, 9, 1, tzinfo=UTC))
    found = with_time_keys(given, asked).sessions.keys
    assert found[:2].tolist() == [[0.2, 1.0], [0.6, pytest.approx(0.0, abs=1e-6)]]
    assert np.isnan(found[2]).all()
    timeless = analyse("What did Ann paint?", datetime(2026, 9, 1, tzinfo=UTC))
    assert with_time_keys(given, timeless) is given
    nothing = candidates(chunk_pool([0.1], at=[may]))
    assert with_time_keys(nothing, asked) is nothing  # without entities themes count


def test_anchors_are_the_entities_with_the_most_similar_names():
    names = [f"Harbours {n}" for n in range(7)]
    vectors = np.array([[math.cos(n / 7), math.sin(n / 7)] for n in range(7)], np.float32)
    known = EntityNames([str(n) for n in range(7)], names, names, ["location"] * 7, names, vectors)
    found = most_similar_names(known, np.array([[1.0, 0.0], [math.cos(1), math.sin(1)]]))
    assert found == tuple(f"harbour {n}" for n in (0, 1, 2, 3, 4, 6, 5))
    nothing = EntityNames([], [], [], [], [], np.empty((0, 2), np.float32))
    assert most_similar_names(nothing, np.eye(2)) == ()


def test_what_is_kept_has_the_same_values_in_new_rows():
    before = layered()
    found = reached_top_down(before, top_down(sessions_by_vector=2))
    assert [*found.triples.evidence] == [(0,), (0,), (0, 1)]
    assert found.triples.cosine.tolist() == [0.2, 0.4, 0.3]
    assert found.chunks.session.tolist() == [1, 2]
    assert found.chunks.previous.tolist() == [NONE, NONE]
    assert found.chunks.following.tolist() == [OUTSIDE, OUTSIDE]
    assert found.sessions is before.sessions
    assert paper_scores(found, top_down(), 0.0).best_triple.tolist() == pytest.approx(
        [2 * 0.9 * 0.4 / 1.3, 2 * 0.5 * 0.3 / 0.8]
    )


def test_neighbours_that_are_both_kept_stay_neighbours():
    chunks = chunk_pool([0.1, 0.2, 0.3, 0.4])
    given = candidates(chunks, triple_pool([0.5, 0.4], [[1, 2], [3]], by_vector=[True, False]))
    found = reached_top_down(given, top_down()).chunks
    assert found.uids == ("c01", "c02")
    assert (found.previous.tolist(), found.following.tolist()) == ([OUTSIDE, 0], [1, OUTSIDE])


def test_nothing_is_reached_without_triples():
    found = reached_top_down(candidates(chunk_pool([0.9])), top_down())
    assert (found.chunks.uids, found.triples.uids) == ((), ())


def test_the_query_of_the_paper_searches_no_chunks_and_no_words():
    wide = CandidateQuery(
        np.zeros(4), chunks_by_vector=50, chunks_by_terms=50, triples_by_vector=30,
        triples_by_terms=30, triples_per_anchor=10, sessions_by_vector=10, radius=2,
    )  # fmt: skip
    query = top_down_query(wide)
    assert (query.chunks_by_vector, query.chunks_by_terms, query.triples_by_terms) == (0, 0, 0)
    assert (query.triples_by_vector, query.triples_per_anchor) == (300, 100)
    assert (query.sessions_by_vector, query.radius) == (200, 0)
    assert top_down_query(replace(wide, sessions_by_vector=0)).sessions_by_vector == 0


def test_only_the_profile_of_the_paper_reaches_candidates_top_down():
    assert is_top_down(top_down())
    assert not is_top_down(PAPER)
    assert not is_top_down(replace(top_down(), ranking="default"))


@each(
    ("session", "triple", "expected"),
    [(0.5, 1.0, 0.9), (0.0, 1.0, 0.802), (np.nan, 0.6, 0.6), (1.0, -0.5, 0.2)],
)
def test_variant_weighted_mean_of_the_repository(session, triple, expected):
    given = np.array([session]), np.array([triple])
    assert semantic_relevance(*given, "weighted")[0] == pytest.approx(expected)
