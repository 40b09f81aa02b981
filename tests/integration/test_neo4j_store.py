"""What only the Neo4j store does: own vector indexes, word counts across processes, locks."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from neo4j import Driver, GraphDatabase
from neo4j.exceptions import Neo4jError

from cognigraph import ids
from cognigraph.arrays import Vector
from cognigraph.embed import CheckedEmbedder, resolve
from cognigraph.errors import (
    EmbedderMismatchError,
    SchemaError,
    StoreError,
    StoreUnavailableError,
)
from cognigraph.model.filters import Filter
from cognigraph.model.storage import Check, EmbedderIdentity
from cognigraph.stores.candidates import CandidateQuery, Candidates, ChunkCandidates
from cognigraph.stores.neo4j import Neo4jStore
from cognigraph.stores.neo4j.housekeeping import memory_limit
from cognigraph.stores.neo4j.index import few_chunks, gather, sources, word_counts
from cognigraph.stores.neo4j.index.vectors import index_name, wait_until_built
from cognigraph.stores.neo4j.messages import splice
from cognigraph.stores.neo4j.schema import migrations
from cognigraph.stores.neo4j.statements import cypher, with_parameters
from cognigraph.stores.neo4j.tokens import own_label
from cognigraph.stores.records import (
    ChunkRow,
    Derivation,
    EntityRow,
    KeyRow,
    Lease,
    MessageData,
    MessageRow,
    ThemeRow,
    TripleRow,
)
from cognigraph.text.terms import term_counts
from tests.servers.neo4j_server import Server

pytestmark = [pytest.mark.neo4j, pytest.mark.oldest_line]

START = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)
EMBEDDER = CheckedEmbedder(resolve("wordllama")).identity
RNG = np.random.default_rng(7)
WORDS = "apple river guitar doctor bread garden novel bicycle kitchen coffee piano rabbit".split()

Open = Callable[..., Neo4jStore]


@pytest.fixture
def open_store(neo4j_server: Server) -> Iterator[Open]:
    with ExitStack() as stack:

        def open(**options: Any) -> Neo4jStore:
            store = Neo4jStore(
                neo4j_server.uri,
                EMBEDDER,
                **{"auth": neo4j_server.auth, "notifications": True, **options},
            )
            stack.callback(store.close)
            return store

        yield open


@pytest.fixture
def driver(neo4j_server: Server) -> Iterator[Driver]:
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        yield driver


@pytest.fixture
def space() -> str:
    return f"test-{uuid4().hex[:12]}"


def unit(count: int) -> Vector:
    vectors = RNG.standard_normal((count, EMBEDDER.dimension)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def message(
    space: str,
    number: int,
    *,
    session: str = "s",
    minute: int | None = None,
    text: str | None = None,
    vector: Vector | None = None,
    parts: int = 1,
) -> MessageRow:
    text = text or f"{WORDS[number % len(WORDS)]} {WORDS[number % 7]} said {number}"
    uid = ids.message_uid(space, session, f"m{number}")
    vectors = unit(parts) if vector is None else vector[None, :]
    return MessageRow(
        uid=uid,
        id=f"m{number}",
        session=session,
        session_uid=ids.session_uid(space, session),
        speaker="Ann",
        at=START + timedelta(minutes=number if minute is None else minute),
        digest=ids.uid("Digest", text),
        chunks=tuple(
            ChunkRow(ids.chunk_uid(uid, part), part, text, vectors[part], term_counts(text))
            for part in range(parts)
        ),
    )


def claim(store: Neo4jStore, space: str, limit: int = 1000) -> Lease | None:
    return store.queue.claim(
        worker="test",
        limit=limit,
        lease_for=timedelta(minutes=5),
        now=START + timedelta(days=30),
        space=space,
    )


def derivation(lease: Lease, *, hub: str = "Ann") -> Derivation:
    """One triple of the hub per chunk, a key shared by all sessions, one theme."""
    entities: dict[str, EntityRow] = {}
    triples = []
    vectors = unit(len(lease.chunks) + 2)
    for chunk, vector in zip(lease.chunks, vectors, strict=False):
        rows = [
            EntityRow(ids.entity_uid(lease.space, name, "person"), name, "person", name.lower())
            for name in (hub, f"thing {chunk.message_id}")
        ]
        entities.update({row.uid: row for row in rows})
        uid = ids.triple_uid(lease.space, rows[0].uid, "owns", rows[1].uid, None, False)
        text = f"{hub} owns {rows[1].name}"
        triples.append(
            TripleRow(
                uid,
                rows[0].uid,
                rows[1].uid,
                hub,
                "owns",
                rows[1].name,
                None,
                False,
                text,
                vector,
                term_counts(text),
                (chunk.uid,),
            )
        )
    return Derivation(
        extractor="test-1",
        entities=tuple(entities.values()),
        triples=tuple(triples),
        mentions=tuple((chunk.uid, min(entities)) for chunk in lease.chunks),
        keys=(KeyRow(ids.key_uid(lease.space, "shared"), "shared", 1.0, vectors[-1]),),
        themes=(
            ThemeRow(
                ids.theme_uid(lease.space, lease.session, "t"), "t", "all", vectors[-2],
                term_counts("t all"),
            ),
        ),
        state="{}",
    )  # fmt: skip


def chain(driver: Driver, space: str) -> list[list[str]]:
    """The message ids along NEXT, one list for each chain of the space."""
    rows, _, _ = driver.execute_query(
        """MATCH (first:Chunk {space: $space}) WHERE NOT EXISTS { (first)<-[:NEXT]-() }
           MATCH path = (first)-[:NEXT*0..]->(last) WHERE NOT EXISTS { (last)-[:NEXT]->() }
           RETURN [chunk IN nodes(path) | chunk.message_id] AS ids ORDER BY ids[0]""",
        space=space,
    )
    return [row["ids"] for row in rows]


# Round trips


class Statements(logging.Handler):
    """Collects the statements that the driver sends, by their first words."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.sent: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if "C: RUN " in text:
            what = text.partition("// what: ")[2]
            self.sent.append(" ".join(what.replace("\\n", " ").split()[:4]).rstrip(":,"))


