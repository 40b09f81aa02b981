"""Entity resolution: the rules that decide on pairs, and the groups that result."""

from __future__ import annotations

from cognigraph.ids import normalise
from cognigraph.resolution.cluster import Constraint, Pair, join, rank
from cognigraph.resolution.compare import EntityName, PairVerdict
from cognigraph.resolution.name_forms import block_keys, is_proper
from tests.cases import each
from tests.pairs import decide


def named(name, type="person", *aliases, uid=None):
    return EntityName(
        uid or f"{name}/{type}", normalise(name), normalise(type),
        frozenset(map(normalise, aliases)), is_proper(name),
    )  # fmt: skip


def verdict(one, other, type="person", other_type=None):
    a, b = named(one, type), named(other, other_type or type)
    assert decide(b, a) == decide(a, b)
    return decide(a, b)


SAME = [
    ("Anna", "Anna Berg", "person"),
    ("A. Berg", "Anna Berg", "person"),
    ("J. R. R. Tolkien", "John Tolkien", "person"),
    ("Dr. Meyer", "Meyer", "person"),
    ("Prof. Anna Berg", "Anna Berg", "person"),
    ("José Núñez", "Jose Nunez", "person"),
    ("Jean-Luc", "Jean Luc", "person"),
    ("Kathrine Holm-Hansen", "Katherine Holm-Hansen", "person"),
    ("Maria Hendriksen", "Maria Hendrikssen", "person"),
    ("Gothenburg", "Gothenberg", "location"),
    ("The Hague", "Hague", "location"),
    ("co-op", "coop", "organization"),
    ("e-mail", "email", "object"),
    ("dogs", "dog", "object"),
    ("strawberries", "strawberry", "food"),
    ("boxes", "box", "object"),
    ("the kayak", "kayak", "object"),
]
SUSPECTED = [
    ("Anna Maria Berg", "Anna Berg", "person"),
    ("anna", "anna berg", "person"),
    ("Maria Petersen", "Maria Peterson", "person"),
    ("Mr. Meyer", "Dr. Meyer", "person"),
    ("World Health Organization", "WHO", "organization"),
    ("community meetings", "community meeting", "event"),
]
DIFFERENT = [
    ("Anna", "Hanna", "person"),
    ("Anna", "Anna's mother", "person"),
    ("Anna", "Anna and Ben", "person"),
    ("Anna Berg", "Anna Holm", "person"),
    ("Maria Olsen", "Mario Olsen", "person"),
    ("Mr. Meyer", "Mrs. Meyer", "person"),
    ("wife", "ex-wife", "person"),
    ("C++", "C#", "object"),
    ("C", "C++", "object"),
    ("A+", "A-", "concept"),
    ("iPhone 12", "iPhone 13", "object"),
    ("version 1.2", "version 1.3", "object"),
    ("World War I", "World War II", "event"),
    ("first dog", "second dog", "object"),
    ("chapter one", "chapter two", "object"),
    ("profit", "non-profit", "concept"),
    ("likes", "dislikes", "concept"),
    ("happiness", "unhappiness", "concept"),
    ("war", "anti-war", "concept"),
    ("glass", "glasses", "object"),
    ("new", "news", "object"),
    ("ガ", "カ", "object"),
    ("й", "и", "concept"),
    ("❤", "😀", "concept"),
    ("art's", "art", "object"),
    ("Kings", "King", "organization"),
    ("Austria", "Australia", "location"),
    ("Iceland", "Ireland", "location"),
    ("universe", "university", "concept"),
]


@each(
    ("one", "other", "type", "expected"),
    [(*case, "same") for case in SAME]
    + [(*case, "suspected") for case in SUSPECTED]
    + [(*case, "different") for case in DIFFERENT],
)
def test_pairs_of_names(one, other, type, expected):
    assert verdict(one, other, type) == expected


@each(("one", "other", "type"), SAME + SUSPECTED)
def test_similar_names_share_a_block(one, other, type):
    assert block_keys(normalise(one), type) & block_keys(normalise(other), type)


@each(
    ("type", "other", "expected"),
    [
        ("location", "concept", "same"),
        ("location", "organization", "different"),
        ("person", "thing", "same"),
        ("concept", "thing", "same"),
        ("concept", "object", "same"),
        ("person", "name", "different"),
        ("concept", "name", "suspected"),
        ("person", "object", "same"),
        ("object", "location", "same"),
        ("event", "object", "different"),
        ("organization", "object", "different"),
    ],
)
def test_one_name_with_two_types(type, other, expected):
    assert verdict("Bergen", "Bergen", type, other) == expected


