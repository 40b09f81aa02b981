"""Large indexes are kept in files beside the memory, and a wrong file is never taken for right."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cognigraph import Memory
from cognigraph.stores.candidates import StoredTexts
from cognigraph.stores.sqlite import SQLiteStore
from cognigraph.stores.sqlite.index import gather, index_cache
from cognigraph.stores.sqlite.index.index_cache import read_words
from cognigraph.stores.sqlite.index.index_words import IndexWords
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.testing import FrozenClock, HashEmbedder, ScriptedExtractor
from tests.unit.test_codes import query
from tests.unit.test_index import read

START = datetime(2026, 5, 20, 9, tzinfo=UTC)
WORDS = ["oslo", "fjord", "bread", "kayak", "piano", "rain"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are enough for codes and files."""
    monkeypatch.setattr(index_cache, "_LEAST_NEW", 5)
    monkeypatch.setattr("cognigraph.stores.sqlite.store.FEW_ROWS", 5)


def opened(path: Path) -> Memory:
    return Memory(
        path, embedder=HashEmbedder(16), extractor=ScriptedExtractor(read), enrich="manual",
        clock=FrozenClock(START),
    )  # fmt: skip


def add(memory: Memory, first: int, count: int) -> None:
    memory.add_many(
        {"text": f"{WORDS[n % 6]} {WORDS[n * 5 % 6]} secret{n}", "id": f"m{n}",
         "session": f"s{n % 3}", "speaker": "Ann" if n % 2 else "Ben",
         "at": START + timedelta(minutes=n)}
        for n in range(first, first + count)
    )  # fmt: skip
    memory.flush()


def index_of(memory: Memory) -> SpaceIndex:
    store = memory._engine.store
    assert isinstance(store, SQLiteStore)
    found = store._indexes.get("default")
    assert found is not None
    return found


def files(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}-index-*"))


def answers(memory: Memory) -> list[Any]:
    return [
        [(hit.id, hit.score) for hit in memory.search(question, k=5, now=START)]
        for question in ("oslo bread", "secret3 kayak", "What does Ann say about rain?")
    ]


def filled(path: Path) -> list[Any]:
    """A memory whose index is in a file; returns its answers."""
    with opened(path) as memory:
        add(memory, 0, 20)
        found = answers(memory)
        indexes = memory._engine.store._indexes
        indexes.finish()
        assert indexes.bytes == index_of(memory).bytes
        return found


@pytest.mark.slow
def test_a_later_process_reads_the_file_and_then_what_is_newer(tmp_path):
    path = tmp_path / "m.db"
    before = filled(path)
    (file,) = files(path)
    with opened(path) as memory:
        assert answers(memory) == before
        index = index_of(memory)
        assert (index.chunks.rows, index.unsaved) == (20, 0)  # no row was read
        add(memory, 20, 2)
        memory.search("secret21")
        assert index.chunks.rows == 22
        assert index.unsaved > 0
        assert memory.search("secret21")[0].id == "m21"
        after = answers(memory)
    assert files(path) != []
    for item in files(path):
        item.unlink()  # from the rows alone
    with opened(path) as memory:
        assert answers(memory) == after
    assert file.exists() is False


@pytest.mark.slow
def test_a_file_is_replaced_when_much_is_new(tmp_path):
    path = tmp_path / "m.db"
    filled(path)
    old = files(path)
    with opened(path) as memory:
        add(memory, 20, 20)
        expected = answers(memory)
    new = files(path)
    assert len(new) == 1 and new != old
    with opened(path) as memory:
        assert answers(memory) == expected
        assert index_of(memory).unsaved == 0


@pytest.mark.slow
def test_forgetting_removes_the_file(tmp_path):
    path = tmp_path / "m.db"
    filled(path)
    with opened(path) as memory:
        memory.search("oslo")
        memory.forget(message="m3")
        assert files(path) == []
        assert "m3" not in {hit.id for hit in memory.search("secret3", k=30)}
    with opened(path) as memory:
        assert "m3" not in {hit.id for hit in memory.search("secret3", k=30)}
        assert index_of(memory).chunks.rows == 19


@pytest.mark.slow
def test_deleting_the_space_removes_the_file(tmp_path):
    path = tmp_path / "m.db"
    filled(path)
    with opened(path) as memory:
        memory.space("other").add("rain", id="r")
        memory.admin.delete_space("default")
        assert files(path) == []


@pytest.mark.slow
def test_a_restored_backup_does_not_use_the_file_of_another_history(tmp_path):
    path, copy = tmp_path / "m.db", tmp_path / "copy.db"
    with opened(path) as memory:
        add(memory, 0, 20)
        memory.admin.backup(str(copy))  # before the file is written
        add(memory, 20, 20)
        answers(memory)
    assert len(files(path)) == 1
    shutil.copy(copy, path)
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)
    with opened(path) as memory:
        add(memory, 50, 20)  # as many revisions, and other rows
        assert memory.search("secret55")[0].id == "m55"
        index = index_of(memory)
        assert index.chunks.rows == 40
        assert {hit.id for hit in memory.search("secret25", k=40)}.isdisjoint({"m25"})


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["shortened", "emptied", "of another format"])
def test_a_damaged_file_is_not_used(tmp_path, damage, caplog):
    path = tmp_path / "m.db"
    before = filled(path)
    (file,) = files(path)
    whole = file.read_bytes()
    if damage == "shortened":
        file.write_bytes(whole[: len(whole) - 1000])
    elif damage == "emptied":
        file.write_bytes(b"")
    else:
        file.write_bytes(whole.replace(b"cognigraph-index-", b"cognigraph-index+", 1))
    with opened(path) as memory:
        assert answers(memory) == before
        assert index_of(memory).chunks.rows == 20