@contextmanager
def statements() -> Iterator[list[str]]:
    """The statements sent within the block, which the driver logs."""
    logger, handler = logging.getLogger("neo4j.io"), Statements()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield handler.sent
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def test_a_search_sends_three_statements_for_its_candidates(open_store: Open, space: str) -> None:
    store = open_store()
    store.messages.insert(space, [message(space, n) for n in range(30)])
    while lease := claim(store, space):
        assert store.queue.complete(lease, derivation(lease))
    sends_three_statements(store, space, CandidateQuery(
        unit(1)[0], terms=("appl", "river"), anchors=("ann",), entity_vectors=tuple(unit(2)),
        chunks_by_vector=5, chunks_by_terms=5, triples_by_vector=5, triples_by_terms=5,
        triples_per_anchor=5, sessions_by_vector=3, radius=2, texts=True,
    ))  # fmt: skip


def sends_three_statements(store: Neo4jStore, space: str, question: CandidateQuery) -> None:
    store.search.candidates(space, question)  # the first search looks which indexes are ready
    with statements() as sent:
        found = store.search.candidates(space, question)
    assert found.chunks.by_vector.sum() == question.chunks_by_vector
    assert found.triples.by_anchor.sum() == question.triples_per_anchor
    assert sorted(sent) == [
        "find the candidates of",  # side by side: chunks, and triples with themes
        "find the candidates of",
        "read a space's totals",
    ]


def test_an_insert_sends_one_or_two_statements(open_store: Open, space: str) -> None:
    store = open_store()
    store.messages.insert(space, [message(space, 0)])
    look, write = "find messages that exist", "write new messages under"
    for numbers, expected in ((range(1, 2), [write]), (range(2, 60), [look, write])):
        with statements() as sent:
            store.messages.insert(space, [message(space, n) for n in numbers])
        assert sent == expected
    for numbers, expected in ((range(5, 6), [write, look]), (range(5, 7), [look])):
        with statements() as sent:
            again = store.messages.insert(space, [message(space, n) for n in numbers])
        assert again == ["known"] * len(numbers) and sent == expected


# Own vector indexes


def wait_until_online(driver: Driver, name: str) -> None:
    driver.execute_query("CALL db.awaitIndex($name, 60)", name=name)


def labelled(driver: Driver, space: str) -> tuple[int, int]:
    """Chunks of a space, and how many of them have the label of its own index."""
    rows, _, _ = driver.execute_query(
        "MATCH (c:Chunk {space: $space}) RETURN count(c) AS all, "
        "sum(CASE WHEN size(labels(c)) = 2 THEN 1 ELSE 0 END) AS labelled",
        space=space,
    )
    return rows[0]["all"], rows[0]["labelled"]


def newest(driver: Driver, space: str) -> tuple[int, int]:
    """Chunks that are not in the index of a space: as it records, and as they are."""
    rows, _, _ = driver.execute_query(
        "MATCH (s:Space {name: $space}) OPTIONAL MATCH (c:Chunk {space: $space}) "
        "WHERE c.seq > s.chunk_covered RETURN s.chunk_tail AS tail, count(c) AS later",
        space=space,
    )
    return rows[0]["tail"], rows[0]["later"]


def wait_until_covered(*stores: Neo4jStore) -> None:
    """Wait for the threads that index what was inserted."""
    for store in stores:
        wait([*store.messages._newest._running.values()], 60)
        assert not store.messages._newest._running


def vector_indexes(driver: Driver, *names: str) -> dict[str, str]:
    """The states of some indexes, of those that exist."""
    rows, _, _ = driver.execute_query(
        "SHOW VECTOR INDEXES YIELD name, state WHERE name IN $names RETURN name, state",
        names=list(names),
    )
    return {row["name"]: row["state"] for row in rows}


def wait_until_made_again(driver: Driver, *names: str) -> None:
    until = time.monotonic() + 60
    while set(vector_indexes(driver, *names)) != set(names) and time.monotonic() < until:
        time.sleep(0.05)
    for name in names:
        wait_until_online(driver, name)


