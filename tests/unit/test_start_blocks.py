"""Blocks that are kept to be shown when a conversation begins."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cognigraph import Memory
from cognigraph._version import __version__
from cognigraph.stores import start_blocks


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "100% sure?#1.db", enrich="manual") as memory:
        for name in ("app", "other", "person"):
            memory.space(name).add(f"The port of {name} is 5000.", id="m1")
        yield memory


def fill(path: str) -> None:
    for project in ("app", "other"):
        for shown, state in start_blocks.outdated(path, project, "person").items():
            start_blocks.write(path, project, shown, state, f"{project}: {shown}")


def test_a_block_is_shown_until_its_space_changes(memory: Memory) -> None:
    path = memory.info.location
    assert start_blocks.read(path, "app", "person") == []
    assert start_blocks.outdated(path, "app", "person").keys() == {"app", "person"}
    fill(path)
    assert start_blocks.outdated(path, "app", "person") == {}
    assert start_blocks.read(path, "app", "person") == ["app: app", "app: person"]
    assert start_blocks.read(path, "nowhere", "person") == []
    memory.space("person").update("m1", "The port of person is 6000.")
    assert start_blocks.read(path, "app", "person") == ["app: app"]
    assert start_blocks.read(path, "other", "person") == ["other: other"]
    assert start_blocks.outdated(path, "app", "person").keys() == {"person"}
    fill(path)
    (fact,) = memory.space("app").add_fact("app", "uses", "SQLite").ids
    assert start_blocks.read(path, "app", "person") == ["app: person"], fact


def test_a_block_of_an_earlier_state_is_not_kept(memory: Memory) -> None:
    path = memory.info.location
    state = start_blocks.outdated(path, "app", "person")["app"]
    memory.space("app").forget(message="m1")  # while the block is made
    start_blocks.write(path, "app", "app", state, "The port of app is 5000.")
    assert start_blocks.read(path, "app", "person") == []
    with closing(sqlite3.connect(path)) as connection:
        assert kept(connection) == []


def test_an_empty_block_is_no_reason_to_make_it_again(memory: Memory) -> None:
    path = memory.info.location
    for shown, state in start_blocks.outdated(path, "app", "person").items():
        start_blocks.write(path, "app", shown, state, "")
    assert start_blocks.outdated(path, "app", "person") == {}
    assert start_blocks.read(path, "app", "person") == []


@pytest.mark.slow
def test_forgetting_deletes_the_blocks_about_the_space_and_no_other(memory: Memory) -> None:
    path = memory.info.location
    fill(path)
    memory.space("app").forget(message="m1")
    with closing(sqlite3.connect(path)) as connection:
        assert kept(connection) == ["other: other", "other: person"]
        memory.space("person").forget(everything=True)
        assert kept(connection) == ["other: other"]
        memory.admin.delete_space("other")
        assert kept(connection) == []


def test_a_block_of_another_version_is_not_shown(memory: Memory) -> None:
    path = memory.info.location
    fill(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE meta SET value = replace(value, ?, ?) WHERE key LIKE 'start %'",
            (__version__, "0.0.1"),
        )
        connection.commit()
    assert start_blocks.read(path, "app", "person") == []


def test_what_is_no_memory_yet_shows_nothing(tmp_path: Path) -> None:
    empty, foreign = tmp_path / "empty.db", tmp_path / "foreign.db"
    empty.touch()
    assert start_blocks.read(str(empty), "app", "person") == []
    assert start_blocks.read(str(tmp_path / "none.db"), "app", "person") == []
    assert not (tmp_path / "none.db").exists()
    foreign.write_text("this is no database " * 100)
    with pytest.raises(sqlite3.DatabaseError):
        start_blocks.read(str(foreign), "app", "person")


def kept(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT value FROM meta WHERE key LIKE 'start %' ORDER BY value")
    return sorted(value.partition("\n")[2] for (value,) in rows)
