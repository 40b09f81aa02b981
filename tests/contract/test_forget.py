"""Forgetting messages, on every store: nothing is left of them, and what others said stays."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from cognigraph import ConfigurationError, Forgotten, NotFoundError
from cognigraph.ingest import Fact
from cognigraph.stores.protocols import Selection
from cognigraph.stores.records import Derivation
from tests.conftest import START
from tests.contract.test_enrichment import claim
from tests.contract.test_redo import graph

TALK = [
    ("m0", "s", "Ann", "I moved to Oslo in May."),
    ("m1", "s", "Ben", "I work at Equinor in Stavanger."),
    ("m2", "s", "Ann", "My sister Klara Quist lives in Bergen."),
    ("m3", "s", "Ann", "She works at Telenor."),
    ("m4", "s", "Ben", "I like kayaks."),
    ("n0", "t", "Ann", "My sister Klara Quist lives in Bergen."),
    ("n1", "t", "Ann", "I moved to Oslo in May."),
    ("o0", "u", "Cid", "I have a dog called Zebulon."),
]


def at(number):
    return START + timedelta(minutes=number)


def tell(space, talk=TALK, without=()):
    for number, (id, session, speaker, text) in enumerate(talk):
        if id not in without:
            space.add(text, id=id, session=session, speaker=speaker, at=at(number))
    space.flush()


def everything_shown(space):
    """All text that a space shows anywhere."""
    parts = [
        space.messages(limit=1000).messages, space.facts(limit=1000), space.review.merges(1000),
        space.entities(limit=1000), space.overview.sessions(1000), space.review.duplicates(1000),
        [space.overview.summaries(session) for session in "stu"], space.queue.failures(),
        space.cypher("MATCH (n) RETURN n", limit=10_000),
    ]  # fmt: skip
    return json.dumps(parts, default=str)


@pytest.fixture
def rules(open_memory, space_name):
    def open_space(suffix=""):
        return open_memory(extractor="rules").space(space_name + suffix)

    return open_space


@pytest.mark.slow
def test_nothing_is_left_of_a_message_and_the_rest_is_as_if_it_had_never_been(rules):
    space = rules()
    tell(space)
    assert "Zebulon" in everything_shown(space) and "Equinor" in everything_shown(space)
    report = space.forget(message="o0")
    assert (report.messages, report.chunks, report.sessions, report.reread) == (1, 1, 1, 0)
    assert report.triples >= 1 and report.entities >= 2
    space.forget(message="m1")
    shown = everything_shown(space)
    assert "Zebulon" not in shown and "Equinor" not in shown and "Stavanger" not in shown
    assert space.get("m1") is None and "Telenor" in shown
    space.flush()
    alone = rules("-alone")
    tell(alone, without=("o0", "m1"))
    after, expected = graph(space), graph(alone)
    for name in expected.keys() - {"stats"}:
        assert after[name] == expected[name], name
    assert space.stats().chunks == alone.stats().chunks == 6
    found = space.search("Where does Ben work?", now=at(60))
    assert {hit.id for hit in found.hits} <= {"m0", "m2", "m3", "m4", "n0", "n1"}


@pytest.mark.slow
def test_what_others_said_too_stays(rules):
    space = rules()
    tell(space)
    report = space.forget(message="n0")
    assert (report.triples, report.kept_triples) == (0, 2)
    (triple,) = [t for t in space.facts() if t.text == "Klara Quist lives in Bergen"]
    assert [source.id for source in triple.sources] == ["m2"]
    assert triple.last_observed == at(2)
    assert space.forget(message="m2").triples >= 1
    assert "Quist" not in everything_shown(space)


@pytest.mark.slow
def test_a_dry_run_counts_what_forgetting_does_and_changes_nothing(rules):
    space = rules()
    tell(space)
    before, state = space.stats(), graph(space)
    dry = space.forget(session="s", dry_run=True)
    assert dry.dry_run and dry.is_erased is None
    assert graph(space) == state
    done = space.forget(session="s")
    after = space.stats()
    assert (dry.messages, dry.chunks, dry.sessions) == (5, 5, 1)
    assert dry.triples == done.triples == before.triples - after.triples
    assert dry.entities == done.entities == before.entities - after.entities
    assert dry.keys == done.keys == before.keys - after.keys
    assert before.messages - after.messages == 5
    assert dry.kept_triples >= 2 and not done.dry_run
    assert space.forget(session="s") == Forgotten()
    assert not space.forget(session="nowhere")


def test_what_another_process_has_forgotten_meanwhile_is_not_counted(open_memory, space_name):
    """Several processes sweep away the same messages when these expire."""
    memory = open_memory()
    space, store = memory.space(space_name), memory._engine.store.housekeeping
    tell(
        space,
        [("m0", "s", "Ann", "Hello."), ("m1", "s", "Ann", "Oslo."), ("n0", "t", "Ben", "Hi.")],
    )
    chosen = store.choose(space_name, Selection())
    assert store.preview_forget(space_name, chosen).messages == 3
    space.forget(session="t")
    space.forget(message="m1")
    left = store.preview_forget(space_name, chosen)
    assert (left.messages, left.chunks, left.sessions) == (1, 1, 1)
    space.forget(session="s")
    assert store.preview_forget(space_name, chosen) == Forgotten()


@pytest.mark.slow
def test_a_fact_that_was_understood_from_the_forgotten_message_goes_with_it(
    open_memory, space_name, extractor
):
    """The text says "he"; only the message before it named Benedict."""
    space = open_memory().space(space_name)
    extractor.script({
        "m0": [Fact("Benedict", "person", "likes", "tea", "object", (0,))],
        "m1": [Fact("Benedict", "person", "lives in", "Oslo", "place", (0,))],
        "m2": [Fact("Ann", "person", "lives in", "Oslo", "place", (0,))],
    })  # fmt: skip
    for number, text in enumerate(("Benedict likes tea.", "He lives in Oslo.", "Ann, in Oslo.")):
        space.add(text, id=f"m{number}", session="s", at=at(number))
    space.flush()
    report = space.forget(message="m0")
    assert (report.triples, report.reread) == (2, 2)
    assert [t.text for t in space.facts()] == ["Ann lives in Oslo"]
    assert "Benedict" not in everything_shown(space)


@pytest.mark.slow
def test_a_forgotten_message_does_not_come_back(open_memory, space_name):
    memory = open_memory()
    space = memory.space(space_name)
    tell(space)
    space.forget(message="m4")
    added = space.add("I like kayaks.", id="m4", session="s", speaker="Ben", at=at(4))
    assert (added.forgotten, added.new, added.duplicates) == (("m4",), (), 0)
    assert space.get("m4") is None
    several = space.add_many([{"text": "I like kayaks.", "id": "m4", "session": "s"},
                              {"text": "New.", "id": "m5", "session": "s"}])  # fmt: skip
    assert (several.forgotten, several.new) == (("m4",), ("m5",))
    assert space.forget(message="n0", allow_again=True)
    assert space.add("Klara.", id="n0", session="t", speaker="Ben", at=at(5)).new == ("n0",)
    one = space.add("Without an id.", session="t", speaker="Ben", at=at(6))
    space.forget(message=one.id)
    again = space.add("Without an id.", session="t", speaker="Ben", at=at(6))
    assert again.forgotten == (one.id,)
    assert space.add("Without an id.", session="t", speaker="Ben", at=at(7)).new


@pytest.mark.parametrize("asked", ["m1", "m0"])
def test_a_worker_that_holds_the_message_brings_nothing_back(open_memory, space_name, clock, asked):
    memory = open_memory()
    space = memory.space(space_name)
    for number, text in enumerate(("Ann likes tea.", "Ben likes tea.", "Cid likes tea.")):
        space.add(text, id=f"m{number}", session="s", at=at(number))
    lease = claim(memory, clock, space_name, limit=2)
    assert [chunk.message_id for chunk in lease.chunks] == ["m0", "m1"]
    assert space.forget(message=asked).messages == 1
    queue = memory._engine.store.queue
    assert not queue.complete(lease, Derivation("scripted-1"))
    assert not queue.extend(lease, at(99)) and not queue.release(lease)
    assert not queue.fail(lease, "late", park_after=1, retry_at=at(0))
    assert space.get(asked) is None
    assert space.stats().pending == 2
    space.flush()
    assert (space.stats().done, space.stats().messages) == (2, 2)


def test_a_lease_on_the_only_message_of_a_session_is_lost(open_memory, space_name, clock):
    memory = open_memory()
    space = memory.space(space_name)
    space.add("Ann likes tea.", id="m0", session="s", at=at(0))
    lease = claim(memory, clock, space_name)
    space.forget(everything=True)
    queue = memory._engine.store.queue
    assert not queue.complete(lease, Derivation("scripted-1"))
    assert not queue.release(lease) and not queue.extend(lease, at(99))
    assert not queue.fail(lease, "late", park_after=None, retry_at=at(0), outage=True)
    assert space.stats().messages == space.stats().pending == 0
    assert space_name not in memory.spaces()


@pytest.mark.slow
def test_other_open_memories_notice(open_memory, space_name):
    one, other = open_memory().space(space_name), open_memory().space(space_name)
    tell(one)
    question = "Who has a dog called Zebulon?"
    assert other.search(question, now=at(60)).hits[0].id == "o0"
    one.forget(message="o0")
    one.add("I have a cat.", id="o1", session="u", speaker="Cid", at=at(8))
    found = other.search(question, now=at(60))
    assert "o0" not in {hit.id for hit in found.hits}
    assert "Zebulon" not in str(other.context(question, now=at(60)))
    one.forget(everything=True)
    assert other.search(question, now=at(60)).hits == ()
    assert other.stats().messages == 0


@pytest.mark.slow
def test_what_a_user_said_of_a_forgotten_name_goes_too(rules):
    space = rules()
    tell(space)
    space.review.merge("Zebulon", into="Oslo", into_type="location")
    assert "Zebulon" in everything_shown(space)
    space.forget(message="o0")
    assert "Zebulon" not in everything_shown(space)
    assert [m for m in space.review.merges() if "Zebulon" in (m.name, m.into)] == []
    assert "Oslo" in {e.name for e in space.entities(limit=100)}


@pytest.mark.slow
def test_an_entity_is_forgotten_with_all_that_mentions_it(rules):
    space = rules()
    tell(space)
    report = space.forget(entity="Klara Quist", dry_run=True)
    assert report.messages >= 2
    assert space.forget(entity="klara quist").messages == report.messages
    shown = everything_shown(space)
    assert "Quist" not in shown and "Klara" not in shown and "Equinor" in shown
    with pytest.raises(NotFoundError, match="Klara Quist"):
        space.forget(entity="Klara Quist")


@pytest.mark.slow
def test_criteria_are_combined(rules):
    space = rules()
    tell(space)
    assert space.forget(speaker="Ann", before=at(3), dry_run=True).messages == 2
    assert space.forget(speaker="Ann", session="t", dry_run=True).messages == 2
    assert space.forget(before=at(2).isoformat()).messages == 2
    assert space.messages()[0].id == "m2"
    assert space.overview.sessions()[-1].started_at == at(2)


@pytest.mark.slow
def test_the_messages_around_a_forgotten_one_follow_each_other(rules):
    space = rules()
    tell(space)
    query = "MATCH (a:Chunk)-[:NEXT]->(b:Chunk) RETURN a.message_id AS a, b.message_id AS b"

    def links():
        return sorted((row["a"], row["b"]) for row in space.cypher(query))

    space.forget(message="m2")
    space.forget(message="m3")
    assert links() == [("m0", "m1"), ("m1", "m4"), ("n0", "n1")]
    space.forget(message="m4")  # the last one
    space.add("More.", id="m5", session="s", speaker="Ben", at=at(20))
    space.add("Less.", id="m6", session="s", speaker="Ben", at=at(-20))
    space.forget(message="m0")
    assert links() == [("m1", "m5"), ("m6", "m1"), ("n0", "n1")]
    (session,) = [item for item in space.overview.sessions() if item.id == "s"]
    assert (session.messages, session.started_at, session.ended_at) == (3, at(-20), at(20))


@pytest.mark.slow
def test_all_parts_of_a_long_message_go(rules):
    space = rules()
    text = " ".join(f"Sentence number {number} is here." for number in range(600))
    space.add(text, id="long", session="s", at=at(0))
    space.add("Short.", id="short", session="s", at=at(1))
    chunks = space.stats().chunks
    report = space.forget(message="long")
    assert (report.messages, report.chunks) == (1, chunks - 1)
    assert space.stats().chunks == 1
    assert space.search("sentence number", now=at(9)).hits[0].id == "short"


@pytest.mark.slow
def test_what_to_forget_must_be_clear(rules):
    space = rules()
    tell(space)
    space.add("Twin.", id="m0", session="t", at=at(50))
    for wrong in ({}, {"everything": True, "session": "s"}, {"dry_run": True}):
        with pytest.raises(ConfigurationError, match="say what to forget"):
            space.forget(**wrong)
    with pytest.raises(ConfigurationError, match="several sessions have a message 'm0'"):
        space.forget(message="m0")
    assert space.forget(message="m0", session="t").messages == 1
    assert space.stats().messages == 8


@pytest.mark.every_line
def test_a_message_that_nobody_has_read_costs_no_reading(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    tell(space)
    space.add("Not read yet.", id="m9", session="s", at=at(30))
    report = space.forget(message="m9")
    assert (report.messages, report.reread, report.triples) == (1, 0, 0)
    assert space.stats().done == 8 and space.stats().pending == 0


@pytest.mark.slow
def test_the_space_next_door_keeps_what_it_said(open_memory, space_name):
    memory = open_memory(extractor="rules")
    one, other = memory.space(space_name), memory.space(space_name + "-other")
    tell(one)
    tell(other)
    before = graph(other)
    one.forget(everything=True)
    assert graph(other) == before
    assert one.stats().entities == one.stats().triples == one.stats().keys == 0


@pytest.mark.slow
def test_what_a_forgotten_message_superseded_is_current_again(rules):
    space = rules()
    space.add("I live in Bergen.", id="m0", session="s", speaker="Ann", at=at(0))
    space.add("I live in Oslo now.", id="m1", session="t", speaker="Ann", at=at(99))
    space.add("I like tea.", id="m2", session="u", speaker="Ann", at=at(100))
    space.flush()

    def status():
        return {triple.object: triple.status for triple in space.facts("Ann")}

    before = status()
    assert (before["Bergen"], before["Oslo"]) == ("superseded", "current")
    space.forget(message="m1")
    assert status() == {"Bergen": "current", "tea": "current"}
    space.add("I live in Hamar.", id="m3", session="v", speaker="Ann", at=at(101))
    space.flush()
    by_object = {triple.object: triple for triple in space.facts("Ann")}
    space.review.supersede(by_object["tea"], by_object["Hamar"], reason="Zebulon said so")
    assert status()["tea"] == "superseded"
    space.forget(message="m3")
    assert status() == {"Bergen": "current", "tea": "current"}
    assert "Zebulon" not in everything_shown(space)
