"""What was known at a time, and what was true at a time, on every store."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cognigraph import ConfigurationError, Filter
from cognigraph.cypher import named_queries
from cognigraph.ingest import Extraction, Fact, Mention
from cognigraph.model import Theme
from tests.cases import each
from tests.contract.test_states import at, home, read_turns

NOW = at("12-01")
TURNS = {
    "b": (at("02-01"), home("Bergen")),
    "j": (at("03-01"), Fact("Ann", "person", "likes", "jazz", "concept", (0,))),
    "o": (at("06-10"), home("Oslo", "moved to", when="2026-06-01/2026-06-07")),
    "again": (at("09-01"), home("Bergen")),
}


@pytest.fixture
def homes(open_memory, extractor, space_name):
    """Ann lives in Bergen, in Oslo, and in Bergen again."""
    return read_turns(open_memory, extractor, space_name, turns=TURNS, order=tuple(TURNS))


def names(triples):
    return sorted(triple.object for triple in triples)


def test_both_times_together(homes):
    """The table of docs/facts.md: rows are ``as_of``, columns ``valid_at``."""
    table = {
        (known, true): names(homes.facts("Ann", as_of=known and at(known), valid_at=at(true)))
        for known in ("02-15", "07-01", None)
        for true in ("02-15", "07-01", "10-01")
    }
    assert table == {
        ("02-15", "02-15"): ["Bergen"],
        ("02-15", "07-01"): ["Bergen"],
        ("02-15", "10-01"): ["Bergen"],
        ("07-01", "02-15"): ["Bergen"],
        ("07-01", "07-01"): ["Oslo", "jazz"],
        ("07-01", "10-01"): ["Oslo", "jazz"],
        (None, "02-15"): ["Bergen"],
        (None, "07-01"): ["Oslo", "jazz"],
        (None, "10-01"): ["Bergen", "jazz"],
    }


def test_a_home_to_which_she_came_back_has_two_times(homes):
    (bergen,) = homes.facts(text="lives in bergen")
    june = datetime(2026, 6, 1, tzinfo=UTC)
    assert (bergen.status, bergen.valid_from, bergen.valid_to) == ("current", at("09-01"), None)
    assert bergen.earlier == ((at("02-01"), june),)
    (then,) = homes.facts("Bergen", as_of=at("07-01"))
    assert (then.status, then.valid_from, then.valid_to) == ("superseded", at("02-01"), june)
    assert (then.earlier, [source.id for source in then.sources]) == ((), ["b"])
    assert names(homes.facts(status="current", as_of=at("07-01"))) == ["Oslo", "jazz"]
    assert names(homes.facts(status="superseded", as_of=at("07-01"))) == ["Bergen"]
    assert homes.facts(status="superseded", as_of=at("07-01"), offset=1) == []


def test_history_at_both_times(homes):
    def told(**times):
        chains = homes.history("Ann", "home", **times)
        return [(triple.object, triple.status) for chain in chains for triple in chain.triples]

    assert told() == [("Oslo", "superseded"), ("Bergen", "current")]
    assert told(as_of=at("07-01")) == [("Bergen", "superseded"), ("Oslo", "current")]
    assert told(valid_at=at("07-01")) == [("Oslo", "superseded")]
    assert told(as_of=at("02-15"), valid_at=at("02-15")) == [("Bergen", "current")]


def test_a_word_of_the_user_counts_from_when_it_was_given(homes, clock):
    (oslo,) = homes.facts("Oslo")
    (bergen,) = homes.facts("Bergen")
    clock.advance(at("11-01") - clock())
    homes.review.supersede(bergen, oslo)
    assert homes.history("Ann", "home", as_of=at("10-01"))[0].current[0].object == "Bergen"
    assert homes.history("Ann", "home", as_of=at("11-02"))[0].current == ()
    homes.review.retract(bergen)
    assert names(homes.facts("Ann", as_of=at("02-15"), valid_at=at("02-15"))) == []


@pytest.mark.slow
def test_search_and_context_give_what_was_true_then(homes):
    then = at("07-01")
    result = homes.search("Where does Ann live?", now=NOW, valid_at=then)
    assert names(result.triples) == ["Oslo", "jazz"]
    assert result[0].id == "o"
    assert homes.search("Where does Ann live?", now=NOW, valid_at=at("02-15"))[0].id == "b"
    block = homes.context("Where does Ann live?", now=NOW, valid_at=then)
    facts = [line for line in block.splitlines() if line.startswith("[T")]
    (home,) = (line for line in facts if "Oslo" in line)
    assert home[5:] == "Ann moved to Oslo (2026-06 until 2026-09; said 2026-06-10)"
    marked = [line for line in block.splitlines() if "not true" in line]
    ending = f"[not true at 2026-07-01: see {home[1:3]}]"
    assert [line.partition("Ann: ")[2] for line in marked] == [
        f"text b {ending}", f"text again {ending}",
    ]  # fmt: skip


@pytest.fixture
def team(open_memory, extractor, space_name):
    """What three people said in two sessions, with tags and roles."""
    space = open_memory().space(space_name)
    facts = {
        "1": Fact("Ann", "person", "lives in", "Bergen", "location", (0,)),
        "2": Fact("Ann", "person", "likes", "Émile", "person", (0,)),
        "3": Fact("Ben", "person", "works at", "DNB", "organisation", (0,)),
        "4": Fact("Ann's boss", "concept", "is", "Lars", "person", (0,)),
    }
    extractor.script({id: [fact] for id, fact in facts.items()})
    for id, session, speaker, role, day, more in (
        ("1", "s1", "Ann", None, "02-01", {"tags": ["home"]}),
        ("2", "s1", "Ben", "user", "02-02", {"metadata": {"n": 1}}),
        ("3", "s2", "Ben", "assistant", "03-01", {"tags": ["home", "x"]}),
        ("4", "s2", "Ann", None, "03-02", {}),
    ):
        space.add(f"text {id}", id=id, session=session, speaker=speaker, role=role,
                  at=at(day), **more)  # fmt: skip
    space.flush()
    return space


@each(
    ("given", "found"),
    [
        ({"slot": "home"}, ["Bergen"]),
        ({"slot": "Home", "entity": "Ben"}, []),
        ({"slot": "likes"}, ["Émile"]),
        ({"text": "LIKES émi"}, ["Émile"]),
        ({"text": "100%"}, []),
        ({"where": Filter(session="s1")}, ["Bergen", "Émile"]),
        ({"where": Filter(speaker="Ben")}, ["DNB", "Émile"]),
        ({"where": Filter(roles=["assistant"])}, ["DNB"]),
        ({"where": Filter(roles=["person"])}, ["Bergen", "Lars"]),
        ({"where": Filter(tags=["home"])}, ["Bergen", "DNB"]),
        ({"where": Filter(metadata={"n": 1})}, ["Émile"]),
        ({"where": Filter(since=at("02-02"), until=at("03-01"))}, ["Émile"]),
        ({"where": Filter(since=at("02-02"), until=at("03-02"))}, ["DNB", "Émile"]),
        ({"where": Filter(session="s1", speaker="Ann"), "status": "current"}, ["Bergen"]),
        ({"where": Filter(session="s2"), "as_of": at("03-01")}, ["DNB"]),
        ({"status": "retracted"}, []),
    ],
)
def test_facts_are_chosen_by_what_they_are_and_who_said_them(team, given, found):
    assert names(team.facts(**given)) == found
    if found:
        assert names(team.facts(**given, limit=1, offset=len(found) - 1)) != []
        assert team.facts(**given, offset=len(found)) == []


@pytest.mark.slow
def test_sessions_entities_and_counts_of_a_time(open_memory, extractor, space_name, clock):
    space = open_memory().space(space_name)
    extractor.script({"1": [home("Bergen")], "3": [home("Oslo")]})
    extractor.session = lambda window: Extraction(
        mentions=(Mention("Ann", "person", (0,), ("Annie",) if window.chunks[0].at > at("06-01")
                          else ()),),
        keys=((f"key {window.chunks[-1].message_id}", 1.0),),
        themes=(Theme("told", window.chunks[-1].text),),
    )  # fmt: skip
    for id, session, day in (("1", "s", "02-01"), ("2", "t", "03-01"), ("3", "s", "07-01")):
        clock.advance(at(day) - clock() + (at("02-02") - at("02-01")))
        space.add(f"text {id}", id=id, session=session, at=at(day))
        space.flush()
    day = at("06-01")
    assert [(item.id, item.messages, item.keys, item.summary, item.ended_at, item.version)
            for item in space.overview.sessions(as_of=day)] == [
        ("t", 1, ("key 2",), "told: text 2", at("03-01"), 1),
        ("s", 1, ("key 1",), "told: text 1", at("02-01"), 1),
    ]  # fmt: skip
    assert space.overview.sessions()[0].summary == "told: text 3"
    assert space.overview.sessions(as_of=at("01-01")) == []
    assert space.cypher(name="keys", session="s", as_of=day) == [{"key": "key 1", "weight": None}]
    assert space.cypher(name="keys", session="t", as_of=day) == [{"key": "key 2", "weight": 1.0}]
    assert space.cypher(name="themes", session="s", as_of=day) == [
        {"title": "told", "summary": "text 1"}
    ]
    assert [item.id for item in space.overview.sessions(1, 1, as_of=day)] == ["s"]
    read = space._engine.store.graph.sessions
    assert [item.id for item in read(space_name, limit=9, as_of=day, ids=["s", "?"])] == ["s"]
    assert read(space_name, limit=9, as_of=day, ids=[]) == []
    then = {
        (entity.name, entity.triples, entity.mentions, entity.aliases)
        for entity in space.entities(as_of=day)
    }
    assert then == {("Ann", 1, 2, ()), ("Bergen", 1, 0, ())}
    now = {
        (entity.name, entity.triples, entity.mentions, entity.aliases)
        for entity in space.entities()
    }
    assert now == {("Ann", 2, 3, ("Annie",)), ("Bergen", 1, 0, ()), ("Oslo", 1, 0, ())}
    assert [entity.name for entity in space.entities("os", as_of=day)] == []
    stats = space.stats(as_of=day)
    assert (stats.sessions, stats.messages, stats.entities, stats.triples, stats.keys) == (
        2, 2, 2, 1, 2
    )  # fmt: skip
    assert (stats.pending, stats.done, stats.failed) == (0, 2, 0)
    later, now = space.stats(as_of=at("08-01")), space.stats()
    assert (later.sessions, later.chunks, later.entities, later.keys) == (
        now.sessions, now.chunks, now.entities, now.keys
    )  # fmt: skip


@pytest.mark.slow
def test_named_queries_leave_out_what_was_said_later(homes):
    july = at("07-01")

    def rows(name, **given):
        return [tuple(row.values()) for row in homes.cypher(name=name, **given)]

    june, later = datetime(2026, 6, 1, tzinfo=UTC), "another value was given later"
    then = {
        "about": [
            ("Ann", "moved to", "Oslo", "2026-06-01/2026-06-07", False, at("06-10"), 1),
            ("Ann", "likes", "jazz", None, False, at("03-01"), 1),
            ("Ann", "lives in", "Bergen", None, False, at("02-01"), 1),
        ],
        "hubs": [
            ("Ann", "person", 3),
            ("Bergen", "location", 1),
            ("Oslo", "location", 1),
            ("jazz", "concept", 1),
        ],
        "superseded": [
            ("Bergen", "lives in", "Ann", "Oslo", "moved to", at("06-10"), "rules", later),
        ],
        "timeline": [
            (None, at("02-01"), june, "Ann", "lives in", "Bergen", False),
            (None, at("03-01"), None, "Ann", "likes", "jazz", False),
            ("2026-06-01/2026-06-07", june, None, "Ann", "moved to", "Oslo", False),
        ],
        "sessions-about": [
            ("s-o", at("06-10"), at("06-10"), 1),
            ("s-j", at("03-01"), at("03-01"), 1),
            ("s-b", at("02-01"), at("02-01"), 1),
        ],
        "spread": [
            ("Ann", "likes", "jazz", 1, 1, 1),
            ("Ann", "lives in", "Bergen", 1, 1, 1),
            ("Ann", "moved to", "Oslo", 1, 1, 1),
        ],
    }
    entity = {"entity": "ann"}
    takes = {"about": entity, "timeline": entity, "sessions-about": entity, "spread": entity}
    assert {name: rows(name, **takes.get(name, {}), as_of=july) for name in then} == then
    given = {"entity": "Ann", "session": "s-b", "message": "b"}
    for name, query in named_queries().items():
        own = {
            parameter.name: given[parameter.name]
            for parameter in query.parameters
            if parameter.required
        }
        assert homes.cypher(name=name, **own, as_of=NOW) == homes.cypher(name=name, **own), name
        assert homes.cypher(name=name, **own, as_of=at("01-01")) == [], name


@pytest.mark.slow
def test_what_belongs_to_named_queries_is_refused_with_an_own_query(open_memory, space_name):
    space = open_memory().space(space_name)
    with pytest.raises(ConfigurationError, match=r"'timeline' is the name of a query.*--name"):
        space.cypher("timeline", parameters={"entity": "Ann"})
    with pytest.raises(ConfigurationError, match="as_of is a parameter of the named queries"):
        space.cypher("MATCH (c:Chunk) RETURN c.id", as_of="not a time")
    own = "MATCH (c:Chunk) WHERE c.text = $as_of RETURN c.text"
    assert space.cypher(own, as_of="May") == []
