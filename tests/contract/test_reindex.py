"""Changing the embedder of a store in place, on every store.

A reindex affects the whole store, and the tests share servers, so each test here has a store
without other data.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from neo4j import GraphDatabase

from cognigraph import CogniGraphError, EmbedderMismatchError, EmbeddingError, Memory
from cognigraph.embed import CheckedEmbedder
from cognigraph.ingest import Extraction, Fact
from cognigraph.model import Theme
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.testing import HashEmbedder
from tests.conftest import START, OpenMemory

pytestmark = pytest.mark.oldest_line

TEXTS = ["I moved to Oslo.", "The fjord is cold.", "Bread and a kayak.", "!!!", "Oslo again?"]
QUESTIONS = ["Who moved to Oslo?", "Is the fjord cold?", "kayak", "What about bread in Oslo?"]


def read(window: Any) -> Extraction:
    """Extracts a fact from each chunk, and a key and a theme for each session."""
    facts = [
        Fact("Ann", "person", "said", chunk.text, "thing", (index,), when="2026-05", negated=False)
        for index, chunk in enumerate(window.chunks)
    ]
    last = window.chunks[-1].text
    return Extraction(facts=tuple(facts), keys=((last, 1.0),), themes=(Theme("talk", last),))


class Named(HashEmbedder):
    """The same vectors under another name."""

    def __init__(self, dimension: int, name: str) -> None:
        super().__init__(dimension)
        self._own_name = name

    @property
    def name(self) -> str:
        return self._own_name


@pytest.fixture
def whole_store(location: dict[str, Any]) -> Iterator[None]:
    """A server's only database, emptied before and after."""
    _empty(location)
    yield
    _empty(location)


def _empty(location: dict[str, Any]) -> None:
    if "auth" not in location:
        return
    with (
        GraphDatabase.driver(location["location"], auth=location["auth"]) as driver,
        driver.session() as session,
    ):
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS").consume()
        names = session.run("SHOW VECTOR INDEXES YIELD name RETURN collect(name)").single()
        for name in names[0] if names else ():
            session.run(f"DROP INDEX `{name}`").consume()


@pytest.fixture
def fresh(whole_store, open_memory: OpenMemory, extractor) -> OpenMemory:
    extractor.script(read)
    return open_memory


def fill(memory: Memory, prefix: str = "m", spaces: Sequence[str] = ("a", "b")) -> None:
    for name in spaces:
        memory.space(name).add_many(
            {"text": text, "id": f"{prefix}{n}", "session": f"s{n % 2}", "speaker": "Ann",
             "at": START} for n, text in enumerate(TEXTS)
        )  # fmt: skip
        memory.space(name).flush(timeout=60)


def answers(memory: Memory) -> list[Any]:
    """Everything that a search returns, with scores."""
    found = []
    for name in ("a", "b"):
        for question in QUESTIONS:
            result = memory.space(name).search(question, now=START)
            found.append([(hit.id, round(hit.score, 3), dict(hit.why.signals)) for hit in result])
            found.append([(t.text, round(t.score or 0, 3)) for t in result.triples])
            found.append([(s.session.id, round(s.score, 3)) for s in result.sessions])
    return found


def same(left: Any, right: Any) -> None:
    """Whether two results are equal except for the rounding of vectors."""
    if isinstance(left, dict):
        assert left.keys() == right.keys()
        for name in left:
            same(left[name], right[name])
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            same(one, other)
    elif isinstance(left, float):
        assert left == pytest.approx(right, abs=3e-3)
    else:
        assert left == right


class Stopped(Exception):
    """Simulates the end of the process."""


@pytest.mark.slow
def test_a_reindexed_store_answers_as_one_built_anew(fresh: OpenMemory, tmp_path, extractor):
    memory = fresh(embedder=HashEmbedder(256))
    fill(memory)
    seen: list[tuple[int, int]] = []
    before = answers(memory)
    done = memory.admin.reindex(
        HashEmbedder(96), on_progress=lambda made, total: seen.append((made, total))
    )
    # Two spaces of five chunks, five facts and six names, two sessions each with a key and a theme.
    assert done.vectors == 2 * (5 + 5 + 6 + 2 + 2)
    assert seen[-1] == (done.vectors, done.vectors)
    assert memory.info.embedder.name == "hash-96"
    with Memory(
        tmp_path / "new.db", embedder=HashEmbedder(96), extractor=extractor, enrich="manual"
    ) as anew:
        fill(anew)
        same(answers(memory), answers(anew))
    memory.space("a").add("A boat to Bergen.", id="new", at=START)
    assert memory.space("a").search("boat Bergen", now=START)[0].id == "new"
    memory.close()
    back = fresh(embedder=HashEmbedder(96))
    back.admin.reindex(HashEmbedder(256))
    memory = fresh(embedder=HashEmbedder(256))
    same(answers(memory)[12:], before[12:])  # the space to which nothing was added
    assert [check for check in memory.admin.check() if not check.ok] == []


