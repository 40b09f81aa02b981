"""Searches with several queries, without what was seen, and with few messages of a session."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import Citation, ConfigurationError, Filter, SearchSettings, Settings
from cognigraph.ingest import Fact
from tests.conftest import START

NOW = START + timedelta(days=30)
TOPICS = ["the harbour is quiet", "my violin needs a string", "we camped by the lake"]


@pytest.fixture
def space(open_memory, space_name, extractor):
    """60 messages, a third about each topic, in six sessions of ten."""
    memory = open_memory()
    space = memory.space(space_name)
    space.add_many(
        {"text": f"{TOPICS[n % 3].capitalize()}, day {n}.", "id": f"m{n}", "session": f"s{n // 10}",
         "speaker": "Ann", "at": START + timedelta(hours=n)}
        for n in range(60)
    )  # fmt: skip
    extractor.script(
        {
            "m0": [Fact("harbour", "place", "is", "quiet", "state", (0,))],
            "m1": [Fact("Ann", "person", "has", "violin", "object", (0,))],
        }
    )
    # The same ids in another space are of other messages.
    memory.space(space_name + "-other").add("The harbour is loud.", id="m0", session="s0", at=START)
    return space


def ids(result):
    return [hit.id for hit in result]


def topics(result):
    return {number: sum(int(hit.id[1:]) % 3 == number for hit in result) for number in range(3)}


@pytest.mark.slow
def test_each_query_gives_hits_and_each_hit_says_which_found_it(space):
    also = ["a string of the violin", "camping by the lake"]
    result = space.search("quiet harbour", 9, NOW, also=also)
    assert min(topics(result).values()) >= 2  # each query has its share
    alone = [ids(space.search(query, 30, NOW)) for query in ("quiet harbour", *also)]
    # Each query is a search of its own; a message that two found is given once.
    assert {found[0] for found in alone} <= set(ids(result))
    assert len(set(ids(result))) == 9
    for hit in result:
        ranks = {q: found.index(hit.id) + 1 for q, found in zip(("quiet harbour", *also), alone,
                 strict=True) if hit.id in found}  # fmt: skip
        assert hit.found_by == tuple(sorted(ranks, key=lambda query: ranks[query]))
        assert f"rank {ranks[hit.found_by[0]]} for {hit.found_by[0]!r}" in hit.why.notes
    traced = result.trace.queries
    assert [query.query for query in traced] == ["quiet harbour", *also]
    assert sum(query.alone for query in traced) <= 9
    assert [query.hits for query in traced] == [
        sum(query.query in hit.found_by for hit in result) for query in traced
    ]
    assert result.trace.counts["chunks"] == sum(query.counts["chunks"] for query in traced)


@pytest.mark.above_stores
def test_one_query_finds_what_it_found_before_and_names_itself(space):
    plain = space.search("quiet harbour", 5, NOW)
    assert plain.trace.queries == ()
    assert [hit.found_by for hit in plain] == [("quiet harbour",)] * 5
    repeated = space.search("quiet harbour", 5, NOW, also=["Quiet  harbour", "QUIET HARBOUR"])
    assert ids(repeated) == ids(plain)
    assert [query.query for query in repeated.trace.queries] == ["quiet harbour"]
    assert ids(space.search("", 5, NOW, also=["quiet harbour"])) == ids(plain)
    assert ids(space.search("", 5, NOW)) == []


@pytest.mark.above_stores
@pytest.mark.slow
def test_what_was_seen_is_left_out_and_as_many_new_ones_come(space):
    first = space.search("quiet harbour", 12, NOW)
    second = space.search("quiet harbour", 8, NOW, without=first)
    assert len(second) == 8
    assert not set(ids(first)) & set(ids(second))
    third = space.search("quiet harbour", 40, NOW, without=[*first, *ids(second)])
    assert len(third) == 40
    assert not {*ids(first), *ids(second)} & set(ids(third))
    assert ids(space.search("quiet harbour", 8, NOW, without=ids(first))) == ids(second)
    assert ids(space.search("harbour", 60, NOW, without=[f"m{n}" for n in range(60)])) == []


@pytest.mark.slow
def test_ids_are_of_any_session_and_hits_of_their_own(space):
    space.add("The harbour is quiet, day 0, again.", id="m0", session="s9", at=NOW)
    both = space.search("quiet harbour day 0", 61, NOW)
    assert ids(both).count("m0") == 2
    (hit,) = [hit for hit in both if hit.id == "m0" and hit.session == "s9"]
    rest = space.search("quiet harbour day 0", 61, NOW, without=[hit])
    assert [item.session for item in rest if item.id == "m0"] == ["s0"]
    cited = Citation("C1", "message", "m0", "s0")
    rest = space.search("quiet harbour day 0", 61, NOW, without=[cited])
    assert [item.session for item in rest if item.id == "m0"] == ["s9"]
    assert "m0" not in ids(space.search("quiet harbour day 0", 61, NOW, without=["m0"]))


@pytest.mark.slow
@pytest.mark.above_stores
def test_facts_and_sessions_that_were_seen_are_left_out(space):
    space.flush()
    result = space.search("quiet harbour", 5, NOW)
    (fact,) = [triple for triple in result.triples if triple.object == "quiet"]
    for seen in (fact, fact.uid, Citation("T1", "triple", fact.uid, "s0")):
        again = space.search("quiet harbour", 5, NOW, without=[seen])
        assert fact.uid not in {triple.uid for triple in again.triples}
        assert ids(again) == ids(result)
    first = result.sessions[0]
    for seen in (first, first.session, first.session.id):
        again = space.search("quiet harbour", 5, NOW, without=[seen])
        assert first.session.id not in {session.session.id for session in again.sessions}
        assert ids(again) == ids(result)


@pytest.mark.slow
@pytest.mark.above_stores
def test_at_most_so_many_messages_of_a_session(space):
    result = space.search("quiet harbour", 12, NOW, per_session=2)
    assert len(result) == 12
    sessions = [hit.session for hit in result]
    assert {session: sessions.count(session) for session in sessions} == {
        f"s{n}": 2 for n in range(6)
    }
    several = space.search("quiet harbour", 50, NOW, also=["violin", "lake"], per_session=3)
    sessions = [hit.session for hit in several]
    assert sorted(sessions) == sorted([f"s{n}" for n in range(6)] * 3)


@pytest.mark.slow
def test_filters_hold_for_every_query(space):
    where = Filter(session="s2")
    result = space.search("quiet harbour", 9, NOW, also=["violin"], where=where, without=["m20"])
    assert sorted(ids(result)) == [f"m{n}" for n in range(21, 30)]


@pytest.mark.slow
@pytest.mark.above_stores
def test_a_block_takes_the_same_and_can_be_left_out_of_the_next(space):
    settings = Settings(search=SearchSettings(k=6))
    also = ["a string of the violin", "camping by the lake"]
    block = space.context("quiet harbour", 250, NOW, also=also, settings=settings)
    assert all(count >= 1 for count in topics(block.hits).values())
    after = space.context("quiet harbour", 250, NOW, also=also, without=block)
    assert after.hits
    assert not {hit.id for hit in block.hits} & {hit.id for hit in after.hits}
    listed = space.context("quiet harbour", 250, NOW, also=also, without=block.citations)
    assert str(listed) == str(after)
    few = space.context("quiet harbour", 2000, NOW, per_session=1)
    assert len(few.hits) == 6


@pytest.mark.above_stores
@pytest.mark.slow
def test_wrong_queries_are_refused_with_what_to_do(space):
    for also, message in [
        ("violin", "also must be an iterable of a string"),
        (["violin", " "], r"also\[1\] is empty"),
        ([7], r"also\[0\] must be a string"),
        (["violin"] * 500, "500 queries, and one search takes at most 31"),
    ]:
        with pytest.raises(ConfigurationError, match=message):
            space.search("harbour", also=also)
    for without, message in [
        ("m1", "without must be an iterable"),
        ([7], "not a value of type int"),
        ([f"m{n}" for n in range(10_001)], "10,001 items, and at most 10,000"),
    ]:
        with pytest.raises(ConfigurationError, match=message):
            space.context("harbour", without=without)
    with pytest.raises(ConfigurationError, match="per_session must be at least 1"):
        space.search("harbour", per_session=0)


@pytest.mark.slow
def test_ids_of_other_spaces_reveal_nothing(space, open_memory, space_name):
    unknown = space.search("quiet harbour", 5, NOW, without=["nobody-has-this-id"])
    other = open_memory().space(space_name + "-third")
    other.add("The harbour is loud.", id="secret", session="s77", at=START)
    (hit,) = other.search("harbour", 1, NOW)
    for seen in ("secret", hit, "s77"):
        result = space.search("quiet harbour", 5, NOW, without=[seen])
        assert ids(result) == ids(unknown)
        assert [hit.score for hit in result] == [hit.score for hit in unknown]
        assert result.trace.counts == unknown.trace.counts
        assert result.trace.notes == unknown.trace.notes


@pytest.mark.above_stores
@pytest.mark.slow
def test_an_excerpt_has_what_each_query_asks_for(open_memory, space_name):
    filler = "There was much talk about prices. Nobody agreed with anybody. It took all day. "
    text = f"The harbour is quiet in winter. {filler * 3}The violin needs a new string. {filler}"
    space = open_memory().space(space_name)
    space.add(text, id="m1", session="s1", role="assistant", at=START)
    one = str(space.context("How quiet is the harbour?", 70, NOW))
    assert "harbour is quiet" in one
    assert "violin" not in one
    both = str(space.context("How quiet is the harbour?", 70, NOW, also=["violin string"]))
    assert "harbour is quiet" in both
    assert "violin needs a new string" in both
