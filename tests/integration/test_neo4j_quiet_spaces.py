"""A search in a space that has been quiet starts before the statistics of the space are read."""

from __future__ import annotations

import pytest

from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.neo4j.store import Neo4jStore
from tests.integration.test_neo4j_store import (
    Open,
    message,
    open_store,
    space,
    statements,
    unit,
)

pytestmark = [pytest.mark.neo4j, pytest.mark.oldest_line]

__all__ = ["open_store", "space"]

ASKED = CandidateQuery(
    unit(1)[0], terms=("zebra",), chunks_by_vector=2, chunks_by_terms=2, radius=1
)


def found_by_words(store: Neo4jStore, space: str) -> tuple[list[str], int]:
    """The chunks that are found by their words, and in how many chunks the word is said to be."""
    found = store.search.candidates(space, ASKED)
    chunks = found.chunks
    by_terms = [uid for uid, is_found in zip(chunks.uids, chunks.by_terms, strict=True) if is_found]
    return by_terms, found.lexicon.frequencies["zebra"]


def started(sent: list[str]) -> int:
    """How often candidates of chunks or triples were looked for."""
    return sent.count("find the candidates of")


def test_what_others_write_meanwhile_is_found(open_store: Open, space: str) -> None:
    one, other = open_store(), open_store()
    one.messages.insert(space, [message(space, number) for number in range(6)])
    assert found_by_words(one, space) == ([], 0)
    with statements() as sent:
        assert found_by_words(one, space) == ([], 0)
    assert started(sent) == 1
    assert one._lexicons.expected(space, ASKED.terms) == one._lexicons.view(space, ASKED.terms)

    new = message(space, 7, text="a zebra at last")
    other.messages.insert(space, [new])
    with statements() as sent:
        assert found_by_words(one, space) == ([new.chunks[0].uid], 1)
    assert started(sent) == 2, "with what was expected, and with what was read"

    assert one._lexicons.expected(space, ASKED.terms) is None, "the space is not quiet"
    with statements() as sent:
        assert found_by_words(one, space) == ([new.chunks[0].uid], 1)
    assert started(sent) == 1
    assert one._lexicons.expected(space, ASKED.terms) is not None


def test_after_a_write_of_its_own_a_store_reads_the_statistics_first(
    open_store: Open, space: str
) -> None:
    store = open_store()
    store.messages.insert(space, [message(space, 1)])
    assert found_by_words(store, space) == ([], 0)
    assert store._lexicons.expected(space, ASKED.terms) is not None
    new = message(space, 2, text="a zebra at last")
    store.messages.insert(space, [new])
    assert store._lexicons.expected(space, ASKED.terms) is None
    with statements() as sent:
        assert found_by_words(store, space) == ([new.chunks[0].uid], 1)
    assert started(sent) == 1
