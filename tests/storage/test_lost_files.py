"""Files that are deleted, replaced or lose their write-ahead log: an error, never silence."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest

from cognigraph import Memory, StoreError
from cognigraph.stores.sqlite.connection import Pool
from cognigraph.stores.sqlite.marks import TurnMark
from tests.storage.test_kill import ROOT
from tests.storage.writers import open_memory, turn

pytestmark = pytest.mark.slow
needs_unlink = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not let an open file be deleted or replaced"
)


def add(memory: Memory, *numbers: int) -> None:
    memory.add_many(turn(number) for number in numbers)


@needs_unlink
def test_nothing_is_acknowledged_once_the_file_is_deleted(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        add(memory, 1)
        path.unlink()
        with pytest.raises(StoreError, match=r"m\.db was deleted or moved while .* is open"):
            add(memory, 2)
        with ThreadPoolExecutor(4) as threads:  # each needs a connection of its own

            def refused(barrier: Barrier) -> bool:
                barrier.wait()
                with pytest.raises(StoreError, match="was deleted or moved"):
                    add(memory, 3)
                return True

            barrier = Barrier(4)
            assert all(threads.map(refused, [barrier] * 4))
        assert not path.exists(), "a second connection made an empty file"


@needs_unlink
def test_a_new_connection_does_not_make_the_file_again(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        add(memory, 1)
        pool = memory._engine.store._pool
        with pool.connection(), pool.connection():
            pass
        path.unlink()
        with (
            pool.connection(),
            pool.connection(),
            pytest.raises(StoreError, match="was deleted or moved"),
            pool.connection(),
        ):
            pass
        assert not path.exists()


@needs_unlink
def test_a_file_that_is_put_back_is_written_again(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        add(memory, 1)
        path.rename(tmp_path / "away.db")
        with pytest.raises(StoreError, match="was deleted or moved"):
            add(memory, 2)
        (tmp_path / "away.db").rename(path)
        add(memory, 2)
    with open_memory(path) as memory:
        assert memory.stats().messages == 2


@needs_unlink
def test_a_file_replaced_by_another_memory_is_refused(tmp_path):
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    with open_memory(other) as memory:
        add(memory, 10, 11)
    with open_memory(path) as memory:
        add(memory, 1)
        other.replace(path)
        with pytest.raises(StoreError, match="was replaced by another file"):
            add(memory, 2)
    with open_memory(path) as memory:
        assert [memory.get(f"m{n}") is not None for n in (1, 2, 10, 11)] == [
            False, False, True, True,
        ]  # fmt: skip


@needs_unlink
def test_a_replaced_file_does_not_inherit_the_log_of_an_idle_memory(tmp_path):
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    with open_memory(other) as memory:
        add(memory, 10)
    with open_memory(path) as memory:
        add(memory, 1)
        other.replace(path)
    with open_memory(path) as memory:
        assert [memory.get(f"m{n}") is not None for n in (1, 10)] == [False, True]


@needs_unlink
def test_a_log_deleted_under_an_open_memory_is_reported(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        add(memory, 1)
        (tmp_path / "m.db-wal").unlink()
        with pytest.raises(StoreError, match=r"m\.db-wal was deleted or replaced"):
            add(memory, 2)
    with open_memory(path) as memory:  # closing saved all acknowledged messages
        assert memory.get("m1") is not None


def test_the_schema_is_in_the_file_itself(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path):
        shutil.copy(path, tmp_path / "copy.db")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        (tables,) = connection.execute(
            "SELECT count(*) FROM sqlite_master WHERE name IN ('chunk', 'space', 'meta')"
        ).fetchone()
    assert tables == 3


def test_a_copy_without_its_log_is_not_opened_as_an_empty_memory(tmp_path):
    path, copy = tmp_path / "m.db", tmp_path / "copy.db"
    with open_memory(path) as memory:
        add(memory, 1)
        shutil.copy(path, copy)
        shutil.copy(f"{path}-wal", tmp_path / "kept-wal")
        for _ in range(2):  # a failed attempt does not make it look valid
            with pytest.raises(StoreError, match=r"has had messages and holds none.*copy\.db-wal"):
                open_memory(copy)
    shutil.copy(tmp_path / "kept-wal", f"{copy}-wal")  # as the error advises
    with open_memory(copy) as memory:
        assert memory.get("m1") is not None


def test_a_log_deleted_after_a_kill_is_reported(tmp_path):
    path = tmp_path / "m.db"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.storage.writers", "write", str(path), "0"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "m0\n"
    process.kill()
    process.communicate()
    (tmp_path / "m.db-wal").unlink()
    (tmp_path / "m.db-shm").unlink(missing_ok=True)
    with pytest.raises(StoreError, match=r"has had messages and holds none"):
        open_memory(path)


_KILLED = """
import os, signal, sys
from cognigraph.stores.sqlite import insert
from tests.storage.writers import open_memory, turn
insert.insert = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
memory = open_memory(sys.argv[1])
memory.add_many([turn(1)])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_kill_between_the_mark_and_the_first_turn_harms_nothing(tmp_path):
    path = tmp_path / "m.db"
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    with open_memory(path) as memory:
        assert memory.stats().messages == 0
        add(memory, 1)
        assert memory.stats().messages == 1