@pytest.mark.slow
def test_duplicates_and_canonical_triples_get_new_vectors(fresh: OpenMemory, tmp_path, extractor):
    """Canonical and extracted names have the same vectors as in a newly built store."""
    said = {
        "m0": [Fact("Anna", "person", "bought", "kayaks", "object", (0,), when="2026-05")],
        "m1": [Fact("Anna Berg", "person", "bought", "kayak", "object", (0,), when="2026-05")],
        "m2": [Fact("Ben", "person", "knows", "Anna", "person", (0,), negated=True)],
    }
    extractor.script(said)
    memory = fresh(embedder=HashEmbedder(256))
    fill(memory, spaces=("a", "b"))
    memory.space("b").review.split("Anna")
    assert (len(memory.space("a").facts()), len(memory.space("b").facts())) == (2, 3)
    done = memory.admin.reindex(HashEmbedder(96))
    assert done.vectors == 2 * (5 + 3 + 5)
    with Memory(
        tmp_path / "new.db", embedder=HashEmbedder(96), extractor=extractor, enrich="manual"
    ) as anew:
        fill(anew)
        anew.space("b").review.split("Anna")
        same(answers(memory), answers(anew))
        for item in (memory, anew):
            item.space("a").review.split("Anna")
            item.space("b").review.merge("Anna", into="Anna Berg")
        same(answers(memory), answers(anew))
    assert {t.text for t in memory.space("a").facts()} == {
        "Anna bought kayak", "Anna Berg bought kayak", "Ben does not know Anna",
    }  # fmt: skip


