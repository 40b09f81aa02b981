"""Listing messages page by page, on every store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import ConfigurationError
from tests.conftest import START


def minute(number):
    return START + timedelta(minutes=number)


@pytest.fixture
def space(open_memory, space_name):
    space = open_memory().space(space_name)
    times = [0, 1, 1, 2, 3, 3]
    for number, at in enumerate(times):
        speaker, session = "Ann" if number % 2 == 0 else "Ben", "s" if number < 4 else "t"
        space.add(f"Turn {number}.", id=f"m{number}", speaker=speaker, session=session,
                  at=minute(at))  # fmt: skip
    return space


def ids(page):
    return [message.id for message in page]


def test_pages_follow_each_other_in_order_of_time_and_arrival(space):
    first = space.messages(limit=4)
    assert ids(first) == ["m0", "m1", "m2", "m3"]
    second = space.messages(limit=4, after=first.cursor)
    assert ids(second) == ["m4", "m5"]
    last = space.messages(limit=4, after=second.cursor)
    assert ids(last) == [] and last.cursor == second.cursor
    assert ids(space.messages(order="newest", limit=4)) == ["m5", "m4", "m3", "m2"]
    again = space.messages(order="newest", limit=4)
    assert ids(space.messages(order="newest", after=again.cursor)) == ["m1", "m0"]


def test_a_cursor_holds_while_messages_come_and_go(space):
    page = space.messages(limit=3)
    space.forget(message="m2")
    space.forget(message="m0")
    space.add("Late, before the cursor.", id="early", session="s", at=minute(-5))
    space.add("Late, after the cursor.", id="late", session="s", at=minute(1))
    rest = space.messages(after=page.cursor)
    assert ids(rest) == ["late", "m3", "m4", "m5"]
    assert rest[0].text == "Late, after the cursor."


def test_filters_are_combined(space):
    assert ids(space.messages(session="t")) == ["m4", "m5"]
    assert ids(space.messages(session="t", order="newest", limit=1)) == ["m5"]
    assert ids(space.messages(speaker="Ann")) == ["m0", "m2", "m4"]
    assert ids(space.messages(speaker="Ann", session="s")) == ["m0", "m2"]
    assert ids(space.messages(since=minute(1), until=minute(3))) == ["m1", "m2", "m3"]
    assert ids(space.messages(since=minute(2), session="s")) == ["m3"]
    assert ids(space.messages(until=minute(1), order="newest")) == ["m0"]
    found = space.messages(session="s", speaker="Ben", limit=1)
    assert ids(found) == ["m1"]
    assert ids(space.messages(session="s", speaker="Ben", after=found.cursor)) == ["m3"]
    assert ids(space.messages(session="nowhere")) == []
    assert ids(space.messages(limit=0)) == []


def test_long_messages_are_whole_and_other_spaces_stay_apart(open_memory, space, space_name):
    text = " ".join(f"Sentence number {number} is here." for number in range(600))
    space.add(text, id="long", session="u", at=minute(9))
    other = space._engine and open_memory().space(space_name + "-other")
    other.add("Elsewhere.", id="m0", session="s", at=minute(0))
    (found,) = space.messages(session="u")
    assert (found.text, found.id) == (text, "long")
    assert found == space.get("long") and found.chunks > 1
    assert ids(other.messages()) == ["m0"]


def test_a_wrong_cursor_is_refused(space):
    for cursor in ("", "x", "1", "1.x", "1.2.3", "9" * 18 + ".1"):
        with pytest.raises(ConfigurationError, match="after "):
            space.messages(after=cursor)
