"""Batches of a store on a server: the next one is prepared while the one before is stored.

A file stands in for the server here: what is tested is when and in which thread its transactions
run.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from cognigraph import ConflictError, InvalidMessageError, Memory, StoreUnavailableError
from cognigraph.settings import InsertSettings, Settings
from cognigraph.stores.sqlite.messages import SQLiteMessages
from cognigraph.stores.sqlite.store import SQLiteStore
from cognigraph.testing import HashEmbedder

PATIENCE = 30.0


class Embedder(HashEmbedder):
    """Tells when the messages of the second batch are embedded."""

    def __init__(self) -> None:
        super().__init__(32)
        self.embedded = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        if "message 2" in texts:
            self.embedded.set()
        return super().embed(texts)


@pytest.fixture
def embedder() -> Embedder:
    return Embedder()


@pytest.fixture
def memory(tmp_path, monkeypatch, embedder) -> Iterator[Memory]:
    monkeypatch.setattr(SQLiteStore, "is_on_server", True)
    settings = Settings(insert=InsertSettings(batch=2))
    with Memory(tmp_path / "a.db", embedder=embedder, enrich="manual", settings=settings) as opened:
        yield opened
    assert not [item for item in threading.enumerate() if item.name.startswith("cognigraph-store")]


def numbered(count: int) -> Iterator[dict[str, str]]:
    return ({"text": f"message {n}", "id": f"m{n}"} for n in range(count))


def stored(memory: Memory) -> list[str]:
    return sorted(message.id for message in memory.messages())


def test_a_batch_is_prepared_while_the_one_before_is_stored(memory, embedder, monkeypatch):
    insert, was_embedded, threads = SQLiteMessages.insert, [], set()

    def slow(self: SQLiteMessages, space: str, rows: Any) -> Any:
        threads.add(threading.current_thread())
        if rows[0].id == "m0":
            was_embedded.append(embedder.embedded.wait(PATIENCE))
        return insert(self, space, rows)

    monkeypatch.setattr(SQLiteMessages, "insert", slow)
    reported: list[tuple[int, threading.Thread]] = []
    result = memory.add_many(
        numbered(5), on_progress=lambda done: reported.append((done, threading.current_thread()))
    )
    assert was_embedded == [True]
    assert reported == [(done, threading.current_thread()) for done in (2, 4, 5)]
    assert result.new == ("m0", "m1", "m2", "m3", "m4")
    assert (result.chunks, stored(memory)) == (5, ["m0", "m1", "m2", "m3", "m4"])
    assert len(threads) == 2  # the last batch is stored by the caller's thread


def test_a_batch_that_fails_ends_the_call_before_the_next_is_stored(memory, monkeypatch):
    insert = SQLiteMessages.insert

    def failing(self: SQLiteMessages, space: str, rows: Any) -> Any:
        if rows[0].id == "m2":
            raise StoreUnavailableError("gone")
        return insert(self, space, rows)

    monkeypatch.setattr(SQLiteMessages, "insert", failing)
    done: list[int] = []
    with pytest.raises(StoreUnavailableError, match="gone"):
        memory.add_many(numbered(9), on_progress=done.append)
    assert (done, stored(memory)) == ([2], ["m0", "m1"])


def test_a_conflict_and_an_invalid_message_keep_their_order(memory):
    memory.add("another text", id="m1")
    with pytest.raises(ConflictError) as conflict:
        memory.add_many([*numbered(2), {"text": ""}, *numbered(9)])
    assert (conflict.value.index, stored(memory)) == (1, ["m0", "m1"])

    given = [{"text": "a", "id": "a"}, {"text": "b", "id": "b"}, {"text": "c", "id": "c"}, {}]
    taken: list[int] = []
    watched = (taken.append(n) or item for n, item in enumerate([*given, *numbered(9)]))
    with pytest.raises(InvalidMessageError) as invalid:
        memory.add_many(watched)
    assert (invalid.value.index, stored(memory)) == (3, ["a", "b", "c", "m0", "m1"])
    assert taken == [0, 1, 2, 3]  # nothing is taken after the batch that is invalid


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_ends_the_reading_does_not_end_the_transaction(memory, error):
    def ending() -> Iterator[dict[str, str]]:
        yield from numbered(3)
        raise error

    done: list[int] = []
    with pytest.raises(error):
        memory.add_many(ending(), on_progress=done.append)
    assert (done, stored(memory)) == ([2], ["m0", "m1"])


def test_what_is_stored_is_reported_while_the_next_messages_are_awaited(memory):
    done: list[int] = []
    reported = threading.Event()

    def waiting() -> Iterator[dict[str, str]]:
        yield from numbered(2)
        for one in ({"text": f"late {n}"} for n in range(3000)):
            if reported.wait(0.01):
                return
            yield one

    memory.add_many(waiting(), on_progress=lambda n: (done.append(n), reported.set()))
    assert done[0] == 2


@pytest.mark.slow
def test_a_change_of_the_embedder_between_two_batches(memory):
    def change(done: int) -> None:
        if done == 2:  # the next batch has its vectors already
            memory.admin.reindex(HashEmbedder(96))

    memory.add_many(numbered(6), on_progress=change)
    assert stored(memory) == [f"m{n}" for n in range(6)]
    assert memory.info.embedder.dimension == 96
    (hit,) = memory.search("message 3", k=1).hits
    assert hit.id == "m3"


def test_equal_messages_without_ids_are_told_apart_across_batches(memory):
    same = [{"text": "yes", "at": "2026-05-20T09:00:00Z"}] * 5
    first = memory.add_many(same)
    again = memory.add_many(same)
    assert (len(set(first.new)), again.new, again.ids) == (5, (), first.ids)
