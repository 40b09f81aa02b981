"""Properties of succession: the order in which statements arrive decides nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from cognigraph.states.slots import Claim
from cognigraph.states.succession import Ruling, Statement, decide
from cognigraph.times import When

START = datetime(2026, 1, 1, tzinfo=UTC)
moments = st.integers(0, 12).map(lambda day: START + timedelta(days=day))


@st.composite
def whens(draw: st.DrawFn) -> When:
    start, length = draw(moments), draw(st.integers(1, 5))
    end = start + timedelta(days=length)
    return When(f"{start.date()}/{(end - timedelta(days=1)).date()}", start, end)


claims = st.builds(
    Claim,
    st.just("home"),
    st.sampled_from(["holds", "ends"]),
    st.sampled_from(["a", "b", "c"]),
    st.booleans(),
    st.booleans(),
)
statements = st.lists(
    st.builds(
        Statement,
        st.sampled_from("pqrstuv"),
        claims,
        st.lists(moments, min_size=1, max_size=3).map(tuple),
        st.none() | whens(),
        st.booleans(),
    ),
    max_size=7,
    unique_by=lambda statement: statement.uid,
)
rulings = st.lists(
    st.builds(
        Ruling,
        st.sampled_from(["supersede", "retract", "restore"]),
        st.sampled_from("pqrstuv"),
        st.integers(0, 10**6),
        st.sampled_from("pqrstuv"),
    ),
    max_size=3,
    unique_by=lambda ruling: ruling.order,
)


@given(statements, rulings, st.randoms(use_true_random=False))
def test_any_order_gives_the_same_standings(found, ruled, random) -> None:  # type: ignore[no-untyped-def]
    shuffled, reruled = list(found), list(ruled)
    random.shuffle(shuffled)
    random.shuffle(reruled)
    assert decide(shuffled, reruled) == decide(found, ruled)


@given(statements)
def test_what_is_superseded_names_what_ended_it_and_ends_no_sooner_than_it_began(found) -> None:  # type: ignore[no-untyped-def]
    for uid, standing in decide(found).items():
        assert (standing.status == "superseded") == (standing.superseded_by is not None)
        if standing.status == "superseded":
            assert standing.superseded_by != uid
            assert standing.valid_to is not None
            assert standing.valid_from is None or standing.valid_from <= standing.valid_to


@given(statements)
def test_nothing_is_ended_by_what_was_said_before_it(found) -> None:  # type: ignore[no-untyped-def]
    said = {item.uid: item.said for item in found}
    for uid, standing in decide(found).items():
        if standing.superseded_at is not None:
            assert standing.superseded_at > max(said[uid])


@given(statements)
def test_the_last_value_is_current(found) -> None:  # type: ignore[no-untyped-def]
    """Whatever was said last and is no plan is not superseded."""
    undated = [Statement(item.uid, item.claim, item.said) for item in found]
    standings = decide(undated)
    last = max((at for item in undated for at in item.said), default=None)
    for item in undated:
        if last in item.said:
            assert standings[item.uid].status == "current"
