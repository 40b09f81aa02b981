"""A memory that this user may only read: searches work, changes are refused with what to do."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cognigraph import StoreError
from tests.forked import Forked
from tests.storage.writers import open_memory, turn

FILES = Path(__file__).parents[1] / "data" / "files"
NOBODY = 65534

pytestmark = pytest.mark.slow


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of this user that others may enter but not write."""
    made = Path(tempfile.mkdtemp(prefix="cognigraph-read-only-"))
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


def closed_memory(folder: Path) -> Path:
    path = folder / "m.db"
    with open_memory(path) as memory:
        memory.add_many(turn(number) for number in range(12))
        memory.flush()
    return path


def lock(folder: Path) -> None:
    """Take the right to write from this user too, unless it is root, who keeps it anyway."""
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


def seen(path: Path) -> list[str]:
    """What a user sees who may not write. Root becomes another user for it."""
    return Forked(_look, str(path)).finish().splitlines()


def _import_all() -> None:
    with tempfile.TemporaryDirectory() as folder, open_memory(Path(folder) / "m.db") as memory:
        memory.add("I moved to Oslo in May 2023.")
        memory.flush()
        memory.search("Who moved to Oslo?")
        memory.admin.check()


def _look(path: str) -> None:
    if os.geteuid() == 0:
        _import_all()  # another user may not be able to read this Python's modules
        os.setuid(NOBODY)
    try:
        with open_memory(path, enrich="background") as memory:
            print(memory.info.is_read_only, memory.stats().messages)
            print([hit.id for hit in memory.search("Who moved to Oslo?", k=3)])
            print([check.detail for check in memory.admin.check() if check.name == "access"])
            memory.flush()
            try:
                memory.add("I moved to Lima.")
            except StoreError as error:
                print(error)
    except StoreError as error:
        print(type(error).__name__, error)


def test_a_closed_memory_is_searched_and_changes_are_refused(folder):
    path = closed_memory(folder)
    lock(folder)
    before = path.read_bytes()
    opened, found, access, refused = seen(path)
    assert opened == "True 12"
    with open_memory(path) as ours:
        hits = [hit.id for hit in ours.search("Who moved to Oslo?", k=3)]
    assert found == str(hits) and len(hits) == 3
    assert access == "['it can only be read']"
    assert refused.startswith(f"{path} can only be read here: ")
    assert "open a copy of the file in a folder of your own" in refused
    assert path.read_bytes() == before and [item.name for item in folder.iterdir()] == ["m.db"]


def test_what_its_owner_has_open_is_read_with_its_journal(folder):
    path = closed_memory(folder)
    with open_memory(path) as memory:
        memory.add_many(turn(number) for number in range(12, 20))
        lock(folder)
        assert (folder / "m.db-wal").stat().st_size > 0
        opened, *_, refused = seen(path)
        folder.chmod(0o755)
    assert opened == "True 20" and "can only be read here" in refused


def test_a_journal_without_its_index_is_said_and_not_ignored(folder, tmp_path):
    path = closed_memory(folder)
    with open_memory(path) as memory:
        memory.add_many(turn(number) for number in range(12, 20))
        copy = folder / "copy"
        copy.mkdir()
        for name in ("m.db", "m.db-wal"):
            shutil.copy(folder / name, copy / name)
    lock(copy)
    (said,) = seen(copy / "m.db")
    assert said.startswith("StoreError") and "its journal" in said and "close it before" in said


def test_a_file_of_an_earlier_version_is_not_migrated(folder):
    path = folder / "m.db"
    path.write_bytes(gzip.decompress((FILES / "step7.db.gz").read_bytes()))
    lock(folder)
    (said,) = seen(path)
    assert said.startswith("SchemaError") and "another version of cognigraph" in said
    assert "open it once where this user may write" in said
