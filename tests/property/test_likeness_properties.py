"""Names with similar vectors: which pairs must never be suspected, and the blocks."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from cognigraph.ingest import Fact
from cognigraph.resolution.by_vectors import NEAR, alike, cosine
from cognigraph.resolution.by_vectors import near as find_near
from cognigraph.resolution.name_forms import form
from tests.examples import examples
from tests.meanings import Meanings
from tests.property import test_order_properties as order
from tests.property import test_redo_properties as redo
from tests.property.test_resolve_properties import entity, names, plain, types, words

near = st.floats(NEAR, 1.0)
# Names that are common nouns: nothing about their spelling stands against them.
common = st.sampled_from(["concept", "object", "event", "activity"])
halves = st.lists(st.integers(-100, 100).map(lambda n: n / 100), min_size=32, max_size=32)


@pytest.mark.slow
@given(names, names, types, types, st.floats(-1, 1))
def test_similarity_is_symmetric_and_never_merges(
    one: str, other: str, type: str, other_type: str, cosine: float
) -> None:
    a, b = entity(one, type), entity(other, other_type)
    found = alike(a, b, cosine)
    assert alike(b, a, cosine) == found
    if found is not None:
        assert cosine >= NEAR and a.type == b.type and a.name != b.name
        assert not found.likely
        assert found.reading_a is found.reading_b is None
        # Between acronyms, the least that letters say, and names without a type.
        assert 0.3 < found.score < 0.6


@given(words, words, common, st.floats(NEAR, 1.0), st.floats(NEAR, 1.0))
def test_a_higher_cosine_gives_a_higher_score(
    one: str, other: str, type: str, cosine: float, larger: float
) -> None:
    assume(cosine <= larger)
    a, b = entity(one, type), entity(other, type)
    found, nearer = alike(a, b, cosine), alike(a, b, larger)
    assume(found is not None and nearer is not None)
    assert found is not None and nearer is not None
    assert found.score <= nearer.score


@given(plain, st.integers(0, 99), st.integers(0, 99), types, near)
def test_names_with_other_digits_are_not_suspected(
    name: str, one: int, other: int, type: str, cosine: float
) -> None:
    assume(one != other)
    a, b = entity(f"{name} {one}", type), entity(f"{name} {other}", type)
    assert alike(a, b, cosine) is None
    assert alike(entity(name, type), a, cosine) is None


@given(plain, st.sampled_from(["not", "non", "anti", "ex", "no", "without"]), types, near)
def test_a_name_and_its_negation_are_not_suspected(
    name: str, word: str, type: str, cosine: float
) -> None:
    assume(word not in name.split())
    assert alike(entity(name, type), entity(f"{word} {name}", type), cosine) is None


@given(plain, st.sampled_from(["like hate", "left right", "mother father", "win lose"]), near)
def test_opposite_words_are_not_suspected(name: str, pair: str, cosine: float) -> None:
    one, other = pair.split()
    assume(not {one, other} & set(name.split()))
    a, b = entity(f"{one} {name}", "concept"), entity(f"{other} {name}", "concept")
    assert alike(a, b, cosine) is None


@given(names, names, types, types, near)
def test_names_of_two_types_are_not_suspected(
    one: str, other: str, type: str, other_type: str, cosine: float
) -> None:
    assume(type != other_type)
    assert alike(entity(one, type), entity(other, other_type), cosine) is None


@given(
    plain,
    plain,
    types,
    near,
    st.sampled_from(
        ["{} and {}", "{1} and {0}", "{}, {}", "{} & {}", "{} or {}", "{}'s {}", "{1}'s {0}",
         "{} with {}", "{} of {}", "{1} of {0}", "{}’s {}", "{0} and {0}'s {1}"]
    ),
)  # fmt: skip
def test_a_name_and_its_combination_with_another_are_not_suspected(
    one: str, more: str, type: str, cosine: float, pattern: str
) -> None:
    assume(not {*one.split(), *more.split()} & {"and", "or", "the", "a", "an", "s"})
    a, b = entity(one, type), entity(pattern.format(one, more), type)
    assert alike(a, b, cosine) is None


@given(plain, st.sampled_from(["other", "another", "next", "different", "previous"]), types, near)
def test_one_set_apart(name: str, word: str, type: str, cosine: float) -> None:
    assume(word not in name.split())
    assert alike(entity(name, type), entity(f"{word} {name}", type), cosine) is None


@given(names, names, st.sampled_from(["person", "organization", "location"]), near)
def test_proper_names_are_spelled_alike(one: str, other: str, type: str, cosine: float) -> None:
    a, b = entity(one.title(), type), entity(other.title(), type)
    assume(a.proper and b.proper)
    spelled = [" ".join(form(x.name, type).words) for x in (a, b)]
    if fuzz.token_sort_ratio(*spelled) < 85:
        assert alike(a, b, cosine) is None
    for far in ("Boston", "Chicago"):
        assert alike(entity(far, type), entity("Springfield", type), cosine) is None


@given(words, words, words, near)
def test_a_first_name_of_two_people(first: str, one: str, other: str, cosine: float) -> None:
    assume(fuzz.ratio(f"{first} {one}", f"{first} {other}") < 80)
    a, b = (entity(f"{first} {last}".title(), "person") for last in (one, other))
    assert alike(a, b, cosine) is None


@given(st.lists(st.tuples(plain, types, st.integers(0, 3)), min_size=1, max_size=8), st.data())
def test_what_is_found_depends_on_the_set_of_names_alone(
    said: list[tuple[str, str, int]], data: st.DataObject
) -> None:
    """With few distinct vectors, in any order: names that share a vector are compared."""
    named = [entity(name, type, uid=str(n)) for n, (name, type, _) in enumerate(said)]
    directions = np.random.RandomState(3).standard_normal((4, 32)).astype(np.float32)
    directions[0] = 0  # a name without a vector
    vectors = directions[[vector for *_, vector in said]]
    found = find_near(named, vectors)
    order = data.draw(st.permutations(range(len(said))))
    shuffled = find_near([named[n] for n in order], vectors[order])
    assert [(order[a], order[b], relation) for a, b, relation in shuffled] == found
    wanted = {
        (named[a].uid, named[b].uid): alike(named[a], named[b], 1.0)
        for a in range(len(said))
        for b in range(a + 1, len(said))
        if said[a][2] == said[b][2] != 0
    }
    assert {(named[a].uid, named[b].uid): relation.reason for a, b, relation in found} == {
        ends: relation.reason for ends, relation in wanted.items() if relation is not None
    }


@pytest.mark.slow
def test_many_close_vectors_make_no_pair_suspected() -> None:
    letters = "bcdfghklmnprstvz"
    words = [f"{a}a{b}e" for a in letters for b in letters]
    named = [entity(f"{word} thing", "object") for word in words[:60]]
    # Another type, or another number, is another crowd.
    named += [entity(f"{word} thing", "event") for word in words[:2]]
    named += [entity(f"{word} thing 7", "object") for word in words[:2]]
    vectors = np.random.RandomState(1).standard_normal((1, 64)).repeat(64, axis=0)
    assert len(find_near(named[:50], vectors[:50])) == 50 * 49 / 2
    assert find_near(named[:60], vectors[:60]) == []
    assert {(a, b) for a, b, _ in find_near(named, vectors)} == {(60, 61), (62, 63)}


@pytest.mark.slow
@given(st.lists(st.tuples(halves, halves), min_size=1, max_size=5))
def test_the_cosine_is_exact_symmetric_and_bounded(
    rows: list[tuple[list[float], list[float]]],
) -> None:
    left, right = (np.array([row[side] for row in rows], np.float16) for side in (0, 1))
    found = cosine(left, right)
    assert (found == cosine(right, left)).all()
    assert (np.abs(found) <= 1 + 1e-12).all()
    shuffled = np.random.RandomState(1).permutation(32)  # sums are exact: order is nothing to them
    assert (found == cosine(left[:, shuffled], right[:, shuffled])).all()
    wanted = [
        float(a @ b / np.sqrt((a @ a) * (b @ b))) if a.any() and b.any() else 0.0
        for a, b in zip(left.astype(float), right.astype(float), strict=True)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.slow
def test_nearly_all_near_pairs_meet() -> None:
    """Checked for 2,000 pairs at the lowest relevant cosine, distributed like real names."""
    source = np.random.RandomState(20261121)
    one = source.standard_normal((2000, 256))
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    away = source.standard_normal((2000, 256))
    away -= (away * one).sum(axis=1, keepdims=True) * one
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    near = NEAR + 0.001  # vectors are rounded to halves
    other = near * one + np.sqrt(1 - near**2) * away
    named = [entity("name", "object", uid=f"{n:04}") for n in range(4000)]
    found = find_near(named, np.concatenate([one, other]).astype(np.float32))
    met = {(a, b) for a, b, _ in found}
    assert all(b == a + 2000 for a, b in met)
    assert len(met) > 1600


THINGS = [
    "harry potter films", "harry potter movies", "films of harry potter", "adopting a child",
    "adopt children", "taking in children", "children and films", "tea",
]  # fmt: skip
SEEING = Meanings(THINGS[:3], THINGS[3:6], ["Anna Berg", "Ben"], ["tea", "co-op"], name="seeing")
facts = st.builds(
    Fact,
    st.sampled_from(["Anna", "Anna Berg", "Ben"]),
    st.just("person"),
    st.sampled_from(["likes", "has"]),
    st.sampled_from(THINGS),
    st.sampled_from(["object", "concept"]),
    st.just((0,)),
)
readings = st.tuples(st.lists(facts, max_size=3), st.just([]))
turns = st.lists(
    st.tuples(st.sampled_from("stu"), st.sampled_from(["Kim", "Eva"]), readings, readings),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(turns, st.randoms(use_true_random=False), st.integers(1, 7), st.integers(1, 4))
def test_any_order_any_batches_any_workers_and_read_again(
    turns: list, shuffle: random.Random, batch: int, workers: int
) -> None:
    indices = list(range(len(turns)))
    shuffle.shuffle(indices)
    new = redo.read(turns, 1)
    with tempfile.TemporaryDirectory() as folder:
        a, b, c, d = (Path(folder) / f"{name}.db" for name in "abcd")
        plain = order.fill({"location": a}, new, sorted(indices), 64, 1, embedder=SEEING)
        other = order.fill({"location": b}, new, indices, batch, workers, embedder=SEEING)
        assert other == plain
        assert redo.rows(b) == redo.rows(a)
        old = redo.read(turns, 0)
        again = redo.redo({"location": c}, old, new, indices, batch, embedder=SEEING)
        assert again["suspected"] == plain["suspected"]
        blind = order.fill({"location": d}, new, indices, batch, 1, embedder=Meanings())
    assert blind["merges"] == plain["merges"]
    assert not any("meaning" in text for text in blind["suspected"])
