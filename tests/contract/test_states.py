"""Facts that change: what is current, on every store, whatever arrives first."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import permutations

import pytest

from cognigraph import NotFoundError
from cognigraph.ingest import Extraction, Fact
from cognigraph.testing import ScriptedExtractor
from tests.cases import first_on_neo4j


def at(day: str) -> datetime:
    return datetime.fromisoformat(f"2026-{day}").replace(hour=9, tzinfo=UTC)


def home(place, relation="lives in", **more):
    return Fact("Ann", "person", relation, place, "location", (0,), **more)


TURNS = {
    "b": (at("02-01"), home("Bergen")),
    "o": (at("06-10"), home("Oslo", "moved to", when="2026-06-01/2026-06-07")),
    "p": (at("07-01"), home("Paris", "lived in")),
    "j": (at("03-01"), Fact("Ann", "person", "likes", "jazz", "concept", (0,))),
    "r": (at("04-01"), Fact("Ann", "person", "likes", "rock", "concept", (0,))),
}


def read_turns(open_memory, extractor, space, order=tuple(TURNS), turns=None):
    turns = turns or TURNS
    extractor.script({id: [turns[id][1]] for id in turns})
    memory = open_memory().space(space)
    for id in order:
        memory.add(f"text {id}", id=id, session=f"s-{id}", speaker="Ann", at=turns[id][0])
        memory.flush()
    return memory


def standing(space):
    return {
        triple.text: (
            triple.status,
            triple.valid_from,
            triple.valid_to,
            triple.superseded_by and by_uid(space)[triple.superseded_by],
        )
        for triple in space.facts()
    }


def by_uid(space):
    return {triple.uid: triple.text for triple in space.facts()}


def the(space, text):
    return next(triple for triple in space.facts() if triple.text == text)


def statuses(space):
    return {triple.text: triple.status for triple in space.facts()}


@pytest.mark.slow
@pytest.mark.above_stores
def test_a_later_home_supersedes_and_nothing_else_does(open_memory, extractor, space_name):
    space = read_turns(open_memory, extractor, space_name)
    june = datetime(2026, 6, 1, tzinfo=UTC)
    assert standing(space) == {
        "Ann lives in Bergen": ("superseded", at("02-01"), june, "Ann moved to Oslo"),
        "Ann moved to Oslo": ("current", june, None, None),
        "Ann lived in Paris": ("current", None, None, None),
        "Ann likes jazz": ("current", at("03-01"), None, None),
        "Ann likes rock": ("current", at("04-01"), None, None),
    }
    bergen = the(space, "Ann lives in Bergen")
    assert (bergen.reason, bergen.superseded_at) == ("another value was given later", at("06-10"))
    rows = space.cypher(
        "MATCH (n:Triple)-[s:SUPERSEDES]->(o:Triple) "
        "RETURN n.object AS new, o.object AS old, o.status AS status, s.by AS by, s.at AS at, "
        "s.reason AS reason"
    )
    assert rows == [
        {
            "new": "Oslo",
            "old": "Bergen",
            "status": "superseded",
            "by": "rules",
            "at": at("06-10"),
            "reason": "another value was given later",
        }
    ]


@pytest.mark.slow
@pytest.mark.parametrize("order", first_on_neo4j(["bpo", "pob", "obp"]))
def test_any_order_of_the_same_turns_gives_the_same_graph(
    open_memory, extractor, space_name, order
):
    known = read_turns(open_memory, extractor, space_name, ("b", "o", "p"))
    other = read_turns(open_memory, extractor, f"{space_name}-2", order)
    assert standing(other) == standing(known)


def test_what_was_known_then(open_memory, extractor, space_name):
    space = read_turns(open_memory, extractor, space_name)
    before = {t.text: (t.status, t.valid_to) for t in space.facts("Ann", as_of=at("05-01"))}
    assert before["Ann lives in Bergen"] == ("current", None)
    assert "Ann moved to Oslo" not in before


@pytest.mark.slow
def test_history_is_a_chain_from_the_oldest_to_the_newest(open_memory, extractor, space_name):
    space = read_turns(open_memory, extractor, space_name)
    (chain,) = space.history("Ann", "lives in")
    assert (chain.subject, chain.slot) == ("Ann", "home")
    assert [(t.object, t.status) for t in chain.triples] == [
        ("Bergen", "superseded"),
        ("Oslo", "current"),
    ]
    assert [t.object for t in chain.current] == ["Oslo"]
    assert space.history("Ann", "home") == [chain]
    assert [item.slot for item in space.history("Ann")] == ["home", "likes jazz", "likes rock"]
    assert [item.slot for item in space.history("Ann", "likes")] == ["likes jazz", "likes rock"]
    assert space.history("Nobody") == []


@pytest.mark.slow
def test_a_user_retracts_and_restores(open_memory, extractor, space_name):
    space = read_turns(open_memory, extractor, space_name)
    oslo = the(space, "Ann moved to Oslo")
    space.review.retract(oslo, reason="she was joking")
    assert the(space, "Ann moved to Oslo").status == "retracted"
    assert the(space, "Ann moved to Oslo").reason == "she was joking"
    assert the(space, "Ann lives in Bergen").status == "current"
    space.review.restore(oslo.uid)
    assert the(space, "Ann moved to Oslo").status == "current"
    assert the(space, "Ann lives in Bergen").status == "superseded"


@pytest.mark.slow
def test_what_is_forgotten_is_not_quoted_as_a_reason(open_memory, extractor, space_name, tmp_path):
    space = read_turns(open_memory, extractor, space_name)
    for id, text in (("x", "Ben says Ann only dreamt of it."), ("y", "it was not so after all")):
        space.add(text, id=id, session="s-x", speaker="Mia", at=at("08-01"))
    space.flush()
    space.review.retract(the(space, "Ann moved to Oslo"), reason="Ben: she dreamt of it")
    space.review.retract(the(space, "Ann lived in Paris"), reason="Ann never lived in Paris")
    jazz, rock = the(space, "Ann likes jazz"), the(space, "Ann likes rock")
    space.review.supersede(jazz, rock, reason="No, it was not so after all.")
    space.forget(message="x")
    assert the(space, "Ann moved to Oslo").reason in ("", None)
    assert "not so" in the(space, "Ann likes jazz").reason
    space.forget(message="y")
    ended = [triple for triple in space.facts() if triple.status != "current"]
    assert {item.text: (item.status, item.reason or "") for item in ended} == {
        "Ann moved to Oslo": ("retracted", ""),
        "Ann lived in Paris": ("retracted", "Ann never lived in Paris"),
        "Ann likes jazz": ("superseded", ""),
    }
    space.files.export(tmp_path / "a.jsonl")
    kept = (tmp_path / "a.jsonl").read_text("utf-8")
    assert "never lived in Paris" in kept and "dreamt" not in kept and "not so" not in kept


@pytest.mark.slow
def test_a_user_supersedes_and_takes_it_back(open_memory, extractor, space_name):
    space = read_turns(open_memory, extractor, space_name)
    jazz, rock = the(space, "Ann likes jazz"), the(space, "Ann likes rock")
    space.review.supersede(jazz, rock, at="2026-04-15T00:00:00Z", reason="her taste changed")
    found = the(space, "Ann likes jazz")
    assert (found.status, found.superseded_by, found.reason) == (
        "superseded", rock.uid, "her taste changed",
    )  # fmt: skip
    assert found.valid_to == datetime(2026, 4, 15, tzinfo=UTC)
    space.review.restore(jazz)
    assert the(space, "Ann likes jazz").status == "current"
    with pytest.raises(NotFoundError, match="no triple"):
        space.review.supersede(jazz, "0" * 32)
    with pytest.raises(NotFoundError, match="no triple"):
        space.review.retract("0" * 32)


@pytest.mark.slow
def test_what_users_said_outlives_reading_again(open_memory, extractor, space_name):
    space = read_turns(open_memory, extractor, space_name)
    space.review.retract(the(space, "Ann moved to Oslo"), reason="she was joking")
    space.review.supersede(the(space, "Ann likes jazz"), the(space, "Ann likes rock"))
    nothing = ScriptedExtractor(name="scripted-2")
    empty = open_memory(extractor=nothing).space(space_name)
    empty.queue.redo()
    empty.flush()
    assert empty.facts() == []
    third = ScriptedExtractor({id: [fact] for id, (_, fact) in TURNS.items()}, name="scripted-3")
    again = open_memory(extractor=third).space(space_name)
    again.queue.redo()
    again.flush()
    assert statuses(again) == {
        "Ann lives in Bergen": "current",
        "Ann moved to Oslo": "retracted",
        "Ann lived in Paris": "current",
        "Ann likes jazz": "superseded",
        "Ann likes rock": "current",
    }


@pytest.mark.slow
def test_reading_again_decides_again(open_memory, extractor, space_name):
    read_turns(open_memory, extractor, space_name)
    script = {id: [fact] for id, (_, fact) in TURNS.items()}
    script["o"] = [Fact("Ann", "person", "visited", "Oslo", "location", (0,))]
    better = ScriptedExtractor(script, name="scripted-2")
    space = open_memory(extractor=better).space(space_name)
    space.queue.redo()
    space.flush()
    assert the(space, "Ann lives in Bergen").status == "current"
    assert the(space, "Ann lives in Bergen").superseded_by is None
    assert space.cypher("MATCH (:Triple)-[s:SUPERSEDES]->(:Triple) RETURN s.by AS by") == []


def test_merge_and_split_decide_again(open_memory, extractor, space_name):
    turns = {
        "a": (at("02-01"), Fact("Ann", "person", "lives in", "Bergen", "location", (0,))),
        "b": (at("06-01"), Fact("Mrs Berg", "person", "lives in", "Oslo", "location", (0,))),
        "c": (at("07-01"), Fact("Ann", "person", "lives in", "the fjord city", "location", (0,))),
    }
    space = read_turns(open_memory, extractor, space_name, tuple("ab"), turns)
    assert set(statuses(space).values()) == {"current"}
    space.review.merge("Mrs Berg", into="Ann")
    assert statuses(space) == {"Ann lives in Bergen": "superseded", "Ann lives in Oslo": "current"}
    space.review.split("Mrs Berg")
    assert set(statuses(space).values()) == {"current"}


def test_values_that_are_one_entity_do_not_supersede_each_other(open_memory, extractor, space_name):
    turns = {
        "a": (at("02-01"), home("New York")),
        "b": (at("06-01"), home("Gotham", "moved to")),
    }
    space = read_turns(open_memory, extractor, space_name, tuple("ab"), turns)
    assert the(space, "Ann lives in New York").status == "superseded"
    space.review.merge("Gotham", into="New York")
    assert set(statuses(space).values()) == {"current"}
    space.review.split("Gotham")
    assert the(space, "Ann lives in New York").status == "superseded"


def test_conflicts_are_values_said_at_one_moment(open_memory, extractor, space_name):
    extractor.script({"m": [home("Bergen"), home("Oslo"), home("Oslo", "is based in")]})
    space = open_memory().space(space_name)
    space.add("text", id="m", speaker="Ann", at=at("02-01"))
    space.flush()
    (conflict,) = space.review.conflicts()
    assert (conflict.subject, conflict.slot) == ("Ann", "home")
    assert sorted(t.text for t in conflict.triples) == [
        "Ann is based in Oslo", "Ann lives in Bergen", "Ann lives in Oslo",
    ]  # fmt: skip
    space.review.retract(the(space, "Ann lives in Bergen"))
    assert space.review.conflicts() == []


@pytest.mark.slow
def test_what_an_extraction_says_replaces_others(open_memory, extractor, space_name):
    def uses(what, **more):
        return Fact("Ann", "person", "uses", what, "object", (0,), **more)

    def likes(what, **more):
        return Fact("Ann", "person", "likes", what, "object", (0,), **more)

    turns = {
        "a": (at("02-01"), uses("Spotify")),
        "b": (at("03-01"), uses("Tidal", replaces=True)),
        "c": (at("04-01"), uses("Deezer")),
        "d": (at("02-01"), likes("jazz")),
        "e": (at("03-01"), likes("rock", replaces=True)),
    }
    expected = {
        "Ann uses Spotify": "superseded",
        "Ann uses Tidal": "current",
        "Ann uses Deezer": "current",
        "Ann likes jazz": "current",
        "Ann likes rock": "current",
    }
    for number, order in enumerate([*permutations("abc")][::2]):
        name = f"{space_name}-{number}"
        space = read_turns(open_memory, extractor, name, (*order, "d", "e"), turns)
        assert statuses(space) == expected
    turns["b"] = (at("03-01"), uses("Tidal"))
    other = ScriptedExtractor({id: [fact] for id, (_, fact) in turns.items()}, name="scripted-2")
    space = open_memory(extractor=other).space(f"{space_name}-0")
    space.queue.redo()
    space.flush()
    assert statuses(space)["Ann uses Spotify"] == "current"


def test_a_batch_that_holds_a_whole_chain(open_memory, extractor, space_name):
    def read(window):
        facts = [
            Fact(f.subject, f.subject_type, f.relation, f.object, f.object_type, (index,), f.when)
            for index, chunk in enumerate(window.chunks)
            for _, f in [TURNS[chunk.message_id]]
        ]
        return Extraction(facts=tuple(facts))

    extractor.script(read)
    space = open_memory().space(space_name)
    for id in ("o", "b"):
        space.add(f"text {id}", id=id, speaker="Ann", at=TURNS[id][0])
    space.flush()
    assert statuses(space) == {
        "Ann lives in Bergen": "superseded", "Ann moved to Oslo": "current",
    }  # fmt: skip


def test_another_space_has_no_influence(open_memory, extractor, space_name):
    extractor.script({id: [fact] for id, (_, fact) in TURNS.items()})
    memory = open_memory()
    for name, id in ((space_name, "b"), (f"{space_name}-2", "o")):
        memory.space(name).add("text", id=id, speaker="Ann", at=TURNS[id][0])
        memory.space(name).flush()
        assert set(statuses(memory.space(name)).values()) == {"current"}
    other = the(memory.space(f"{space_name}-2"), "Ann moved to Oslo")
    with pytest.raises(NotFoundError):
        memory.space(space_name).review.retract(other)
    assert memory.space(space_name).history("Ann")[0].current[0].object == "Bergen"


@pytest.mark.above_stores
def test_a_role_is_one_slot_from_whichever_end_it_is_told(open_memory, extractor, space_name):
    def role(subject, relation, object):
        return Fact(subject, "person", relation, object, "person", (0,))

    turns = {
        "a": (at("02-01"), role("Ann", "reports to", "Klara")),
        "b": (at("03-01"), role("Lars", "is", "Ann's new manager")),
        "c": (at("04-01"), role("Ann's boss", "is", "Mina")),
        "d": (at("04-01"), role("Nils", "is", "Ann's boss")),
    }
    space = read_turns(open_memory, extractor, space_name, tuple(turns), turns)
    (chain,) = space.history("Ann's boss", "value")
    assert {triple.text: triple.status for triple in chain.triples} == {
        "Ann's boss is Klara": "superseded",
        "Lars is Ann's boss": "superseded",
        "Ann's boss is Mina": "current",
        "Nils is Ann's boss": "current",
    }
    (conflict,) = space.review.conflicts()
    assert {triple.text for triple in conflict.triples} == {
        "Ann's boss is Mina", "Nils is Ann's boss",
    }  # fmt: skip