@pytest.mark.changes_indexes
def test_a_big_space_searches_its_own_index_and_all_vectors_while_that_is_missing(
    open_store: Open, driver: Driver, space: str, caplog: pytest.LogCaptureFixture
) -> None:
    """One test, because after each change of an index the plans of a search take seconds."""
    exact, store = open_store(exact_up_to=10_000), open_store(exact_up_to=50)
    for first in range(0, 90, 30):
        store.messages.insert(space, [message(space, n) for n in range(first, first + 30)])
    while lease := claim(store, space, limit=30):
        assert store.queue.complete(lease, derivation(lease))
    names = [index_name("Chunk", space), index_name("Triple", space)]
    wait_until_made_again(driver, *names)
    labels, _, _ = driver.execute_query(
        "MATCH (n:Triple {space: $space}) "
        "RETURN size([label IN labels(n) WHERE label <> 'Fact']) AS labels",
        space=space,
    )
    assert {row["labels"] for row in labels} == {2}, "written before or after: all have the label"
    assert labelled(driver, space) == (90, 60), "the newest chunks are compared"
    question, *others = [
        CandidateQuery(
            vector, terms=("appl", "river"), anchors=("ann",), chunks_by_vector=10,
            chunks_by_terms=5, triples_by_vector=10, triples_by_terms=5, triples_per_anchor=5,
            sessions_by_vector=3, radius=2, texts=True,
        )
        for vector in unit(10)
    ]  # fmt: skip
    sends_three_statements(store, space, question)
    before, same = (item.search.candidates(space, question) for item in (store, exact))
    assert before.chunks.uids == same.chunks.uids, "both search the index: it is the space's"
    assert before.chunks.by_vector.sum() == 10
    assert before.triples.uids == same.triples.uids
    np.testing.assert_allclose(before.chunks.cosine, same.chunks.cosine, atol=1e-6)
    assert (before.anchors, same.anchors) == (("Ann",), ("Ann",))
    # The index is approximate: of ten times ten it misses about ten.
    common = [
        len(found_by_vector(found) & nearest_of_all(driver, space, each, 10))
        for each, found in (
            (question, before),
            *((each, store.search.candidates(space, each)) for each in others),
        )
    ]
    assert sum(common) >= 80, common
    assert vectors_check(store).ok

    # As an import leaves it, for a program that starts; the first one knows the index as online.
    for asked, searches in ((open_store(exact_up_to=50), 1), (store, 2)):
        for name in names:
            driver.execute_query("DROP INDEX $name", name=name)
        check = vectors_check(asked)
        assert not check.ok
        assert f"{names[0]} (Chunk of space {space!r}) is missing" in check.detail
        assert f"{names[1]} (Triple of space {space!r}) is missing" in check.detail
        with caplog.at_level(logging.WARNING, "cognigraph.neo4j"):
            caplog.clear()
            found = [asked.search.candidates(space, question) for _ in range(searches)]
            wait_until_made_again(driver, *names)
        for item in found:
            assert len(found_by_vector(item) & nearest_of_all(driver, space, question, 10)) >= 7
            assert len(set(item.triples.uids) & set(before.triples.uids)) >= 9
        assert found_by_vector(found[0]) == nearest_of_all(driver, space, question, 10), "exact"
        said = [record.getMessage() for record in caplog.records]
        assert sorted(name for text in said for name in names if name in text) == sorted(names)
        assert all("compares all vectors" in text for text in said)
        assert vectors_check(asked).ok
        assert asked._indexes.usable(space, "Chunk", True) == names[0]
        assert asked._indexes.usable(space, "Triple", True) == names[1]


def vectors_check(store: Neo4jStore) -> Check:
    return next(check for check in store.check() if check.name == "vector indexes")


@pytest.mark.changes_indexes
def test_a_search_beside_the_removal_of_a_space_leaves_no_index(
    open_store: Open, driver: Driver, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = open_store(exact_up_to=20), open_store(exact_up_to=20)
    store.messages.insert(space, [message(space, n) for n in range(30)])
    name = index_name("Chunk", space)
    wait_until_online(driver, name)
    write = store._connection.write

    def write_after_a_search(work: Callable[[Any], Any]) -> Any:
        if not vector_indexes(driver, name):  # dropped, while the space is still said to have it
            assert other._indexes.usable(space, "Chunk", True) is None
            wait_until_made_again(driver, name)
        return write(work)

    monkeypatch.setattr(store._connection, "write", write_after_a_search)
    store.housekeeping.remove_space(space)
    assert vector_indexes(driver, name) == {}
    # And if the search creates it only when the space is gone.
    other._indexes.usable(space, "Chunk", True)
    other.close()  # waits for the thread
    assert vector_indexes(driver, name) == {}


@pytest.mark.changes_indexes
def test_the_newest_chunks_are_compared_until_they_are_worth_a_transaction(
    open_store: Open, driver: Driver, space: str
) -> None:
    store, other = open_store(exact_up_to=20), open_store(exact_up_to=10_000)
    store.messages.insert(space, [message(space, n) for n in range(30)])
    wait_until_online(driver, index_name("Chunk", space))
    assert labelled(driver, space) == (30, 30)
    near = unit(1)[0]
    for n in range(30, 33):
        store.messages.insert(space, [message(space, n, vector=near + 0.01 * n * unit(1)[0])])
    assert labelled(driver, space) == (33, 30)
    question = CandidateQuery(near, chunks_by_vector=5)
    newest_three = {message(space, n).chunks[0].uid for n in range(30, 33)}
    nearest = nearest_of_all(driver, space, question, 5)
    assert newest_three < nearest
    for item in (store, other):
        found = found_by_vector(item.search.candidates(space, question))
        # The other two come from the index, which is approximate.
        assert newest_three < found and len(found & nearest) >= 4
    other.messages.insert(space, [message(space, n) for n in range(100, 352)])
    assert labelled(driver, space) == (285, 30)
    store.messages.insert(space, [message(space, 400)])
    wait_until_covered(store)
    assert (newest(driver, space), labelled(driver, space)) == ((0, 0), (286, 286))
    found = found_by_vector(store.search.candidates(space, question))
    assert len(found & nearest_of_all(driver, space, question, 5)) >= 4
    store.messages.insert(space, [message(space, 401, vector=near)])
    assert message(space, 401).chunks[0].uid in found_by_vector(
        store.search.candidates(space, question)
    )


@pytest.mark.changes_indexes
def test_what_two_writers_add_to_a_large_space_is_indexed_beside_them(
    open_store: Open, driver: Driver, space: str
) -> None:
    stores = [open_store(exact_up_to=20) for _ in range(2)]
    stores[0].messages.insert(space, [message(space, n) for n in range(30)])
    wait_until_online(driver, index_name("Chunk", space))

    def write(writer: int) -> None:
        for first in range(0, 600, 100):
            numbers = range(1000 * (writer + 1) + first, 1000 * (writer + 1) + first + 100)
            rows = [message(space, n, session=f"{writer}") for n in numbers]
            assert stores[writer].messages.insert(space, rows) == ["new"] * 100

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, range(2)))
    wait_until_covered(*stores)
    tail, later = newest(driver, space)
    assert tail == later < 256
    assert labelled(driver, space) == (1230, 1230 - later)


