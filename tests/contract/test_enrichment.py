"""Enrichment, on every store: nothing is lost or duplicated, and failures add no facts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import ExtractionError, FlushTimeout, Settings
from cognigraph.ingest import Extraction, Fact, Mention
from cognigraph.ingest.derive import (
    NO_EVIDENCE,
    NO_OBJECT,
    NO_RELATION,
    NO_SUBJECT,
    by_reason,
)
from cognigraph.ingest.extraction import NO_DATE
from cognigraph.model import Theme
from cognigraph.settings import EnrichSettings
from cognigraph.stores.records import Derivation
from tests.conftest import START


def facts(space):
    """(text, when, source ids) of all triples."""
    return sorted(
        (t.text, str(t.when) if t.when else None, sorted(s.id for s in t.sources))
        for t in space.facts()
    )


def add(space, *ids, session="s", start=START):
    for number, id in enumerate(ids):
        at = start + timedelta(minutes=number)
        space.add(f"text of {id}", id=id, session=session, speaker="Ann", at=at)


LIVES = Fact("Ann", "person", "lives in", "Oslo", "location", (0,))


def test_facts_become_triples_with_their_sources(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    add(space, "m1", "m2")
    extractor.script(
        {"m1": [LIVES], "m2": [Fact("Ann", "person", "bought", "kayak", "object", (0,), "2026-05")]}
    )
    assert space.stats().pending == 2
    space.flush()
    stats = space.stats()
    assert (stats.pending, stats.done, stats.triples, stats.entities) == (0, 2, 2, 3)
    assert facts(space) == [
        ("Ann bought kayak", "2026-05", ["m2"]),
        ("Ann lives in Oslo", None, ["m1"]),
    ]
    (kayak,) = space.facts(entity="kayak")
    assert (kayak.subject_type, kayak.object_type) == ("person", "object")
    assert (kayak.first_observed, kayak.sources[0].session) == (START + timedelta(minutes=1), "s")
    entity = space.entities(match="oslo")[0]
    assert (entity.name, entity.type, entity.triples) == ("Oslo", "location", 1)


def test_the_same_fact_gains_evidence_and_time_not_nodes(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    add(space, "m2", start=START + timedelta(days=2))
    add(space, "m1", session="t", start=START)
    add(space, "m3", session="u", start=START + timedelta(days=9))
    spelled = Fact("ann", "Person", "Lives  in", "OSLO", "location", (0,))
    extractor.script({"m1": [LIVES], "m2": [LIVES, LIVES], "m3": [spelled]})
    space.flush()
    (triple,) = space.facts()
    assert [source.id for source in triple.sources] == ["m3", "m2", "m1"]
    assert triple.first_observed == START
    assert triple.last_observed == START + timedelta(days=9)
    assert space.stats().entities == 2


def test_types_polarity_time_and_relation_keep_facts_apart(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    add(space, "m1")
    apart = [
        Fact("Ann", "person", "likes", "Apple", "organization", (0,)),
        Fact("Ann", "person", "likes", "Apple", "object", (0,)),
        Fact("Ann", "person", "likes", "Apple", "object", (0,), negated=True),
        Fact("Ann", "person", "likes", "Apple", "object", (0,), when="2026"),
        Fact("Ann", "person", "eats", "Apple", "object", (0,)),
    ]
    extractor.script({"m1": apart})
    space.flush()
    assert len(space.facts()) == 5
    assert len(space.entities(match="apple")) == 2


def test_bad_extractions_are_rejected_not_stored(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    add(space, "m1")
    extractor.script(
        {
            "m1": [
                LIVES,
                Fact("Ann", "person", "likes", "tea", "object", (7,)),
                Fact("", "person", "likes", "tea", "object", (0,)),
                Fact("Ann", "person", " ", "tea", "object", (0,)),
                Fact("Ann", "person", "owns", "x" * 400, "object", (0,)),
                Fact("Ann", "person", "met", "Ben", "person", (0,), when="some day"),
            ]
        }
    )
    (step,) = space.queue.enrich()
    assert by_reason(step.rejected) == {
        NO_EVIDENCE: 1, NO_SUBJECT: 1, NO_RELATION: 1, NO_OBJECT: 1, NO_DATE: 1,
    }  # fmt: skip
    assert facts(space) == [("Ann lives in Oslo", None, ["m1"]), ("Ann met Ben", None, ["m1"])]


def test_session_keys_and_themes_are_replaced_whole(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    extractor.result = lambda window: Extraction(
        keys=(*((chunk.message_id, 1.0) for chunk in window.chunks), ("always", 2.0)),
        themes=(Theme("About", " ".join(chunk.text for chunk in window.chunks)),),
        state=window.notes.state + "x",
    )
    add(space, "m1")
    space.flush()
    (session,) = space.overview.sessions()
    assert (session.keys, session.summary, session.version) == (
        ("always", "m1"), "About: text of m1", 1,
    )  # fmt: skip
    add(space, "m2", start=START + timedelta(hours=1))
    space.flush()
    (session,) = space.overview.sessions()
    assert (session.keys, session.version) == (("always", "m2"), 2)
    assert session.themes == (Theme("About", "text of m2"),)
    assert space.stats().keys == 2
    assert extractor.windows[-1].notes.state == "x"
    assert [chunk.message_id for chunk in extractor.windows[-1].before] == ["m1"]


def test_an_extraction_without_keys_and_themes_keeps_the_summary(
    open_memory, space_name, extractor
):
    space = open_memory().space(space_name)
    extractor.result = lambda window: Extraction(keys=(("oslo", 1.0),), themes=(Theme("T", "S."),))
    add(space, "m1")
    space.flush()
    extractor.result = lambda window: Extraction(facts=(LIVES,))
    add(space, "m2", start=START + timedelta(hours=1))
    space.flush()
    (session,) = space.overview.sessions()
    assert (session.keys, session.summary) == (("oslo",), "T: S.")


def test_mentions_link_chunks_to_entities(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    extractor.result = lambda window: Extraction(mentions=(Mention("Oslo", "location", (0, 1)),))
    add(space, "m1", "m2")
    space.flush()
    rows = space.cypher(
        "MATCH (c:Chunk)-[:MENTIONS]->(e:Entity) RETURN c.message_id AS id, e.name AS e"
    )
    assert sorted((row["id"], row["e"]) for row in rows) == [("m1", "Oslo"), ("m2", "Oslo")]
    assert space.entities()[0].mentions == 2


def test_a_failed_extraction_is_recorded_and_retried(open_memory, space_name, extractor, clock):
    space = open_memory().space(space_name)
    add(space, "m1")
    extractor.script({"m1": [LIVES]})
    extractor.fail_for("m1", times=2)
    (step,) = space.queue.enrich()
    assert "m1" in step.error
    assert (space.facts(), space.stats().pending) == ([], 1)
    (failure,) = space.queue.failures()
    assert (failure.message_id, failure.attempts, failure.parked) == ("m1", 1, False)
    assert space.queue.enrich() == []  # not before the retry time
    assert space.search("text of m1", now=START)[0].id == "m1"
    for _ in range(2):
        clock.advance(timedelta(minutes=5))
        space.queue.enrich()
    assert (facts(space), space.queue.failures()) == ([("Ann lives in Oslo", None, ["m1"])], [])


def test_a_chunk_that_always_fails_is_parked_listed_and_can_be_retried(
    open_memory, space_name, extractor, clock
):
    settings = Settings(enrich=EnrichSettings(park_after=3))
    space = open_memory(settings=settings).space(space_name)
    add(space, "m1")
    extractor.script({"m1": [LIVES]})
    extractor.fail_for("m1", times=3)
    for _ in range(5):
        space.queue.enrich()
        clock.advance(timedelta(hours=1))
    assert extractor.calls == 3
    (failure,) = space.queue.failures()
    assert (failure.attempts, failure.parked) == (3, True)
    assert (space.stats().failed, space.stats().pending) == (1, 0)
    space.flush(timeout=1)  # flush does not wait for parked work
    assert space.queue.retry() == 1
    space.flush(timeout=5)
    assert facts(space) == [("Ann lives in Oslo", None, ["m1"])]
    assert space.stats().failed == 0


def test_an_error_that_is_not_retryable_parks_the_chunk_at_once(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    add(space, "m1")

    def refuse(window):
        raise ExtractionError("cannot be read at all", retryable=False)

    extractor.result = refuse
    space.queue.enrich()
    assert space.queue.failures()[0].parked


@pytest.mark.slow
def test_the_flush_timeout_error_gives_the_reason(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    add(space, "m1")
    extractor.fail_for("m1", times=99)
    with pytest.raises(FlushTimeout, match="m1") as caught:
        space.flush(timeout=0.2)
    assert caught.value.pending == 1


def claim(memory, clock, space, worker="w", limit=10, seconds=60):
    return memory._engine.store.queue.claim(
        worker=worker, limit=limit, lease_for=timedelta(seconds=seconds), now=clock(), space=space
    )


def test_a_session_has_one_lease_and_expired_ones_are_taken_over(open_memory, space_name, clock):
    memory = open_memory()
    space = memory.space(space_name)
    add(space, "a1", "a2", "a3", session="a")
    add(space, "b1", session="b")
    store = memory._engine.store
    first = claim(memory, clock, space_name, limit=2)
    assert [chunk.message_id for chunk in first.chunks] == ["a1", "a2"]
    second = claim(memory, clock, space_name)
    assert [chunk.message_id for chunk in second.chunks] == ["b1"]
    assert claim(memory, clock, space_name) is None
    assert (space.stats().leased, space.stats().pending) == (3, 1)
    clock.advance(timedelta(minutes=2))
    taken = claim(memory, clock, space_name, worker="other")
    assert [chunk.message_id for chunk in taken.chunks] == ["a1", "a2", "a3"]
    # The first worker finishes too late: its result is refused, that of the second is not.
    assert not store.queue.complete(first, Derivation("late"))
    assert not store.queue.fail(first, "late", park_after=1, retry_at=clock())
    assert store.queue.complete(taken, Derivation("in-time"))
    # Late, but no other worker took over, so the result is accepted.
    assert store.queue.complete(second, Derivation("slow"))
    assert space.stats().done == 4


@pytest.mark.slow
def test_order_and_batching_do_not_change_the_graph(open_memory, space_name, extractor):
    ids = [f"m{n}" for n in range(9)]
    script = {
        id: [
            Fact("Ann", "person", "met", f"friend {n % 4}", "person", (0,)),
            Fact("Ann", "person", "lives in", "Oslo", "location", (0,)),
        ]
        for n, id in enumerate(ids)
    }
    graphs = []
    for variant, batch in enumerate((1, 4, 64)):
        space = open_memory(settings=Settings(enrich=EnrichSettings(batch=batch))).space(
            f"{space_name}-{variant}"
        )
        order = ids if variant != 1 else ids[::-1]
        for id in order:
            at = START + timedelta(minutes=ids.index(id))
            space.add(f"text {id}", id=id, session="s", at=at)
            if variant == 0:
                extractor.script(script)
                space.flush()
        extractor.script(script)
        space.flush()
        times = [(t.text, t.first_observed, t.last_observed) for t in space.facts()]
        graphs.append((facts(space), sorted(times)))
    assert graphs[0] == graphs[1] == graphs[2]
    assert len(graphs[0][0]) == 5


def test_the_background_worker_enriches_without_a_call(open_memory, space_name, extractor, later):
    extractor.script({"m1": [LIVES]})
    memory = open_memory(enrich="background")
    space = memory.space(space_name)
    add(space, "m1")
    space.flush(timeout=20)
    assert facts(space) == [("Ann lives in Oslo", None, ["m1"])]
    hit = space.search("Where does Ann live?", now=later)[0]
    assert [triple.text for triple in hit.triples] == ["Ann lives in Oslo"]


def test_the_next_memory_continues_work_left_by_a_closed_one(open_memory, space_name, extractor):
    first = open_memory()
    add(first.space(space_name), "m1")
    first.close()
    extractor.script({"m1": [LIVES]})
    space = open_memory().space(space_name)
    assert space.stats().pending == 1
    space.flush()
    assert facts(space) == [("Ann lives in Oslo", None, ["m1"])]


@pytest.mark.slow
def test_the_lease_of_a_killed_worker_is_taken_over_at_once(open_memory, space_name, extractor):
    import os
    import socket
    import subprocess
    import sys

    memory = open_memory()
    space = memory.space(space_name)
    add(space, "m1")
    add(space, "n1", session="t")
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    host = socket.gethostname().replace(":", "-")
    store = memory._engine.store
    clock = memory._engine.clock
    dead = claim(memory, clock, space_name, worker=f"{host}:{child.pid}:x", seconds=600)
    alive = claim(memory, clock, space_name, worker=f"{host}:{os.getpid()}:y", seconds=600)
    assert {dead.token, alive.token} <= set(store.queue.leases())
    extractor.script({"m1": [LIVES], "n1": [LIVES]})
    (step,) = open_memory().space(space_name).queue.enrich()
    assert step.session == dead.session
    assert alive.token in store.queue.leases()
    assert not store.queue.complete(dead, Derivation("ghost"))
    assert store.queue.complete(alive, Derivation("alive"))
