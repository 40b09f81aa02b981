"""The graph depends only on the turns, not on their order, batches or workers."""

from __future__ import annotations

import random
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognigraph import EnrichSettings, Memory, Settings
from cognigraph.ingest import Extraction, Fact, Mention
from cognigraph.ingest.extraction import Extractor, Window
from cognigraph.testing import FrozenClock, HashEmbedder
from tests.conftest import START
from tests.examples import examples

PEOPLE = [
    "Anna", "Anna Berg", "ANNA BERG", "Anna Holm", "A. Berg", "Dr. Berg", "Berg", "Dr. Anna Berg",
    "Ben", "Ben Marianson", "Ben Mariannson", "Ben Maranson", "Bén", "my sister", "Annie",
]  # fmt: skip
THINGS = ["dog", "dogs", "the dog", "Dogs", "C++", "C#", "iPhone 12", "iPhone 13", "co-op", "coop"]
TYPES = ["object", "concept", "object", "place"]

facts = st.builds(
    Fact,
    st.sampled_from(PEOPLE),
    st.just("person"),
    st.sampled_from(["likes", "LIKES", "has"]),
    st.sampled_from(THINGS),
    st.sampled_from(TYPES),
    st.just((0,)),
    st.sampled_from([None, None, "2026-05"]),
    st.booleans(),
    st.sampled_from([None, None, "Eva"]),
)


def mentions_of(people: list[str]) -> st.SearchStrategy[Mention]:
    return st.builds(
        Mention,
        st.sampled_from(people),
        st.just("person"),
        st.just((0,)),
        st.lists(st.sampled_from(["Annie", "my sister", "Anna", "Bennie"]), max_size=2).map(tuple),
    )


turns = st.lists(
    st.tuples(
        st.sampled_from(["s", "t", "u"]),
        st.sampled_from(["Kim", "Eva"]),
        st.lists(facts, max_size=4),
        st.lists(mentions_of(PEOPLE), max_size=2),
    ),
    min_size=1,
    max_size=9,
)


class Scripted(Extractor):
    """Returns a fixed extraction for each message, wherever it is in a window."""

    name = "scripted-1"

    def __init__(self, turns):
        self.turns = turns

    def extract(self, window: Window) -> Extraction:
        found, named = [], []
        for index, chunk in enumerate(window.chunks):
            _, _, said, people = self.turns[int(chunk.message_id)]
            found += [_moved(fact, index) for fact in said]
            named += [Mention(p.name, p.type, (index,), p.aliases) for p in people]
        return Extraction(mentions=tuple(named), facts=tuple(found))


def _moved(fact: Fact, index: int) -> Fact:
    return Fact(
        fact.subject, fact.subject_type, fact.relation, fact.object, fact.object_type, (index,),
        fact.when, fact.negated, fact.said_by,
    )  # fmt: skip


def fill(location, turns, order, batch, workers, space="x", **options):
    """Insert the turns in an order, enrich them, and return everything that must be equal."""
    defaults = {"embedder": HashEmbedder(32), "clock": FrozenClock(START), "enrich": "manual"}
    with Memory(
        **location,
        **(defaults | options),
        extractor=Scripted(turns),
        settings=Settings(enrich=EnrichSettings(batch=batch)),
    ) as memory:
        own = memory.space(space)
        for number in order:
            session, speaker, _, _ = turns[number]
            at = START + timedelta(minutes=number // 2)  # some at one time
            own.add(f"turn {number}", id=str(number), session=session, speaker=speaker, at=at)
            if number % 3 == 0:
                own.queue.enrich()
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda _: memory.space(space).queue.enrich(), range(workers)))
        own.flush(timeout=60)
        return claimed(own)


def claimed(space):
    """Entities, triples, evidence, mentions, merges in force and suspicions."""
    return {
        "entities": sorted(
            (e.name, e.type, e.triples, e.mentions, e.aliases) for e in space.entities(limit=1000)
        ),
        "triples": sorted(
            (t.uid, t.subject, t.subject_type, t.relation, t.object, t.object_type, str(t.when),
             t.negated, t.first_observed, t.last_observed,
             sorted((s.id, s.session, s.at, s.said_by or "") for s in t.sources))
            for t in space.facts(limit=1000)
        ),
        "merges": sorted(
            (m.name, m.type, m.into, m.into_type, m.by, m.reason, m.score)
            for m in space.review.merges(limit=10_000)
            if m.undone_at is None
        ),
        "suspected": sorted(map(repr, space.review.duplicates(1000))),
        "mentions": sorted(
            (row["m"], row["e"], row["t"])
            for row in space.cypher(
                "MATCH (c:Chunk)-[:MENTIONS]->(e:Entity) "
                "RETURN c.message_id AS m, e.name AS e, e.type AS t"
            )
        ),
    }  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(turns, st.randoms(use_true_random=False), st.integers(1, 7), st.integers(1, 4))
def test_the_graph_does_not_depend_on_order_batches_or_workers(
    turns: list, shuffle: random.Random, batch: int, workers: int
) -> None:
    order = list(range(len(turns)))
    with tempfile.TemporaryDirectory() as folder:
        plain = fill({"location": Path(folder) / "a.db"}, turns, order, 64, 1)
        shuffle.shuffle(order)
        other = fill({"location": Path(folder) / "b.db"}, turns, order, batch, workers)
    assert other == plain