def test_a_first_insert_that_is_still_being_written_is_no_lost_log(tmp_path):
    """Its first page empties the log: until the commit there is a mark, no turn, and no frame."""
    path, copy = tmp_path / "m.db", tmp_path / "copy.db"
    with (
        open_memory(path) as memory,
        closing(sqlite3.connect(path)) as writer,
        TurnMark(memory._engine.store._pool).before_insert(),
    ):
        writer.execute("PRAGMA cache_size = 1")  # so that pages are written before the commit
        writer.execute("BEGIN IMMEDIATE")
        for key in range(2000):
            writer.execute("INSERT INTO meta VALUES (?, ?)", (f"filler {key}", "x" * 200))
        with closing(sqlite3.connect(path)) as other:
            _, frames, _ = other.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            assert frames == 0
        with open_memory(path) as second:
            assert second.stats().messages == 0
        shutil.copy(path, copy)  # the file that a kill at this moment would leave
        shutil.copy(f"{path}-wal", f"{copy}-wal")
        writer.execute("ROLLBACK")
    with open_memory(copy) as memory:
        assert memory.stats().messages == 0
        add(memory, 1)
        assert memory.get("m1") is not None


def test_a_first_insert_that_fails_leaves_a_sound_empty_memory(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    with open_memory(path) as memory, monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        patch.setattr("cognigraph.stores.sqlite.insert.insert", full)
        with pytest.raises(StoreError, match="free disk space"):
            add(memory, 1)
    with open_memory(path) as memory:
        assert memory.stats().messages == 0
        add(memory, 1)


def test_a_backup_by_sqlite_itself_is_whole(tmp_path):
    path, copy = tmp_path / "m.db", tmp_path / "copy.db"
    with open_memory(path) as memory:
        add(memory, 1, 2)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
    with open_memory(copy) as memory:
        assert memory.stats().messages == 2


def test_a_log_that_another_program_has_copied_into_the_file_is_not_missed(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        add(memory, 1)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA wal_checkpoint(FULL)").fetchone()[0] == 0
        shutil.copy(path, tmp_path / "copy.db")
    with open_memory(tmp_path / "copy.db") as memory:
        assert memory.get("m1") is not None


def test_a_reader_that_holds_up_the_checkpoint_does_not_stop_the_first_insert(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("cognigraph.stores.sqlite.marks._PATIENCE", 0.05)
    path = tmp_path / "m.db"
    with open_memory(path) as memory, closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM meta").fetchone()
        add(memory, 1)
        reader.execute("ROLLBACK")
        add(memory, 2)  # now the mark and the first turn are written to the file together
        shutil.copy(path, tmp_path / "copy.db")
    with open_memory(tmp_path / "copy.db") as memory:
        assert memory.get("m1") is not None


def test_a_checkpoint_that_fails_does_not_keep_a_memory_from_opening(tmp_path, monkeypatch):
    path, execute = tmp_path / "m.db", Pool.checkpoint
    with open_memory(path) as memory:
        add(memory, 1)

        class Full(sqlite3.Connection):
            """A disk without room for the pages of the log."""

            def execute(self, sql, *arguments):  # type: ignore[no-untyped-def]
                if "wal_checkpoint" in sql:
                    raise sqlite3.OperationalError("database or disk is full")
                return super().execute(sql, *arguments)

        pool = memory._engine.store._pool
        with closing(sqlite3.connect(path, factory=Full, check_same_thread=False)) as connection:
            monkeypatch.setattr(pool, "_idle", [connection])
            assert execute(pool) is False
            monkeypatch.setattr(pool, "_idle", [])
        assert execute(pool) is True


def test_two_memories_on_one_file_in_one_process(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as one, open_memory(path) as other:
        for number in range(0, 20, 2):
            add(one, number)
            add(other, number + 1)
        assert one.stats().messages == other.stats().messages == 20
        one.close()
        add(other, 20)
        assert "m20" in [hit.id for hit in other.search("word20", k=3)]


def test_closing_during_searches_ends_in_a_result_or_a_clear_error(tmp_path):
    path = tmp_path / "m.db"
    memory = open_memory(path)
    add(memory, *range(50))
    barrier = Barrier(5)

    def searches() -> str:
        barrier.wait()
        try:
            while True:
                assert len(memory.search("word7", k=3)) == 3
        except StoreError as error:
            return str(error)

    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(searches) for _ in range(4)]
        barrier.wait()
        memory.close()
        assert {future.result(timeout=30) for future in running} == {
            "this memory is closed; open it again"
        }


def test_a_memory_survives_a_change_of_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open_memory("m.db") as memory:
        add(memory, 1)
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        with memory._engine.store._pool.connection():  # so that the next connection is new
            assert memory.get("m1") is not None
        assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="needs /dev/null")
def test_a_device_is_refused():
    with pytest.raises(StoreError, match="/dev/null is a device, pipe or socket"):
        open_memory("/dev/null")
