"""The in-memory index follows the file: reading it in steps or at once gives the same index."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cognigraph import EnrichSettings, Memory, NotFoundError, Settings
from cognigraph.ingest import Extraction, Fact
from cognigraph.model import Theme
from cognigraph.stores.sqlite.index import space_index
from cognigraph.stores.sqlite.index.gather import evidence_of
from cognigraph.stores.sqlite.index.index_cache import read_evidence
from cognigraph.stores.sqlite.index.layer import NOBODY, Postings, Table, ThemeRow, Themes
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.rows import VectorFormat, term_hash
from cognigraph.testing import FrozenClock, HashEmbedder, ScriptedExtractor
from tests.examples import examples

START = datetime(2026, 5, 20, 9, tzinfo=UTC)
WORDS = ["oslo", "fjord", "bread", "kayak", "piano", "rain"]
DIMENSION = 16
FORMAT = VectorFormat(DIMENSION, "float16")


def read(window: Any) -> Extraction:
    """A fact for each pair of words, so that triples come back with more evidence."""
    facts = []
    for position, chunk in enumerate(window.chunks):
        words = chunk.text.split()
        facts += [
            Fact(left, "object", "goes with", right, "object", (position,))
            for left, right in pairwise(words)
        ]
    last = window.chunks[-1].text
    themes = () if last.startswith("rain") else (Theme(last, last), Theme("all", "more"))
    return Extraction(facts=tuple(facts), keys=((last, 1.0),), themes=themes)


def open_memory(path: Path, **options: Any) -> Memory:
    return Memory(
        path, embedder=HashEmbedder(DIMENSION), extractor=ScriptedExtractor(read),
        enrich="manual", clock=FrozenClock(START), **options,
    )  # fmt: skip


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path)
    try:
        yield connection
    finally:
        connection.close()


def postings(words: Postings, table: Table, word: str) -> list[tuple[int, float]]:
    rows, counts = words.under(term_hash(word))
    return sorted(zip(table["id"][rows].tolist(), counts.tolist(), strict=True))


def contents(index: SpaceIndex) -> dict[str, Any]:
    """All an index knows, by ids instead of rows."""
    chunks, triples = index.chunks, index.triples
    ids = chunks["id"].tolist()

    def linked(rows: np.ndarray) -> list[int | None]:
        return [ids[row] if row >= 0 else None for row in rows.tolist()]

    def by_id(table: Any, *columns: list[Any]) -> dict[int, tuple[Any, ...]]:
        return dict(zip(table["id"].tolist(), zip(*columns, strict=True), strict=True))

    themes = index.themes
    owned = [row for row, owner in enumerate(themes["owner"]) if owner != NOBODY]
    # Of each session its themes in order, whatever came before them.
    position = {
        row: n for n, row in enumerate(sorted(owned, key=lambda r: (themes["owner"][r], r)))
    }
    return {
        "chunks": by_id(
            chunks, chunks["at"].tolist(), chunks["session"].tolist(), chunks["length"].tolist(),
            chunks["question"].tolist(), chunks["uid"].tolist(), chunks["vector"].tolist(),
            [index.speakers[code] for code in chunks["speaker"].tolist()],
            linked(chunks["previous"]), linked(chunks["following"]),
        ),
        "triples": by_id(
            triples, triples["subject"].tolist(), triples["object"].tolist(),
            triples["first"].tolist(), triples["last"].tolist(), triples["length"].tolist(),
            triples["uid"].tolist(), triples["vector"].tolist(),
        ),
        "words": {word: postings(index.chunks.words, chunks, word) for word in WORDS},
        "triple words": {word: postings(index.triples.words, triples, word) for word in WORDS},
        "length": index.chunks.total_length,
        "shortest": (index.chunks.shortest, index.triples.shortest),
        "themes": [
            (themes["owner"][row], themes["vector"][row].tolist(), themes["length"][row])
            for row in position
        ],
        "theme words": {
            word: sorted(
                (position[row], count)
                for row, count in zip(*themes.words.under(term_hash(word)), strict=True)
                if row in position
            )
            for word in WORDS
        },
        "revision": index.revision,
    }  # fmt: skip


MESSAGE = st.tuples(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    st.sampled_from(["s1", "s2"]),
    st.sampled_from(["Ann", "Ben", None]),
    st.integers(0, 5),  # minutes: many equal times and late arrivals
)
STEP = st.one_of(
    st.lists(MESSAGE, min_size=1, max_size=5).map(lambda batch: ("add", batch)),
    st.just(("enrich", None)),
    st.just(("refresh", None)),
    st.just(("read evidence", None)),
    st.tuples(st.just("merge"), st.sampled_from([*combinations(WORDS, 2)])),
    st.tuples(st.sampled_from(["forget", "update"]), st.integers(0, 30)),
)


@given(st.lists(STEP, min_size=2, max_size=10))
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_incremental_reading_equals_a_full_one(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("index") / "m.db"
    followed, coded, number = SpaceIndex(FORMAT), SpaceIndex(FORMAT, few_rows=0), 0
    small = Settings(enrich=EnrichSettings(batch=3))
    with open_memory(path, settings=small) as memory, connect(path) as connection:
        for verb, batch in steps:
            if verb == "add":
                items = []
                for text, session, speaker, minute in batch:
                    at = START + timedelta(minutes=minute)
                    items.append({"text": text, "session": session, "speaker": speaker,
                                  "at": at, "id": f"m{number}"})  # fmt: skip
                    number += 1
                memory.add_many(items)
            elif verb == "enrich":
                memory.queue.enrich()
            elif verb == "refresh" and number:
                followed.refresh(connection, 1)
                coded.refresh(connection, 1)
                assert_names_known(followed, connection)
            elif verb == "read evidence" and number:
                read_evidence(coded, partial(connect, path))
            elif verb == "merge" and number:
                with suppress(NotFoundError):
                    memory.review.merge(*batch)
            elif number and isinstance(batch, int):
                change(memory, verb, f"m{batch % number}")
            if number:
                assert_evidence_known(coded, connection)
        if not number:
            return
        memory.add("the end", id="end", session="s1", at=START)
        fresh, encoded = SpaceIndex(FORMAT), SpaceIndex(FORMAT, few_rows=0)
        for index in (followed, coded, fresh, encoded):
            index.refresh(connection, 1)
        assert_names_known(followed, connection)
        entities = [row[0] for row in connection.execute("SELECT id FROM entity")]
    assert contents(followed) == contents(fresh)
    assert codes(coded) == codes(encoded)
    for entity in entities:
        found, expected = (
            sorted(item.triples["id"][item.around(entity)].tolist()) for item in (followed, fresh)
        )
        assert found == expected
    chains = contents(fresh)["chunks"]
    for session in {row[1] for row in chains.values()}:
        assert _chain(chains, session) == _ordered(chains, session)


@pytest.mark.slow
def test_evidence_in_memory_follows_what_is_forgotten_merged_and_said_again(tmp_path):
    path, index = tmp_path / "m.db", SpaceIndex(FORMAT, few_rows=0)
    texts = ["oslo fjord bread", "kayak piano", "oslo fjord rain", "rain bread"]
    with open_memory(path) as memory, connect(path) as connection:
        memory.add_many({"text": text, "id": f"m{n}", "at": START} for n, text in enumerate(texts))
        memory.queue.enrich()
        index.refresh(connection, 1)
        read_evidence(index, partial(connect, path))
        assert (index.evidence.rows, index.triples["restated"].sum()) == (5, 0)
        assert_evidence_known(index, connection)
        memory.add("kayak piano oslo", id="m4", at=START)  # a fact again, and a new one
        memory.queue.enrich()
        assert_evidence_known(index, connection)
        assert (index.evidence.rows, index.triples["restated"].sum()) == (5, 1)
        memory.forget(message="m0")  # "oslo fjord" is said elsewhere, "fjord bread" is not
        assert_evidence_known(index, connection)
        memory.review.merge("rain", into="oslo")
        assert_evidence_known(index, connection)
        read_evidence(index, partial(connect, path))
        assert (index.evidence.rows, index.triples["restated"].sum()) == (index.triples.rows, 0)
        assert_evidence_known(index, connection)


def assert_names_known(index: SpaceIndex, connection: sqlite3.Connection) -> None:
    """The names of all sessions are those in the file."""
    rows = connection.execute("SELECT id, uid, name FROM session").fetchall()
    expected = {id: (uid, name) for id, uid, name in rows}
    assert index.sessions.names(connection, [*expected, 10**6]) == expected


def assert_evidence_known(index: SpaceIndex, connection: sqlite3.Connection) -> None:
    """The evidence of all facts is that in the file."""
    index.refresh(connection, 1)
    rows, rest = np.arange(index.triples.rows), "evidence JOIN triple_index USING (triple_id)"
    found = evidence_of(connection, index, rows, None, None)
    ids = index.triples["id"][found.triples], index.chunks["id"][found.chunks]
    known = set(zip(*(own.tolist() for own in ids), strict=True))
    assert known == {*connection.execute(f"SELECT triple_id, chunk_id FROM {rest}")}
    assert len(known) == len(found.triples)


def change(memory: Memory, verb: str, id: str) -> None:
    """Forget a message or give it another text, if it is still there."""
    known = {message.id: message.session for message in memory.messages()}
    if id in known:
        if verb == "forget":
            memory.forget(message=id, session=known[id])
        else:
            memory.update(id, "piano bread", session=known[id])


def codes(index: SpaceIndex) -> dict[str, Any]:
    """The codes of both layers, by ids."""
    return {
        name: {
            id: (layer.codes.arrays()["rounded"][row].tolist(),
                 layer.codes.arrays()["signs"][:, row].tolist())
            for row, id in enumerate(layer["id"].tolist())
        }
        for name, layer in (("chunks", index.chunks), ("triples", index.triples))
        if layer.codes is not None
    }  # fmt: skip


def _chain(chunks: dict[int, tuple[Any, ...]], session: int) -> list[int]:
    """Ids of a session along ``following``."""
    own = {id: row for id, row in chunks.items() if row[1] == session}
    (current,) = [id for id, row in own.items() if row[7] is None]
    chain: list[int] = []
    while current is not None:
        chain.append(current)
        current = own[current][8]
    return chain


def _ordered(chunks: dict[int, tuple[Any, ...]], session: int) -> list[int]:
    own = [(row[0], id) for id, row in chunks.items() if row[1] == session]
    return [id for _, id in sorted(own)]


@pytest.mark.slow
def test_after_forgetting_only_changed_rows_are_read_again(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    with open_memory(path) as memory, connect(path) as connection:
        memory.add_many(
            {"text": f"oslo {WORDS[n % 6]} rain", "id": f"m{n}", "session": f"s{n // 5}"}
            for n in range(60)
        )
        memory.flush()
        followed, fresh = SpaceIndex(FORMAT), SpaceIndex(FORMAT)
        followed.refresh(connection, 1)
        read: list[int] = []
        take = SpaceIndex._take_chunks

        def counted(index: SpaceIndex, row: tuple[Any, ...]) -> None:
            read.append(row[0].count(",") + 1)
            take(index, row)

        with monkeypatch.context() as patch:
            patch.setattr(SpaceIndex, "_take_chunks", counted)
            memory.forget(message="m17", session="s3")
            followed.refresh(connection, 1)
            assert sum(read) < 10
        fresh.refresh(connection, 1)
        assert followed.chunks.rows == 59
        assert contents(followed) == contents(fresh)
        memory.forget(session="s3")
        memory.add("bread oslo", id="new")  # may take the id of a deleted row
        again = SpaceIndex(FORMAT)
        followed.refresh(connection, 1)
        again.refresh(connection, 1)
        assert contents(followed) == contents(again)


def test_a_session_with_the_row_id_of_a_forgotten_one_has_its_own_name(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory, connect(path) as connection:
        memory.add("oslo", session="old")
        index = SpaceIndex(FORMAT)
        index.refresh(connection, 1)
        assert [name for _, name in index.sessions.names(connection, [1]).values()] == ["old"]
        memory.forget(session="old")
        memory.add("oslo", session="new")
        index.refresh(connection, 1)
        assert [name for _, name in index.sessions.names(connection, [1]).values()] == ["new"]


def test_a_search_does_not_change_the_size_of_an_index(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory, connect(path) as connection:
        memory.add_many({"text": f"oslo fjord {WORDS[n % 6]}", "id": f"m{n}"} for n in range(9))
        memory.queue.enrich()
        index = SpaceIndex(FORMAT)
        index.refresh(connection, 1)
        before = index.bytes
        assert index.themes.rows > 0
        for words in (index.chunks.words, index.triples.words, index.themes.words):
            words.under(term_hash("oslo"))
        assert index.bytes == before


def test_an_interrupted_refresh_is_taken_up_again(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    with open_memory(path) as memory, connect(path) as connection:
        memory.add_many({"text": f"oslo fjord {WORDS[n % 6]}", "id": f"m{n}"} for n in range(20))
        memory.queue.enrich()
        broken, fresh = SpaceIndex(FORMAT), SpaceIndex(FORMAT)
        with monkeypatch.context() as patch:
            patch.setattr(
                SpaceIndex, "_take_triples", lambda *_: (_ for _ in ()).throw(MemoryError)
            )
            with pytest.raises(MemoryError):
                broken.refresh(connection, 1)
        broken.refresh(connection, 1)
        fresh.refresh(connection, 1)
        assert contents(broken) == contents(fresh)


@pytest.mark.slow
def test_the_index_does_not_depend_on_batches(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    with open_memory(path) as memory, connect(path) as connection:
        memory.add_many(
            {
                "text": f"oslo {WORDS[n % 6]}", "id": f"m{n}", "session": f"s{n % 5}",
                "at": START + timedelta(minutes=-n % 7),
            }
            for n in range(50)
        )  # fmt: skip
        memory.queue.enrich()
        whole = SpaceIndex(FORMAT)
        whole.refresh(connection, 1)
        sessions, take = [], Themes.replace

        def taken(themes: Themes, some: dict[int, list[ThemeRow]]) -> None:
            sessions.append(len(some))
            take(themes, some)

        monkeypatch.setattr(space_index, "BATCH", 7)
        monkeypatch.setattr(space_index, "_SESSIONS", 2)
        monkeypatch.setattr(Themes, "replace", taken)
        parts = SpaceIndex(FORMAT)
        parts.refresh(connection, 1)
        assert contents(parts) == contents(whole)
        assert parts.themes.rows > 5
        assert sessions == [2, 2, 1]


def test_two_threads_read_what_one_does(tmp_path, monkeypatch):
    path = tmp_path / "m.db"

    @contextmanager
    def another() -> Iterator[sqlite3.Connection]:
        apart.append(threading.current_thread().name)
        with connect(path) as second:
            yield second

    apart: list[str] = []
    with open_memory(path) as memory, connect(path) as connection:
        memory.add_many({"text": f"oslo {WORDS[n % 6]} rain", "id": f"m{n}"} for n in range(30))
        memory.queue.enrich()
        alone, together = SpaceIndex(FORMAT), SpaceIndex(FORMAT)
        alone.refresh(connection, 1, another)
        assert not apart  # few triples are not worth a thread
        monkeypatch.setattr(space_index, "BATCH", 3)
        together.refresh(connection, 1, another)
        assert contents(together) == contents(alone)
        assert len(contents(alone)["triples"]) > 3
        together.refresh(connection, 1, another)
    assert [name.startswith("cognigraph-load") for name in apart] == [True]


def test_only_its_own_space_is_read(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path) as memory, connect(path) as connection:
        memory.space("a").add("oslo fjord", id="m1")
        before = SpaceIndex(FORMAT)
        before.refresh(connection, 1)
        memory.space("b").add("oslo bread", id="m1")
        memory.space("b").flush()
        after = SpaceIndex(FORMAT)
        after.refresh(connection, 1)
        assert contents(after) == contents(before)
        assert after.lexicon(["oslo", "bread"]).frequencies == {"oslo": 1, "bread": 0}


def test_a_message_without_words_is_in_the_index(tmp_path):
    with open_memory(tmp_path / "m.db") as memory:
        memory.add("!!!", id="m1")
        assert list(memory.search("oslo")) == []
        memory.add("oslo", id="m2")
        assert memory.search("oslo")[0].id == "m2"


@pytest.mark.slow
def test_dropped_indexes_come_back(tmp_path):
    from cognigraph.stores.sqlite import SQLiteStore

    with open_memory(tmp_path / "m.db") as memory:
        for name in ("a", "b", "c"):
            memory.space(name).add(f"oslo {name}", id=name)
        store = memory._engine.store
        assert isinstance(store, SQLiteStore)
        store._indexes.finish()
        store._indexes._most_bytes = 1
        for _ in range(2):
            for name in ("a", "b", "c"):
                assert [hit.id for hit in memory.space(name).search("oslo")] == [name]
                store._indexes.finish()  # a thread loads the index too
                assert list(store._indexes._entries) == [name]


def test_words_of_a_small_space_are_read_once_and_give_the_same_order(tmp_path):
    texts = [f"Nora said that oslo has {number} bridges in May" for number in range(40)]
    with open_memory(tmp_path / "m.db") as memory:
        memory.add_many({"text": text, "id": f"m{n}"} for n, text in enumerate(texts))
        indexes = memory._engine.store._indexes
        question = "Which bridges did Nora see in Oslo?"
        first = [(hit.id, hit.score) for hit in memory.search(question)]
        indexes.finish()
        words = indexes._entries["default"].index.words
        assert (words.chunks, words.triples) == (40, 0)
        assert [(hit.id, hit.score) for hit in memory.search(question)] == first
        memory.add("Oslo has bread", id="m40")  # too few to read at once: searches read its text
        assert memory.search("bread")[0].id == "m40"
        indexes.finish()
        assert words.chunks == 40
        memory.forget(message="m0")
        assert "m0" not in [hit.id for hit in memory.search(question, k=50)]
