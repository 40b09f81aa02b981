"""No operation on a space reads, changes or is ranked by data of another, on every store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import NotFoundError
from cognigraph.ingest import Fact
from tests.conftest import START, OpenMemory
from tests.contract.rounding import rounded

TURNS = [
    ("Ann", "I moved to Oslo in May because of the new job."),
    ("Ben", "How is the flat? Is the rent high?"),
    ("Ann", "The flat is small but the fjord is near, I swim every morning."),
    ("Ben", "My bike broke again, the chain this time."),
    ("Ann", "Take it to the repair cafe on Saturday."),
    ("Ben", "I baked rye bread with your sourdough starter."),
    ("Ann", "Great! Did the crust get crisp?"),
    ("Ben", "Crisp and dark. Next week I fly to Lisbon for the conference."),
]
QUESTIONS = [
    "Where did Ann move?",
    "What is wrong with the bike of Ben?",
    "fjord swim morning",
    "Did anybody bake bread?",
    "When is the conference in Lisbon?",
    "rent of the flat",
]


def fill(space, extractor, prefix=""):
    for number, (speaker, text) in enumerate(TURNS):
        id = f"m{number}"
        at = START + timedelta(days=number // 4, minutes=number)
        space.add(prefix + text, id=id, session=f"s{number // 4}", speaker=speaker, at=at)
    extractor.script(
        {
            "m0": [Fact("Ann", "person", "moved to", "Oslo", "location", (0,), when="2026-05")],
            "m3": [Fact("Ben", "person", "has", "broken bike", "object", (0,))],
            "m7": [Fact("Ben", "person", "flies to", "Lisbon", "location", (0,))],
        }
    )
    space.flush()


def answers(space, later):
    """Everything a search returns except what names the time it took."""
    found = []
    for question in QUESTIONS:
        result = space.search(question, now=later)
        found.append(
            (
                [(hit.id, hit.text, hit.score, hit.why.signals) for hit in result],
                [(triple.text, triple.score) for triple in result.triples],
                [(session.session.id, session.score) for session in result.sessions],
            )
        )
    return rounded(found)


@pytest.mark.slow
def test_what_others_store_changes_neither_hits_nor_scores(
    open_memory: OpenMemory, space_name, extractor, later
):
    memory = open_memory()
    ann = memory.space(space_name)
    fill(ann, extractor)
    before = answers(ann, later)
    # Repeating the same words would change all global document frequencies and lengths.
    noise = memory.space(space_name + "-noise")
    noise.add_many(
        {"text": f"Oslo fjord bike bread Lisbon {n} " + TURNS[n % 8][1] * (n % 3 + 1),
         "session": f"s{n % 7}", "speaker": "Ann", "id": f"n{n}"}
        for n in range(400)
    )  # fmt: skip
    twin = memory.space(space_name + "-twin")
    fill(twin, extractor, prefix="")
    assert answers(ann, later) == before
    assert answers(twin, later) == before


def test_every_operation_stays_inside_its_space(
    open_memory: OpenMemory, space_name, extractor, later
):
    memory = open_memory()
    ann, other = memory.space(space_name), memory.space(space_name + "-other")
    fill(ann, extractor)
    assert list(other.search("Where did Ann move?", now=later)) == []
    assert other.context("Where did Ann move?", now=later) == ""
    assert other.get("m0") is None
    assert [other.overview.sessions(), other.entities(), other.facts(), other.queue.failures()] == [
        []
    ] * 4
    assert other.stats().chunks == 0
    assert other.cypher("MATCH (c:Chunk) RETURN c.text") == []
    assert other.cypher("MATCH (n) RETURN n.uid") == []
    assert other.queue.enrich() == []
    ann.add("a pending turn", id="p")
    other.flush(timeout=1)
    assert ann.stats().pending == 1
    assert other.queue.retry() == 0
    # The same id and text in both: two messages, neither a duplicate nor a conflict.
    assert other.add("I have another text", id="m0", session="s0").new == ("m0",)
    assert ann.get("m0").text == TURNS[0][1]
    rows = other.cypher("MATCH (c:Chunk) RETURN c.text AS text")
    assert rows == [{"text": "I have another text"}]
    assert space_name in memory.spaces()


@pytest.mark.every_line
def test_sessions_and_entities_of_the_same_name_in_two_spaces_are_separate(
    open_memory, space_name, extractor
):
    memory = open_memory()
    first, second = memory.space(space_name), memory.space(space_name + "-2")
    fill(first, extractor)
    fill(second, extractor)
    assert first.stats() != second.stats()  # the names differ ...
    assert [s.id for s in first.overview.sessions()] == [s.id for s in second.overview.sessions()]
    assert len(first.facts(entity="Ann")) == len(second.facts(entity="Ann")) == 1
    rows = first.cypher("MATCH (e:Entity) RETURN e.name AS name ORDER BY name")
    assert [row["name"] for row in rows] == ["Ann", "Ben", "Lisbon", "Oslo", "broken bike"]


@pytest.mark.slow
def test_named_queries_stay_inside_their_space(open_memory: OpenMemory, space_name, extractor):
    from cognigraph.cypher import named_queries

    memory = open_memory()
    fill(memory.space(space_name), extractor)
    empty = memory.space(space_name + "-empty")
    assert len(named_queries()) >= 10
    for name, query in named_queries().items():
        given = {p.name: "Ann" for p in query.parameters if p.required}
        assert empty.cypher(name=name, **given) == [], name
    with pytest.raises(NotFoundError):
        empty.cypher(name="no-such-query")
