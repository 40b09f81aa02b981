"""Comparing settings on a space's own messages."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import ConfigurationError
from cognigraph.evaluate.own_data import evaluate_self
from tests.conftest import START, OpenMemory

pytestmark = pytest.mark.above_stores

TEXTS = [
    "The old harbour crane lifts heavy blue boats every summer.",
    "My new garden needs yellow flowers and heavy stones every spring.",
    "We painted the wooden kitchen door green before the long winter.",
    "Our train to the mountain village leaves early every Sunday morning.",
    "The noisy neighbour finally sold his broken motorbike to a student.",
    "I baked seven loaves of dark bread for the school market.",
]


@pytest.fixture
def space(open_memory: OpenMemory, space_name):
    space = open_memory().space(space_name)
    for number, text in enumerate(TEXTS):
        space.add(
            text, id=f"m{number}", session=f"s{number % 2}", speaker="user",
            at=START + timedelta(hours=number),
        )  # fmt: skip
    return space


@pytest.mark.slow
def test_settings_are_compared(space):
    done: list[int] = []
    found = evaluate_self(space, questions=2, k=2, seed=3, progress=done.append)
    assert done == [1, 2]
    assert (found.questions, found.k, found.seed) == (2, 2, 3)
    by_name = {each.name: each for each in found.settings}
    assert next(iter(by_name)) == "default"
    assert {"licomemory", "cosine", "cosine + BM25", "without windows"} <= set(by_name)
    default = by_name["default"]
    assert (default.found, default.difference) == (1.0, 0.0)
    for each in found.settings:
        assert each.difference == pytest.approx(each.found - default.found)
        assert each.low <= each.difference <= each.high
    assert all(item.question.startswith("What did I say about ") for item in found.examples)
    assert found.advice == (
        "No setting is better than the default beyond chance. Keep the default. "
        "These are only 2 questions."
    )


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result(space):
    assert evaluate_self(space, questions=2, seed=1) == evaluate_self(space, questions=2, seed=1)


@pytest.mark.slow
def test_nothing_to_ask(open_memory: OpenMemory, space_name):
    space = open_memory().space(space_name)
    space.add("Hello!", id="m1", session="s", at=START)
    with pytest.raises(ConfigurationError, match="no question can be made"):
        evaluate_self(space)
