"""A background worker with a costly extractor waits until a conversation pauses."""

from __future__ import annotations

import time
from datetime import timedelta
from threading import Barrier, Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph import ConfigurationError, EnrichSettings, Memory, Settings
from cognigraph.ingest.queue.lease import PATIENCE, Debounce
from cognigraph.testing import HashEmbedder, ScriptedExtractor


def test_a_worker_waits_for_a_pause():
    debounce = Debounce(20.0, 64)
    assert not debounce.is_ready(0, 100.0)
    assert not debounce.is_ready(1, 110.0)
    assert not debounce.is_ready(2, 129.0)  # a second turn: the pause starts anew
    assert not debounce.is_ready(2, 148.9)
    assert debounce.is_ready(2, 149.0)


def test_a_full_batch_does_not_wait():
    debounce = Debounce(20.0, 64)
    assert not debounce.is_ready(63, 0.0)
    assert debounce.is_ready(64, 0.1)


def test_a_constant_stream_of_messages_is_enriched_eventually():
    debounce = Debounce(20.0, 64)
    starts = [second for second in range(0, 400, 10) if debounce.is_ready(1 + second // 10, second)]
    assert starts[0] == PATIENCE * 20


def test_messages_that_arrive_during_a_run_wait_for_their_own_pause():
    debounce = Debounce(20.0, 64)
    debounce.is_ready(1, 0.0)
    assert debounce.is_ready(1, 20.0)
    debounce.started(0, 25.0)
    assert not debounce.is_ready(1, 26.0)
    assert debounce.is_ready(1, 46.0)


@given(st.lists(st.tuples(st.integers(0, 80), st.floats(0.01, 30)), min_size=1, max_size=60))
def test_no_message_waits_longer_than_the_maximum(steps):
    debounce, now, waiting_since = Debounce(20.0, 64), 0.0, None
    for pending, later in steps:
        now += later
        ready = debounce.is_ready(pending, now)
        if pending == 0:
            assert not ready
            waiting_since = None
            continue
        waiting_since = now if waiting_since is None else waiting_since
        if pending >= 64 or now - waiting_since >= PATIENCE * 20:
            assert ready
        if ready:
            debounce.started(0, now)
            waiting_since = None


class Slow(ScriptedExtractor):
    settle = timedelta(seconds=60)


def opened(tmp_path, extractor, **enrich) -> Memory:
    settings = Settings(enrich=EnrichSettings(idle_poll=timedelta(milliseconds=10), **enrich))
    return Memory(
        tmp_path / "m.db", embedder=HashEmbedder(), extractor=extractor, settings=settings
    )


def wait_for(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_turns_are_read_together_and_flush_does_not_wait(tmp_path):
    extractor = Slow()
    with opened(tmp_path, extractor) as memory:
        for number in range(5):
            memory.add(f"turn {number}", id=f"m{number}", session="s")
        other = memory.space("other")
        other.add("of somebody else", id="o", session="s")
        time.sleep(0.1)
        assert extractor.calls == 0
        memory.space("default").flush(timeout=20)
        assert [len(window.chunks) for window in extractor.windows] == [5]
        assert other.stats().pending == 1  # nobody waits for that one
        assert other.queue.enrich()[0].chunks == 1


def test_a_full_batch_and_a_pause_start_the_worker(tmp_path):
    extractor = Slow()
    with opened(tmp_path, extractor, batch=3) as memory:
        memory.add_many([{"text": f"turn {n}", "id": f"m{n}", "session": "s"} for n in range(3)])
        wait_for(lambda: memory.stats().done == 3)
    assert [len(window.chunks) for window in extractor.windows] == [3]
    with opened(tmp_path, extractor, settle=timedelta(milliseconds=50)) as memory:
        memory.add("a last one", id="m9", session="s")
        wait_for(lambda: memory.stats().done == 4)


class Waiting(Slow):
    """An extractor that answers when two ask at once; notes how many did."""

    def __init__(self) -> None:
        super().__init__()
        self.together = Barrier(2)
        self.asking = self.most = 0
        self.lock = Lock()

    def extract(self, window):
        with self.lock:
            self.asking += 1
            self.most = max(self.most, self.asking)
        self.together.wait(20)
        with self.lock:
            self.asking -= 1
        return super().extract(window)


@pytest.mark.slow
def test_sessions_are_with_a_model_at_once_if_the_settings_say_so(tmp_path):
    extractor = Waiting()
    with opened(tmp_path, extractor, calls=2, batch=2) as memory:
        memory.add_many(
            {"text": f"turn {n}", "id": f"m{n}", "session": f"s{n // 3}"} for n in range(12)
        )
        wait_for(lambda: memory.stats().done == 12)
        assert memory.admin.worker_state.problem is None
    assert extractor.most == 2
    sessions = [window.session for window in extractor.windows]
    assert sorted(sessions) == ["s0", "s0", "s1", "s1", "s2", "s2", "s3", "s3"]
    with pytest.raises(ConfigurationError, match=r"enrich\.calls must be at least 1"):
        EnrichSettings(calls=0)


def test_what_an_earlier_process_left_starts_at_once(tmp_path):
    extractor = Slow()
    with opened(tmp_path, extractor) as memory:
        memory.add("left over", id="m0", session="s")
    assert extractor.calls == 0
    with opened(tmp_path, extractor) as memory:
        wait_for(lambda: memory.stats().done == 1)


def test_the_setting_is_checked():
    with pytest.raises(ConfigurationError, match=r"enrich\.settle must not be negative"):
        EnrichSettings(settle=timedelta(seconds=-1))
