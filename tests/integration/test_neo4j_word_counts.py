"""The word counts of a space are right whatever other processes write, forget or change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from neo4j import Driver

from cognigraph.stores.neo4j import Neo4jStore
from cognigraph.stores.protocols import Selection
from cognigraph.text.terms import term_counts
from tests.integration.test_neo4j_store import START, Open, driver, message, open_store, space

pytestmark = [pytest.mark.neo4j, pytest.mark.oldest_line]

__all__ = ["driver", "open_store", "space"]

TERMS = ("appl", "guitar", "zebra", "river", "said")


def truth(driver: Driver, space: str) -> dict[str, int]:
    """How many chunks of a space have each term."""
    rows = driver.execute_query("MATCH (c:Chunk {space: $space}) RETURN c.text", space=space)
    found = Counter(term for row in rows.records for term in set(term_counts(row[0])))
    return {term: found[term] for term in TERMS}


def counted(store: Neo4jStore, space: str) -> dict[str, int]:
    view = store._lexicons.view(space, TERMS)
    assert view is not None
    return dict(view.lexicon.frequencies)


def insert(store: Neo4jStore, space: str, numbers: Sequence[int], text: str | None = None) -> None:
    store.messages.insert(space, [message(space, n, text=text) for n in numbers])


def forget(store: Neo4jStore, space: str, number: int) -> None:
    (chosen,) = store.housekeeping.choose(space, Selection(session="s", message=f"m{number}"))
    store.housekeeping.forget(space, chosen, remember=False)


def test_what_is_forgotten_or_rewritten_is_in_no_counts(
    open_store: Open, driver: Driver, space: str
) -> None:
    store, other = open_store(), open_store()
    insert(store, space, range(40))
    insert(store, space, [40], "a zebra at last")
    for item in (store, other):
        assert counted(item, space)["zebra"] == 1
    changed = message(space, 40, text="a guitar at last")
    assert store.housekeeping.update(space, changed, START)
    for item in (store, other):
        assert counted(item, space) == truth(driver, space)
        assert counted(item, space)["zebra"] == 0
    forget(store, space, 40)
    for item in (store, other):
        assert counted(item, space) == truth(driver, space)
    store.housekeeping.remove_space(space)
    assert store._lexicons.view(space, TERMS) is None
    insert(store, space, range(3))
    for item in (store, other):
        assert counted(item, space) == truth(driver, space)


def test_processes_that_write_forget_and_count_at_once_agree(
    open_store: Open, driver: Driver, space: str
) -> None:
    stores = [open_store() for _ in range(3)]
    insert(stores[0], space, range(30))

    def write(store: Neo4jStore, first: int) -> None:
        for n in range(first, first + 12):
            insert(store, space, [n, n + 500])
            if n % 4 == 3:
                forget(store, space, n)
            assert counted(store, space)["said"] > 0

    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write, store, 1000 * n) for n, store in enumerate(stores[1:], 1)]
        while not all(writer.done() for writer in writers):
            counted(stores[0], space)
        for writer in writers:
            writer.result()
    for store in stores:
        assert counted(store, space) == truth(driver, space)