@pytest.mark.changes_indexes
def test_a_chunk_without_the_label_gets_it_before_it_counts_as_indexed(
    open_store: Open, driver: Driver, space: str
) -> None:
    """Such as one that was written anew while the others got theirs."""
    store = open_store(exact_up_to=20)
    store.messages.insert(space, [message(space, n) for n in range(30)])
    wait_until_online(driver, index_name("Chunk", space))
    store.messages.insert(space, [message(space, n) for n in range(30, 40)])
    (row,), _, _ = driver.execute_query("MATCH (s:Space {name: $s}) RETURN s.seq AS seq", s=space)
    labels = [own_label("Chunk", space)]
    for until, later in ((row["seq"] - 4, 4), (row["seq"] - 7, 4), (row["seq"], 0)):
        found = store._connection.write(
            lambda tx, until=until: tx.row("vectors/cover", space=space, labels=labels, until=until)
        )
        assert (found, newest(driver, space)) == ([later], (later, later))
        assert labelled(driver, space) == (40, 40 - later)


def found_by_vector(found: Candidates) -> set[str]:
    return {uid for uid, by in zip(found.chunks.uids, found.chunks.by_vector, strict=True) if by}


def nearest_of_all(driver: Driver, space: str, probe: CandidateQuery, limit: int) -> set[str]:
    rows, _, _ = driver.execute_query(
        "MATCH (c:Chunk {space: $space}) RETURN c.uid AS uid, c.embedding AS vector", space=space
    )
    ranked = sorted(rows, key=lambda row: -np.dot(np.asarray(row["vector"]), probe.vector))
    return {row["uid"] for row in ranked[:limit]}


@pytest.mark.changes_indexes
def test_an_interrupted_promotion_is_finished_by_the_next_write(
    open_store: Open, driver: Driver, space: str
) -> None:
    small, big = open_store(exact_up_to=10_000), open_store(exact_up_to=20)
    small.messages.insert(space, [message(space, n) for n in range(30)])
    # As if a writer had crashed after adding the label to some of the nodes.
    label = index_name("Chunk", space).removeprefix("vector_")
    driver.execute_query(
        f"MATCH (c:Chunk {{space: $space}}) WITH c LIMIT 10 SET c:{label}", space=space
    )
    small.messages.insert(space, [message(space, 30)])
    assert big.messages.insert(space, [message(space, 31)]) == ["new"]
    assert labelled(driver, space) == (32, 32)


