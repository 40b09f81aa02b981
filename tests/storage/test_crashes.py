"""A chunk that crashes its workers is parked after some crashes; its neighbours are enriched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase

from cognigraph import Memory
from cognigraph.ingest import Extractor
from cognigraph.stores.batch_size import MOST_CRASHES
from cognigraph.testing import ScriptedExtractor
from tests.cases import first_on_neo4j
from tests.forked import Forked
from tests.storage import mortals
from tests.storage.mortals import FATAL, LEASE, PER_SESSION, Mortal, open_memory, turn

pytestmark = [pytest.mark.slow, pytest.mark.oldest_line]

ROOT = Path(__file__).parents[2]
TURNS = 2 * PER_SESSION


class Place:
    """A store, and a space of it that has been filled."""

    def __init__(self, location: dict[str, Any], space: str) -> None:
        self.location = str(location["location"])
        auth = location.get("auth")
        self.auth = ":".join(auth) if auth else "-"
        self.space = space
        with self.open() as memory:
            memory.space(space).add_many(turn(n) for n in range(TURNS))

    def open(self, extractor: Extractor | None = None) -> Memory:
        return open_memory(self.location, self.auth, extractor or Mortal("live"))

    def start(self, how: str) -> Forked:
        return Forked(mortals.main, self.location, self.auth, self.space, how)

    def start_child(self, how: str) -> subprocess.Popen[str]:
        """Start a worker with an interpreter and a standard input of its own, to be reaped here."""
        command = [sys.executable, "-m", "tests.storage.mortals", self.location, self.auth]
        return subprocess.Popen(
            [*command, self.space, how],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(self, how: str) -> int:
        worker = self.start(how)
        worker.finish()
        return worker.wait()


@pytest.fixture
def place(location: dict[str, Any], space_name: str) -> Place:
    if "auth" in location:  # a server: workers read all its spaces
        forget_what_waits(location["location"], location["auth"])
    return Place(location, space_name)


def forget_what_waits(uri: str, auth: tuple[str, str] | None) -> None:
    """Remove what other tests left in the queue."""
    with GraphDatabase.driver(uri, auth=auth) as driver:
        driver.execute_query(
            "MATCH (c:Chunk {state: 'pending'}) WHERE c.space STARTS WITH 'test-' "
            "SET c.state = 'done'"
        )
        driver.execute_query(
            "MATCH (s:Session {summary_state: 'pending'}) WHERE s.space STARTS WITH 'test-' "
            "SET s.summary_state = 'failed'"
        )


def held_by(worker: Forked | subprocess.Popen[str], memory: Memory) -> list[datetime]:
    """Return when the leases of a worker expire; other workers use the same server."""
    leases = memory._engine.store.queue.leases()
    return [
        until
        for token, until in leases.items()
        if token.split(":")[1].partition("-")[0] == str(worker.pid)
    ]


def objects(memory: Memory, space: str) -> set[str]:
    return {triple.object for triple in memory.space(space).facts(limit=100)}


@pytest.mark.parametrize(("how", "code"), first_on_neo4j([("kill", -9), ("exit", 9)]))
def test_a_text_that_crashes_the_process_is_parked_alone(place: Place, how: str, code: int) -> None:
    # All processes but the third crash on the first chunk that they read.
    for crashes in range(1, MOST_CRASHES + 1):
        assert place.run(how) == code, crashes
    assert place.run(how) == 0  # this one survives, because the fatal text is parked
    everything = {turn(number).id for number in range(TURNS)}
    with place.open() as memory:
        space = memory.space(place.space)
        (failure,) = space.queue.failures()
        assert (failure.message_id, failure.session, failure.parked) == (FATAL, "s0", True)
        assert (failure.crashes, failure.attempts) == (MOST_CRASHES, 0)
        assert failure.reason == "the process that read it ended 5 times"
        stats = space.stats()
        assert (stats.done, stats.failed, stats.pending) == (TURNS - 1, 1, 0)
        assert objects(memory, place.space) == everything - {FATAL}
        assert space.queue.retry() == 1
        space.flush()
        assert (space.queue.failures(), objects(memory, place.space)) == ([], everything)


def test_processes_that_are_killed_soon_park_nothing(place: Place) -> None:
    """Something else kills every process, so the text that it is reading is not at fault."""
    with place.open() as memory:
        space = memory.space(place.space)
        for _ in range(2 * MOST_CRASHES):
            worker = place.start("wait")
            while not held_by(worker, memory):
                assert worker.is_alive()
                time.sleep(0.01)
            worker.kill()
            worker.finish()
            assert not any(failure.parked for failure in space.queue.failures())
        space.flush()
        assert space.queue.failures() == []
        assert objects(memory, place.space) == {turn(number).id for number in range(TURNS)}


def test_a_worker_that_is_ended_in_order_gives_its_lease_back(place: Place) -> None:
    """Exiting without closing the memory, during a batch, is not a crash."""
    for _ in range(2):
        worker = place.start_child("think")
        assert worker.stdout is not None
        assert worker.stdout.readline() == "thinking\n"
        with place.open() as memory:
            assert len(held_by(worker, memory)) == 1
            worker.communicate("go\n", timeout=30)
            assert worker.returncode == 0
            assert held_by(worker, memory) == []
    with place.open() as memory:
        memory.space(place.space).flush()
        assert memory.space(place.space).stats().done == TURNS


def counted_crashes(place: Place) -> list[int]:
    """Enrich everything, and return the crashes counted for chunks of the first session."""
    extractor = ScriptedExtractor()
    with place.open(extractor) as memory:
        memory.space(place.space).flush(timeout=20)
    return [
        chunk.crashes
        for window in extractor.windows
        for chunk in window.chunks
        if chunk.session == "s0"
    ]


def test_an_expired_lease_of_a_live_worker_is_not_a_crash(place: Place) -> None:
    """As when the machine is suspended: the process is stopped, but it exists."""
    worker = place.start_child("think")
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "thinking\n"
        os.kill(worker.pid, signal.SIGSTOP)
        with place.open() as memory:
            (until,) = held_by(worker, memory)
            assert timedelta(0) < until - datetime.now(UTC) <= LEASE
            time.sleep(LEASE.total_seconds())
            assert counted_crashes(place) == [0] * PER_SESSION
            assert held_by(worker, memory) == []
    finally:
        worker.kill()
        worker.communicate()


def test_a_killed_worker_counts_as_dead_before_its_parent_reaps_it(place: Place) -> None:
    """Its parent may never reap it; the lease is taken over at once."""
    worker = place.start_child("wait")
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "thinking\n"
        worker.kill()
        worker.stdout.read()  # it has ended and is a zombie
        assert counted_crashes(place) == [1, 1, 1, 1, 0, 0, 0, 0]
    finally:
        worker.communicate()


def test_the_command_line_gives_back_what_it_is_terminated_with(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    code = (
        "import sys, time\n"
        "from cognigraph.cli import main\n"
        "from cognigraph.cli import memory_options\n"
        "from cognigraph.ingest import Extractor\n"
        "class Slow(Extractor):\n"
        "    name = 'slow-1'\n"
        "    def extract(self, window):\n"
        "        print('thinking', flush=True)\n"
        "        time.sleep(60)\n"
        "memory_options.resolve_extractor = lambda *_, **__: Slow()\n"
        "sys.exit(main(['--db', sys.argv[1], 'enrich']))\n"
    )
    with Memory(database, enrich="manual") as memory:
        memory.add("I moved to Oslo.", id="m1", speaker="Ann")
    worker = subprocess.Popen(
        [sys.executable, "-c", code, str(database)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == "thinking\n"
    worker.terminate()
    worker.communicate(timeout=30)
    assert worker.returncode == 128 + signal.SIGTERM
    with Memory(database, enrich="manual") as memory:
        assert memory._engine.store.queue.leases() == {}
        assert (memory.stats().pending, memory.stats().leased) == (1, 0)
