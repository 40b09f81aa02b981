"""Files that are not what they should be, and full disks: which error, and what it says."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from cognigraph import (
    ConfigurationError,
    EmbedderMismatchError,
    Memory,
    SchemaError,
    StoreError,
    StoreUnavailableError,
)
from cognigraph.embed.embedder import CheckedEmbedder
from cognigraph.stores.sqlite.connection import APPLICATION_ID, Pool, check_ours
from cognigraph.stores.sqlite.index.index_cache import SpaceIndexes
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.schema import migrations
from cognigraph.stores.sqlite.store import SQLiteStore
from cognigraph.testing import HashEmbedder
from tests.forked import Forked
from tests.operations import bound
from tests.storage.test_kill import ROOT, assert_whole
from tests.storage.writers import Calls, open_memory, turn

pytestmark = pytest.mark.slow


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_file_that_is_not_a_database_is_not_changed(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ann, this is a letter and not a database.\n" * 100)
    before = contents(tmp_path)
    with pytest.raises(SchemaError, match=r"letter.txt is not a cognigraph database"):
        open_memory(path)
    assert contents(tmp_path) == before


def test_another_programs_database_is_not_changed(tmp_path):
    path = tmp_path / "browser.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE history (url TEXT)")
        connection.execute("INSERT INTO history VALUES ('https://example.org')")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    before = contents(tmp_path)
    with pytest.raises(SchemaError, match="of another program; give another file name"):
        open_memory(path)
    assert contents(tmp_path) == before


def test_a_file_created_by_another_process_while_opening_is_used(tmp_path):
    path = tmp_path / "m.db"
    embedder = CheckedEmbedder(HashEmbedder()).identity
    made = []

    def make(statement: str) -> None:  # runs just before the statement does
        if "sqlite_master" in statement and not made:
            try:
                SQLiteStore(path, embedder, busy_timeout=0.1).close()
                made.append("before the second look")
            except StoreUnavailableError:
                made.append("had to wait")

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.set_trace_callback(make)
        check_ours(connection, str(path))
    assert made


def schema_and_rows(connection: sqlite3.Connection) -> tuple[list[tuple[str, str, str]], int]:
    """The tables and indexes but for the metadata, and how many rows the tables hold."""
    found = connection.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE tbl_name != 'meta' ORDER BY rowid"
    ).fetchall()
    tables = [name for kind, name, _ in found if kind == "table"]
    rows = [connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables]
    return found, sum(rows)


def test_each_new_file_of_a_process_has_the_schema_that_the_migrations_make(tmp_path):
    with closing(sqlite3.connect(":memory:")) as connection:
        for _, script in migrations():
            connection.executescript(script)
        expected = schema_and_rows(connection)
    assert len(expected[0]) > 50
    for name in ("first.db", "second.db"):  # the first of a process takes another way
        open_memory(tmp_path / name).close()
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            assert schema_and_rows(connection) == expected


def test_a_newer_schema_is_refused_with_advice(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        memory.add("hello", id="m1")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    with pytest.raises(SchemaError, match=r"schema 999.*upgrade cognigraph-memory"):
        open_memory(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (999,)
        connection.execute(f"PRAGMA user_version = {migrations()[-1][0]}")
    with open_memory(path) as memory:
        assert memory.get("m1") is not None


@pytest.mark.parametrize("other", [HashEmbedder(64), "wordllama"])
def test_another_embedder_is_refused_with_advice(tmp_path, other):
    path = tmp_path / "m.db"
    open_memory(path).close()
    with pytest.raises(EmbedderMismatchError, match=r"hash-128.*128 dimensions.*open it with"):
        open_memory(path, embedder=other)
    open_memory(path).close()


def test_another_analyser_is_refused(tmp_path):
    path = tmp_path / "m.db"
    open_memory(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE meta SET value = 'other-9' WHERE key = 'analyzer'")
        connection.commit()
    with pytest.raises(SchemaError, match="other-9"):
        open_memory(path)


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(StoreError, match=r"cannot open.*folder exists"):
        open_memory(tmp_path / "no/such/folder/m.db")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(
        StoreError, match=r"is a folder; give the path of a file, such as .*memory.db"
    ):
        open_memory(tmp_path)


@pytest.mark.parametrize("name", ["x" * 5000, "letter.txt/m.db", "loop/m.db"])
def test_a_path_that_cannot_be_looked_up(tmp_path, name):
    (tmp_path / "letter.txt").write_text("Dear Ann.")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StoreError, match=r"cannot look up .*; give the path of a file in a folder"):
        Memory(tmp_path / name, enrich="manual")
    assert contents(tmp_path) == {"letter.txt": b"Dear Ann."}


@pytest.mark.parametrize("target", ["", ":memory:", "postgres://host/db", "http://x"])
def test_locations_that_are_not_files_are_refused(target):
    with pytest.raises(ConfigurationError):
        Memory(target, embedder=HashEmbedder())


def test_auth_is_for_neo4j(tmp_path):
    with pytest.raises(ConfigurationError, match="for Neo4j"):
        Memory(tmp_path / "m.db", auth=("neo4j", "secret"))


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_read_only_folder(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        with pytest.raises(StoreError, match=r"writable|read-only"):
            open_memory(folder / "m.db")
    finally:
        folder.chmod(0o700)


@pytest.mark.parametrize("first", [3, 40])
def test_a_damaged_file_is_found_by_check_and_never_a_raw_error(tmp_path, first):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        memory.add_many(turn(n) for n in range(100))
        memory.flush()
    data = bytearray(path.read_bytes())
    for page in range(first, len(data) // 4096, 2):
        data[page * 4096 : page * 4096 + 200] = b"\xa5" * 200
    path.write_bytes(data)
    said = []
    try:
        with open_memory(path) as memory:
            for look in (
                lambda: memory.search("Oslo"),
                lambda: [memory.get(f"m{n}") for n in range(100)],
                lambda: memory.facts(limit=1000),
                lambda: memory.add("more", id="more"),
            ):
                try:
                    look()
                except StoreError as error:
                    said.append(str(error))
            checks = {check.name: check for check in memory.admin.check()}
            assert not checks["integrity"].ok
            assert "backup" in checks["integrity"].advice
    except StoreError as error:
        said.append(str(error))
    assert said
    # The error must not suggest another file: this is the right one, but damaged.
    assert not [text for text in said if "not a cognigraph database" in text]
    assert all("m.db" in text for text in said)


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
def test_a_full_disk_is_reported_and_nothing_is_stored_partially(tmp_path):
    path = tmp_path / "m.db"
    command = [sys.executable, "-m", "tests.storage.writers", "fill", str(path), str(1 << 20)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=90, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    message, acknowledged = done.stdout.splitlines()
    assert "free disk space and repeat the call" in message
    with open_memory(path) as memory:
        assert_whole(memory, path)
        ids = acknowledged.split()
        assert len(ids) > 5
        assert all(memory.get(id) is not None for id in ids)
        assert memory.stats().messages == len(ids)


def test_a_full_database_is_retryable_and_keeps_what_it_had(tmp_path, monkeypatch):
    path, connect = tmp_path / "m.db", Pool._connect

    def small(pool: Pool) -> sqlite3.Connection:
        connection = connect(pool)
        connection.execute("PRAGMA max_page_count = 120")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(Pool, "_connect", small)
        with open_memory(path) as memory:
            stored = 0
            with pytest.raises(StoreUnavailableError, match="full") as caught:
                for number in range(10_000):
                    memory.add_many([turn(2 * number), turn(2 * number + 1)])
                    stored += 2
            assert caught.value.is_retryable
            assert 10 < stored == memory.stats().messages
            with pytest.raises(StoreUnavailableError):
                memory.queue.enrich()
            assert "m1" in [hit.id for hit in memory.search("word1", k=5)]
    with open_memory(path) as memory:  # there is room again
        assert_whole(memory, path)
        memory.add_many([turn(stored), turn(stored + 1)])
        memory.flush(timeout=20)
        assert memory.stats().messages == stored + 2


def test_the_file_can_be_moved_after_close(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        memory.add("hello", id="m1")
    assert sorted(contents(tmp_path)) == ["m.db"], "a closed memory is one file"
    path.rename(tmp_path / "moved.db")
    with open_memory(tmp_path / "moved.db") as memory:
        assert memory.get("m1") is not None


def test_closing_waits_for_the_thread_that_loads_an_index(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        memory.add("I moved to Oslo.", id="m1")
    searched, reading = Event(), Event()
    load, refresh = SpaceIndexes._load, SpaceIndex.refresh

    def late(*arguments):
        searched.wait()
        load(*arguments)

    def slow(*arguments):
        refresh(*arguments)
        if searched.is_set():  # only then is it the thread's
            reading.set()
            time.sleep(0.3)

    monkeypatch.setattr(SpaceIndexes, "_load", late)
    monkeypatch.setattr(SpaceIndex, "refresh", slow)
    with open_memory(path) as memory:
        assert [hit.id for hit in memory.search("Who moved to Oslo?")] == ["m1"]
        searched.set()
        assert reading.wait(10)
    assert sorted(contents(tmp_path)) == ["m.db"]


def test_names_with_special_characters(tmp_path):
    for name in ("with space.db", "percent%20.db", "frage?.db", "猫.db", "a#b.db", "-x.db"):
        with open_memory(tmp_path / name) as memory:
            memory.add("hello", id="m1")
        assert (tmp_path / name).is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_only_the_owner_may_read_what_is_created(tmp_path):
    path, shared = tmp_path / "m.db", tmp_path / "shared.db"
    open_memory(shared).close()
    shared.chmod(0o640)
    with open_memory(path) as memory, open_memory(shared) as other:
        for item in (memory, other):
            item.add("I moved to Oslo.", id="m1")
        memory.admin.backup(tmp_path / "backup.db")
        memory.files.export(tmp_path / "export.jsonl")
        modes = {item.name: stat.S_IMODE(item.stat().st_mode) for item in tmp_path.iterdir()}
    beside = ("", "-wal", "-shm", "-count")
    assert modes == {
        **{f"m.db{end}": 0o600 for end in beside},
        **{f"shared.db{end}": 0o640 for end in beside},  # what exists keeps its permissions
        "backup.db": 0o600,
        "export.jsonl": 0o600,
    }


DAMAGE = (
    "UPDATE chunk SET text = CAST(x'49ff' AS TEXT)",
    "UPDATE chunk SET at = 1 << 60",
    "UPDATE message_data SET metadata = '{\"n\": ,}'",
    "UPDATE message_data SET tags = '{'",
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_flipped_bit_ends_in_an_error_that_says_what_to_do(tmp_path, damage):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        memory.add("I moved to Oslo.", id="m1", metadata={"n": 1}, tags=["a"])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(damage)
        connection.commit()
    with (
        open_memory(path) as memory,
        pytest.raises(StoreError, match=r"m\.db is damaged: .* Restore a backup"),
    ):
        memory.messages()


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_backup_or_export_that_is_killed_leaves_nothing_under_its_name(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory:
        memory.add_many([turn(number) for number in range(30)])
    for write in ("admin.backup", "files.export"):
        target = tmp_path / f"{write}.out"
        calls = int(Forked(written_out, path, write, tmp_path / "calm", sys.maxsize).finish())
        for part in (2, 3, 4, 6):
            Forked(written_out, path, write, target, calls * part // 8).finish()
            assert not target.exists() or target.stat().st_size > 1000
            target.unlink(missing_ok=True)
        with open_memory(path) as memory:
            bound(memory, write)(target)  # its name is free
            with pytest.raises(StoreError, match="exists already"):
                bound(memory, write)(target)
        (tmp_path / "calm").unlink()


def written_out(path: Path, write: str, target: Path, calls: int) -> None:
    """Write a backup or an export, and die after a number of function calls."""
    with open_memory(path) as memory, Calls(calls) as counted:
        bound(memory, write)(target)
    print(counted.count)