@pytest.mark.changes_indexes
def test_as_of_and_filters_find_what_is_far_from_the_question(
    open_store: Open, driver: Driver, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that passes is compared if it is little, else the indexes of the space are asked.

    So it is by session and time. By tags or metadata, all that have them are compared, or the
    vector index gives enough, or too few.
    """
    store = open_store(exact_up_to=20)
    vector = unit(1)[0]
    near = [message(space, n, vector=vector, minute=100 + n) for n in range(90)]
    texts = ("apple pie", "river bank", "apple river", "cloud", "apple")
    rows = [
        message(
            space, 100 + n, vector=0.5 * vector + unit(1)[0], minute=n, text=text, session="far"
        )
        for n, text in enumerate(texts)
    ]
    long = "x" * 200
    data = MessageData('{"n": 7, "deep": {"a": 1}}', ("far", long))
    far = [replace(row, data=data) for row in rows]
    without = message(
        space, 105, vector=0.5 * vector + unit(1)[0], minute=60, text="apple juice today"
    )
    store.messages.insert(space, [*near, *far, without])
    store.messages.insert(space, [message(space, 999)])
    wait_until_online(driver, index_name("Chunk", space))
    query = CandidateQuery(vector, terms=("appl",), chunks_by_vector=5, chunks_by_terms=2)
    uids = [row.chunks[0].uid for row in far]
    as_of = CandidateQuery(vector, chunks_by_vector=5, as_of=START + timedelta(minutes=50))
    assert set(store.search.candidates(space, as_of).chunks.uids) == set(uids)

    def found(**where: Any) -> ChunkCandidates:
        return store.search.candidates(space, replace(query, where=Filter(**where))).chunks

    def best_of(chunks: ChunkCandidates) -> set[str]:
        return {uid for uid, chosen in zip(chunks.uids, chunks.by_terms, strict=True) if chosen}

    def are_best(best: set[str]) -> bool:
        """Shorter texts are better matches; both beat a text with another word beside it."""
        return uids[4] in best and best < {uids[0], uids[2], uids[4]} and len(best) == 2

    for most in (2000, 5):
        with monkeypatch.context() as patch:
            patch.setattr(few_chunks, "_MOST", most)
            for where in (
                {"session": "far", "roles": ("person",)},
                {"until": START + timedelta(minutes=50)},
                {
                    "session": ["far", "none"],
                    "since": START,
                    "until": START + timedelta(minutes=5),
                },
            ):
                chunks = found(**where)
                assert set(chunks.uids) == set(uids), most
                assert chunks.by_vector.all()
                assert are_best(best_of(chunks)), most
            early = found(until=START + timedelta(minutes=2), session="far")
            assert set(early.uids) == {*uids[:2]}, most
            assert found(session="none").uids == (), most

    for few, fetched in ((2000, 2000), (0, 2000), (0, 20)):
        monkeypatch.setattr(sources, "_FEW", few)
        monkeypatch.setattr(sources, "_MOST_FETCHED", fetched)
        for where in ({"tags": ["far", long]}, {"metadata": {"n": 7.0}, "speaker": "Ann"}):
            chunks = found(**where)
            assert set(chunks.uids) == set(uids), (few, fetched)
            assert chunks.by_vector.sum() >= 3
            assert are_best(best_of(chunks)), (few, fetched)
        early = found(tags=["far"], until=START + timedelta(minutes=2))
        assert set(early.uids) == set(uids[:2]), (few, fetched)
        for nothing in ({"tags": ["far", "near"]}, {"tags": ["far"], "speaker": "Ben"}):
            assert found(**nothing).uids == (), (few, fetched)


# Words


def test_word_counts_follow_what_another_store_writes(open_store: Open, space: str) -> None:
    one, other = open_store(), open_store()
    probe = CandidateQuery(unit(1)[0], terms=("zebra", "appl"), chunks_by_terms=5)
    one.messages.insert(space, [message(space, 1, text="apple zebra zebra"), message(space, 2)])
    before = other.search.candidates(space, probe).lexicon
    assert (before.chunks, dict(before.frequencies)) == (2, {"zebra": 1, "appl": 1})
    one.messages.insert(space, [message(space, 3, text="a zebra at last")])
    after = other.search.candidates(space, probe)
    assert (after.lexicon.chunks, after.lexicon.frequencies["zebra"]) == (3, 2)
    assert after.lexicon.mean_length == one.search.candidates(space, probe).lexicon.mean_length
    assert after.chunks.matches[:, 0].tolist().count(2.0) == 1


def test_words_of_many_messages_are_estimated_from_the_newest(
    open_store: Open, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = open_store(), open_store()
    texts = ["zebra", "apple zebra", "apple", "zebra zebra", "apple", "pear"]
    store.messages.insert(
        space, [message(space, number, text=text) for number, text in enumerate(texts, 1)]
    )
    probe = CandidateQuery(unit(1)[0], terms=("zebra", "appl"), chunks_by_terms=5)

    def frequencies(store: Neo4jStore) -> tuple[int, dict[str, int]]:
        lexicon = store.search.candidates(space, probe).lexicon
        return lexicon.chunks, dict(lexicon.frequencies)

    assert frequencies(store) == (6, {"zebra": 3, "appl": 3})
    monkeypatch.setattr(word_counts, "_MOST_COUNTED", 3)
    assert frequencies(other) == (6, {"zebra": 2, "appl": 2})  # twice those of the newest three
    store.messages.insert(space, [message(space, 7, text="zebra")])
    assert frequencies(other) == (7, {"zebra": 4, "appl": 2})  # of four
    assert frequencies(store) == (7, {"zebra": 4, "appl": 3})
    store.messages.insert(space, [message(space, n, text="apple") for n in range(8, 12)])
    assert frequencies(other) == (11, {"zebra": 1, "appl": 11})  # the newest three again


def test_counting_words_takes_no_more_memory_for_more_messages(
    open_store: Open, driver: Driver, space: str
) -> None:
    open_store()
    terms = [f"w{number}" for number in range(20)]
    create = """CREATE (:Space {name: $space, seq: 800, chunks: 800, length: 20000})
        WITH 1 AS one UNWIND range(1, 800) AS seq
        CREATE (:Chunk {uid: $space + seq, space: $space, seq: seq, terms: $terms + $terms})"""
    driver.execute_query(create, space=space, terms=terms)

    def counted(since: int) -> tuple[dict[str, int], int]:
        result = driver.execute_query(
            f"PROFILE {cypher('search/space').removeprefix('CYPHER 5')}",
            space=space,
            since=since,
            most=1000,
        )
        row, profile = result.records[0], result.summary.profile
        return dict(zip(row[10], row[11], strict=True)), profile["args"]["GlobalMemory"]

    try:
        counted(0)  # the first run of a statement is planned
        all_words, memory = counted(0)
        some_words, of_some = counted(700)
        assert all_words == dict.fromkeys(terms, 800)
        assert some_words == dict.fromkeys(terms, 100)
        assert memory < 1.2 * of_some
    finally:
        driver.execute_query(
            "MATCH (n:Chunk|Space) WHERE $space IN [n.space, n.name] DELETE n", space=space
        )


def test_word_counts_are_dropped_for_spaces_searched_long_ago(open_store: Open, space: str) -> None:
    store = open_store(lexicon_terms=3)
    spaces = [f"{space}-{n}" for n in range(3)]
    probe = CandidateQuery(unit(1)[0], terms=("appl",), chunks_by_terms=5)
    for name in spaces:
        store.messages.insert(name, [message(name, 0, text="apple pie and cream")])
    for name in [*spaces, *spaces]:
        assert store.search.candidates(name, probe).lexicon.frequencies == {"appl": 1}


@pytest.mark.every_line
def test_words_are_found_directly_after_the_commit(open_store: Open, space: str) -> None:
    """The full-text index is brought up to date after the commit; a search waits for it."""
    writer, reader = open_store(), open_store()
    nowhere = np.zeros(EMBEDDER.dimension, np.float32)
    for number in range(40):
        word = f"zebra{number}"
        writer.messages.insert(space, [message(space, number, text=word)])
        probe = CandidateQuery(nowhere, terms=tuple(term_counts(word)), chunks_by_terms=5)
        found = reader.search.candidates(space, probe)
        assert found.chunks.uids == (message(space, number).chunks[0].uid,)


def test_small_layers_compared_outside_the_server_give_the_same(
    open_store: Open, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, vectors = open_store(), unit(150)
    store.messages.insert(
        space,
        [
            replace(row, role="tool" if number % 3 == 0 else None)
            for number, row in enumerate(message(space, n, vector=vectors[n]) for n in range(150))
        ],
    )
    probe = CandidateQuery(vectors[7], chunks_by_vector=20)
    assert not probe.where.is_narrow
    here = store.search.candidates(space, probe).chunks
    monkeypatch.setattr(gather, "_FEW_SENT", 1000)
    there = store.search.candidates(space, probe).chunks
    assert here.uids == there.uids and here.by_vector.tolist() == there.by_vector.tolist()
    assert here.by_vector.sum() == 20
    assert {here.roles[row] for row in np.flatnonzero(here.by_vector)} == {None}


def test_more_equal_matches_than_are_fetched_give_the_newest(open_store: Open, space: str) -> None:
    store = open_store()
    for first in range(0, 1400, 200):
        store.messages.insert(
            space, [message(space, n, text="the same words") for n in range(first, first + 200)]
        )
    probe = CandidateQuery(unit(1)[0], terms=("word",), chunks_by_terms=10)
    found = store.search.candidates(space, probe)
    newest = {ids.chunk_uid(ids.message_uid(space, "s", f"m{n}"), 0) for n in range(1390, 1400)}
    assert set(found.chunks.uids) == newest


def test_lucene_syntax_in_words_and_spaces_is_only_text(open_store: Open, space: str) -> None:
    store = open_store()
    strange = f'{space} AND (x:y OR "z") ~^*?\\/'
    text = "NOT _id_ AND été 東京 ÇA"
    store.messages.insert(strange, [message(strange, 1, text=text)])
    terms = tuple(term_counts(text))
    found = store.search.candidates(
        strange, CandidateQuery(unit(1)[0], terms=terms, chunks_by_terms=5)
    )
    assert found.chunks.matches.tolist() == [[1.0] * len(terms)]


# Order


def test_late_messages_are_linked_into_the_middle(
    open_store: Open, driver: Driver, space: str
) -> None:
    store = open_store()
    store.messages.insert(space, [message(space, n, minute=10 * n) for n in (1, 3, 5)])
    store.messages.insert(space, [message(space, n, minute=10 * n) for n in (4, 0, 2, 7, 6)])
    store.messages.insert(
        space, [message(space, 8, minute=30)]
    )  # as late as m3, and later to arrive
    store.messages.insert(space, [message(space, 9, minute=70)])
    assert chain(driver, space) == [["m0", "m1", "m2", "m3", "m8", "m4", "m5", "m6", "m7", "m9"]]


def test_splice_cuts_each_gap_once() -> None:
    positions = [["x", None, "a"], ["y", "a", "b"], ["z", "a", "b"], ["w", "b", None]]
    cut, linked = splice(positions)
    assert cut == [["a", "b"]]
    assert linked == [["x", "a"], ["a", "y"], ["y", "z"], ["z", "b"], ["b", "w"]]


def test_a_message_of_a_thousand_chunks_is_one_insert(
    open_store: Open, driver: Driver, space: str
) -> None:
    store = open_store()
    text = "NUL \x00 and " + "long words " * 90
    row = message(space, 1, text=text, parts=1000)
    assert store.messages.insert(space, [row]) == ["new"]
    stored = store.graph.message(space, "m1")
    assert stored is not None
    assert (stored.chunks, stored.text) == (1000, text * 1000)
    assert len(chain(driver, space)[0]) == 1000


@pytest.mark.every_line
def test_a_vector_of_zeros_is_stored_as_none(open_store: Open, space: str) -> None:
    store = open_store()
    zeros = np.zeros(EMBEDDER.dimension, np.float32)
    store.messages.insert(space, [message(space, 1, vector=zeros), message(space, 2)])
    found = store.search.candidates(
        space, CandidateQuery(unit(1)[0], terms=("said",), chunks_by_terms=5)
    )
    zero = ids.chunk_uid(ids.message_uid(space, "s", "m1"), 0)
    assert found.chunks.cosine[found.chunks.uids.index(zero)] == 0.0
    nothing = store.search.candidates(
        space, CandidateQuery(zeros, terms=("said",), chunks_by_terms=5, entity_vectors=(zeros,))
    )
    assert nothing.chunks.cosine.tolist() == [0.0, 0.0]


# Concurrency


def test_many_writers_of_one_session_and_of_many(
    open_store: Open, driver: Driver, space: str
) -> None:
    stores = [open_store(), open_store()]

    def write(worker: int) -> list[str]:
        statuses: list[str] = []
        for n in range(15):
            rows = [
                message(space, n, session="shared"),  # all workers deliver the same
                message(space, 100 * worker + n, session=f"s{(worker + n) % 3}"),
                message(space, 1000 * worker + n, session=f"s{(worker + n + 1) % 3}"),
            ]
            statuses += stores[worker % 2].messages.insert(space, rows)
        return statuses

    with ThreadPoolExecutor(8) as threads:
        statuses = [status for part in threads.map(write, range(1, 9)) for status in part]
    assert (statuses.count("new"), statuses.count("known")) == (15 + 240, 105)
    assert stores[0].graph.stats(space).chunks == 255
    chains = chain(driver, space)
    assert sorted(map(len, chains)) == sorted(
        s.chunks for s in stores[0].graph.sessions(space, limit=10)
    )


def test_eight_programs_import_into_one_space_and_into_their_own(
    open_store: Open, driver: Driver, space: str
) -> None:
    # Each store has a driver of its own and knows nothing of the others, like those of 8 processes.
    stores = [open_store() for _ in range(8)]

    def imports(program: int) -> list[str]:
        statuses: list[str] = []
        for batch in range(3):
            for name in (space, f"{space}-{program}"):
                numbers = range(1000 * program + 20 * batch, 1000 * program + 20 * batch + 20)
                # In the common space, all programs write to the same sessions in the same batch.
                rows = [message(name, n, session=f"s{n % 3}", minute=n % 1000) for n in numbers]
                statuses += stores[program].messages.insert(name, rows)
        return statuses

    with ThreadPoolExecutor(8) as threads:
        statuses = [status for own in threads.map(imports, range(8)) for status in own]
    assert statuses == ["new"] * 8 * 3 * 2 * 20
    assert stores[0].graph.stats(space).chunks == 480
    assert [len(session) for session in chain(driver, space)] == [160, 160, 160]
    assert {stores[0].graph.stats(f"{space}-{n}").chunks for n in range(8)} == {60}


def test_workers_and_writers_do_not_deadlock(open_store: Open, space: str) -> None:
    store = open_store()
    store.messages.insert(space, [message(space, n, session=f"s{n % 6}") for n in range(60)])

    def work(_: int) -> int:
        done = 0
        while lease := claim(store, space, limit=5):
            assert store.queue.complete(lease, derivation(lease))
            done += len(lease.chunks)
        return done

    def write(worker: int) -> int:
        rows = [message(space, 1000 * worker + n, session=f"s{n % 6}") for n in range(10)]
        return sum(store.messages.insert(space, [row]) == ["new"] for row in rows)

    with ThreadPoolExecutor(6) as threads:
        written = threads.map(write, (1, 2))
        done = threads.map(work, range(4))
        total = sum(written) + 60
        finished = sum(done) + work(0)
    stats = store.graph.stats(space)
    assert (finished, stats.done, stats.pending) == (total, total, 0)
    assert stats.triples == total
    assert stats.keys == 1


def test_a_lost_lease_changes_nothing(open_store: Open, space: str) -> None:
    store = open_store()
    store.messages.insert(space, [message(space, n) for n in range(3)])
    old = claim(store, space)
    assert old is not None
    assert claim(store, space) is None
    new = store.queue.claim(
        worker="other",
        limit=10,
        lease_for=timedelta(minutes=5),
        now=old.expires + timedelta(seconds=1),
        space=space,
    )
    assert new is not None
    assert not store.queue.complete(old, derivation(old))
    assert not store.queue.fail(old, "late", park_after=1, retry_at=START)
    assert store.graph.stats(space).triples == 0
    assert store.queue.complete(new, derivation(new))
    assert store.graph.stats(space).done == 3


# Opening


@pytest.mark.every_line
def test_another_embedder_is_refused(neo4j_server: Server, open_store: Open) -> None:
    open_store()
    for identity in (EmbedderIdentity("other", 256), EmbedderIdentity(EMBEDDER.name, 64)):
        with pytest.raises(EmbedderMismatchError, match="was built with the embedder"):
            Neo4jStore(neo4j_server.uri, identity, auth=neo4j_server.auth)


@pytest.mark.parametrize(
    ("property", "value", "match"),
    [("schema_version", 99, "schema 99"), ("analyzer", "old-1", "indexed by 'old-1'")],
)
def test_what_another_version_wrote_is_refused(
    open_store: Open, driver: Driver, property: str, value: object, match: str
) -> None:
    open_store()
    change = "MATCH (meta:CogniGraph) SET meta[$property] = $value"
    found = driver.execute_query(
        "MATCH (meta:CogniGraph) RETURN meta[$property]", property=property
    )
    before = found.records[0][0]
    driver.execute_query(change, property=property, value=value)
    try:
        with pytest.raises(SchemaError, match=match):
            open_store()
    finally:
        driver.execute_query(change, property=property, value=before)


@pytest.mark.every_line
def test_many_can_open_a_new_database_at_once(open_store: Open, driver: Driver) -> None:
    open_store()
    driver.execute_query("MATCH (meta:CogniGraph) REMOVE meta.schema_version")
    with ThreadPoolExecutor(4) as threads:
        stores = list(threads.map(lambda _: open_store(), range(4)))
    assert {store.info.schema_version for store in stores} == {migrations()[-1][0]}


@contextmanager
def slowly_built(driver: Driver, space: str) -> Iterator[str]:
    """The name of a vector index, as a large space has, that takes the server several seconds."""
    label, name = own_label("Chunk", space), index_name("Chunk", space)
    driver.execute_query(
        f"UNWIND range(1, 2000) AS n CREATE (:{label} {{v: [i IN range(1, 256) | rand() - 0.5]}})"
    )
    driver.execute_query(
        f"CREATE VECTOR INDEX {name} FOR (n:{label}) ON n.v OPTIONS {{indexConfig: {{"
        "`vector.dimensions`: 256, `vector.hnsw.m`: 400, `vector.hnsw.ef_construction`: 1500}}"
    )
    yield name
    driver.execute_query(f"DROP INDEX {name}")
    driver.execute_query(f"MATCH (n:{label}) DELETE n")


OLDER = "MATCH (meta:CogniGraph {uid: 'cognigraph'}) SET meta.schema_version = 9"


@pytest.mark.changes_indexes
def test_opening_does_not_wait_for_the_vector_indexes_of_spaces(
    open_store: Open, driver: Driver, space: str
) -> None:
    open_store()
    driver.execute_query(OLDER)
    with slowly_built(driver, space) as name:
        store = open_store()
        assert vector_indexes(driver, name) == {name: "POPULATING"}
        assert store.info.schema_version == migrations()[-1][0]
        with pytest.raises(StoreUnavailableError, match=rf"within 0 s: {name} \(\d+ %\); the"):
            wait_until_built(store._connection, [name, "chunk_lexemes"], 0)


@pytest.mark.changes_indexes
def test_opening_does_not_mind_an_index_that_is_not_of_the_schema_and_failed(
    open_store: Open, driver: Driver, space: str
) -> None:
    label = own_label("Chunk", space)
    driver.execute_query(f"CREATE (:{label} {{text: $text}})", text="too long " * 5000)
    driver.execute_query(f"CREATE INDEX {label} FOR (n:{label}) ON n.text")
    try:
        with pytest.raises(Neo4jError, match="FAILED"):
            driver.execute_query("CALL db.awaitIndexes(60)")
        driver.execute_query(OLDER)
        store = open_store()
        assert store.info.schema_version == migrations()[-1][0]
        with pytest.raises(StoreError, match=rf"index {label} \([^\n]*too large[^\n]*\); drop it"):
            wait_until_built(store._connection, [label], 5)
    finally:
        driver.execute_query(f"DROP INDEX {label}")
        driver.execute_query(f"MATCH (n:{label}) DELETE n")


@pytest.mark.changes_indexes
def test_opening_creates_what_is_missing_of_the_schema_and_waits_for_it(
    open_store: Open, driver: Driver, space: str, caplog: pytest.LogCaptureFixture
) -> None:
    open_store().messages.insert(space, [message(space, 1, text="a zebra at last")])
    lost = ["chunk_lexemes", "chunk_order", "chunk_uid"]
    driver.execute_query("DROP INDEX chunk_lexemes")
    driver.execute_query("DROP INDEX chunk_order")
    driver.execute_query("DROP CONSTRAINT chunk_uid")
    with caplog.at_level(logging.WARNING, "cognigraph.neo4j"):
        store = open_store()
    said = [record.getMessage() for record in caplog.records]
    assert [text.partition(" has no ")[2].partition(";")[0] for text in said] == lost
    rows, _, _ = driver.execute_query(
        "SHOW INDEXES YIELD name, state, owningConstraint WHERE name IN $names "
        "RETURN name, state, owningConstraint ORDER BY name",
        names=lost,
    )
    assert [list(row.values()) for row in rows] == [
        ["chunk_lexemes", "ONLINE", None],
        ["chunk_order", "ONLINE", None],
        ["chunk_uid", "ONLINE", "chunk_uid"],
    ]
    found = store.search.candidates(
        space, CandidateQuery(unit(1)[0], terms=("zebra",), chunks_by_terms=5)
    )
    assert found.chunks.uids == (message(space, 1).chunks[0].uid,)


@pytest.mark.every_line
def test_errors_say_what_to_do(neo4j_server: Server, open_store: Open) -> None:
    with pytest.raises(StoreUnavailableError, match="check that the server runs"):
        Neo4jStore("bolt://127.0.0.1:1", EMBEDDER, open_timeout=1.0)
    started = time.monotonic()
    with pytest.raises(StoreUnavailableError, match="check that the server runs"):
        Neo4jStore("bolt://127.0.0.1:1", EMBEDDER)  # nothing listens there: no use in waiting
    assert time.monotonic() - started < 30  # not the 60 s of open_timeout
    with pytest.raises(StoreError, match="no database 'nowhere'"):
        open_store(database="nowhere")
    store = open_store()
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.spaces()


@pytest.mark.every_line
def test_doctor_sees_a_healthy_database(open_store: Open) -> None:
    checks = {check.name: check for check in open_store().check()}
    assert {name: check.ok for name, check in checks.items()} == dict.fromkeys(
        ("Neo4j", "schema", "indexes", "vector indexes", "query memory", "content"), True
    )
    assert "db.memory.transaction.max" in checks["query memory"].detail


@pytest.mark.parametrize(
    ("settings", "detail"),
    [
        (None, "unknown: this user may not read"),
        ({"db.memory.transaction.max": "0B"}, "set db.memory.transaction.max"),
        ({"db.memory.transaction.max": "0.00B"}, "set db.memory.transaction.max"),
        ({"db.memory.transaction.max": "256.00MiB"}, "256.00MiB for one query"),
    ],
)
def test_doctor_says_what_one_query_may_take(settings: dict[str, str] | None, detail: str) -> None:
    check = memory_limit(settings)
    assert check.ok
    assert detail in check.detail


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("states/in_slots", {"slots": [["an entity", "value|rent"]]}),
        ("states/replacing", {"families": [["an entity", "value|"]]}),
        ("states/family", {"families": [["an entity", "value|"]]}),
    ],
)
def test_a_fact_that_changed_its_slot_and_was_deleted_in_one_transaction_is_not_found(
    open_store: Open, driver: Driver, name: str, parameters: dict[str, Any]
) -> None:
    """Neo4j's own index returns it, and reading a property of it is an error."""
    open_store()
    uid = uuid4().hex
    driver.execute_query(
        "CREATE (:Triple {uid: $uid, holder: 'an entity', slot: 'value|age', replaces: true})",
        uid=uid,
    )
    with driver.session() as session, session.begin_transaction() as transaction:
        for change in ("SET t.slot = 'value|rent'", "DELETE t"):
            transaction.run("MATCH (t:Triple {uid: $uid}) " + change, uid=uid).consume()  # type: ignore[arg-type]
        found = transaction.run(*with_parameters(cypher(name), parameters)).values()  # type: ignore[arg-type]
        transaction.commit()
    assert found == []
