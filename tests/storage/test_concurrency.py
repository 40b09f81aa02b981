"""Concurrency: processes, threads and memories on one file."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from cognigraph import EnrichSettings, Memory, Settings
from cognigraph.testing import HashEmbedder
from tests.forked import Forked
from tests.storage.forks import ROUNDS
from tests.storage.test_kill import ROOT, assert_whole, graph
from tests.storage.writers import START, load, open_memory, turn

pytestmark = pytest.mark.slow


def test_eight_processes_add_the_same_turns_to_one_new_file(tmp_path):
    path = tmp_path / "m.db"
    arguments = [(str(path), "120", str(15 * n)) for n in range(8)]
    # Two interpreters of their own, with other hash seeds; the rest are quicker to start.
    forked = [Forked(load, *argument) for argument in arguments[2:]]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.storage.writers", "load", *argument],
            cwd=ROOT, stderr=subprocess.PIPE, text=True,
        )
        for argument in arguments[:2]
    ]  # fmt: skip
    errors = [process.communicate(timeout=120)[1] for process in started]
    assert [(p.returncode, error) for p, error in zip(started, errors, strict=True)] == [
        (0, "")
    ] * 2
    assert [(process.finish(), process.wait()) for process in forked] == [("", 0)] * 6
    with open_memory(path) as memory:
        assert memory.stats().messages == 120
        assert [memory.get(f"m{n}").text for n in range(120)] == [turn(n).text for n in range(120)]
        assert_whole(memory, path)
        memory.flush(timeout=60)
        stats = memory.stats()
        assert (stats.pending, stats.failed, stats.done) == (0, 0, stats.chunks)
        crowded = {(t.uid, t.first_observed, t.last_observed, t.sources)
                   for t in memory.facts(limit=10_000)}  # fmt: skip
    with open_memory(tmp_path / "alone.db") as memory:
        memory.add_many(turn(n) for n in range(120))
        memory.flush(timeout=60)
        alone = {(t.uid, t.first_observed, t.last_observed, t.sources)
                 for t in memory.facts(limit=10_000)}  # fmt: skip
    assert crowded == alone


def test_threads_add_search_and_enrich_at_once(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path, enrich="background") as memory:

        def work(worker: int) -> int:
            space = memory.space(f"space{worker % 2}")
            for number in range(12):
                said = turn(1000 * worker + number)
                space.add(said.text, id=said.id, session=f"w{worker}", speaker=said.speaker,
                          at=said.at)  # fmt: skip
                found = space.search(said.text, k=20)
                assert said.id in [hit.id for hit in found], "own write not seen"
                if number % 5 == 0:
                    assert space.context("Who moved to Oslo?", 300).tokens <= 300
                    space.stats(), space.facts(limit=5), space.overview.sessions(limit=5)
            return worker

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(8))) == list(range(8))
        assert [memory.space(f"space{n}").stats().messages for n in (0, 1)] == [48, 48]
        for n in (0, 1):
            memory.space(f"space{n}").flush(timeout=60)
        assert_whole(memory, path)
        assert sum(memory.space(f"space{n}").stats().done for n in (0, 1)) > 96


def test_fifty_writers_of_one_message_make_one(tmp_path):
    with open_memory(tmp_path / "m.db") as memory:
        barrier = threading.Barrier(50)

        def deliver(_: int) -> int:
            barrier.wait()
            return len(memory.add("I moved to Oslo.", id="m1", at=START).new)

        with ThreadPoolExecutor(50) as pool:
            assert sum(pool.map(deliver, range(50))) == 1
        assert (memory.stats().messages, memory.stats().chunks) == (1, 1)


def test_two_workers_enrich_each_chunk_once(tmp_path):
    turns = [turn(n) for n in range(60)]
    with open_memory(tmp_path / "alone.db") as memory:
        memory.add_many(turns)
        memory.flush()
        expected = graph(memory)
    path = tmp_path / "m.db"
    # A lease that runs out on a busy machine is taken over, and its chunks are read again.
    settings = Settings(enrich=EnrichSettings(batch=4, lease=timedelta(minutes=2)))
    with (
        open_memory(path, settings=settings) as first,
        open_memory(path, settings=settings) as second,
    ):
        first.add_many(turns)
        with ThreadPoolExecutor(4) as pool:
            steps = list(
                pool.map(lambda memory: memory.queue.enrich(), [first, second, first, second])
            )
        assert sum(step.chunks for batch in steps for step in batch) == first.stats().chunks
        assert not any(step.lost or step.error for batch in steps for step in batch)
        assert graph(first) == expected


def test_two_memories_on_one_file_see_each_others_writes_at_once(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as one, open_memory(path) as two:
        for number in range(30):
            writer, reader = (one, two) if number % 2 else (two, one)
            said = turn(number)
            writer.add(said.text, id=said.id, session=said.session, at=said.at)
            assert said.id in {hit.id for hit in reader.search(said.text)}
            assert reader.get(said.id) is not None
        one.queue.enrich()
        assert two.stats().pending == 0
        assert two.search("Who moved to Oslo?").triples == one.search("Who moved to Oslo?").triples


def test_a_reader_is_not_stopped_by_a_writer_and_sees_no_half_batch(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as writer, open_memory(path) as reader:
        writer.add("base", id="base")
        stop, sizes, failures = threading.Event(), set(), list[str]()

        def look() -> None:
            try:
                while not stop.is_set():
                    sizes.add(reader.stats().messages)
                    reader.search("moved to Oslo")
            except Exception:  # noqa: BLE001 - reported by the main thread
                failures.append(traceback.format_exc())

        watching = threading.Thread(target=look)
        watching.start()
        for batch in range(30):
            writer.add_many(turn(20 * batch + n) for n in range(20))
        stop.set()
        watching.join()
        assert not failures, failures[0]
        assert all((size - 1) % 20 == 0 for size in sizes), sizes
        assert len(sizes) > 1


def test_a_long_lock_by_another_program_is_waited_for(tmp_path):
    import sqlite3

    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        memory.add("first", id="m1")
        locking = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        locking.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.5, lambda: locking.execute("ROLLBACK"))
        timer.start()
        assert memory.search("first")[0].id == "m1"  # readers do not wait
        memory.add("second", id="m2")
        timer.join()
        locking.close()
        assert memory.stats().messages == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_can_use_the_memory(tmp_path):
    path = tmp_path / "m.db"
    command = [sys.executable, "-m", "tests.storage.forks", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with open_memory(path) as memory:
        assert_whole(memory, path)
        assert memory.stats().messages == 10 + 2 * ROUNDS


def test_closing_while_others_work_is_clean(tmp_path):
    from cognigraph import StoreError

    memory = open_memory(tmp_path / "m.db", enrich="background")
    outcomes: list[str] = []

    def work(worker: int) -> None:
        for number in range(1000):
            try:
                memory.add(f"text {number}", id=f"{worker}-{number}")
            except StoreError as error:
                outcomes.append(str(error))
                return

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    memory.close()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 4
    assert all("closed" in outcome for outcome in outcomes), outcomes
    with open_memory(tmp_path / "m.db") as memory:
        assert_whole(memory, tmp_path / "m.db")


def test_the_worker_survives_whatever_an_extractor_does(tmp_path: Path):
    """An error in one window must not stop the background worker."""
    from cognigraph.ingest import Extraction, Fact
    from cognigraph.testing import ScriptedExtractor

    answers = {
        "none": None,
        "bad name": Extraction(facts=(Fact(None, "a", "b", "c", "d", (0,)),)),  # type: ignore[arg-type]
        "bad weight": Extraction(keys=(("oslo", float("nan")),)),
        "bad state": Extraction(keys=(("oslo", 1.0),), state="\ud800"),
    }

    def read(window):
        return Extraction() if window.session == "good" else answers[window.session]

    for session in answers:
        extractor = ScriptedExtractor(read)
        path = tmp_path / f"{session}.db"
        with Memory(path, embedder=HashEmbedder(8), extractor=extractor) as memory:
            memory.add("text", session=session, at=START)
            deadline = threading.Event()
            for _ in range(50):
                if extractor.calls:
                    break
                deadline.wait(0.05)
            memory.add("text", session="good", at=START + timedelta(days=1))
            for _ in range(60):
                if any(window.session == "good" for window in extractor.windows):
                    break
                deadline.wait(0.05)
            assert any(w.session == "good" for w in extractor.windows), f"dead after {session!r}"
