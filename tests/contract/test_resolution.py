"""Entity resolution, on every store: merges by rules and by users, and splits."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from cognigraph import ConfigurationError, Memory, NotFoundError
from cognigraph.embed import resolve
from cognigraph.ingest import Extraction, Fact, Mention
from tests.conftest import START, OpenMemory
from tests.contract.person_writers import write
from tests.forked import Forked
from tests.property.test_order_properties import PEOPLE, THINGS, fill

WORDLLAMA = resolve("wordllama")


def person(subject, relation, object, type="object", **rest):
    return Fact(subject, "person", relation, object, type, (0,), **rest)


def tell(space, extractor, *said, speaker="Kim"):
    """One message per entry: a Fact, a list of Facts, or an Extraction."""
    number = len(getattr(tell, "seen", []))
    for offset, facts in enumerate(said):
        id = f"{space.name}-{number + offset}"
        tell.seen.append(id)
        at = START + timedelta(minutes=number + offset)
        space.add(f"text {id}", id=id, session="s", speaker=speaker, at=at)
        if isinstance(facts, Extraction):
            extractor.result = lambda window, facts=facts: facts
        else:
            extractor.result = None
            extractor.script({id: facts if isinstance(facts, list) else [facts]})
        space.flush()
    extractor.result = None


@pytest.fixture(autouse=True)
def _count():
    tell.seen = []


@pytest.fixture
def space(open_memory, space_name):
    return open_memory().space(space_name)


def shown(space):
    """Everything visible of the middle layer, regardless of the order of listings."""
    return {
        "entities": sorted(
            (e.name, e.type, e.triples, e.mentions, e.aliases) for e in space.entities(limit=1000)
        ),
        "triples": sorted(
            (t.uid, t.subject, t.relation, t.object, str(t.when), t.negated, t.first_observed,
             t.last_observed, t.sources)
            for t in space.facts(limit=1000)
        ),
        "suspected": sorted(map(repr, space.review.duplicates(1000))),
        "stats": (space.stats().entities, space.stats().triples),
    }  # fmt: skip


def names(space):
    return {entity.name: entity.aliases for entity in space.entities()}


def test_a_first_name_is_merged_into_the_only_full_name_with_it(space, extractor):
    tell(
        space,
        extractor,
        person("Anna", "bought", "kayak"),
        [person("Anna Berg", "bought", "kayak"), person("Anna Berg", "likes", "tea")],
    )
    assert names(space) == {"Anna Berg": ("Anna",), "kayak": (), "tea": ()}
    kayak = next(t for t in space.facts("Anna") if t.object == "kayak")
    assert kayak.subject == "Anna Berg"
    assert [source.id for source in kayak.sources] == [f"{space.name}-1", f"{space.name}-0"]
    assert (kayak.first_observed, kayak.last_observed) == (START, START + timedelta(minutes=1))
    assert {t.text for t in space.facts("anna")} == {
        "Anna Berg bought kayak",
        "Anna Berg likes tea",
    }
    assert space.facts("anna") == space.facts("Anna Berg")
    assert (space.stats().entities, space.stats().triples) == (3, 2)
    (merge,) = space.review.merges()
    assert (merge.name, merge.into, merge.by, merge.undone_at) == (
        "Anna", "Anna Berg", "rules", None,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.above_stores
def test_a_second_full_name_makes_the_first_name_uncertain_again(space, extractor):
    tell(space, extractor, person("Anna", "bought", "kayak"), person("Anna Berg", "likes", "tea"))
    tell(space, extractor, person("Anna Holm", "sold", "piano"))
    assert {"Anna", "Anna Berg", "Anna Holm"} <= names(space).keys()
    assert [t.text for t in space.facts("Anna")] == ["Anna bought kayak"]
    assert {(d.name, d.other) for d in space.review.duplicates()} | {
        (d.other, d.name) for d in space.review.duplicates()
    } >= {("Anna", "Anna Berg"), ("Anna", "Anna Holm")}
    (merge,) = space.review.merges()
    assert merge.undone_at is not None


@pytest.mark.slow
@pytest.mark.above_stores
def test_variants_of_spelling_are_one(space, extractor):
    tell(
        space,
        extractor,
        [person("José Núñez", "lives in", "Oslo", "location"), person("Kim", "has", "dogs")],
        [person("Jose Nunez", "lives in", "Oslo", "location"), person("Kim", "has", "dog")],
        [person("Dr. Meyer", "works at", "Co-op", "organization")],
        [person("Meyer", "works at", "Coop", "organization")],
    )
    assert names(space) == {
        "Jose Nunez": ("José Núñez",),
        "Oslo": (),
        "Kim": (),
        "dog": ("dogs",),
        "Meyer": ("Dr. Meyer",),
        "Coop": ("Co-op",),
    }
    assert {(t.text, len(t.sources)) for t in space.facts()} == {
        ("Jose Nunez lives in Oslo", 2),
        ("Kim has dog", 2),
        ("Meyer works at Coop", 2),
    }


@pytest.mark.parametrize(
    ("one", "other", "type"),
    [
        ("C++", "C#", "object"),
        ("A+", "A-", "concept"),
        ("iPhone 12", "iPhone 13", "object"),
        ("first dog", "second dog", "object"),
        ("profit", "non-profit", "concept"),
        ("wife", "ex-wife", "person"),
        ("liked song", "disliked song", "object"),
        ("Mr. Meyer", "Mrs. Meyer", "person"),
        ("Maria Olsen", "Mario Olsen", "person"),
    ],
)
@pytest.mark.above_stores
def test_conflicting_names_are_not_merged(space, extractor, one, other, type):
    tell(space, extractor, Fact(one, type, "is", "x", "time", (0,)))
    tell(space, extractor, Fact(other, type, "is", "x", "time", (0,)))
    assert {one, other} <= {entity.name for entity in space.entities()} or type == "person"
    assert not [m for m in space.review.merges() if m.undone_at is None]


@pytest.mark.above_stores
@pytest.mark.slow
def test_an_alias_of_the_text_finds_its_entity(space, extractor):
    said = Extraction(
        mentions=(Mention("Anna Berg", "person", (0,), aliases=("Annie", "my sister", "she")),),
        facts=(person("Anna Berg", "bought", "kayak"),),
    )
    tell(space, extractor, said)
    (anna,) = space.entities("berg")
    assert anna.aliases == ("Annie", "Kim's sister")
    assert [t.text for t in space.facts("annie")] == ["Anna Berg bought kayak"]
    tell(space, extractor, person("Annie", "sold", "kayak"), person("my sister", "likes", "tea"))
    assert names(space)["Anna Berg"] == ("Annie", "Kim's sister")
    assert {t.text for t in space.facts("Kim's sister")} == {
        "Anna Berg bought kayak", "Anna Berg sold kayak", "Anna Berg likes tea",
    }  # fmt: skip
    result = space.search("What did Annie do?", now=START + timedelta(days=1))
    assert "Anna Berg" in result.trace.anchors


@pytest.mark.above_stores
def test_the_sisters_of_two_speakers_are_two_entities(space, extractor):
    def sister(name):
        return Extraction(
            mentions=(Mention(name, "person", (0,), aliases=("my sister",)),),
            facts=(person("my sister", "likes", "tea"),),
        )

    tell(space, extractor, sister("Clara Holm"), speaker="Kim")
    tell(space, extractor, sister("Dora Lind"), speaker="Ben")
    assert names(space) == {
        "Clara Holm": ("Kim's sister",),
        "Dora Lind": ("Ben's sister",),
        "tea": (),
    }
    assert len(space.facts("tea")) == 2


@pytest.mark.slow
def test_merge_and_split_by_a_user(space, extractor):
    tell(
        space,
        extractor,
        [person("Bob", "owns", "boat"), person("Bob", "knows", "Robert Lee", "person")],
        [person("Robert Lee", "owns", "boat"), person("Robert Lee", "likes", "tea")],
    )
    before = shown(space)
    space.review.merge("bob", into="Robert Lee")
    assert names(space)["Robert Lee"] == ("Bob",)
    assert {(t.text, len(t.sources)) for t in space.facts("Bob")} == {
        ("Robert Lee owns boat", 2),
        ("Robert Lee likes tea", 1),
        ("Bob knows Robert Lee", 1),
    }
    boat = next(t for t in space.facts("Bob") if t.object == "boat")
    assert boat.last_observed - boat.first_observed == timedelta(minutes=1)
    tell(space, extractor, person("Bob", "likes", "tea"))
    assert len(next(t for t in space.facts("Bob") if t.object == "tea").sources) == 2
    (merge,) = space.review.merges()
    assert (merge.name, merge.into, merge.by, merge.undone_at) == (
        "Bob",
        "Robert Lee",
        "user",
        None,
    )

    space.review.split("Bob")
    assert names(space)["Robert Lee"] == ()
    after = shown(space)
    assert [e for e in after["entities"] if e[0] == "Robert Lee"] == [
        e for e in before["entities"] if e[0] == "Robert Lee"
    ]
    assert [t for t in after["triples"] if t in before["triples"]] == before["triples"]
    assert {t.text for t in space.facts("Bob")} == {
        "Bob owns boat", "Bob knows Robert Lee", "Bob likes tea",
    }  # fmt: skip
    (merge,) = space.review.merges()
    assert merge.undone_at is not None


@pytest.mark.slow
def test_after_a_split_everything_is_exactly_as_before(space, extractor):
    tell(
        space,
        extractor,
        [person("Bob", "owns", "boat"), person("Ann", "met", "Bob", "person")],
        [person("Robert Lee", "owns", "boat"), person("Ann", "met", "Robert Lee", "person")],
        person("Ann", "met", "Bob", "person"),
    )
    before = shown(space)
    space.review.merge("Bob", into="Robert Lee")
    assert shown(space)["stats"] == (before["stats"][0] - 1, before["stats"][1] - 2)
    space.review.split("Bob")
    assert shown(space) == before


@pytest.mark.slow
def test_a_split_is_never_undone_by_rules_nor_a_merge(space, extractor):
    tell(space, extractor, person("Anna", "bought", "kayak"), person("Anna Berg", "likes", "tea"))
    space.review.split("Anna")
    assert names(space)["Anna Berg"] == ()
    assert space.review.duplicates() == []
    tell(space, extractor, person("Anna", "sold", "kayak"), person("Anna Berg", "sold", "tea"))
    assert names(space)["Anna Berg"] == ()
    space.review.merge("Anna", into="Anna Berg")
    tell(space, extractor, person("Anna Holm", "likes", "tea"))  # the rules would now split them
    assert names(space)["Anna Berg"] == ("Anna",)


@pytest.mark.slow
def test_a_suspected_pair_can_be_dismissed(space, extractor):
    tell(space, extractor, person("Kim", "visited", "Oslo", "location"))
    tell(space, extractor, person("Kim", "visited", "oslo", "concept"))
    (pair,) = space.review.duplicates()
    assert {pair.type, pair.other_type} == {"location", "concept"}
    with pytest.raises(ConfigurationError, match=r"oslo \(concept\), Oslo \(location\)"):
        space.review.merge("Oslo", into="Kim")
    space.review.split("Oslo", apart_from="Oslo", type="concept", other_type="location")
    assert space.review.duplicates() == []
    assert len(space.facts("Oslo")) == 2
    space.review.merge("Oslo", into="Oslo", type="concept", into_type="location")
    assert len(space.facts("Oslo")) == 1
    assert [e.type for e in space.entities("Oslo")] == ["location"]


def test_names_that_are_not_there(space, extractor):
    tell(space, extractor, person("Gabriella Ruiz", "likes", "tea"))
    with pytest.raises(NotFoundError, match="did you mean 'Gabriella Ruiz'"):
        space.review.merge("Gabriela Ruiz", into="tea")
    with pytest.raises(NotFoundError, match="nothing is merged with 'tea'"):
        space.review.split("tea")
    with pytest.raises(ConfigurationError, match="two different"):
        space.review.merge("tea", into="Tea")
    with pytest.raises(NotFoundError, match=r"there is Gabriella Ruiz \(person\)"):
        space.review.merge("tea", into="Gabriella Ruiz", type="location")
    assert space.review.merges() == []


def test_who_is_quoted_is_kept_with_the_source(space, extractor):
    tell(space, extractor, person("Ann", "likes", "tea", said_by="Ben"))
    tell(space, extractor, person("Ann", "likes", "tea"))
    (triple,) = space.facts()
    assert [source.said_by for source in triple.sources] == [None, "Ben"]


def test_resolution_does_not_cross_spaces(open_memory, space_name, extractor):
    memory = open_memory()
    one, other = memory.space(space_name), memory.space(space_name + "-other")
    tell(one, extractor, person("Anna", "bought", "kayak"), person("Anna Berg", "likes", "tea"))
    tell(other, extractor, person("Anna Holm", "likes", "tea"), person("Anna", "sold", "tea"))
    assert names(one)["Anna Berg"] == ("Anna",)
    assert names(other)["Anna Holm"] == ("Anna",)
    one.review.merge("kayak", into="tea")
    assert "kayak" not in names(one)
    with pytest.raises(NotFoundError):
        other.review.merge("kayak", into="tea")
    assert other.review.merges()[0].into == "Anna Holm"


@pytest.mark.slow
def test_search_shows_the_merged_fact_once(space, extractor):
    tell(
        space,
        extractor,
        person("Anna", "bought", "kayak"),
        person("Anna Berg", "bought", "kayak"),
        person("Ben", "bought", "kayak"),
    )
    result = space.search("What did Anna buy?", now=START + timedelta(days=1))
    anna = [t for t in result.triples if t.subject == "Anna Berg"]
    assert [(t.text, len(t.sources)) for t in anna] == [("Anna Berg bought kayak", 2)]
    assert result.trace.counts["triples"] == 2
    # The in-memory index follows the canonical names.
    space.review.split("Anna")
    later = space.search("What did Anna buy?", now=START + timedelta(days=1))
    assert later.trace.counts["triples"] == 3
    assert {t.subject for t in later.triples} >= {"Anna", "Anna Berg"}
    space.review.merge("Anna", into="Anna Berg")
    again = space.search("What did Anna buy?", now=START + timedelta(days=1))
    assert [t.uid for t in again.triples] == [t.uid for t in result.triples]
    assert [hit.id for hit in again] == [hit.id for hit in result]


@pytest.mark.slow
def test_inspection_sees_the_merged_graph(space, extractor):
    tell(
        space, extractor, person("Anna", "bought", "kayak"), person("Anna Berg", "bought", "kayak")
    )
    assert space.cypher(
        "MATCH (a:Alias)-[:SAME_AS]->(e:Entity) RETURN a.name AS alias, e.name AS name"
    ) == [{"alias": "Anna", "name": "Anna Berg"}]
    (fact,) = space.cypher(name="about", entity="Anna Berg")
    assert (fact["subject"], fact["object"], fact["sources"]) == ("Anna Berg", "kayak", 2)
    tell(space, extractor, person("Anna Holm", "sold", "piano"))
    rows = space.cypher(name="duplicates-suspected")
    assert {frozenset((row["name"], row["other"])) for row in rows} == {
        frozenset(("Anna", "Anna Berg")), frozenset(("Anna", "Anna Holm")),
    }  # fmt: skip
    assert len(space.cypher(name="about", entity="Anna Berg")) == 1


def test_the_canonical_spelling_is_the_earliest_in_time_whatever_arrives_first(space, extractor):
    space.add("b", id="b", at=START + timedelta(hours=1), session="b")
    space.add("a", id="a", at=START, session="a")
    extractor.script({"b": [person("kim", "Likes", "TEA")], "a": [person("Kim", "likes", "tea")]})
    space.flush()
    (triple,) = space.facts()
    assert triple.text == "Kim likes tea"
    assert set(names(space)) == {"Kim", "tea"}


@pytest.mark.slow
def test_thirty_writers_about_one_person_leave_one_entity(location, clock, space_name):
    with Memory(**location, enrich="manual", clock=clock, embedder=WORDLLAMA) as memory:
        processes = [Forked(write, location, space_name, list(range(n, n + 5))) for n in (20, 25)]
        write(location, space_name, list(range(20)))
        for process in processes:
            process.finish()
            assert process.wait() == 0
        own = memory.space(space_name)
        assert own.stats().pending == 0
        assert names(own) == {"Anna Berg": ("A. Berg", "Anna", "Dr. Anna Berg"), "tea": ()}
        (triple,) = own.facts()
        assert sorted(int(source.id) for source in triple.sources) == list(range(30))
        assert (triple.first_observed, triple.last_observed) == (
            START, START + timedelta(seconds=29),
        )  # fmt: skip
        assert own.entities("anna")[0].mentions == 30


@pytest.mark.slow
def test_resolution_does_not_depend_on_order_batches_or_workers(location, space_name):
    """The property of tests/property/test_order_properties.py, on each store."""
    random = Random(7)
    turns = [
        (
            random.choice("stu"),
            random.choice(["Kim", "Eva"]),
            [
                person(
                    random.choice(PEOPLE), random.choice(["likes", "has"]),
                    random.choice(THINGS), random.choice(["object", "concept"]),
                )
                for _ in range(3)
            ],
            [Mention(random.choice(PEOPLE), "person", (0,), (random.choice(["Annie", "Anna"]),))],
        )
        for _ in range(9)
    ]  # fmt: skip
    order = list(range(len(turns)))
    plain = fill(location, turns, order, 64, 1, f"{space_name}-0", embedder=WORDLLAMA)
    assert plain["merges"] and plain["suspected"]
    random.shuffle(order)
    other = fill(location, turns, order, 2, 3, f"{space_name}-1", embedder=WORDLLAMA)
    # Uids contain the name of the space.
    for found in (plain, other):
        found["triples"] = sorted(triple[1:] for triple in found["triples"])
    assert other == plain


def test_a_fact_between_two_names_of_one_entity_keeps_both_names(
    open_memory: OpenMemory, space_name, extractor
):
    space = open_memory().space(space_name)
    space.add("Felix is the husband of Pia.", id="m1", at=START)
    extractor.script({"m1": [Fact("Felix", "person", "is", "Pia's husband", "person", (0,))]})
    space.flush()
    space.review.merge("Pia's husband", into="Felix")
    (known,) = space.facts("Felix")
    assert (known.subject, known.relation, known.object) == ("Felix", "is", "Pia's husband")
    (row,) = space.cypher("MATCH (t:Triple) RETURN t.subject AS s, t.object AS o")
    assert (row["s"], row["o"]) == ("Felix", "Pia's husband")


@pytest.mark.slow
def test_a_fact_without_a_type_is_the_same_as_the_typed_one(open_memory, extractor, space_name):
    typed = person("Ann", "works at", "Fiat", "organization")
    untyped = Fact("Ann", "concept", "works at", "Fiat", "concept", (0,))
    vague = Fact("Ann", "", "works at", "Fiat", "unknown", (0,))
    memory = open_memory()
    for order, facts in enumerate(([typed, untyped, vague], [untyped, vague, typed])):
        space = memory.space(f"{space_name}-{order}")
        tell(space, extractor, *facts)
        (fact,) = space.facts()
        types = fact.subject_type, fact.object_type, fact.source_count
        assert types == ("person", "organization", 3)
        assert [(e.name, e.type) for e in space.entities("Fiat")] == [("Fiat", "organization")]
        assert space.review.duplicates() == []
    # If the name may be either of two, then what has no type stays apart from both.
    tell(space, extractor, person("Ann", "lives in", "Fiat", "location"))
    types = {item.object_type: item.source_count for item in space.facts("Fiat")}
    untyped = types.pop("concept", None) or types.pop("unknown")
    assert (untyped, types) == (2, {"location": 1, "organization": 1})
