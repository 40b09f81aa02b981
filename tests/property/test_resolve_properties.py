"""Deciding whether two entities are one: what must never be merged, whatever the names."""

from __future__ import annotations

import string

from hypothesis import assume, given
from hypothesis import strategies as st

from cognigraph.ids import normalise
from cognigraph.resolution.cluster import Constraint, Pair, join
from cognigraph.resolution.compare import EntityName, conflict, relate
from cognigraph.resolution.name_forms import GENERIC_TYPES, block_keys, form, is_proper
from tests.pairs import decide

TYPES = ["person", "organization", "location", "event", "object", "concept", "other"]
words = st.text(string.ascii_lowercase, min_size=1, max_size=9)
plain = st.lists(words, min_size=1, max_size=3).map(" ".join)
anything = st.text(max_size=20)
names = st.one_of(plain, plain.map(str.title), anything)
types = st.sampled_from(TYPES)
readings = st.tuples(st.integers(1, 3), st.integers(1, 3))


def entity(name: str, type: str, *aliases: str, uid: str = "") -> EntityName:
    own = normalise(name)
    return EntityName(uid or f"{own}/{type}", own, type, frozenset(aliases), is_proper(name))


@given(names, names, types, types, readings)
def test_the_verdict_is_symmetric_and_the_score_bounded(
    one: str, other: str, type: str, other_type: str, readings: tuple[int, int]
) -> None:
    a, b = entity(one, type), entity(other, other_type)
    assert decide(a, b, *readings) == decide(b, a, *reversed(readings))
    relation, mirrored = relate(a, b), relate(b, a)
    assert (relation is None) == (mirrored is None)
    if relation is not None and mirrored is not None:
        assert 0.0 <= relation.score == mirrored.score <= 1.0
        assert relation.reason


@given(plain, st.integers(0, 99), st.integers(0, 99), types)
def test_other_digits_are_another_thing(name: str, one: int, other: int, type: str) -> None:
    assume(one != other)
    for pattern in ("{} {}", "{1} {0}", "{}{}", "{} v{}"):
        a, b = entity(pattern.format(name, one), type), entity(pattern.format(name, other), type)
        assert decide(a, b) == "different"
    assert decide(entity(name, type), entity(f"{name} {one}", type)) == "different"


@given(plain, st.sampled_from(["not", "non", "anti", "ex", "no", "without"]), types)
def test_a_negation_is_another_thing(name: str, word: str, type: str) -> None:
    assume(word not in name.split())
    for text in (f"{word} {name}", f"{word}-{name}", f"{name} {word}"):
        assert decide(entity(name, type), entity(text, type)) == "different"


@given(words, st.sampled_from(["un", "dis", "non", "anti", "ex"]), types)
def test_a_prefix_that_denies_is_another_thing(word: str, prefix: str, type: str) -> None:
    found = decide(entity(word, type), entity(prefix + word, type))
    assert found == "different"


@given(names, names, types, types, readings)
def test_two_types_are_never_one(
    one: str, other: str, type: str, other_type: str, readings: tuple[int, int]
) -> None:
    assume(type != other_type and not {type, other_type} & GENERIC_TYPES)
    assert decide(entity(one, type), entity(other, other_type), *readings) != "same"


@given(words, words, words)
def test_a_first_name_of_two_people_is_neither(first: str, one: str, other: str) -> None:
    assume(len(first) > 1 and one != other and min(len(one), len(other)) > 1)
    bare = entity(first.title(), "person")
    people = [entity(f"{first} {last}".title(), "person") for last in (one, other)]
    relations = [relate(bare, person) for person in people]
    assume(all(relations))
    meanings = {relation.reading_a for relation in relations if relation is not None}
    assert len(meanings) == 2
    for person in people:
        assert decide(bare, person, len(meanings), 1) == "suspected"


@given(names, names, types, types)
def test_what_is_related_meets_in_a_block(one: str, other: str, type: str, other_type: str) -> None:
    a, b = entity(one, type), entity(other, other_type)
    if relate(a, b) is not None:
        assert block_keys(a.name, a.type) & block_keys(b.name, b.type)


@given(st.text(string.ascii_lowercase, min_size=9, max_size=30), st.data())
def test_one_letter_of_a_long_name_leaves_a_common_block(name: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(name) - 1))
    letter = data.draw(st.sampled_from(string.ascii_lowercase))
    for other in (
        name[:index] + letter + name[index + 1 :],
        name[:index] + letter + name[index:],
    ):
        assert block_keys(name, "location") & block_keys(other, "location")


@given(st.lists(names, min_size=2, max_size=7), st.data())
def test_groups_violate_no_conflict_and_no_user_constraint(
    said: list[str], data: st.DataObject
) -> None:
    type = data.draw(st.sampled_from(["person", "object"]))
    own = dict.fromkeys(map(normalise, said))
    named = {str(at): entity(name, type, uid=str(at)) for at, name in enumerate(own)}
    assume(len(named) > 1)
    ends = [(a, b) for a in named for b in named if a < b]
    pairs = []
    for a, b in ends:
        relation = relate(named[a], named[b])
        if relation is not None:
            pairs.append(Pair(a, b, relation, "same"))
    apart = data.draw(st.lists(st.sampled_from(ends), max_size=3, unique=True))
    rulings = [Constraint(a, b, "different", a, 1) for a, b in apart]
    shown, links = join(named, pairs, rulings)
    shuffled = data.draw(st.permutations(pairs))
    assert join(dict(reversed(named.items())), shuffled, rulings)[0] == shown
    for a, b in ends:
        if a in shown and shown[a] == shown.get(b):
            assert (a, b) not in apart
            assert conflict(named[a], named[b]) is None
    assert len(links) == len(shown) - len(set(shown.values()))


@given(anything, types)
def test_any_text_has_a_form(name: str, type: str) -> None:
    own = form(normalise(name), type)
    assert own.squash == "".join(own.words)
    assert block_keys(normalise(name), type) == block_keys(normalise(name), type)
