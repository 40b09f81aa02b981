"""How many processes read a backlog, and work that several threads share."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from queue import Empty, SimpleQueue
from threading import Barrier, Event
from time import sleep

import pytest

from cognigraph import EnrichSettings
from cognigraph.errors import StoreError
from cognigraph.ingest import Extraction, Window
from cognigraph.ingest.queue.readers import WORTHWHILE, count_readers, side_by_side
from cognigraph.ingest.rules.extractor import RulesExtractor


class Asking:
    """An extractor that does not say that it only computes."""

    name = "asking-1"

    def extract(self, window: Window) -> Extraction:
        return Extraction()


@pytest.mark.parametrize(
    ("processes", "waiting", "count"),
    [(None, WORTHWHILE, 3), (None, WORTHWHILE - 1, 1), (1, 10**6, 1), (2, 65, 2), (2, 64, 1)],
)
def test_several_processes_read_a_large_backlog(
    monkeypatch: pytest.MonkeyPatch, processes: int | None, waiting: int, count: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    settings = EnrichSettings(processes=processes)
    assert count_readers(RulesExtractor(), settings, lambda: waiting) == count


def test_an_extractor_that_does_more_than_compute_reads_alone() -> None:
    settings = EnrichSettings(processes=4)
    assert count_readers(Asking(), settings, lambda: 10**6) == 1


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
