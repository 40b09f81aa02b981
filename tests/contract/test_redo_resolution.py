"""Redo with merged entities, on every store: names and facts follow the remaining evidence."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from cognigraph.embed import resolve
from cognigraph.ingest import Extraction, Fact, Mention
from cognigraph.testing import ScriptedExtractor
from tests.cases import first_on_neo4j
from tests.conftest import START
from tests.contract.test_resolution import names, person
from tests.property import test_order_properties as order
from tests.property import test_redo_properties as redo_properties

WORDLLAMA = resolve("wordllama")


def reader(name, script):
    """Reads one message at a time and returns only what the script has for it."""
    extractor = ScriptedExtractor(name=name)
    extractor.result = lambda window: _moved(window, script)
    return extractor


def _moved(window, script):
    facts, mentions = [], []
    for index, chunk in enumerate(window.chunks):
        for item in script.get(chunk.message_id, ()):
            if isinstance(item, Fact):
                facts.append(order._moved(item, index))
            else:
                mentions.append(Mention(item.name, item.type, (index,), item.aliases))
    return Extraction(facts=tuple(facts), mentions=tuple(mentions))


@pytest.fixture
def again(open_memory, space_name):
    """Enrich messages with an older script, then with a newer one."""

    def read(old, new, between=lambda space: None):
        first = open_memory(extractor=reader("x-1", old)).space(space_name)
        for number, id in enumerate(sorted({*old, *new})):
            at = START + timedelta(minutes=number)
            first.add(f"text {id}", id=id, session=f"s{number % 2}", speaker="Kim", at=at)
        first.flush()
        between(first)
        later = open_memory(extractor=reader("x-2", new)).space(space_name)
        assert later.queue.redo() == len({*old, *new})
        later.flush()
        return later

    return read


def evidence(space):
    return {t.text: sorted(source.id for source in t.sources) for t in space.facts()}


BOUGHT = {"m1": [person("Anna", "bought", "kayak")], "m2": [person("Anna Berg", "bought", "kayak")]}


@pytest.mark.slow
def test_redo_with_the_same_extraction_changes_nothing(again):
    old = BOUGHT | {
        "m3": [Mention("Anna Berg", "person", (0,), ("Annie",)), person("Annie", "likes", "tea")]
    }
    seen = []
    space = again(
        old, old, lambda first: seen.append((order.claimed(first), first.review.merges()))
    )
    assert (order.claimed(space), space.review.merges()) == seen[0]
    assert names(space)["Anna Berg"] == ("Anna", "Annie")


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "name"), [("m1", "Anna"), ("m2", "Anna Berg")])
@pytest.mark.above_stores
def test_redo_removes_one_of_two_duplicate_facts(again, kept, name):
    space = again(BOUGHT, {kept: BOUGHT[kept]})
    assert evidence(space) == {f"{name} bought kayak": [kept]}
    assert names(space) == {name: (), "kayak": ()}
    assert space.review.merges() == []
    assert (space.stats().entities, space.stats().triples) == (2, 1)
    result = space.search("Who bought a kayak?", now=START + timedelta(days=1))
    assert [t.subject for t in result.triples] == [name]


@pytest.mark.parametrize("gone", first_on_neo4j(["m1", "m2", "m3"]))
def test_redo_removes_one_of_three_duplicate_facts(again, gone):
    """One of them has the smallest uid, so the others are duplicates of it."""
    called = {"m1": "Anna Berg", "m2": "Dr. Anna Berg", "m3": "Anna Bérg"}
    old = {id: [person(name, "bought", "kayak")] for id, name in called.items()}
    space = again(old, {id: facts for id, facts in old.items() if id != gone})
    (triple,) = space.facts()
    assert triple.subject == ("Anna Bérg" if gone == "m1" else "Anna Berg")
    assert sorted(source.id for source in triple.sources) == sorted(old.keys() - {gone})
    assert triple.first_observed == min(source.at for source in triple.sources)
    assert triple.last_observed == max(source.at for source in triple.sources)


@pytest.mark.slow
def test_an_alias_is_removed_with_its_only_source(again):
    likes = {"m2": [person("Annie", "likes", "tea")], "m3": [person("Anna Berg", "has", "dog")]}
    old = likes | {"m1": [Mention("Anna Berg", "person", (0,), ("Annie",))]}
    seen = []
    space = again(old, likes, lambda first: seen.append(names(first)["Anna Berg"]))
    assert seen == [("Annie",)]
    assert names(space) == {"Annie": (), "tea": (), "Anna Berg": (), "dog": ()}
    assert space.cypher("MATCH (a:Alias) RETURN a.name AS name") == []
    (merge,) = space.review.merges()
    assert merge.undone_at is not None


@pytest.mark.slow
def test_an_alias_is_kept_while_it_has_another_source(again):
    annie = Mention("Anna Berg", "person", (0,), ("Annie",))
    old = {"m1": [annie], "m2": [annie], "m3": [person("Annie", "likes", "tea")]}
    space = again(old, old | {"m1": []})
    assert names(space)["Anna Berg"] == ("Annie",)
    assert evidence(space) == {"Anna Berg likes tea": ["m3"]}
    query = "MATCH (a:Alias)-[:STATED_IN]->(c:Chunk) RETURN a.name AS name, c.message_id AS id"
    assert space.cypher(query) == [{"name": "Annie", "id": "m2"}]


@pytest.mark.above_stores
@pytest.mark.slow
def test_removing_an_ambiguous_name_restores_the_merge(again):
    old = BOUGHT | {"m3": [person("Anna Holm", "sold", "piano")]}
    seen = []
    space = again(old, BOUGHT, lambda first: seen.append(names(first)["Anna Berg"]))
    assert seen == [()]
    assert names(space) == {"Anna Berg": ("Anna",), "kayak": ()}
    assert space.review.duplicates() == []


@pytest.mark.slow
@pytest.mark.above_stores
def test_removing_many_similar_names_restores_the_merge(again):
    """A block of more than 50 names is ignored; it is used again when it has fewer."""
    crowd = [
        person(f"Anna {chr(97 + n // 20)}{chr(97 + n % 20)}ol", "has", "dog") for n in range(60)
    ]
    space = again(BOUGHT | {"m3": crowd}, BOUGHT)
    assert names(space) == {"Anna Berg": ("Anna",), "kayak": ()}
    assert evidence(space) == {"Anna Berg bought kayak": ["m1", "m2"]}


@pytest.mark.slow
def test_the_spelling_of_the_newer_reading_is_shown(again):
    space = again({"m1": [person("KIM", "LIKES", "TEA")]}, {"m1": [person("Kim", "likes", "tea")]})
    assert evidence(space) == {"Kim likes tea": ["m1"]}
    assert set(names(space)) == {"Kim", "tea"}


@pytest.mark.slow
def test_redo_keeps_the_constraints_of_users(again):
    """Also for names that no message mentions any longer."""
    old = {
        "m1": [person("Bob", "owns", "boat")],
        "m2": [person("Robert Lee", "owns", "boat")],
        "m3": [person("Anna", "likes", "tea"), person("Anna Berg", "likes", "tea")],
    }

    def speak(space):
        space.review.merge("Bob", into="Robert Lee")
        space.review.split("Anna")

    space = again(old, old, speak)
    assert names(space)["Robert Lee"] == ("Bob",)
    assert names(space)["Anna Berg"] == ()
    assert evidence(space) == {
        "Robert Lee owns boat": ["m1", "m2"],
        "Anna likes tea": ["m3"],
        "Anna Berg likes tea": ["m3"],
    }
    assert {(m.name, m.by, m.undone_at is None) for m in space.review.merges()} == {
        ("Bob", "user", True), ("Anna", "rules", False),
    }  # fmt: skip


@pytest.mark.slow
def test_a_user_constraint_applies_again_when_its_name_returns(again, open_memory, space_name):
    old = {"m1": [person("Bob", "owns", "boat")], "m2": [person("Robert Lee", "has", "dog")]}
    space = again(
        old, {"m2": old["m2"]}, lambda first: first.review.merge("Bob", into="Robert Lee")
    )
    assert evidence(space) == {"Robert Lee has dog": ["m2"]}
    assert names(space) == {"Robert Lee": ("Bob",), "dog": ()}
    back = open_memory(extractor=reader("x-3", old)).space(space_name)
    back.queue.redo()
    back.flush()
    assert evidence(back) == {"Robert Lee owns boat": ["m1"], "Robert Lee has dog": ["m2"]}
    back.review.split("Bob")
    assert evidence(back) == {"Bob owns boat": ["m1"], "Robert Lee has dog": ["m2"]}


@pytest.mark.slow
@pytest.mark.parametrize("seed", first_on_neo4j(range(3)))
def test_redo_gives_the_same_graph_as_a_first_extraction(location, space_name, seed):
    """The property of tests/property/test_redo_properties.py, on each store."""
    random = Random(seed)

    def said():
        facts = [
            person(
                random.choice(redo_properties.PEOPLE), random.choice(["likes", "has"]),
                random.choice(["dog", "dogs", "coop"]), random.choice(["object", "place"]),
            )
            for _ in range(3)
        ]  # fmt: skip
        who, alias = random.choice(redo_properties.PEOPLE), random.choice(["Annie", "Anna"])
        return facts, [Mention(who, "person", (0,), (alias,))]

    turns = [
        (random.choice("stu"), random.choice(["Kim", "Eva"]), said(), said()) for _ in range(8)
    ]
    old, new = redo_properties.read(turns, 0), redo_properties.read(turns, 1)
    indices = list(range(len(turns)))
    random.shuffle(indices)
    again = redo_properties.redo(
        location, old, new, indices, 2, f"{space_name}-0", embedder=WORDLLAMA
    )
    alone = order.fill(location, new, sorted(indices), 64, 1, f"{space_name}-1", embedder=WORDLLAMA)
    assert alone["merges"]
    # Uids contain the name of the space.
    for found in (again, alone):
        found["triples"] = sorted(triple[1:] for triple in found["triples"])
    assert again == alone
