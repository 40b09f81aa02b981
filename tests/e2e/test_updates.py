"""The chains of bench/updates.py: what the rules make of facts that change."""

from __future__ import annotations

import pytest

from bench import updates

pytestmark = pytest.mark.slow


def test_no_trap_springs_and_what_is_superseded_is_over() -> None:
    figures = updates.main([])
    assert (figures["chains"], figures["traps"]) == (30, 30)
    assert figures["traps sprung"] == 0
    assert figures["traps right"] >= 29  # one question gets an empty block
    assert figures["right"] >= 2
    assert figures["precision"] == 1.0


def test_the_second_set_springs_no_trap_either() -> None:
    figures = updates.main(["--labels", "updates-second"])
    assert (figures["chains"], figures["traps"]) == (30, 30)
    assert figures["traps sprung"] == 0
    assert figures["traps right"] >= 29  # one question gets an empty block
