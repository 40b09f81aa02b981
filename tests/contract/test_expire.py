"""Messages whose time is over, on every store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import InvalidMessageError, Retention, RetentionSettings, Settings
from tests.conftest import START
from tests.contract.test_states import home, statuses

DAY = timedelta(days=1)
RULES = (
    Retention(keep=10 * DAY, role="tool"),
    Retention(keep=20 * DAY, tag="draft"),
    Retention(keep=30 * DAY, role="user", tag="x"),
)


def ids(space):
    return [message.id for message in space.messages()]


@pytest.mark.slow
def test_messages_expire_by_their_own_time_and_by_the_rules(
    open_memory, space_name, clock, extractor
):
    settings = Settings(retention=RetentionSettings(rules=RULES))
    space = open_memory(settings=settings).space(space_name)
    extractor.script({"own": [home("Oslo")], "long": [home("Bergen")]})
    long = "A long message. " * 500
    for id, more in (
        ("own", {"expires": START + 5 * DAY}),
        ("long", {"expires": START + 15 * DAY, "speaker": "Ann"}),
        ("tool", {"role": "tool"}),
        ("draft", {"tags": ["draft", "x"]}),
        ("user", {"role": "user", "tags": ["x"]}),
        ("kept", {"role": "user"}),
    ):
        space.add(long if id == "long" else f"text {id}", id=id, session=f"s-{id}", at=START,
                  **more)  # fmt: skip
    space.flush()
    assert space.get("long").chunks > 1
    assert space.get("own").expires == START + 5 * DAY
    assert not space.forget(expired=True)
    left = {}
    for days in (5, 11, 16, 21, 31, 1000):
        clock.advance(START + days * DAY - clock())
        planned = space.forget(expired=True, dry_run=True)
        assert (planned.dry_run, planned.messages) == (True, space.forget(expired=True).messages)
        left[days] = ids(space)
    assert left == {
        5: ["long", "tool", "draft", "user", "kept"],
        11: ["long", "draft", "user", "kept"],
        16: ["draft", "user", "kept"],
        21: ["user", "kept"],
        31: ["kept"],
        1000: ["kept"],
    }
    assert statuses(space) == {}
    again = space.add("text own", id="own", session="s-own", at=START, expires=START + 5 * DAY)
    assert again.forgotten == ("own",)


def test_an_expiry_outlives_a_new_text_and_must_be_later(open_memory, space_name, clock):
    space = open_memory().space(space_name)
    space.add("I sing.", id="m", at=START, expires="2026-05-21T09:00:00Z")
    space.update("m", "I dance.")
    assert space.get("m").expires == START + DAY
    with pytest.raises(InvalidMessageError, match="expires is not later than the message itself"):
        space.add("I hum.", at=START, expires=START)
    with pytest.raises(InvalidMessageError, match="expires: cannot read the time 'soon'"):
        space.add("I hum.", at=START, expires="soon")
    clock.advance(2 * DAY)
    assert space.forget(expired=True).messages == 1
    assert space.stats().chunks == 0


def test_the_worker_sweeps(open_memory, space_name, clock):
    memory = open_memory()
    memory.space(space_name).add("I sing.", id="m", at=START, expires=START + DAY)
    clock.advance(2 * DAY)
    sweeping = Settings(retention=RetentionSettings(sweep=timedelta(hours=1)))
    other = open_memory(enrich="background", settings=sweeping)
    other.space(space_name).flush()
    for _ in range(600):
        if not memory.space(space_name).stats().chunks:
            break
        clock_free_wait()
    assert memory.space(space_name).stats().chunks == 0


def clock_free_wait():
    """Let the worker's thread go on; the test ends as soon as it has swept."""
    from time import sleep

    sleep(0.1)
