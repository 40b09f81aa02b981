"""Files that are deleted, replaced or lose their write-ahead log: an error, never silence."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from threading import Barrier

import pytest

from cognigraph import Memory, Settings, StorageSettings, StoreError, cli
from cognigraph.stores.sqlite.connection import Pool, _Connection
from tests.forked import Forked
from tests.storage.test_kill import ROOT
from tests.storage.writers import Calls, open_memory, turn

pytestmark = pytest.mark.slow
needs_kill = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
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
            with pytest.raises(StoreError, match=r"lacks its newest changes.*copy\.db-wal"):
                open_memory(copy)
    shutil.copy(tmp_path / "kept-wal", f"{copy}-wal")  # as the error advises
    with open_memory(copy) as memory:
        assert memory.get("m1") is not None


def add_and_die(path: Path, *sessions: range, **options: object) -> None:
    """Add messages, closing the memory between the ranges; end the process with the last one."""
    for numbers in sessions:
        memory = open_memory(path, **options)
        for number in numbers:
            add(memory, number)
        if numbers is sessions[-1]:
            os.kill(os.getpid(), signal.SIGKILL)
        memory.close()


def _cut(path: Path) -> None:
    os.truncate(f"{path}-wal", 5000)


def _drop_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()
    Path(f"{path}-shm").unlink(missing_ok=True)


def _drop_beside(path: Path) -> None:
    _drop_log(path)
    Path(f"{path}-count").unlink()


LOSSES = {
    "cut": (_cut, [range(9)], "the last 9 of 9 changes", 0),
    "half": (lambda path: os.truncate(f"{path}-wal", 250_000), [range(9)], r"last \d of 9", None),
    "log": (_drop_log, [range(5), range(5, 9)], "the last 4 of 9 changes", 5),
    "log alone": (_drop_beside, [range(5), range(5, 9)], "its newest changes", 5),
    "file": (Path.unlink, [range(9)], r"m.db is missing, but its jour", None),
    "content": (lambda path: os.truncate(path, 0), [range(9)], "m.db is empty, but its jour", None),
}  # fmt: skip


@needs_kill
@pytest.mark.parametrize("loss", LOSSES)
def test_what_a_killed_process_had_stored_is_not_lost_silently(tmp_path, loss):
    lose, sessions, said, left = LOSSES[loss]
    path, kept = tmp_path / "m.db", tmp_path / "kept"
    Forked(add_and_die, path, *sessions).finish()
    shutil.copytree(tmp_path, kept)
    lose(path)
    for _ in range(2):
        with pytest.raises(StoreError, match=said):
            open_memory(path)
    for name in ("m.db", "m.db-wal") if path.exists() else ("m.db",):
        shutil.copy(kept / name, tmp_path / name)  # what was lost is found again
    with open_memory(path) as memory:
        assert memory.stats().messages == 9
    if left is not None:
        lose(kept / "m.db")
        accepted = Settings(storage=StorageSettings(accept_loss=True))
        with open_memory(kept / "m.db", settings=accepted) as memory:
            assert memory.stats().messages == left
            add(memory, 100)
        with open_memory(kept / "m.db") as memory:  # from then on it is whole
            assert memory.stats().messages == left + 1


@needs_kill
def test_the_command_line_says_how_to_go_on_with_what_is_left(tmp_path, capsys):
    path = tmp_path / "m.db"
    Forked(partial(add_and_die, embedder="wordllama"), path, range(5), range(5, 9)).finish()
    _drop_log(path)
    command = ["stats", "--db", str(path)]
    assert cli.main(command) == 3
    assert "open it once with --accept-loss" in capsys.readouterr().err
    assert cli.main([*command, "--accept-loss", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spaces"][0]["messages"] == 5
    assert cli.main(command) == 0  # from then on it is whole


def test_an_emptied_file_is_not_a_new_memory(tmp_path):
    path = tmp_path / "m.db"
    path.touch()
    with pytest.raises(StoreError, match=r"m\.db is empty \(0 bytes\).*delete the file"):
        open_memory(path)


def _by_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:  # which copies the log and deletes it
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _alone(path: Path) -> None:
    _by_sqlite(path)
    Path(f"{path}-count").unlink(missing_ok=True)


def _by_cognigraph(path: Path) -> None:
    open_memory(path).close()


def _copied(path: Path) -> None:
    for name in ("", "-wal", "-count"):  # as `cp m.db*` would, but without what is only in use
        if Path(f"{path}{name}").exists():
            shutil.copy(f"{path}{name}", f"{path}.copy{name}")
            Path(f"{path}{name}").unlink()
    Path(f"{path}-shm").unlink(missing_ok=True)
    for name in ("", "-wal", "-count"):
        if Path(f"{path}.copy{name}").exists():
            Path(f"{path}.copy{name}").rename(f"{path}{name}")


def _after_power_failure(path: Path) -> None:
    if Path(f"{path}-count").exists():  # it is never flushed, so it may be of any time before
        os.truncate(f"{path}-count", 0)


def add_until(path: Path, first: int, calls: int) -> None:
    """Add messages and die after a number of function calls, at whatever point that is."""
    with Calls(calls) as counted:
        memory = open_memory(path)
        for number in range(first, first + 3):
            add(memory, number)
        memory.close()
    print(counted.count)


@needs_kill
def test_a_killed_process_never_seems_to_have_lost_anything(tmp_path):
    path, random = tmp_path / "m.db", Random(24)
    open_memory(path).close()
    calls = int(Forked(add_until, tmp_path / "calm.db", 0, sys.maxsize).finish())
    stored = 0
    for _ in range(24):
        Forked(add_until, path, stored, random.randint(calls // 4, calls)).finish()
        for happens in random.sample(
            [_by_sqlite, _by_cognigraph, _copied, _after_power_failure], random.randint(0, 3)
        ):
            happens(path)
        with open_memory(path) as memory:
            now = memory.stats().messages
        assert stored <= now <= stored + 3
        assert [item.name for item in tmp_path.glob("m.db*") if ".part" not in item.name] == [
            "m.db"
        ]
        stored = now
        if random.random() < 0.3:  # what was closed is one file, which opens anywhere
            shutil.copy(path, tmp_path / "elsewhere.db")
            with open_memory(tmp_path / "elsewhere.db") as memory:
                assert memory.stats().messages == now
    assert stored > 5, "the processes were killed before they had stored anything"


@needs_kill
@pytest.mark.parametrize("after", [_by_sqlite, _alone, _by_cognigraph])
def test_a_kill_after_the_first_change_of_a_program_is_no_loss(tmp_path, after):
    path = tmp_path / "m.db"
    Forked(add_and_die, path, range(3), range(3, 4)).finish()
    after(path)
    with open_memory(path) as memory:
        assert memory.stats().messages == 4


@needs_kill
def test_a_backup_that_is_restored_is_not_compared_with_what_was_counted_since(tmp_path):
    path, backup = tmp_path / "m.db", tmp_path / "backup.db"
    with open_memory(path) as memory:
        add(memory, 1)
        memory.admin.backup(backup)
    Forked(add_and_die, path, range(2, 5)).finish()
    _drop_log(path)
    shutil.copy(backup, path)
    with open_memory(path) as memory:
        assert memory.stats().messages == 1


def test_processes_that_share_a_file_count_together(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as one:
        with open_memory(path) as other:
            for number in range(0, 6, 2):
                add(one, number)
                add(other, number + 1)
        counted = Path(f"{path}-count").read_text().split()[1]
        assert int(counted) == 6
        shutil.copytree(tmp_path, tmp_path / "copy")
        os.truncate(tmp_path / "copy" / "m.db-wal", 100_000)
        with pytest.raises(StoreError, match=r"the last \d of 6 changes"):
            open_memory(tmp_path / "copy" / "m.db")
    assert not Path(f"{path}-count").exists()


_KILLED = """
import os, signal, sys
from cognigraph.stores.sqlite import file, schema
from tests.storage.writers import open_memory, turn
file._settle = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
schema.check_changes = lambda *_, **options: None
memory = open_memory(sys.argv[1])
memory.add_many([turn(1)])
"""


@needs_kill
@pytest.mark.parametrize("after", [_by_sqlite, _by_cognigraph])
def test_a_kill_while_a_program_begins_to_write_harms_nothing(tmp_path, after):
    path = tmp_path / "m.db"
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    after(path)
    with open_memory(path) as memory:
        assert memory.stats().messages == 0
        add(memory, 1)
    shutil.copy(path, tmp_path / "copy.db")
    with open_memory(tmp_path / "copy.db") as memory:
        assert memory.stats().messages == 1


def test_a_first_insert_that_fails_leaves_a_sound_empty_memory(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    with open_memory(path) as memory, monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        patch.setattr("cognigraph.stores.sqlite.messages.insert_messages", full)
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
    monkeypatch.setattr("cognigraph.stores.sqlite.file._PATIENCE", 0.05)
    path = tmp_path / "m.db"
    with open_memory(path) as memory, closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM meta").fetchone()
        add(memory, 1)
        reader.execute("ROLLBACK")
        add(memory, 2)  # now what was held up is written to the file
        shutil.copy(path, tmp_path / "copy.db")
    with pytest.raises(StoreError, match="lacks its newest changes"):
        open_memory(tmp_path / "copy.db")


def test_a_checkpoint_that_fails_does_not_keep_a_memory_from_opening(tmp_path, monkeypatch):
    path, execute = tmp_path / "m.db", Pool.checkpoint
    with open_memory(path) as memory:
        add(memory, 1)

        class Full(_Connection):
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
