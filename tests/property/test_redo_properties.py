"""Redo gives the graph that the newer extractions alone would give."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognigraph import EnrichSettings, Memory, Settings
from cognigraph.ingest import Fact
from cognigraph.testing import FrozenClock, HashEmbedder
from tests.conftest import START
from tests.examples import examples
from tests.property import test_order_properties as order

# One spelling of each: which of several is shown is for the extractions that are left to say
# only once nothing else holds the name.
PEOPLE = [
    "Anna", "Anna Berg", "Anna Holm", "A. Berg", "Dr. Berg", "Berg", "Ben", "Ben Marianson",
    "Ben Mariannson", "Annie", "my sister",
]  # fmt: skip
facts = st.builds(
    Fact,
    st.sampled_from(PEOPLE),
    st.just("person"),
    st.sampled_from(["likes", "has"]),
    st.sampled_from(["dog", "dogs", "co-op", "coop"]),
    st.sampled_from(["object", "place"]),
    st.just((0,)),
    st.sampled_from([None, None, "2026-05"]),
    st.just(False),
    st.sampled_from([None, None, "Eva"]),
)
readings = st.tuples(st.lists(facts, max_size=3), st.lists(order.mentions_of(PEOPLE), max_size=2))
turns = st.lists(
    st.tuples(
        st.sampled_from(["s", "t", "u"]), st.sampled_from(["Kim", "Eva"]), readings, readings
    ),
    min_size=1,
    max_size=8,
)


class Newer(order.Scripted):
    name = "scripted-2"


def read(turns: list[Any], index: int) -> list[Any]:
    return [(session, speaker, *both[index]) for session, speaker, *both in turns]


def open_(location: dict[str, Any], reader: order.Scripted, batch: int, **options: Any) -> Memory:
    defaults = {"embedder": HashEmbedder(32), "clock": FrozenClock(START), "enrich": "manual"}
    return Memory(
        **location,
        **(defaults | options),
        extractor=reader,
        settings=Settings(enrich=EnrichSettings(batch=batch)),
    )


def redo(
    location: dict[str, Any],
    old: list[Any],
    new: list[Any],
    indices: list[int],
    batch: int,
    name: str = "x",
    **options: Any,
) -> Any:
    """Enrich everything with an older extractor, in some order, then with a newer one."""
    with open_(location, order.Scripted(old), batch, **options) as memory:
        space = memory.space(name)
        for number in indices:
            session, speaker, _, _ = old[number]
            at = START + timedelta(minutes=number // 2)
            space.add(f"turn {number}", id=str(number), session=session, speaker=speaker, at=at)
        space.flush(timeout=60)
    with open_(location, Newer(new), batch, **options) as memory:
        space = memory.space(name)
        space.queue.redo(older_than=2)
        space.flush(timeout=60)
        return order.claimed(space)


_ROWS = (
    "SELECT uid, name FROM entity",
    "SELECT t.uid, f.uid, s.uid, o.uid, i.first_observed, i.vector FROM triple t "
    "LEFT JOIN triple f ON f.id = t.folded_into JOIN entity s ON s.id = t.subject_id "
    "JOIN entity o ON o.id = t.object_id JOIN triple_index i ON i.triple_id = t.id",
    "SELECT a.uid, a.name, c.uid FROM alias a JOIN alias_source s ON s.alias_id = a.id "
    "JOIN chunk c ON c.id = s.chunk_id",
    "SELECT x.uid, y.uid, kind, verdict FROM pair JOIN entity x ON x.id = a_id "
    "JOIN entity y ON y.id = b_id",
    "SELECT b.key, e.uid FROM block b JOIN entity e ON e.id = b.entity_id",
    "SELECT e.uid, v.vector FROM entity e LEFT JOIN name_vector v ON v.entity_id = e.id",
    "PRAGMA foreign_key_check",
    "SELECT entity_id FROM block WHERE entity_id NOT IN (SELECT id FROM entity)",
    "SELECT raw_id FROM mention WHERE raw_id NOT IN (SELECT id FROM entity)",
)


def rows(path: Path) -> list[list[Any]]:
    """Return the stored rows, including the data that merging uses."""
    with closing(sqlite3.connect(path)) as connection, connection:
        found = [sorted(connection.execute(query).fetchall(), key=repr) for query in _ROWS]
    connection.close()
    return found


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(turns, st.randoms(use_true_random=False), st.integers(1, 7))
def test_redo_gives_the_same_graph_as_a_first_extraction(
    turns: list[Any], shuffle: random.Random, batch: int
) -> None:
    indices = list(range(len(turns)))
    shuffle.shuffle(indices)
    with tempfile.TemporaryDirectory() as folder:
        a, b = Path(folder) / "a.db", Path(folder) / "b.db"
        again = redo({"location": a}, read(turns, 0), read(turns, 1), indices, batch)
        alone = order.fill({"location": b}, read(turns, 1), sorted(indices), 64, 1)
        assert again == alone
        assert rows(a) == rows(b)


@settings(max_examples=examples(15))
@given(order.turns, st.integers(1, 7))
def test_redo_with_the_same_extraction_changes_nothing(turns: list[Any], batch: int) -> None:
    indices = list(range(len(turns)))
    with tempfile.TemporaryDirectory() as folder:
        a, b = Path(folder) / "a.db", Path(folder) / "b.db"
        again = redo({"location": a}, turns, turns, indices, batch)
        alone = order.fill({"location": b}, turns, indices, 64, 1)
        assert again == alone
        assert rows(a) == rows(b)
