"""Many cases in one test: each is tried, and all that fail are reported."""

from __future__ import annotations

import inspect

import pytest

from tests.cases import each


def test_every_case_is_tried_and_each_failure_names_its_own() -> None:
    tried = []

    @each("number, even", [(1, True), (2, True), (3, True)])
    def check(number: int, even: bool, clock: object) -> None:
        tried.append((number, clock))
        assert (number % 2 == 0) is even
        if number == 3:
            pytest.fail("not reached")

    assert [*inspect.signature(check).parameters] == ["clock"]
    with pytest.raises(BaseExceptionGroup, match="2 of 3 cases failed") as caught:
        check(clock="the same")
    assert tried == [(number, "the same") for number in (1, 2, 3)]
    notes = [error.__notes__ for error in caught.value.exceptions]
    assert notes == [["in the case 1, True"], ["in the case 3, True"]]


def test_one_failure_is_reported_as_it_is() -> None:
    @each("text", ["a", "b"], ids=["first", "second"])
    def check(text: str) -> None:
        with pytest.raises(KeyError):
            {"a": 1}["b" if text == "a" else "a"]

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE") as caught:
        check()
    assert caught.value.__notes__ == ["in the case second"]


def test_two_lists_give_all_pairs() -> None:
    pairs = []

    @each("left", [1, 2])
    @each("right", "ab")
    def check(left: int, right: str) -> None:
        pairs.append((left, right))

    check()
    assert pairs == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


def test_a_test_without_cases_is_an_error() -> None:
    with pytest.raises(ValueError, match="would check nothing"):
        each("text", [])
