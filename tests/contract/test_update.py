"""A message gets a new text, on every store: read again, the old text kept as a version."""

from __future__ import annotations

import pytest

from cognigraph import ConflictError, InvalidMessageError, NotFoundError
from tests.contract.test_forget import TALK, at, everything_shown, rules, tell  # noqa: F401
from tests.contract.test_redo import graph


def order(space, session="s"):
    return [message.id for message in space.messages(session=session)]


@pytest.mark.slow
def test_a_new_text_is_read_and_the_old_one_is_history(rules, clock):  # noqa: F811
    space = rules()
    tell(space)
    clock.advance(at(60) - clock())
    updated = space.update("m1", "I work at Aker Solutions in Bergen.")
    assert (updated.id, updated.speaker, updated.at) == ("m1", "Ben", at(1))
    assert updated.text == "I work at Aker Solutions in Bergen." and not updated.is_enriched
    assert "Equinor" not in everything_shown_but_versions(space)
    space.flush()
    alone = rules("-alone")
    tell(alone, [(id, s, who, updated.text if id == "m1" else text) for id, s, who, text in TALK])
    after, expected = graph(space), graph(alone)
    for name in expected.keys() - {"stats"}:
        assert after[name] == expected[name], name
    assert order(space) == ["m0", "m1", "m2", "m3", "m4"]
    first, second = space.overview.versions("m1")
    assert (first.number, first.text, first.replaced_at) == (
        1, "I work at Equinor in Stavanger.", at(60),
    )  # fmt: skip
    assert (second.number, second.text, second.replaced_at) == (2, updated.text, None)
    hits = space.search("Where does Ben work?", now=at(90)).hits
    assert hits[0].text == updated.text and not any("Equinor" in hit.text for hit in hits)


def everything_shown_but_versions(space):
    nodes = space.cypher("MATCH (n) RETURN n", limit=10_000)
    shown = [node for node in nodes if "replaced_at" not in str(node)]
    return str(shown) + str(space.messages(limit=1000)) + str(space.facts(limit=1000))


@pytest.mark.slow
def test_redelivery_of_any_version_changes_nothing(rules):  # noqa: F811
    space = rules()
    tell(space)
    space.update("m4", "I like canoes.")
    space.update("m4", "I like canoes.")
    assert len(space.overview.versions("m4")) == 2
    for text in ("I like kayaks.", "I like canoes."):
        added = space.add(text, id="m4", session="s", speaker="Ben", at=at(4))
        assert (added.new, added.duplicates) == ((), 1)
    with pytest.raises(ConflictError):
        space.add("I like rafts.", id="m4", session="s", speaker="Ben", at=at(4))
    space.update("m4", "I like kayaks.")
    assert [v.text for v in space.overview.versions("m4")] == [
        "I like kayaks.", "I like canoes.", "I like kayaks.",
    ]  # fmt: skip
    assert space.get("m4").text == "I like kayaks."


@pytest.mark.slow
def test_forgetting_removes_all_versions(rules):  # noqa: F811
    space = rules()
    tell(space)
    space.update("o0", "I have a cat called Mirabel.")
    space.forget(message="o0")
    shown = everything_shown(space)
    assert "Zebulon" not in shown and "Mirabel" not in shown
    with pytest.raises(NotFoundError):
        space.overview.versions("o0")


def test_messages_of_one_moment_keep_their_order(rules):  # noqa: F811
    space = rules()
    for number in range(4):
        space.add(f"Turn {number}.", id=f"m{number}", session="s", at=at(0))
    space.flush()
    space.update("m1", "Another text.")
    assert order(space) == ["m0", "m1", "m2", "m3"]
    query = "MATCH (a:Chunk)-[:NEXT]->(b:Chunk) RETURN a.message_id AS a, b.message_id AS b"
    assert sorted((row["a"], row["b"]) for row in space.cypher(query)) == [
        ("m0", "m1"), ("m1", "m2"), ("m2", "m3"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_message_may_become_longer_or_shorter(rules):  # noqa: F811
    space = rules()
    long = " ".join(f"Sentence number {number} is here." for number in range(600))
    space.add("Before.", id="m0", session="s", at=at(0))
    one = space.add("Short.", session="s", at=at(1), tags=["x"], metadata={"a": 1})
    space.add("After.", id="m2", session="s", at=at(2))
    grown = space.update(one.id, long)
    assert grown.text == long and grown.chunks > 2
    assert (grown.tags, grown.metadata) == (("x",), {"a": 1})
    assert space.stats().chunks == grown.chunks + 2
    assert order(space) == ["m0", one.id, "m2"]
    assert space.search("sentence number 599", now=at(9)).hits[0].id == one.id
    assert space.update(one.id, "Short again.").chunks == 1
    assert (space.stats().chunks, space.stats().messages) == (3, 3)
    assert space.add("Short.", session="s", at=at(1)).new == ()
    space.flush()
    assert space.stats().done == 3
    query = "MATCH (a:Chunk)-[:NEXT]->(b:Chunk) RETURN a.message_id AS a, b.message_id AS b"
    assert sorted((row["a"], row["b"]) for row in space.cypher(query)) == sorted(
        [("m0", one.id), (one.id, "m2")]
    )


@pytest.mark.slow
def test_other_open_memories_find_the_new_text(open_memory, space_name):
    one, other = open_memory().space(space_name), open_memory().space(space_name)
    tell(one)
    assert other.search("kayaks", now=at(60)).hits[0].id == "m4"
    one.update("m4", "I like windsurfing.")
    hits = other.search("windsurfing", now=at(60)).hits
    assert hits[0].text == "I like windsurfing."
    assert "kayaks" not in str(other.context("kayaks", now=at(60)))


@pytest.mark.slow
def test_what_cannot_be_updated_is_refused(rules):  # noqa: F811
    space = rules()
    tell(space)
    with pytest.raises(NotFoundError, match="no message 'nowhere'"):
        space.update("nowhere", "Text.")
    with pytest.raises(NotFoundError, match="in session 't'"):
        space.update("m0", "Text.", session="t")
    with pytest.raises(InvalidMessageError, match="empty"):
        space.update("m0", " ")


def test_a_new_text_may_bring_its_payload(open_memory):
    memory = open_memory(enrich="manual")
    memory.add("Lives in Oslo.", id="m", raw={"v": 1}, tags=["t"], metadata={"n": 1})
    changed = memory.update("m", "Lives in Hamar.", raw={"v": [2]})
    assert (changed.text, changed.raw, changed.tags) == ("Lives in Hamar.", {"v": [2]}, ("t",))
    assert changed.metadata == {"n": 1}
    assert memory.update("m", "", raw={"v": 3}).raw == {"v": 3}
    assert memory.update("m", "Lives in Bergen.").raw is None
    assert [version.text for version in memory.overview.versions("m")] == [
        "Lives in Oslo.", "Lives in Hamar.", "", "Lives in Bergen.",
    ]  # fmt: skip
