"""Rewards and the objective of training: tables computed by hand, and properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import ConfigurationError
from cognigraph.training.rewards import (
    adrpo,
    advantages,
    core_penalty,
    dominant,
    entry_penalty,
    kl_estimate,
    reward,
    task_reward,
    weights,
)

# (before, after) in tokens and the penalty by equation 7: free to 150, full from 400
CORE = [(0, 150, 0.0), (100, 250, 0.0), (100, 375, 0.5), (0, 400, 1.0), (50, 900, 1.0),
        (500, 200, 0.0), (0, 200, 0.2)]  # fmt: skip

# (stored, expert) in tokens and the penalty by equation 8 with gamma_min .2 and gamma_max 2.3
ENTRIES = [
    (1000, 1000, 0.0),
    (1150, 1000, 0.0),  # differs by less than 200
    (1300, 1000, 0.0),  # the upper end of the tolerance
    (1800, 1000, 0.5),
    (2300, 1000, 1.0),
    (9000, 1000, 1.0),
    (500, 1000, 0.0),  # the lower end
    (350, 1000, 0.5),
    (200, 1000, 1.0),
    (0, 1000, 1.0),
    (0, 0, 0.0),
    (199, 0, 0.0),  # no ratio, but a small difference
    (200, 0, 1.0),
]

# valid, task, penalty and the reward by equation 6 with lambda .8
REWARDS = [(True, 0.8, 0.0, 0.8), (True, 0.8, 1.0, 0.16), (True, 0.6, 0.5, 0.36),
           (False, 1.0, 0.0, 0.0), (True, 0.0, 0.3, 0.0)]  # fmt: skip


def test_the_task_reward_is_the_share_of_correct_answers():
    assert task_reward([True, False, True, True, False]) == 0.6
    with pytest.raises(ConfigurationError, match="at least one question"):
        task_reward([])


def test_rewards_and_penalties_are_those_of_the_tables():
    before, after, expected = map(list, zip(*CORE, strict=True))
    assert core_penalty(before, after).tolist() == pytest.approx(expected)
    stored, expert, wanted = map(list, zip(*ENTRIES, strict=True))
    found = entry_penalty(stored, expert, least=0.2, most=2.3)
    assert found.tolist() == pytest.approx(wanted)
    valid, task, penalty, rewards = map(list, zip(*REWARDS, strict=True))
    assert reward(valid, task, penalty).tolist() == pytest.approx(rewards)


def test_the_constants_are_those_of_the_paper_and_its_repository():
    assert entry_penalty([350, 1650], [1000, 1000]).tolist() == pytest.approx([0.5, 0.5])
    assert entry_penalty([200, 2000], [1000, 1000]).tolist() == pytest.approx([1.0, 1.0])
    assert advantages([1.0, 0.0]).tolist() == pytest.approx([1, -1], abs=1e-7)
    apart = adrpo({"core": [[0.0]]}, {"core": [[-1.0]]}, [0.0], [weights({})])
    assert apart == pytest.approx(-0.02 * kl_estimate([0.0], [-1.0]))
    with pytest.raises(ConfigurationError, match="least < lower"):
        entry_penalty(1, 1, least=0.7, most=2.0)
    with pytest.raises(ConfigurationError, match="epsilon"):
        advantages([1.0, 0.0], epsilon=0)
    with pytest.raises(ConfigurationError, match="2 rollouts and 1 sets of weights"):
        adrpo({"core": [[0.0], [0.0]]}, {"core": [[0.0], [0.0]]}, [0.0, 0.0], [weights({})])


@given(st.floats(0, 5000), st.floats(0, 5000), st.floats(0, 1), st.booleans())
def test_penalties_and_rewards_stay_in_their_range(stored, expert, task, valid):
    penalty = entry_penalty(stored, expert, least=0.2, most=2.3)
    assert 0 <= penalty <= 1 and 0 <= core_penalty(expert, stored) <= 1
    found = reward(valid, task, penalty)
    assert 0 <= found <= task and (valid or found == 0)


def test_the_kind_that_was_retrieved_most_is_amplified():
    assert dominant({"episodic": 3, "semantic": 7, "procedural": 1}) == "semantic"
    assert dominant({"episodic": 2, "procedural": 2}) == "episodic"
    assert dominant({"core": 9}) is None and dominant({}) is None
    assert weights({"semantic": 7}) == {
        "core": 1.0, "episodic": 1.0, "semantic": 4.0, "procedural": 1.0,
    }  # fmt: skip
    assert set(weights({}).values()) == {1.0}


def test_advantages_are_normalised_within_the_group():
    found = advantages([0.2, 0.4, 0.6, 0.8], epsilon=1e-6)
    assert found.tolist() == pytest.approx([-1.341640, -0.447213, 0.447213, 1.341640], abs=1e-5)


@given(st.floats(-1e6, 1e6), st.integers(1, 12))
def test_equal_rewards_have_no_advantage(value, count):
    assert advantages([value] * count, epsilon=1e-6).tolist() == [0.0] * count


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_advantages_keep_the_order_and_add_up_to_nothing(rewards):
    found = advantages(rewards, epsilon=1e-6)
    assert abs(found.sum()) < 1e-6
    order = np.argsort(rewards, kind="stable")
    assert all(np.diff(found[order]) >= -1e-12)


def test_the_objective_by_hand():
    """Two rollouts, one token each; ratios 1.5 and 0.5; advantages 1 and -1.

    In the first one the fact was retrieved most, in the second one nothing: weights 4 and 1.
    """
    one, half = math.log(1.5), math.log(0.5)
    policy = {"semantic": [[one], [half]], "core": [[0.0], []]}
    reference = {"semantic": [[0.0], [0.0]], "core": [[0.0], []]}
    weight = [weights({"semantic": 1}), weights({})]
    # first: min(4 * 1.5, 4 * 1.2) + 1 * 1; second: min(-0.5, -0.8)
    assert adrpo(policy, reference, [1.0, -1.0], weight, beta=0.0) == pytest.approx(
        ((4.8 + 1.0) + -0.8) / 2
    )
    divergence = kl_estimate([one, half, 0.0], [0.0, 0.0, 0.0])
    assert divergence == pytest.approx(
        ((1 / 1.5 + math.log(1.5) - 1) + (2 + math.log(0.5) - 1) + 0) / 3
    )
    assert adrpo(policy, reference, [1.0, -1.0], weight, beta=0.5) == pytest.approx(
        2.5 - 0.5 * divergence
    )
    with pytest.raises(ConfigurationError, match="tokens"):
        adrpo({"core": [[0.0]]}, {"core": [[0.0, 0.0]]}, [1.0], weight[:1], beta=0.0)


LOG = st.lists(st.floats(-5, 0), min_size=1, max_size=6)


@given(LOG, st.floats(-3, 3), st.floats(1, 8))
def test_a_policy_that_is_the_reference_gets_its_weighted_advantage(tokens, advantage, alpha):
    weight = [weights({"episodic": 1}, alpha)]
    found = adrpo({"episodic": [tokens]}, {"episodic": [tokens]}, [advantage], weight, beta=9.0)
    assert found == pytest.approx(alpha * advantage)


@given(LOG, LOG)
def test_the_divergence_is_never_negative(one, other):
    size = min(len(one), len(other))
    assert kl_estimate(one[:size], other[:size]) >= -1e-12


@given(LOG)
def test_equal_rewards_move_nothing(tokens):
    flat = advantages([0.4, 0.4], epsilon=1e-6)
    policy = {"core": [tokens, tokens]}
    assert (
        adrpo(policy, {"core": [[-1.0] * len(tokens)] * 2}, flat, [weights({})] * 2, beta=0.0) == 0
    )
