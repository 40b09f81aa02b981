"""Work that several threads share."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from queue import Empty, SimpleQueue
from threading import Barrier, Event
from time import sleep

import pytest

from cognigraph.errors import StoreError
from cognigraph.ingest.queue.side_by_side import side_by_side


def numbered(end: int) -> Callable[[], int | None]:
    numbers = count()

    def take() -> int | None:
        number = next(numbers)
        return number if number < end else None

    return take


def test_results_of_all_threads_arrive() -> None:
    all_at_once = Barrier(3)

    def work(number: int) -> int:
        if number < 3:
            all_at_once.wait(10)
        return number

    assert sorted(side_by_side(numbered(30), work, 3, Event().is_set)) == list(range(30))


def test_what_has_begun_is_finished_and_nothing_else_begins() -> None:
    over = Event()
    all_at_once = Barrier(3, over.set)

    def work(number: int) -> int:
        all_at_once.wait(10)
        return number

    assert sorted(side_by_side(numbered(30), work, 3, over.is_set)) == [0, 1, 2]


def test_a_failure_is_raised_after_the_others_have_finished() -> None:
    both = Barrier(2)

    def work(number: int) -> int:
        both.wait(10)
        if number == 1:
            raise StoreError("full")
        return number

    found: list[int] = []
    with pytest.raises(StoreError, match="full"):
        found.extend(side_by_side(numbered(2), work, 2, Event().is_set))
    assert found == [0]


@pytest.mark.slow
def test_threads_that_found_nothing_help_with_what_comes_later() -> None:
    """The first item is only finished when the two that came during it are, by other threads."""
    waiting: SimpleQueue[int] = SimpleQueue()
    waiting.put(0)
    others = Barrier(3)

    def take() -> int | None:
        with suppress(Empty):
            return waiting.get_nowait()
        return None

    def work(number: int) -> int:
        if number == 0:
            sleep(0.1)  # the other threads look, and there is nothing
            waiting.put(1)
            waiting.put(2)
        others.wait(10)
        return number

    assert sorted(side_by_side(take, work, 3, Event().is_set)) == [0, 1, 2]