class Exact(Named):
    """Every text has a vector of its own, even if only its case differs."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension, f"exact-{dimension}")

    def embed(self, texts: Sequence[str]) -> Any:
        return np.array(
            [
                np.random.default_rng(crc32(text.encode())).standard_normal(self.dimension)
                for text in texts
            ],
            np.float32,
        )


def test_a_spelling_that_changes_during_a_reindex_is_embedded_again(
    fresh: OpenMemory, monkeypatch, extractor
):
    monkeypatch.setattr("cognigraph.ingest.reindex._BATCH", 4)
    extractor.script(
        {
            "m0": [Fact("ANN", "person", "likes", "TEA", "object", (0,))],
            "early": [Fact("Ann", "person", "likes", "tea", "object", (0,))],
        }
    )
    memory = fresh(embedder=Exact(64))
    fill(memory, spaces=("a",))

    def add(made: int, total: int) -> None:
        if made == total == 8:  # all vectors of the store
            at = START - timedelta(hours=1)
            memory.space("a").add("said before", id="early", session="e", at=at)
            memory.space("a").flush()

    memory.admin.reindex(Exact(96), on_progress=add)
    (triple,) = memory.space("a").facts()
    assert (triple.text, len(triple.sources)) == ("Ann likes tea", 2)
    probe = CandidateQuery(CheckedEmbedder(Exact(96)).embed([triple.text])[0], triples_by_vector=5)
    (cosine,) = memory._engine.store.search.candidates("a", probe).triples.cosine
    assert cosine == pytest.approx(1.0, abs=1e-3)


@pytest.mark.slow
def test_an_interrupted_reindex_continues(fresh: OpenMemory, monkeypatch):
    monkeypatch.setattr("cognigraph.ingest.reindex._BATCH", 4)
    memory = fresh(embedder=HashEmbedder(256))
    fill(memory)
    before, calls = answers(memory), 0

    class Dying(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Any:
            nonlocal calls
            calls += 1
            if calls == 5:
                raise Stopped
            return super().embed(texts)

    with pytest.raises(EmbeddingError, match="Stopped"):
        memory.admin.reindex(Dying(96))
    same(answers(memory), before)
    assert memory.info.embedder.name == "hash-256"
    memory.close()
    again = fresh(embedder=HashEmbedder(256))
    done = again.admin.reindex(HashEmbedder(96))
    assert done.resumed >= 12  # on Neo4j a text without words has no vector and is repeated
    assert done.vectors == 40
    assert again.space("a").search("kayak", now=START)[0].id == "m2"


@pytest.mark.slow
def test_recalled_text_is_not_found_after_a_reindex(fresh: OpenMemory):
    """A prompt block in a message is not searchable, before or after a reindex."""
    memory = fresh(embedder=HashEmbedder(256))
    fill(memory)
    space = memory.space("a")
    block = str(space.context("Who moved to Oslo?", now=START))
    assert "I moved to Oslo." in block
    space.add_many(
        [
            {"text": block, "id": "quote", "session": "q", "at": START},
            {"text": f"{block}\nI like zebras.", "id": "more", "session": "q", "at": START},
        ]
    )
    for dimension in (256, 96):
        found = {hit.id: hit for hit in space.search("moved to Oslo", k=50, now=START)}
        assert all(
            found[id].why.signals.get("vector", 0.0) <= 0 for id in {"quote", "more"} & found.keys()
        )
        assert space.search("zebras", now=START)[0].id == "more"
        memory.admin.reindex(HashEmbedder(96 if dimension == 256 else 256))


@pytest.mark.slow
def test_a_reindex_to_another_embedder_starts_from_the_beginning(fresh: OpenMemory, monkeypatch):
    monkeypatch.setattr("cognigraph.ingest.reindex._BATCH", 4)
    memory = fresh(embedder=HashEmbedder(256))
    fill(memory)

    class Other(Named):
        calls = 0

        def embed(self, texts: Sequence[str]) -> Any:
            self.calls += 1
            if self.calls == 3:
                raise Stopped
            return -np.asarray(super().embed(texts))

    with pytest.raises(EmbeddingError, match="Stopped"):
        memory.admin.reindex(Other(96, "other"))
    done = memory.admin.reindex(HashEmbedder(96))
    assert done.resumed == 0
    assert memory.space("a").search("kayak", now=START)[0].why.signals["vector"] > 0.3


@pytest.mark.slow
def test_messages_added_during_a_reindex_are_included(fresh: OpenMemory, monkeypatch):
    monkeypatch.setattr("cognigraph.ingest.reindex._BATCH", 4)
    memory = fresh(embedder=HashEmbedder(256))
    fill(memory)
    added = 0

    def add_more(made: int, total: int) -> None:
        nonlocal added
        if added < 8:
            space = memory.space("a" if added % 2 else "late")
            space.add(f"news number {added} of zebras", id=f"n{added}", session="s0", at=START)
            space.queue.enrich()  # replaces the session's keys and themes
            added += 1

    memory.admin.reindex(HashEmbedder(96), on_progress=add_more)
    assert added >= 5
    for number in range(added):
        space = memory.space("a" if number % 2 else "late")
        hits = space.search(f"news number {number} zebras", now=START)
        by_vector = {hit.id: hit.why.signals.get("vector", 0.0) for hit in hits}
        assert by_vector[f"n{number}"] > 0.4
    theme = memory.space("late").search("zebras", now=START)
    assert theme.sessions[0].session.themes[0].summary.startswith("news number")


@pytest.mark.slow
def test_other_open_memories_notice_a_reindex(fresh: OpenMemory):
    memory = fresh(embedder=HashEmbedder(256))
    fill(memory)
    other, third = fresh(embedder=HashEmbedder(256)), fresh(embedder=HashEmbedder(256))
    assert other.space("a").search("kayak", now=START)
    other.space("a").add("waits for enrichment", id="w", at=START)
    memory.admin.reindex(Named(256, "renamed"))  # the same dimension, so only the name differs
    for stale in (other, third):
        with pytest.raises(EmbedderMismatchError, match="reindexed with the embedder 'renamed'"):
            stale.space("a").search("kayak", now=START)
        with pytest.raises(EmbedderMismatchError, match="open it again"):
            stale.space("a").add("too late", id="late", at=START)
        with pytest.raises(EmbedderMismatchError):
            stale.space("a").queue.enrich()
    # The refused calls stored nothing.
    assert other.space("a").get("late") is None
    assert memory.space("a").search("kayak", now=START)[0].id == "m2"
    memory.space("a").add("in time", id="in-time", at=START)
    with pytest.raises(EmbedderMismatchError, match=r"renamed.*cognigraph reindex"):
        fresh(embedder=HashEmbedder(256))


@pytest.mark.slow
def test_threads_of_the_same_memory_continue_after_a_reindex(fresh: OpenMemory, monkeypatch):
    monkeypatch.setattr("cognigraph.ingest.reindex._BATCH", 8)
    memory = fresh(embedder=HashEmbedder(256), enrich="background")
    fill(memory)
    errors: list[Exception] = []
    stop = threading.Event()
    added: list[str] = []

    def work() -> None:
        try:
            while not stop.is_set():
                id = f"t{len(added)}"
                memory.space("a").add(f"thread message {id}", id=id, session="t", at=START)
                added.append(id)
                assert memory.space("a").search("kayak", now=START)
        except (CogniGraphError, AssertionError) as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for name in ("one", "two"):
            memory.admin.reindex(Named(256, name))
    finally:
        stop.set()
        thread.join(timeout=60)
    assert errors == []
    assert memory.info.embedder.name == "two"
    memory.space("a").flush(timeout=60)
    assert memory.space("a").stats().chunks == len(TEXTS) + len(added)
    for id in added[:: max(1, len(added) // 10)]:
        found = memory.space("a").search(f"thread message {id}", k=200, now=START)
        assert {hit.id: hit for hit in found}[id].why.signals["vector"] > 0.5


def test_a_reindex_to_the_same_embedder_returns_at_once(fresh: OpenMemory):
    memory = fresh(embedder=HashEmbedder(256))
    fill(memory)
    done = memory.admin.reindex(HashEmbedder(256))
    assert (done.vectors, done.seconds) == (0, 0.0)
    assert memory.admin.reindex().vectors == 0
