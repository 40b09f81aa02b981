"""Names that are similar only by their vectors, on every store: suspected, never merged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from random import Random

import pytest
from neo4j import GraphDatabase

from cognigraph import EmbeddingError
from cognigraph.ingest import Fact, Mention
from cognigraph.testing import ScriptedExtractor
from tests.cases import first_on_neo4j
from tests.conftest import START, OpenMemory
from tests.contract.test_reindex import Stopped, whole_store  # noqa: F401
from tests.meanings import Meanings
from tests.property.test_order_properties import PEOPLE, fill

pytestmark = pytest.mark.oldest_line

FILMS = ("harry potter films", "harry potter movies")
CHILDREN = ("adopt children", "adopting a child", "taking in children")
NEAR = Meanings(FILMS, CHILDREN)
FAR = Meanings(name="apart")


def likes(name, type="object", who="Kim"):
    return Fact(who, "person", "likes", name, type, (0,))


def tell(space, extractor, *said):
    """Add and enrich one message per list of facts."""
    number = space.stats().chunks
    for offset, facts in enumerate(said):
        id = f"m{number + offset}"
        extractor.script({id: facts})
        space.add(id, id=id, session="s", speaker="Kim", at=START + timedelta(minutes=number))
        space.flush()


def suspected(space):
    return {frozenset((d.name, d.other)) for d in space.review.duplicates(5000)}


PAIR = frozenset(FILMS)


@pytest.fixture
def whole(whole_store, open_memory: OpenMemory):  # noqa: F811
    """Open a store without other data, because an embedder applies to a whole shared server."""
    return open_memory


@pytest.fixture
def space(whole, space_name):
    return whole(embedder=NEAR).space(space_name)


@pytest.mark.above_stores
def test_a_pair_that_only_vectors_find_is_suspected(space, extractor):
    tell(space, extractor, [likes(FILMS[0])], [likes(FILMS[1]), likes("tea")])
    (found,) = space.review.duplicates()
    assert (found.name, found.other, found.type) == (*FILMS, "object")
    assert (found.score, found.reason) == (0.58, "nearly the same meaning (cosine 1.00)")
    assert space.review.merges() == []
    assert {e.name for e in space.entities()} == {"Kim", "tea", *FILMS}


def test_a_user_can_merge_or_dismiss_a_suspected_pair(space, extractor):
    tell(space, extractor, [likes(FILMS[0])], [likes(FILMS[1])])
    space.review.merge(FILMS[0], into=FILMS[1])
    assert suspected(space) == set()
    (triple,) = space.facts()
    assert (triple.object, len(triple.sources)) == (FILMS[1], 2)
    space.review.split(FILMS[0])
    assert len(space.facts()) == 2
    assert suspected(space) == set(), "a user said that they are two"
    # Later messages do not make the pair suspected again.
    tell(space, extractor, [likes("Harry Potter films"), likes("harry potter Movies")])
    assert suspected(space) == set()


def test_a_pair_that_a_user_keeps_apart_is_not_suspected_again(space, extractor):
    tell(space, extractor, [likes(FILMS[0]), likes(FILMS[1])])
    space.review.split(FILMS[0], apart_from=FILMS[1])
    assert suspected(space) == set()


@pytest.mark.above_stores
@pytest.mark.slow
def test_names_with_other_types_numbers_or_proper_names_are_not_suspected(
    whole, space_name, extractor
):
    groups = [
        ("Boston", "Chicago"), ("cup of tea", "tea cups"), ("turtles 3", "turtles 4"),
        ("hike", "hike and swim"), ("adoption", "non-adoption"),
    ]  # fmt: skip
    space = whole(embedder=Meanings(*groups)).space(space_name)
    facts = [
        likes(name, kind)
        for (one, other), (type, second) in zip(
            groups,
            [("location",) * 2, ("object", "event"), *[("object",) * 2] * 3],
            strict=True,
        )
        for name, kind in ((one, type), (other, second))
    ]
    tell(space, extractor, facts)
    assert suspected(space) == set()


@pytest.mark.above_stores
@pytest.mark.slow
def test_pairs_with_similar_spelling_are_listed_before_pairs_found_by_vectors(
    whole, space_name, extractor
):
    """A pair that is suspected by its spelling keeps that score, whatever its vectors."""
    name, other = "Maria Petersen", "Maria Peterson"
    space = whole(embedder=Meanings((name, other), FILMS)).space(space_name)
    tell(space, extractor, [likes(name, "person"), likes(other, "person"), *map(likes, FILMS)])
    tell(space, extractor, [likes("tea"), likes("tea", "concept")])
    found = space.review.duplicates()
    assert [(d.name, d.other) for d in found] == [(name, other), FILMS]
    assert found[0].reason == "spelled nearly alike"
    assert [d.score for d in found] == [0.929, 0.58]


@pytest.mark.slow
@pytest.mark.above_stores
def test_many_similar_names_make_no_pair_suspected(whole, space_name, extractor):
    """If more than 50 names are close to each other, none of them are suspected."""
    words = [
        f"{a}{b}" for a in "bcdfghkl" for b in ("aro", "elu", "ina", "osi", "uma", "eto", "ali")
    ]
    crowd = [f"{word} pottery" for word in words[:52]]
    embedder = Meanings(crowd)
    first = whole(embedder=embedder).space(space_name)
    tell(first, extractor, [likes(name) for name in crowd[:50]])
    assert len(suspected(first)) == 50 * 49 / 2
    tell(first, extractor, [likes(name) for name in crowd[50:]])
    assert suspected(first) == set()
    newer = ScriptedExtractor(name="newer-1")
    newer.script({"m0": [likes(name) for name in crowd[:3]], "m1": []})
    again = whole(embedder=embedder, extractor=newer).space(space_name)
    again.queue.redo()
    again.flush()
    assert len(again.entities()) == 4
    assert suspected(again) == {
        frozenset(pair) for pair in ((crowd[0], crowd[1]), (crowd[0], crowd[2]), crowd[1:3])
    }


@pytest.mark.slow
def test_names_without_evidence_are_not_suspected(whole, space_name, extractor):
    first = whole(embedder=NEAR).space(space_name)
    tell(first, extractor, [likes(FILMS[0])], [likes(FILMS[1])])
    assert suspected(first) == {PAIR}
    newer = ScriptedExtractor(name="newer-1")
    newer.script({"m0": [likes(FILMS[0])], "m1": [likes("tea")]})
    again = whole(embedder=NEAR, extractor=newer).space(space_name)
    again.queue.redo()
    again.flush()
    assert suspected(again) == set()
    newer.script({"m2": [likes(FILMS[1])]})
    again.add("m2", id="m2", session="t", at=START)
    again.flush()
    assert suspected(again) == {PAIR}


@pytest.mark.slow
def test_a_name_is_embedded_once_by_itself(whole, space_name, extractor):
    """The vector of a name must not depend on what else is embedded with it."""

    class Varying(Meanings):
        varies = True

        def embed(self, texts):
            batches.append(list(texts))
            return super().embed(texts)

    batches: list[list[str]] = []
    space = whole(embedder=Varying(FILMS)).space(space_name)
    tell(space, extractor, [likes(FILMS[0]), likes(FILMS[1])], [likes(FILMS[0])])
    assert [batches.count([name]) for name in ("kim", *FILMS)] == [1, 1, 1]
    assert suspected(space) == {PAIR}


@pytest.mark.slow
@pytest.mark.parametrize("seed", first_on_neo4j(range(3)))
def test_suspected_pairs_do_not_depend_on_order_batches_or_workers(
    whole, location, space_name, seed
):
    random = Random(seed)
    things = [*FILMS, *CHILDREN, "Harry Potter Films", "taking in  children", "tea"]
    turns = [
        (
            random.choice("stu"),
            random.choice(["Kim", "Eva"]),
            [likes(random.choice(things), random.choice(["object", "concept"])) for _ in range(3)],
            [Mention(random.choice(PEOPLE), "person", (0,), ("Annie",))],
        )
        for _ in range(9)
    ]
    indices = list(range(len(turns)))
    plain = fill(location, turns, indices, 64, 1, f"{space_name}-0", embedder=NEAR)
    assert sum("meaning" in text for text in plain["suspected"]) > 2
    random.shuffle(indices)
    other = fill(location, turns, indices, 2, 3, f"{space_name}-1", embedder=NEAR)
    assert other["suspected"] == plain["suspected"]
    blind = fill(location, turns, indices, 2, 3, f"{space_name}-2", embedder=Meanings())
    assert {text for text in plain["suspected"] if "meaning" not in text} == {*blind["suspected"]}
    assert other["merges"] == blind["merges"], "merges do not depend on the embedder"
    assert other["entities"] == blind["entities"]


@pytest.mark.slow
def test_suspected_pairs_change_with_the_embedder(whole, extractor):
    memory = whole(embedder=NEAR)
    for name in ("a", "b"):
        tell(memory.space(name), extractor, [likes(FILMS[0])], [likes(FILMS[1])])
        tell(memory.space(name), extractor, [likes(CHILDREN[0]), likes(CHILDREN[1])])
    both = {PAIR, frozenset(CHILDREN[:2])}
    seen = []
    memory.admin.reindex(
        Meanings(FILMS, name="films", dimension=48),
        on_progress=lambda made, total: seen.append(suspected(memory.space("a"))),
    )
    assert seen and all(found == both for found in seen), "the old embedder's until it is done"
    for name in ("a", "b"):
        assert suspected(memory.space(name)) == {PAIR}
    tell(memory.space("b"), extractor, [likes("harry potter Films"), likes(CHILDREN[2])])
    assert suspected(memory.space("b")) == {PAIR}
    memory.admin.reindex(FAR)
    assert suspected(memory.space("a")) == suspected(memory.space("b")) == set()
    memory.admin.reindex(NEAR)
    assert suspected(memory.space("a")) == both
    assert suspected(memory.space("b")) == both | {
        frozenset((CHILDREN[2], CHILDREN[n])) for n in (0, 1)
    }
    assert memory.space("a").review.merges() == []


@pytest.mark.slow
def test_entities_deleted_or_added_during_a_reindex_are_handled(whole, extractor, monkeypatch):
    """An entity is deleted, or added, while the embedder is changed."""
    monkeypatch.setattr("cognigraph.ingest.reindex._BATCH", 4)
    memory = whole(embedder=FAR)
    space = memory.space("a")
    for facts in ([likes(FILMS[0])], [likes(FILMS[1])], [likes(CHILDREN[0])]):
        tell(space, extractor, facts)
    newer = ScriptedExtractor(name="newer-1")
    newer.script({"m0": [likes(FILMS[0])], "m1": [], "m2": [likes(CHILDREN[0])]})
    other = whole(embedder=FAR, extractor=newer).space("a")
    steps = []

    def meanwhile(made, total):
        if not steps:
            other.queue.redo()
            other.flush()
            newer.script({"m3": [likes(CHILDREN[1])]})
            other.add("m3", id="m3", session="t", at=START)
            other.flush()
        steps.append(made)

    memory.admin.reindex(NEAR, on_progress=meanwhile)
    assert suspected(memory.space("a")) == {frozenset(CHILDREN[:2])}
    tell(memory.space("a"), extractor, [likes(FILMS[1])])
    assert suspected(memory.space("a")) == {PAIR, frozenset(CHILDREN[:2])}


@pytest.mark.slow
def test_an_interrupted_reindex_continues_with_the_vectors_of_names(whole, extractor, monkeypatch):
    monkeypatch.setattr("cognigraph.ingest.reindex._BATCH", 4)

    class Dying(Meanings):
        def embed(self, texts):
            if CHILDREN[0] in texts or FILMS[0] in texts:
                self.times = getattr(self, "times", 0) + 1
                if self.times == 2:
                    raise Stopped
            return super().embed(texts)

    memory = whole(embedder=FAR)
    for n, name in enumerate((*FILMS, *CHILDREN)):
        tell(memory.space("a"), extractor, [likes(name), likes(f"thing {n}")])
    with pytest.raises(EmbeddingError, match="Stopped"):
        memory.admin.reindex(Dying(FILMS, CHILDREN))
    assert suspected(memory.space("a")) == set()
    # A reindex to a third embedder in between leaves nothing of the first one.
    memory.admin.reindex(Meanings(CHILDREN, name="children"))
    pairs = {frozenset((CHILDREN[a], CHILDREN[b])) for a, b in ((0, 1), (0, 2), (1, 2))}
    assert suspected(memory.space("a")) == pairs
    with pytest.raises(EmbeddingError, match="Stopped"):
        memory.admin.reindex(Dying(FILMS, CHILDREN))
    done = memory.admin.reindex(NEAR)
    assert done.resumed > 0
    assert suspected(memory.space("a")) == pairs | {PAIR}


def _forget_vectors(location):
    """Leave names as an older version wrote them."""
    if "auth" in location:
        with GraphDatabase.driver(location["location"], auth=location["auth"]) as driver:
            driver.execute_query("MATCH (n:Named) REMOVE n.embedding")
        return
    with closing(sqlite3.connect(location["location"])) as db, db:
        db.execute("DELETE FROM name_vector")


@pytest.mark.slow
def test_names_of_an_older_store_get_vectors(whole, location, extractor):
    memory = whole(embedder=NEAR)
    space = memory.space("a")
    tell(space, extractor, [*map(likes, FILMS), *map(likes, CHILDREN), likes("tea")])
    _forget_vectors(location)
    assert suspected(space) == set()
    tell(space, extractor, [likes(FILMS[0])])
    assert suspected(space) == set()
    tell(space, extractor, [likes(FILMS[1])])
    assert suspected(space) == {PAIR}, "both were said again"
    done = memory.admin.reindex()
    assert (done.vectors, done.resumed) == (3 + 1, 0), "children and tea; Kim was said again too"
    assert len(suspected(memory.space("a"))) == 1 + 3
    assert memory.admin.reindex().vectors == 0
    # It is the same embedder, so other open memories continue.
    assert suspected(space) == suspected(whole(embedder=NEAR).space("a"))


@pytest.mark.slow
def test_a_page_of_the_list(space, extractor):
    """Pairs by spelling and by vectors form one list, with any page size."""
    people = ["Maria Petersen", "Maria Peterson", "Thomas Hendriksen", "Thomas Hendrikson"]
    tell(space, extractor, [likes(name, "person") for name in people])
    tell(space, extractor, [*map(likes, FILMS), *map(likes, CHILDREN)])
    tell(space, extractor, [likes("tea"), likes("tea", "concept")])
    whole = space.review.duplicates()
    assert [d.score for d in whole] == sorted([d.score for d in whole], reverse=True)
    assert len(whole) == 2 + 4
    for limit in range(1, 9):
        pages = [space.review.duplicates(limit, offset) for offset in range(0, 9, limit)]
        assert [pair for page in pages for pair in page] == whole
    assert space.review.duplicates(0) == []
