"""The background worker goes on, whatever happens; and what keeps it from its work is shown."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cognigraph import (
    EnrichSettings,
    Extraction,
    FlushTimeout,
    Memory,
    RetentionSettings,
    Settings,
    Window,
)
from cognigraph.ingest.extraction import Extractor
from cognigraph.testing import HashEmbedder, ScriptedExtractor

POLL = timedelta(milliseconds=10)


@pytest.fixture
def opened(tmp_path) -> Iterator[Callable[..., Memory]]:
    memories: list[Memory] = []

    def opened(enrich: dict[str, Any], **more: Any) -> Memory:
        settings = Settings(
            enrich=EnrichSettings(idle_poll=POLL, **enrich),
            retention=RetentionSettings(sweep=timedelta(milliseconds=50)),
        )
        options = {"embedder": HashEmbedder(32), "settings": settings} | more
        memories.append(Memory(tmp_path / "m.db", **options))
        return memories[-1]

    yield opened
    for memory in memories:
        memory.close()


def until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def worker_check(memory: Memory) -> tuple[bool, str]:
    (found,) = (check for check in memory.admin.check() if check.name == "worker")
    return found.ok, found.detail


@pytest.mark.slow
def test_after_a_backlog_that_several_threads_read_the_worker_goes_on(opened):
    memory = opened({"batch": 2, "calls": 2})
    memory.add_many([{"text": f"Ann{n} lives in Oslo.", "id": f"m{n}"} for n in range(6)])
    memory.flush(20)
    memory.add("Klara works at DNB.", id="late")
    soon = datetime.now(UTC) + timedelta(milliseconds=100)
    memory.add("This is over soon.", id="short", expires=soon)
    memory.flush(20)
    assert [fact.text for fact in memory.facts("Klara")] == ["Klara works at DNB"]
    until(lambda: memory.get("short") is None)
    state = memory.admin.worker_state
    assert (state.restarts, state.problem) == (0, None)
    assert 0.0 <= state.last_step < 20.0


@pytest.mark.slow
def test_an_exception_that_escapes_a_step_delays_its_session_and_nothing_else(opened):
    """A handler of the log that raises is enough for that."""

    def broken(record: logging.LogRecord) -> bool:
        if "bad" in (record.args or ()):
            raise RuntimeError("the disk of the log is full")
        return True

    extractor = ScriptedExtractor({"good": [("Ann", "moved to", "Oslo")]})
    extractor.fail_for("bad", times=99)
    logger = logging.getLogger("cognigraph.enrich")
    logger.addFilter(broken)
    memory = opened({"retry_after": timedelta(milliseconds=300)}, extractor=extractor)
    try:
        bad, good = memory.space("bad"), memory.space("good")
        bad.add("One.", id="bad", session="bad")
        good.add("Two.", id="good", session="good")
        good.flush(20)
        assert [fact.text for fact in good.facts()] == ["Ann moved to Oslo"]
        until(lambda: bool(bad.queue.failures()))
        (failure,) = bad.queue.failures()
        assert failure.reason == "RuntimeError: the disk of the log is full"
        assert (failure.parked, failure.outages >= 1) == (False, True)
        assert memory.admin.worker_state.restarts >= 1
    finally:
        logger.removeFilter(broken)
    extractor.fail_for("bad", times=0)
    bad.flush(20)
    until(lambda: memory.admin.worker_state.problem is None)


def test_a_worker_that_ends_again_and_again_is_shown_and_closes_at_once(opened, caplog):
    is_broken = threading.Event()

    def clock() -> datetime:
        if is_broken.is_set() and threading.current_thread().name == "cognigraph-enrich":
            raise SystemExit("no time")
        return datetime.now(UTC)

    memory = opened({}, clock=clock)
    is_broken.set()
    memory.add("I live in Oslo.", id="m1")
    until(lambda: memory.admin.worker_state.restarts >= 2)
    problem = "the background worker ended with a SystemExit; the log has the reason"
    assert memory.admin.worker_state.problem == problem
    assert worker_check(memory)[0] is False and problem in worker_check(memory)[1]
    with pytest.raises(FlushTimeout, match="ended with a SystemExit"):
        memory.flush(0)
    (first, *_) = (record for record in caplog.records if record.levelname == "ERROR")
    assert "begins anew in 0.01 s" in first.getMessage()
    assert first.exc_info[0] is SystemExit
    is_broken.clear()
    memory.flush(20)
    until(lambda: memory.admin.worker_state.problem is None)
    assert worker_check(memory)[0] is True
    is_broken.set()
    until(lambda: memory.admin.worker_state.problem is not None)
    started = time.monotonic()
    memory.close()
    assert time.monotonic() - started < 5.0
    assert "cognigraph-enrich" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.slow
def test_a_batch_that_does_not_end_is_shown_and_an_interrupt_ends_waiting_for_it(opened):
    go_on = threading.Event()

    class Stuck(Extractor):
        name = "stuck-1"

        def extract(self, window: Window) -> Extraction:
            assert go_on.wait(60)
            return Extraction()

    memory = opened({"lease": timedelta(milliseconds=40)}, extractor=Stuck())
    memory.add("I live in Oslo.", id="m1")
    until(lambda: memory.admin.worker_state.problem is not None)
    problem = "the background worker has been at one batch or sweep for"
    assert memory.admin.worker_state.problem.startswith(problem)
    assert memory.admin.worker_state.last_step >= 0.2
    ok, detail = worker_check(memory)
    assert not ok and "at one batch" in detail and "the first message waits for" in detail
    # A process that runs tests beside others ignores interrupts.
    ignoring = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.1, _interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            memory.flush(30)
    finally:
        signal.signal(signal.SIGINT, ignoring)
        go_on.set()
    memory.flush(20)
    until(lambda: memory.admin.worker_state.problem is None)


def _interrupt() -> None:
    import _thread

    _thread.interrupt_main()


@pytest.mark.slow
def test_messages_that_no_worker_has_in_hand_are_shown(opened):
    """Here the worker rests, because its extractor meets one outage after another."""
    settings = {"lease": timedelta(milliseconds=40), "retry_after": timedelta(hours=1)}
    extractor = ScriptedExtractor()
    extractor.fail_for("m1", times=99)
    memory = opened(settings, extractor=extractor)
    memory.add("I live in Oslo.", id="m1")
    until(lambda: memory.admin.worker_state.problem is not None)
    problem = "messages have been waiting for more than 0 s to be enriched, and no worker has work"
    assert memory.admin.worker_state.problem.startswith(problem)
    assert memory.admin.worker_state.restarts == 0
    ok, detail = worker_check(memory)
    assert not ok and detail.startswith(problem)
    assert memory.admin.longest_wait() >= memory.admin.worker_state.last_step - 0.1


@pytest.mark.slow
def test_to_wait_for_a_space_is_not_to_wait_for_the_others(opened, tmp_path):
    """A space is flushed within a few batches, however much the other one has added before."""

    class Slow(Extractor):
        name = "slow-1"

        def extract(self, window: Window) -> Extraction:
            read.append(window.space)
            time.sleep(0.05)
            return Extraction()

    read: list[str] = []
    with Memory(tmp_path / "m.db", embedder=HashEmbedder(32), enrich="manual") as memory:
        memory.space("greedy").add_many([{"text": f"Number {n} of a list."} for n in range(200)])
        for number in range(2):
            memory.space(f"other-{number}").add("I moved to Oslo.")
    for number, more in enumerate([{}, {"settle": timedelta(hours=1)}]):
        memory = opened({"batch": 1, **more}, extractor=Slow())
        memory.space(f"other-{number}").flush()
        assert f"other-{number}" in read
        assert len(read) < 20 * (number + 1)
        memory.close()
