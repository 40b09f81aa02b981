"""Which of the statements about a slot are current."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cognigraph.states.slots import Claim
from cognigraph.states.succession import Ruling, Standing, Statement, decide
from cognigraph.times import parse_when, to_micros


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def state(uid: str, value: str, *said: str, when: str | None = None, **more: object) -> Statement:
    claim = Claim("home", "holds", value, **more)  # type: ignore[arg-type]
    return Statement(uid, claim, tuple(map(day, said)), parse_when(when))


def denial(uid: str, value: str, *said: str, change: bool = False) -> Statement:
    return Statement(uid, Claim("home", "ends", value, change), tuple(map(day, said)))


BERGEN = state("b", "bergen", "2026-02-01")
OSLO = state("o", "oslo", "2026-06-10", when="2026-06-01/2026-06-07", change=True)


def current(*statements: Statement, rulings: tuple[Ruling, ...] = ()) -> set[str]:
    found = decide(statements, rulings)
    return {uid for uid, standing in found.items() if standing.status == "current"}


def test_another_value_supersedes_and_dates_the_end() -> None:
    found = decide([OSLO, BERGEN])
    assert found["b"] == Standing(
        "superseded",
        day("2026-02-01"),
        day("2026-06-01"),
        superseded_by="o",
        superseded_at=day("2026-06-10"),
        by="rules",
        reason="another value was given later",
    )
    assert found["o"] == Standing("current", day("2026-06-01"), None)


def test_a_change_of_the_past_ends_nothing_and_is_not_ended_by_what_was_said_before() -> None:
    paris = state("p", "paris", "2026-07-01", when="2010", change=True)
    assert current(BERGEN, OSLO, paris) == {"o", "p"}
    between = state("l", "lima", "2026-07-01", when="2026-03", change=True)
    assert current(BERGEN, OSLO, between) == {"o", "l"}


def test_news_of_last_week_ends_what_was_said_four_days_ago() -> None:
    leeds = state("l", "leeds", "2026-05-18")
    moved = state("e", "edinburgh", "2026-05-22", when="2026-05-11/2026-05-17", change=True)
    found = decide([moved, leeds])
    assert (found["e"].status, found["l"].status) == ("current", "superseded")
    assert (found["l"].superseded_by, found["l"].superseded_at) == ("e", day("2026-05-22"))


def test_a_plan_supersedes_nothing_until_it_is_told_again_later() -> None:
    plan = state("l", "lisbon", "2026-06-10", when="2026-08", change=True)
    assert current(BERGEN, plan) == {"b", "l"}
    told_later = state("l", "lisbon", "2026-06-10", "2026-09-01", when="2026-08", change=True)
    assert current(BERGEN, told_later) == {"l"}


def test_other_words_for_the_same_value_stay_current() -> None:
    lives = state("l", "oslo", "2026-07-01")
    assert current(BERGEN, OSLO, lives) == {"o", "l"}


def test_a_value_that_comes_back_is_current_again() -> None:
    bergen = state("b", "bergen", "2026-02-01", "2026-11-01")
    found = decide([bergen, OSLO])
    assert (found["b"].status, found["b"].valid_from) == ("current", day("2026-11-01"))
    assert (found["o"].superseded_by, found["o"].valid_to) == ("b", day("2026-11-01"))


def test_a_denial_ends_only_the_value_it_denies() -> None:
    no_bergen = denial("n", "bergen", "2026-05-01")
    assert current(BERGEN, no_bergen) == {"n"}
    assert decide([BERGEN, no_bergen])["b"].reason == "it was denied later"
    assert current(state("t", "trondheim", "2026-02-01"), no_bergen) == {"t", "n"}


def test_saying_it_again_takes_a_denial_back() -> None:
    no_bergen = denial("n", "bergen", "2026-05-01")
    again = state("b", "bergen", "2026-02-01", "2026-08-01")
    assert current(again, no_bergen) == {"b"}


def test_two_values_at_one_moment_are_a_conflict_and_both_stay() -> None:
    assert current(BERGEN, state("t", "trondheim", "2026-02-01")) == {"b", "t"}


def test_a_state_dated_in_the_past_is_open_from_there() -> None:
    works = Statement(
        "w", Claim("work", "holds", "dnb"), (day("2026-06-10"),), parse_when("2026-06-01")
    )
    assert decide([works])["w"] == Standing("current", day("2026-06-01"), None)


def test_a_state_that_runs_until_a_date_ends_there() -> None:
    contract = Statement(
        "c",
        Claim("has|contract", "holds", "contract"),
        (day("2026-06-10"),),
        parse_when("2026-06-10/2028"),
    )
    assert decide([contract])["c"].valid_to == day("2029-01-01")


def test_a_date_that_is_the_value_says_nothing_about_when_it_is_true() -> None:
    first, second = (
        Statement(uid, Claim("value", "holds", when, dated=False), (day(said),), parse_when(when))
        for uid, when, said in (
            ("a", "2026-06-16", "2026-06-01"),
            ("b", "2026-06-12", "2026-06-05"),
        )
    )
    found = decide([first, second])
    assert (found["a"].superseded_by, found["a"].valid_to) == ("b", day("2026-06-05"))


def test_what_replaces_others_ends_them_in_a_relation_of_several_values() -> None:
    spotify = Statement("s", Claim("uses|spotify", "holds", "spotify"), (day("2026-01-01"),))
    tidal = Statement("t", Claim("uses|tidal", "holds", "tidal"), (day("2026-02-01"),))
    assert current(spotify, tidal) == {"s", "t"}
    replacing = Statement("t", tidal.claim, tidal.said, replaces=True)
    assert current(spotify, replacing) == {"t"}


@pytest.mark.parametrize("first", [BERGEN, OSLO])
def test_a_retracted_statement_supersedes_nothing(first: Statement) -> None:
    rulings = (Ruling("retract", "o", 1, reason="she joked"),)
    found = decide([BERGEN, OSLO] if first is BERGEN else [OSLO, BERGEN], rulings)
    assert (found["o"].status, found["o"].reason, found["o"].by) == (
        "retracted",
        "she joked",
        "user",
    )
    assert found["b"].status == "current"


def test_the_last_ruling_counts() -> None:
    retract, restore = Ruling("retract", "o", 1), Ruling("restore", "o", 2)
    assert current(BERGEN, OSLO, rulings=(restore, retract)) == {"o"}
    assert current(BERGEN, OSLO, rulings=(Ruling("restore", "b", 1),)) == {"b", "o"}


def test_a_user_supersedes_what_shares_no_slot() -> None:
    at = day("2026-03-01")
    ruling = Ruling("supersede", "b", to_micros(day("2026-04-01")), by="x", at=at, reason="moved")
    assert decide([BERGEN], [ruling])["b"] == Standing(
        "superseded", day("2026-02-01"), at, "x", day("2026-04-01"), "user", "moved"
    )
