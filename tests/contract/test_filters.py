"""Filters of a search, on every store: applied while candidates are gathered, not after."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import ConfigurationError, Filter
from cognigraph.ingest import Fact
from cognigraph.retrieve.search import passes
from tests.cases import each
from tests.conftest import START

NOW = START + timedelta(days=30)


@pytest.fixture
def space(open_memory, space_name):
    """400 messages about harbours, of which few pass a filter."""
    space = open_memory().space(space_name)
    messages = []
    for n in range(400):
        message = {
            "text": f"The harbour of town {n} is quiet today.",
            "id": f"m{n}",
            "session": f"s{n // 100}",
            "speaker": "Ann" if n % 2 else "Ben",
            "at": START + timedelta(minutes=n),
        }
        if n % 40 == 0:
            message |= {"metadata": {"place": "north", "n": n, "deep": {"a": 1}}, "tags": ["sea"]}
        if n % 80 == 0:
            message |= {"metadata": {"place": "north", "n": 1.0}, "tags": ["sea", "x" * 100]}
        if n % 100 == 7:
            message |= {"role": "tool", "speaker": "weather"}
        messages.append(message)
    space.add_many(messages)
    return space


def found(space, k=50, **where):
    hits = space.search("Which harbour is quiet?", k, NOW, where=Filter(**where))
    return sorted((hit.id for hit in hits), key=lambda id: int(id[1:]))


@pytest.mark.slow
def test_system_and_tools_are_found_on_request(space):
    everything = {f"m{n}" for n in range(400)}
    tools = {f"m{n}" for n in (7, 107, 207, 307)}
    hits = space.search("Which harbour is quiet?", 400, NOW)
    assert not {hit.id for hit in hits} & tools
    assert {hit.id for hit in hits} <= everything
    assert set(found(space, roles=["tool"])) == tools
    assert found(space, roles=["system"]) == []
    assert {hit.role for hit in space.search("Which harbour?", 10, NOW)} == {None}
    (hit,) = space.search("harbour of town 107", 1, NOW, where=Filter(roles=("tool", "user")))
    assert (hit.id, hit.role, hit.speaker) == ("m107", "tool", "weather")


@pytest.mark.slow
def test_each_condition_leaves_what_passes_it(space):
    tagged = [f"m{n}" for n in range(0, 400, 40)]
    assert found(space, tags=["sea"]) == tagged
    assert found(space, tags=["sea", "x" * 100]) == [f"m{n}" for n in range(0, 400, 80)]
    assert found(space, tags=["lake"]) == []
    assert found(space, metadata={"place": "north"}) == tagged
    assert found(space, metadata={"n": 1}) == [f"m{n}" for n in range(0, 400, 80)]
    assert found(space, metadata={"n": 200}) == ["m200"]
    assert found(space, metadata={"n": 120, "place": "north"}) == ["m120"]
    assert found(space, metadata={"n": True}) == []
    assert found(space, metadata={"n": "1"}) == []
    assert found(space, metadata={"deep": None}) == []
    assert found(space, session="s3", tags=["sea"]) == ["m320", "m360"]
    assert found(space, session=["s3", "s2"], speaker="Ann", tags=["sea"]) == []
    assert found(space, since=START + timedelta(minutes=395)) == [f"m{n}" for n in range(395, 400)]
    assert found(space, until=(START + timedelta(minutes=2)).isoformat()) == ["m0", "m1"]
    assert found(space, speaker="weather", roles=["tool"], session="s1") == ["m107"]
    assert found(space, speaker="Nobody") == []


@pytest.mark.slow
def test_as_many_are_found_as_asked_for(space):
    assert len(found(space, 10, session="s3", speaker="Ann")) == 10
    assert len(found(space, 15, speaker=["Ben"], since=START + timedelta(minutes=300))) == 15


@pytest.mark.above_stores
@pytest.mark.slow
def test_the_block_and_why_take_the_filter(space):
    block = space.context("Which harbour is quiet?", 400, NOW, where=Filter(session="s2"))
    assert block.hits
    assert {hit.session for hit in block.hits} == {"s2"}
    why = space.why("Which harbour is quiet?", "m107", 5, NOW, where=Filter(roles=["tool"]))
    assert why.rank in range(1, 5)
    why = space.why("Which harbour is quiet?", "m107", 5, NOW)
    assert why.rank is None
    assert "the search leaves out messages with the role tool" in why.remarks[0]


def test_facts_and_sessions_are_those_of_messages_that_pass(open_memory, space_name, extractor):
    space = open_memory().space(space_name)
    facts = {}
    for name, town in (("Ann", "Oslo"), ("Ben", "Bergen")):
        space.add(f"I moved to {town}.", id=name, session=name, speaker=name, at=START)
        facts[name] = [Fact(name, "person", "moved to", town, "location", (0,))]
    extractor.script(facts)
    space.flush()
    both = space.search("Who moved?", 5, NOW)
    assert {t.subject for t in both.triples} == {"Ann", "Ben"}
    result = space.search("Who moved?", 5, NOW, where=Filter(speaker="Ben"))
    assert [hit.id for hit in result] == ["Ben"]
    assert {t.subject for t in result.triples} == {"Ben"}
    assert {hit.session.id for hit in result.sessions} <= {"Ben"}


@each(
    ("fields", "reason"),
    [
        ({"roles": ["boss"]}, "filter.roles must be some of"),
        ({"roles": []}, "filter.roles must name at least one role"),
        ({"session": 7}, "filter.session must be a string or several strings"),
        ({"tags": [7]}, "filter.tags must be a string or several strings"),
        ({"metadata": [1]}, "filter.metadata must be a mapping"),
        ({"metadata": {"a": {}}}, r"filter.metadata\['a'\] must be a text, a number"),
        ({"metadata": {1: 2}}, "filter.metadata has the field 1"),
    ],
)
def test_a_wrong_filter_is_refused(fields, reason):
    with pytest.raises(ConfigurationError, match=reason):
        Filter(**fields)


@pytest.mark.slow
@each(
    "where",
    [
        {"since": START + timedelta(minutes=10), "until": START + timedelta(minutes=20)},
        {"until": START},
        {"since": START + timedelta(minutes=399)},
        {"session": ["s0", "s3"], "speaker": "Ann"},
        {"tags": ["sea"], "metadata": {"place": "north"}},
        {"metadata": {"n": 1}},
        {"metadata": {"n": True}},
        {"roles": ["tool"], "since": START + timedelta(minutes=7)},
        {"roles": ["user", "person"], "until": START + timedelta(minutes=8)},
    ],
)
def test_searches_lists_of_facts_and_episodes_agree_on_what_passes(space, where):
    """Stores filter in their own languages, and episodes in Python: all let the same pass."""
    passing = [
        message.id for message in space.messages(limit=500) if passes(message, Filter(**where))
    ]
    # Neo4j's index is approximate: of the messages that pass, it may miss some of the worst.
    hits = found(space, 20, **where)
    assert set(hits) <= set(passing)
    assert len(hits) == min(20, len(passing))
    listed = space.messages(limit=500, where=Filter(**where))
    assert [item.id for item in listed] == passing
    first = space.messages(limit=2, where=Filter(**where))
    rest = space.messages(limit=500, where=Filter(**where), after=first.cursor) if first else ()
    assert [item.id for item in (*first, *rest)] == passing


@pytest.mark.slow
def test_tags_and_fields_may_have_any_characters(open_memory, space_name):
    space = open_memory().space(space_name)
    given = [
        ({"a.b": "x"}, ['", "']),
        ({'a"b': 'say "x"', "ø": "å"}, ["a", "b"]),
        ({"n": '{"a": 1}', "q": "null"}, ['a", "b']),
        ({"n": {"a": 1}, "q": None}, ["ø\\"]),
        ({"a": {"b": "x"}, "n": '{"a":1}', "x": "a.b"}, []),
    ]
    for number, (metadata, tags) in enumerate(given):
        text = f"The harbour of town {number} is quiet."
        space.add(text, id=f"m{number}", at=START, metadata=metadata, tags=tags)
    assert found(space, tags=['", "']) == ["m0"]
    assert found(space, tags=['a", "b']) == ["m2"]
    assert found(space, tags=["a", "b"]) == ["m1"]
    assert found(space, tags=["ø\\"]) == ["m3"]
    assert found(space, metadata={"a.b": "x"}) == ["m0"]
    assert found(space, metadata={'a"b': 'say "x"', "ø": "å"}) == ["m1"]
    assert found(space, metadata={"n": '{"a": 1}'}) == ["m2"]
    assert found(space, metadata={"n": '{"a":1}'}) == ["m4"]
    assert found(space, metadata={"q": None}) == ["m3"]
    assert found(space, metadata={"q": "null"}) == ["m2"]
