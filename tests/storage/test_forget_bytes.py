"""The bytes of what was forgotten are gone from the file and its journal, also after kill -9."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import pytest

from cognigraph import Memory
from cognigraph.testing import HashEmbedder
from tests.forked import Forked
from tests.storage import forgetters
from tests.storage.forgetters import PER_SESSION, SESSIONS, marker, open_memory, turn
from tests.storage.test_kill import assert_whole

pytestmark = pytest.mark.slow

ALL = range(SESSIONS * PER_SESSION)


def content(path: Path) -> bytes:
    """All bytes of a file and of those beside it."""
    files = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
    return b"\n".join(file.read_bytes() for file in files if file.exists()).lower()


def found(path: Path, numbers) -> list[str]:
    """The markers of some messages that are anywhere in the files, in any case."""
    raw = content(path)
    return [marker(number) for number in numbers if marker(number).lower().encode() in raw]


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Path:
    """A file in which every message is enriched."""
    path = tmp_path_factory.mktemp("filled") / "m.db"
    with open_memory(path) as memory:
        memory.add_many(turn(number) for number in reversed(ALL))
        memory.flush(120)
    return path


@pytest.fixture
def path(filled, tmp_path) -> Path:
    return Path(shutil.copy(filled, tmp_path / "m.db"))


def test_no_byte_is_left_while_the_memory_is_open_in_two_places(path):
    assert found(path, ALL) == [marker(number) for number in ALL]
    with open_memory(path) as memory, open_memory(path) as other:
        other.search(f"Who is {marker(3)}?")
        gone = [0, 7, 8, *range(30, 36), 143]
        for number in gone[:3]:
            assert memory.forget(message=f"m{number}").is_erased
        assert memory.forget(session="s5").is_erased
        assert other.forget(message="m143").is_erased
        assert found(path, gone) == []
        memory.flush(120)
        assert found(path, ALL) == [marker(n) for n in ALL if n not in gone]
        assert memory.forget(everything=True).is_erased
        assert found(path, ALL) == []
        assert_whole(memory, path)
    empty = path.with_name("empty.db")
    with open_memory(empty):
        pass
    assert path.stat().st_size < empty.stat().st_size + 50_000


def test_a_reader_that_holds_the_journal_is_reported_and_made_up_for(path, monkeypatch):
    with open_memory(path) as memory:
        pool = memory._engine.store.housekeeping._file.pool
        with pool.connection() as connection:
            connection.execute("PRAGMA busy_timeout = 50")  # the one that is borrowed next
        with open_memory(path) as other, other._engine.store._pool.read() as reader:
            reader.execute("SELECT count(*) FROM chunk").fetchone()
            assert memory.forget(message="m0").is_erased is False
            assert found(path, [0])
        assert memory.forget(message="m1").is_erased is True
        assert found(path, [0, 1]) == []


def kill_while_forgetting(path: Path, delay: float) -> None:
    process = Forked(forgetters.main, path)
    with process.stdout as output:
        assert output.readline() == "begun\n"
        time.sleep(delay)
        process.kill()
    process.wait()


def missing(memory: Memory) -> list[int]:
    there = {message.id for message in memory.messages(limit=1000)}
    return [number for number in ALL if f"m{number}" not in there]


def test_killed_while_forgetting(path):
    source = random.Random(20260520)
    partly = 0
    for _ in range(6):
        kill_while_forgetting(path, source.uniform(0, 0.5))
        with open_memory(path) as memory:
            gone = missing(memory)
            assert found(path, gone) == []
            assert_whole(memory, path)
            added = memory.add_many(turn(number) for number in gone)
            assert (added.new, len(added.forgotten)) == ((), len(gone))
            partly += 0 < len(gone) < len(ALL)
    with open_memory(path) as memory:
        memory.forget(everything=True)
        assert found(path, ALL) == []
        assert memory.stats().messages == memory.stats().entities == memory.stats().triples == 0


def test_forgetting_while_a_worker_reads(tmp_path):
    """What is forgotten stays forgotten, whatever the worker was reading at that moment."""
    path = tmp_path / "m.db"
    with Memory(path, embedder=HashEmbedder(64)) as memory:  # with a worker
        gone = []
        for number in ALL:
            memory.add_many([turn(number)])
            if number % 3 == 2:
                memory.forget(message=f"m{number - 1}")
                gone.append(number - 1)
        memory.flush(120)
        assert missing(memory) == gone
        assert found(path, gone) == []
        assert_whole(memory, path)
        stats = memory.stats()
        assert (stats.pending, stats.failed, stats.messages) == (0, 0, len(ALL) - len(gone))