@pytest.mark.slow
def test_what_a_killed_process_left_is_deleted(tmp_path):
    path = tmp_path / "m.db"
    before = filled(path)
    (file,) = files(path)
    left = Path(f"{path}-index-{'0' * 32}")
    left.write_bytes(file.read_bytes())  # written, and not yet named by the memory
    with opened(path) as memory:
        assert files(path) == [file]
        assert answers(memory) == before
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE space SET epoch = epoch + 1")  # rows have disappeared
        connection.commit()
    with opened(path) as memory:
        assert files(path) == []
        assert answers(memory) == before


@pytest.mark.slow
def test_two_processes_follow_each_other(tmp_path):
    path = tmp_path / "m.db"
    filled(path)
    with opened(path) as first, opened(path) as second:
        assert answers(first) == answers(second)
        add(first, 20, 20)
        answers(first)
        first.forget(message="m25")
        answers(second)
        found = {hit.id for hit in second.search("secret25 oslo", k=60)}
        assert "m25" not in found
        assert answers(first) == answers(second)
    with opened(path) as third:
        assert "m25" not in {hit.id for hit in third.search("secret25", k=60)}


def test_small_spaces_have_no_files(tmp_path):
    path = tmp_path / "m.db"
    with opened(path) as memory:
        add(memory, 0, 4)
        answers(memory)
    assert files(path) == []


def words_known(index: SpaceIndex) -> tuple[bool, bool]:
    """Whether the words of all messages, and those of all facts, are known."""
    return index.words.chunks == index.chunks.rows, index.words.triples == index.triples.rows


def texts_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the messages whose texts are read for ranking from now on."""
    ids: list[int] = []
    plain = gather.read_later

    def counted(*given: Any) -> StoredTexts:
        texts = plain(*given)
        if given[1] != gather._CHUNK_TEXTS:
            return texts
        return replace(texts, read=lambda some: ids.extend(some) or texts.read(some))

    monkeypatch.setattr(gather, "read_later", counted)
    return ids


@pytest.mark.slow
def test_ranking_reads_only_the_texts_that_came_after_the_file(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    before = filled(path)
    with opened(path) as memory:
        ids = texts_read(monkeypatch)
        assert answers(memory) == before
        assert ids == []
        assert words_known(index_of(memory)) == (True, True)
        add(memory, 20, 2)
        after = answers(memory)
        assert set(ids) == {21, 22}
        assert memory.search("secret21", now=START)[0].id == "m21"
        assert memory.search("What did it cost?", now=START)  # whether there is a price
        assert set(ids) == set(range(1, 23))
    for file in files(path):
        file.unlink()
    with opened(path) as memory:
        assert answers(memory) == after


@pytest.mark.slow
def test_no_word_of_what_is_forgotten_or_replaced_is_in_a_later_file(tmp_path):
    path = tmp_path / "m.db"
    filled(path)
    (file,) = files(path)
    assert b"secret3" in file.read_bytes() and b"secret4" in file.read_bytes()
    with opened(path) as memory:
        answers(memory)
        memory.forget(message="m3")
        memory.update("m4", "Kayak with Marta")
        memory.flush()
        index, indexes = index_of(memory), memory._engine.store._indexes
        indexes.finish()
        expected = answers(memory)  # if the file was written before the update, it is due again
        indexes.finish()
        strings = index.words.of_chunks(np.arange(0)).book
        known = strings.strings(np.arange(len(strings)))
        assert {"secret3", "secret4"}.isdisjoint(known)
        assert {"secret5", "marta"} <= set(known)
        assert words_known(index) == (True, True)
        assert index.words.names_of(np.array([18])).book.strings([0]) == ["Marta"]
    (file,) = files(path)
    content = file.read_bytes()
    assert b"secret3" not in content and b"secret4" not in content and b"Marta" in content
    with opened(path) as memory:
        assert answers(memory) == expected
        assert memory.search("secret5", now=START)[0].id == "m5"
    file.unlink()
    with opened(path) as memory:
        assert answers(memory) == expected


@pytest.mark.slow
def test_words_that_another_thread_has_read_meanwhile_are_not_added_again(tmp_path):
    path = tmp_path / "m.db"
    filled(path)
    with opened(path) as memory:
        answers(memory)
        index = index_of(memory)
        index.words = IndexWords()
        pool, calls = memory._engine.store._indexes.snapshots.pool, []

        @contextmanager
        def connect() -> Iterator[sqlite3.Connection]:
            if not calls:
                calls.append(1)
                read_words(index, pool.read)
            with pool.read() as connection:
                yield connection

        read_words(index, connect)
        assert words_known(index) == (True, True)


@pytest.mark.slow
def test_words_that_were_read_while_rows_went_are_read_again(tmp_path):
    path = tmp_path / "m.db"
    filled(path)
    with opened(path) as memory, opened(path) as other:
        answers(memory)
        index = index_of(memory)
        index.words = IndexWords()
        store = memory._engine.store
        pool, calls = store._indexes.snapshots.pool, []

        @contextmanager
        def connect() -> Iterator[sqlite3.Connection]:
            if not calls:
                other.forget(message="m3")
                store.search.candidates("default", query("oslo"))  # the index drops its row
            calls.append(1)
            with pool.read() as connection:
                yield connection

        read_words(index, connect)
        assert words_known(index) == (True, True)
        rows = np.arange(index.chunks.rows)
        words = index.words.of_chunks(rows)
        found = words.book.strings(words.values)
        with closing(sqlite3.connect(path)) as file:
            texts = [text for (text,) in file.execute("SELECT text FROM chunk ORDER BY id")]
        assert found == [word for text in texts for word in text.split()]
        assert "secret3" not in words.book.strings(np.arange(len(words.book)))
