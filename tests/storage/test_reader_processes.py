"""A backlog that several processes read gives the same graph, whatever happens to them."""

from __future__ import annotations

import os
import random
import select
import signal
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cognigraph import EnrichSettings, Memory, Message, Settings
from cognigraph.ingest import Extraction, Window
from cognigraph.ingest.queue.readers import Readers
from cognigraph.ingest.queue.step import Step
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.stores.records import WorkChunk
from cognigraph.testing import HashEmbedder
from tests.conftest import START
from tests.conversations import conversation
from tests.forked import Forked
from tests.interrupted import said

pytestmark = pytest.mark.slow

WORD = "kayak"


class Choosy(RulesExtractor):
    """Cannot read some messages, and says which process tried."""

    def extract(self, window: Window) -> Extraction:
        if any(WORD in chunk.text for chunk in window.chunks):
            raise ValueError(f"{WORD} in process {os.getpid()}")
        return super().extract(window)


class Tied(RulesExtractor):
    """Declares that copies can be made, although none can."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


def messages() -> list[Message]:
    return conversation(random.Random(5), 150)


def enriched(
    path: Path, processes: int, on_step: Callable[[Step], None] | None = None, **options: Any
) -> dict[str, Any]:
    settings = Settings(enrich=EnrichSettings(batch=5, processes=processes))
    common = {"embedder": HashEmbedder(32), "enrich": "manual", "settings": settings}
    with Memory(path, **(common | options)) as memory:
        space = memory.space("x")
        space.add_many(messages())
        steps = space.queue.enrich(on_step)
        assert sum(step.chunks for step in steps) == space.stats().chunks
        assert (space.stats().pending, space.queue.failures()) == (0, [])
        return said(space)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return enriched(tmp_path_factory.mktemp("alone") / "m.db", 1)


@pytest.fixture
def pids(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], list[int]]]:
    """Collects, for each backlog, what tells the processes that read it."""
    found: list[Callable[[], list[int]]] = []
    enter = Readers.__enter__

    def entered(self: Readers) -> Readers:
        found.append(lambda: self.pids)
        return enter(self)

    monkeypatch.setattr(Readers, "__enter__", entered)
    return found


def test_several_processes_write_the_graph_that_one_writes(tmp_path, alone, pids):
    seen: set[int] = set()
    graph = enriched(tmp_path / "m.db", 3, lambda _: seen.update(pids[0]()))
    assert graph == alone
    assert len(seen) == 3
    assert os.getpid() not in seen
    assert pids[0]() == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in seen)


def test_what_killed_processes_were_reading_is_read_here(tmp_path, alone, pids):
    killed: list[int] = []

    def kill(_: Step) -> None:
        for pid in [pid for pid in pids[0]() if pid not in killed]:
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    assert enriched(tmp_path / "m.db", 2, kill) == alone
    assert len(killed) == 2


def test_an_extractor_that_cannot_be_copied_reads_here(tmp_path, alone, pids):
    assert enriched(tmp_path / "m.db", 2, extractor=Tied()) == alone
    assert pids[0]() == []


def test_what_an_extractor_raises_elsewhere_it_raises_here(tmp_path):
    settings = Settings(
        enrich=EnrichSettings(batch=5, processes=2, park_after=1, retry_after=timedelta(seconds=9))
    )
    with Memory(
        tmp_path / "m.db", embedder=HashEmbedder(32), enrich="manual", settings=settings,
        extractor=Choosy(),
    ) as memory:  # fmt: skip
        space = memory.space("x")
        space.add_many(messages())
        steps = space.queue.enrich()
        errors = {step.error for step in steps if step.error is not None}
        assert errors
        assert all(f"{WORD} in process {os.getpid()}" in error for error in errors)
        assert any(step.error is None for step in steps)


def test_a_background_worker_reads_a_backlog_in_several_processes(tmp_path, alone, pids):
    settings = Settings(enrich=EnrichSettings(batch=5, processes=2))
    with Memory(tmp_path / "m.db", embedder=HashEmbedder(32), settings=settings) as memory:
        space = memory.space("x")
        space.add_many(messages())
        space.flush(timeout=60)
        assert said(space) == alone
    assert pids


def show_readers() -> None:
    """Print the ids of the processes that read for this one, and wait."""
    with Readers(RulesExtractor(), 1) as readers:
        chunk = WorkChunk("u", "m", "s", "Ann", START, "I live in Oslo.", 0, 0, 0, None, 0, 1)
        assert readers.extract(Window("x", "s", (chunk,))).facts
        print(*readers.pids, flush=True)
        threading.Event().wait()


def test_the_processes_end_with_the_one_they_read_for():
    parent = Forked(show_readers)
    (pid,) = map(int, parent.stdout.readline().split())
    ended = os.pidfd_open(pid)
    try:
        assert Path(f"/proc/{pid}").exists()
        parent.kill()
        parent.finish()
        assert select.select([ended], [], [], 60)[0]
    finally:
        os.close(ended)
