"""The torture bench: it finds what is lost, doubled or different, and cannot pass on nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import torture
from bench.torture import Outcome, compare, open_memory, turn


def test_nothing_acknowledged_is_not_a_good_outcome():
    assert not Outcome().good
    assert Outcome(acknowledged=1).good
    bad: list[dict[str, Any]] = [
        {"lost": 1}, {"half": 1}, {"doubled": 1}, {"failed_checks": ["x"]}, {"graph_equal": False},
    ]  # fmt: skip
    assert [Outcome(acknowledged=1, **part).good for part in bad] == [False] * len(bad)


def test_turns_are_the_same_each_time_and_some_are_split():
    assert turn(10) == turn(10)
    assert len({turn(number).id for number in range(50)}) == 50
    assert len(turn(3).text) > 2000 > len(turn(4).text)


@pytest.mark.slow
def test_a_comparison_finds_what_is_missing_and_what_differs(tmp_path: Path) -> None:
    with open_memory(str(tmp_path / "m.db")) as memory:
        space = memory.space("x")
        space.add_many([turn(0), turn(1), turn(2)])
        assert compare(memory, "x", [0, 1, 2], "calm").good
        assert compare(memory, "x", [0, 1, 2, 9], "calm").lost == 1
        space.add_many([turn(5)])
        space.flush()
        memory.space("other").add_many([turn(4)])  # a calm space that holds one more
        assert not compare(memory, "x", [0, 1, 2], "other").graph_equal
        space.add("Something else.", id="m6", session="s0", speaker="Ann", at=torture.START)
        assert compare(memory, "x", [0], "calm").half == 1