def test_a_common_noun_with_another_type_is_different():
    one = EntityName("a", "baker", "person", proper=False)
    other = EntityName("b", "baker", "object", proper=False)
    assert decide(one, other) == "different"


def test_an_untyped_name_of_a_person_and_a_place_stays_separate():
    thing, person = named("Paris", "object"), named("Paris", "person")
    assert decide(thing, person, 1, 1) == "same"
    assert decide(thing, person, 2, 1) == "suspected"


def test_a_second_reading_makes_a_merge_uncertain():
    anna, berg = named("Anna"), named("Anna Berg")
    assert decide(anna, berg, 1, 1) == "same"
    assert decide(anna, berg, 2, 1) == "suspected"
    # A full name may have many short forms without being ambiguous.
    assert decide(anna, berg, 1, 5) == "same"
    slip = named("Maria Hendriksen"), named("Maria Hendrikssen")
    assert decide(*slip, 1, 2) == "suspected"


def test_stated_aliases():
    assert decide(named("Anna Berg", "person", "Annie"), named("Annie")) == "same"
    assert decide(named("Annie"), named("Anna Berg", "person", "Annie")) == "same"
    assert decide(named("Anna", "person", "Anna 2"), named("Anna 2")) == "different"
    assert decide(named("Anna", "person", "Oslo"), named("Oslo", "location")) == "different"
    assert block_keys("anna berg", "person", frozenset({"annie"})) & block_keys("annie", "person")


# Groups


def pair(a, b, score=0.9, verdict="same"):
    return Pair(*sorted((a, b)), PairVerdict("x", score, True, "because"), verdict)


def groups(names, pairs, constraints=()):
    shown, links = join({name: named(name, uid=name) for name in names}, pairs, constraints)
    return shown, {(link.a, link.into, link.by) for link in links}


def test_the_fullest_name_is_canonical():
    shown, links = groups(["A. Berg", "Anna", "Anna Berg"], [
        pair("Anna", "Anna Berg"), pair("A. Berg", "Anna Berg"),
    ])  # fmt: skip
    assert shown == dict.fromkeys(["A. Berg", "Anna", "Anna Berg"], "Anna Berg")
    assert links == {("Anna", "Anna Berg", "rules"), ("A. Berg", "Anna Berg", "rules")}


def test_a_group_contains_no_conflict():
    shown, links = groups(["Meyer", "Mr. Meyer", "Mrs. Meyer"], [
        pair("Meyer", "Mr. Meyer", 0.8), pair("Meyer", "Mrs. Meyer", 0.9),
    ])  # fmt: skip
    assert shown == {"Meyer": "Meyer", "Mrs. Meyer": "Meyer"}
    assert links == {("Mrs. Meyer", "Meyer", "rules")}


def test_user_constraints_apply_first():
    apart = Constraint("Anna", "Anna Berg", "different", "Anna", 1)
    assert groups(["Anna", "Anna Berg"], [pair("Anna", "Anna Berg")], [apart]) == ({}, set())
    same = Constraint("Bob", "Rob", "same", "Bob", 2)
    shown, links = groups(["Bob", "Rob", "Robert"], [pair("Rob", "Robert")], [same])
    assert shown == dict.fromkeys(["Bob", "Rob", "Robert"], "Bob")
    assert ("Rob", "Bob", "user") in links
    # The target of the user's latest merge is canonical.
    later = Constraint("Bob", "Robert", "same", "Robert", 3)
    assert set(groups(["Bob", "Rob", "Robert"], [], [same, later])[0].values()) == {"Robert"}


def test_a_constraint_cannot_be_bypassed_by_another_merge():
    apart = Constraint("Anna", "Anna Berg", "different", "Anna", 1)
    shown, _ = groups(
        ["Anna", "Anna Berg", "Annie"],
        [pair("Anna", "Annie", 0.97), pair("Anna Berg", "Annie", 0.9)],
        [apart],
    )
    assert shown == {"Anna": "Anna", "Annie": "Anna"}


def test_a_users_merge_does_not_undo_merges_by_rules():
    members = {
        "Anna": named("Anna", uid="Anna"),
        "Anna Berg": named("Anna Berg", uid="Anna Berg"),
        "Band": named("The Band", "organization", uid="Band"),
    }
    said = Constraint("Anna Berg", "Band", "same", "Anna Berg", 1)
    shown, _ = join(members, [pair("Anna", "Anna Berg")], [said])
    assert shown == dict.fromkeys(members, "Anna Berg")


def test_a_persons_proper_name_is_canonical():
    called = [EntityName(name, name, "person") for name in ("pia's husband", "felix", "dr. felix")]
    assert [item.name for item in sorted(called, key=rank)] == [
        "felix",
        "dr. felix",
        "pia's husband",
    ]
