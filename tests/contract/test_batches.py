"""The graph does not depend on the batches in which messages were extracted."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

from cognigraph import Message
from cognigraph.stores.batch_size import MOST_CRASHES, SUSPECT_CRASHES, lease_token
from tests.cases import first_on_neo4j
from tests.conftest import START
from tests.conversations import conversation
from tests.interrupted import LEASE, Plan, build

SISTERS = ["My sister Anna moved to Oslo in May.", "My sister Cleo bought a kayak."]


def said_by_tom(*texts: str) -> list[Message]:
    return [
        Message(text=text, id=str(n), session="s", speaker="Tom", at=START + timedelta(minutes=n))
        for n, text in enumerate(texts)
    ]


def on_server(location: dict[str, Any]) -> dict[str, Any]:
    """What all memories of one server share."""
    return {"embedder": "wordllama"} if "auth" in location else {}


@pytest.fixture
def graph(location, space_name):
    def graph(messages, plan, number):
        rng = random.Random(1)
        name, options = f"{space_name}-{number}", on_server(location)
        return build(location, messages, plan, rng, name, **options)

    return graph


@pytest.mark.parametrize(
    "plan", first_on_neo4j([Plan(), Plan(batch=1), Plan(at_once=1, steps=1)]), ids=str
)
@pytest.mark.slow
def test_two_sisters_are_two_persons(graph, plan: Plan) -> None:
    found = graph(said_by_tom(*SISTERS), plan, 1)
    persons = {
        (name, aliases) for name, type, _, _, aliases in found["entities"] if type == "person"
    }
    assert persons == {
        ("Tom", ()), ("Anna", ("Tom's sister",)), ("Cleo", ("Tom's sister",)),
    }  # fmt: skip
    assert found["merges"] == []


@pytest.mark.slow
@pytest.mark.above_stores
def test_my_sister_becomes_ambiguous_when_a_second_sister_is_named(graph) -> None:
    turns = said_by_tom(
        SISTERS[0], "Nice weather.", "I like tea.", "My sister lives in Rome.", SISTERS[1]
    )
    one = graph(turns[:4], Plan(batch=1), 1)
    assert [(m[0], m[2]) for m in one["merges"]] == [("Tom's sister", "Anna")]
    two = graph(turns, Plan(at_once=1, steps=1), 2)
    assert two["merges"] == []
    assert graph(turns, Plan(), 3) == two


@pytest.mark.slow
def test_the_graph_does_not_depend_on_batches_late_turns_or_crashes(graph) -> None:
    messages = conversation(random.Random(3), 14)
    whole = graph(messages, Plan(), 0)
    disturbed = Plan(batch=2, at_once=4, steps=1, workers=2, crashes=3, late=2)
    assert graph(messages, disturbed, 1) == whole


@pytest.mark.slow
def test_a_late_turn_makes_its_session_be_extracted_again(graph) -> None:
    first, late, last = said_by_tom("I like tea.", SISTERS[0], "Call me Tommy.")
    whole = graph([first, late, last], Plan(), 0)
    assert any("'Tommy'" in row for row in whole["triples"])
    assert graph([first, last, late], Plan(at_once=1, steps=5), 1) == whole


@pytest.mark.parametrize(
    ("sound", "extended", "counted"),
    [(False, False, SUSPECT_CRASHES), (True, False, MOST_CRASHES), (False, True, MOST_CRASHES)],
)
def test_a_crash_counts_only_if_the_process_had_been_working_properly(
    open_memory, space_name, clock, sound, extended, counted
):
    with open_memory(enrich="manual") as memory:
        space, store = memory.space(space_name), memory._engine.store
        space.add("I like tea.", id="m", session="s", speaker="Tom")
        for crashes in range(1, (MOST_CRASHES if sound or extended else 30) + 1):
            assert [f.parked for f in space.queue.failures()] in ([], [False])
            until = clock() + LEASE
            worker = lease_token(f"elsewhere:{crashes}:x", until, sound=sound)
            lease = store.queue.claim(
                worker=worker, limit=64, lease_for=LEASE, now=clock(), space=space_name
            )
            assert lease is not None
            if extended:
                until += LEASE
                assert store.queue.extend(lease, until)
            store.queue.expire(lease.token, until)
        (failure,) = space.queue.failures()
        assert (failure.parked, failure.crashes) == (sound or extended, counted)
        assert failure.reason == f"the process that read it ended {counted} times"
