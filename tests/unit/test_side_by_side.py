"""How many processes read a backlog, and work that several threads share."""

from __future__ import annotations

import os
from itertools import count
from threading import Barrier, Event

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


def test_results_of_all_threads_arrive() -> None:
    numbers, all_at_once = count(), Barrier(3)

    def work() -> int | None:
        number = next(numbers)
        if number < 3:
            all_at_once.wait(10)
        return number if number < 30 else None

    assert sorted(side_by_side(work, 3, Event().is_set)) == list(range(30))


def test_what_has_begun_is_finished_and_nothing_else_begins() -> None:
    over, numbers = Event(), count()
    all_at_once = Barrier(3, over.set)

    def work() -> int | None:
        number = next(numbers)
        all_at_once.wait(10)
        return number

    assert sorted(side_by_side(work, 3, over.is_set)) == [0, 1, 2]


def test_a_failure_is_raised_after_the_others_have_finished() -> None:
    numbers, both = count(), Barrier(2)

    def work() -> int | None:
        number = next(numbers)
        if number < 2:
            both.wait(10)
        if number == 1:
            raise StoreError("full")
        return number if number == 0 else None

    found: list[int] = []
    with pytest.raises(StoreError, match="full"):
        found.extend(side_by_side(work, 2, Event().is_set))
    assert found == [0]
