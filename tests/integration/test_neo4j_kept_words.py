"""The word counts of a large space are kept in the database, and right whatever is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from neo4j import Driver

from cognigraph import Memory
from cognigraph.stores.neo4j import Neo4jStore
from cognigraph.stores.neo4j.index import word_counts
from cognigraph.stores.neo4j.index.word_counts import Frequencies, KeptCounts, kept_uid
from cognigraph.stores.protocols import Selection
from cognigraph.text.terms import term_counts
from tests.integration.test_neo4j_store import (
    START,
    Open,
    driver,
    message,
    open_store,
    space,
)
from tests.servers.neo4j_server import Server

pytestmark = [pytest.mark.neo4j, pytest.mark.one_line]

__all__ = ["driver", "open_store", "space"]

TERMS = ("appl", "guitar", "zebra", "river", "said")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch, driver: Driver, space: str) -> Iterator[None]:
    """Counts are kept in small spaces too."""
    monkeypatch.setattr(word_counts, "_LEAST_KEPT", 10)
    yield
    driver.execute_query("MATCH (n:CogniGraph {uid: $uid}) DELETE n", uid=kept_uid(space))


def is_kept(driver: Driver, space: str) -> bool:
    rows = driver.execute_query("MATCH (n:CogniGraph {uid: $uid}) RETURN n", uid=kept_uid(space))
    return bool(rows.records)


def truth(driver: Driver, space: str) -> dict[str, int]:
    """How many chunks of a space have each term."""
    rows = driver.execute_query("MATCH (c:Chunk {space: $space}) RETURN c.text", space=space)
    found = Counter(term for row in rows.records for term in set(term_counts(row[0])))
    return {term: found[term] for term in TERMS}


def counted(store: Neo4jStore, space: str) -> dict[str, int]:
    view = store._lexicons.view(space, TERMS)
    assert view is not None
    return dict(view.lexicon.frequencies)


def spy(store: Neo4jStore) -> list[int]:
    """How many chunks each of the following statements counts."""
    row, fresh = store._connection.row, list[int]()

    def watched(name: str, *replace: tuple[str, str], **parameters: Any) -> Any:
        found = row(name, *replace, **parameters)
        if name == "search/space" and found is not None:
            fresh.append(found[9])
        return found

    store._connection.row = watched  # type: ignore[method-assign]
    return fresh


def insert(store: Neo4jStore, space: str, numbers: Sequence[int], text: str | None = None) -> None:
    store.messages.insert(space, [message(space, n, text=text) for n in numbers])


def kept_by(open_store: Open, space: str) -> None:
    """Another process counts, keeps the counts and ends."""
    store = open_store()
    counted(store, space)
    store.close()  # waits for the thread


def test_a_new_process_counts_only_what_is_not_kept(
    open_store: Open, driver: Driver, space: str
) -> None:
    store = open_store()
    insert(store, space, range(60))
    kept_by(open_store, space)
    assert is_kept(driver, space)
    insert(store, space, range(60, 65), "a zebra at last")
    one = open_store()
    fresh = spy(one)
    assert counted(one, space) == truth(driver, space)
    assert counted(one, space)["zebra"] == 5
    assert fresh == [5, 0]
    # Until a good part is missing in what is kept, it is left as it is; then it is written anew.
    insert(store, space, range(65, 76))
    assert counted(one, space) == truth(driver, space)
    one.close()
    other = open_store()
    fresh = spy(other)
    assert counted(other, space) == truth(driver, space)
    assert fresh == [0]


def test_what_is_forgotten_or_rewritten_is_in_no_counts(
    open_store: Open, driver: Driver, space: str
) -> None:
    store = open_store()
    insert(store, space, range(40))
    insert(store, space, [40], "a zebra at last")
    kept_by(open_store, space)
    assert counted(store, space)["zebra"] == 1
    changed = message(space, 40, text="a guitar at last")
    assert store.housekeeping.update(space, changed, START)
    assert not is_kept(driver, space)
    for one in (open_store(), store):
        assert counted(one, space) == truth(driver, space)
        assert counted(one, space)["zebra"] == 0
    kept_by(open_store, space)
    assert is_kept(driver, space)
    (chosen,) = store.housekeeping.choose(space, Selection(session="s", message="m40"))
    store.housekeeping.forget(space, chosen, remember=False)
    assert not is_kept(driver, space)
    for one in (open_store(), store):
        assert counted(one, space) == truth(driver, space)
    kept_by(open_store, space)
    assert is_kept(driver, space)
    store.housekeeping.remove_space(space)
    assert not is_kept(driver, space)
    assert store._lexicons.view(space, TERMS) is None
    insert(store, space, range(3))
    for one in (open_store(), store):
        assert counted(one, space) == truth(driver, space)


def test_counts_that_are_wrong_by_now_are_not_kept(
    open_store: Open, driver: Driver, space: str
) -> None:
    store = open_store()
    insert(store, space, range(20))
    (row,) = driver.execute_query("MATCH (s:Space {name: $s}) RETURN s.seq", s=space).records
    right = KeptCounts(row[0], 20, 0, Frequencies(space).packed())
    insert(store, space, range(20, 23))  # what came later does not matter
    word_counts.keep_counts(store._connection, space, right)
    assert is_kept(driver, space)
    (chosen,) = store.housekeeping.choose(space, Selection(session="s", message="m3"))
    store.housekeeping.forget(space, chosen, remember=False)
    word_counts.keep_counts(store._connection, space, right)
    assert not is_kept(driver, space)
    word_counts.keep_counts(store._connection, space, KeptCounts(row[0], 19, 1, b""))
    assert not is_kept(driver, space), "rewritten less often than was counted"
    word_counts.keep_counts(store._connection, space, KeptCounts(row[0], 19, 0, right.frequencies))
    assert is_kept(driver, space)


@pytest.mark.parametrize("fault", ["forgotten", "format", "torn", "future"])
def test_wrong_counts_are_noticed_and_replaced(
    open_store: Open, driver: Driver, space: str, fault: str
) -> None:
    store = open_store()
    insert(store, space, range(40))
    kept_by(open_store, space)
    uid = kept_uid(space)
    if fault == "forgotten":  # by an earlier version, which does not delete the counts
        driver.execute_query(
            "MATCH (s:Space {name: $s}) MATCH (c:Chunk {space: $s, message_id: 'm3'}) "
            "SET s.chunks = s.chunks - 1, s.length = s.length - c.length DETACH DELETE c",
            s=space,
        )
    elif fault == "format":
        driver.execute_query(
            "MATCH (n:CogniGraph {uid: $uid}) SET n.words = $w", uid=uid, w=b"CGW9 another"
        )
    elif fault == "torn":
        driver.execute_query("MATCH (n:CogniGraph {uid: $uid}) SET n.seq = n.seq - 1", uid=uid)
    else:  # of a space of the same name that was deleted, before the clock was set back
        (row,) = driver.execute_query("MATCH (s:Space {name: $s}) RETURN s.seq", s=space).records
        old = KeptCounts(2 * row[0], 40, 0, Frequencies(space).packed())
        driver.execute_query(
            "MATCH (n:CogniGraph {uid: $uid}) SET n.seq = $seq, n.words = $words",
            uid=uid, seq=old.seq, words=old.value,
        )  # fmt: skip
    one = open_store()
    assert counted(one, space) == truth(driver, space)
    one.close()
    other = open_store()
    fresh = spy(other)
    assert counted(other, space) == truth(driver, space)
    assert fresh == [0]


def test_processes_that_write_forget_and_count_at_once_agree(
    open_store: Open, driver: Driver, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_counts, "_LEAST_KEPT", 3)
    insert(open_store(), space, range(30))

    def write(writer: int) -> None:
        store = open_store()
        for n in range(12):
            number = 1000 * (writer + 1) + n
            insert(store, space, [number, number + 500])
            if n % 4 == 3:
                chosen = store.housekeeping.choose(
                    space, Selection(session="s", message=f"m{number}")
                )
                store.housekeeping.forget(space, chosen[0], remember=False)
            assert counted(store, space)["said"] > 0

    def read(_: int) -> None:
        for _ in range(10):
            kept_by(open_store, space)

    with ThreadPoolExecutor(4) as pool:
        wait_for = [pool.submit(write, 0), pool.submit(write, 1), pool.submit(read, 0)]
        for one in wait_for:
            one.result()
    for _ in range(2):
        kept_by(open_store, space)
    last = open_store()
    fresh = spy(last)
    assert counted(last, space) == truth(driver, space)
    assert sum(fresh) <= 3 and is_kept(driver, space)


def test_no_query_of_a_user_finds_the_counts(
    open_store: Open, driver: Driver, space: str, neo4j_server: Server
) -> None:
    insert(open_store(), space, range(20))
    kept_by(open_store, space)
    assert is_kept(driver, space)
    with Memory(neo4j_server.uri, auth=neo4j_server.auth, enrich="manual") as memory:
        own = memory.space(space)
        assert own.cypher("MATCH (n) WHERE n.words IS NOT NULL RETURN count(n) AS n") == [{"n": 0}]
        assert own.cypher("MATCH (n:CogniGraph) RETURN count(n) AS n") == [{"n": 0}]
        assert own.cypher("MATCH (n:Chunk) RETURN count(n) AS n") == [{"n": 20}]
