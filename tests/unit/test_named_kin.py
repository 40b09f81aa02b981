"""Relatives, friends and pets get the names that are told of them, wherever that is."""

from __future__ import annotations

import pytest

from tests.unit.test_small_talk import told


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("My wife is called Mary.", ["Mary is Ann's wife"]),
        ("My wife's name is Mary.", ["Mary is Ann's wife"]),
        ("Our dog is called Rex and he hates cats.", ["Rex is Ann's dog", "Rex hates cats"]),
        (
            "I live in Oslo with my husband Per. He hates sushi.",
            ["Ann lives in Oslo", "Per is Ann's husband", "Per hates sushi"],
        ),
        (
            "My name is Anna and I'm a nurse.",
            ["Ann is called Anna", "Ann is nurse"],
        ),
        ("My sister Mary moved to Rome.", ["Mary is Ann's sister", "Mary moved to Rome"]),
        ("My flight to Paris was late.", []),
        ("My mother and Mary went to Rome.", ["Ann's mother went to Rome", "Mary went to Rome"]),
        (
            "I went to Rome with our daughter Sydney.",
            ["Ann went to Rome", "Sydney is Ann's daughter"],
        ),
    ],
)
def test_the_names_of_relatives_are_read(text: str, facts: list[str]) -> None:
    assert told(text) == facts
