"""What a fact claims about which slot: the table of ``cognigraph.states.slots``."""

from __future__ import annotations

import pytest

from cognigraph.states.slots import Claim, FactForm, claim_of, excludes, worded
from tests.cases import each

PERSON, THING, PLACE, ORGANISATION = "person", "object", "location", "organization"


def claim(
    relation: str,
    object: str,
    object_type: str = THING,
    subject: str = "Ann",
    subject_type: str = PERSON,
    negated: bool = False,
) -> tuple[str, str, str] | None:
    form = FactForm(subject, subject_type, relation, object, object_type, negated)
    found: Claim | None = claim_of(form)
    return None if found is None else (found.slot, found.says, found.value)


@each(
    ("relation", "object", "type", "expected"),
    [
        ("lives in", "Oslo", PLACE, ("home", "holds", "oslo")),
        ("is living in", "Oslo", PLACE, ("home", "holds", "oslo")),
        ("has been living in", "Oslo", PLACE, ("home", "holds", "oslo")),
        ("moved back to", "Oslo", PLACE, ("home", "holds", "oslo")),
        ("moved from", "Oslo", PLACE, ("home", "ends", "oslo")),
        ("works at", "DNB", ORGANISATION, ("work", "holds", "dnb")),
        ("left", "DNB", THING, ("work", "ends", "dnb")),
        ("works as", "nurse", PERSON, ("job", "holds", "nurse")),
        ("is", "single", THING, ("relationship", "holds", "single")),
        ("is married to", "Tom", PERSON, ("relationship", "holds", "married tom")),
        ("is", "34 years old", THING, ("age", "holds", "34")),
        ("weighs", "72 kg", THING, ("weight", "holds", "72 kg")),
        ("stopped drinking", "coffee", THING, ("drinks|coffee", "ends", "coffee")),
        ("used to play", "tennis", THING, ("plays|tennis", "ends", "tennis")),
        ("likes", "jazz", THING, ("likes|jazz", "holds", "jazz")),
        ("loves", "jazz", THING, ("likes|jazz", "holds", "jazz")),
        ("is allergic to", "nuts", THING, ("is allergic to|nuts", "holds", "nuts")),
    ],
)
def test_relations_claim_slots(
    relation: str, object: str, type: str, expected: tuple[str, str, str]
) -> None:
    assert claim(relation, object, type) == expected


@each(
    ("relation", "object", "type"),
    [
        ("lived in", "Paris", PLACE),
        ("will move to", "Lisbon", PLACE),
        ("might move to", "Lisbon", PLACE),
        ("was going to move to", "Lisbon", PLACE),
        ("visited", "Rome", PLACE),
        ("read", "Dune", THING),
        ("left", "Oslo", PLACE),
        ("mentioned", "Oslo", PLACE),
        ("joined", "group of hikers", ORGANISATION),
    ],
)
def test_other_tenses_and_moods_claim_nothing(relation: str, object: str, type: str) -> None:
    assert claim(relation, object, type) is None


def test_wanting_to_move_is_not_moving() -> None:
    assert claim("wants to move to", "Lisbon", PLACE) == (
        "wants to move to|lisbon", "holds", "lisbon",
    )  # fmt: skip


def test_a_denial_ends_the_same_value() -> None:
    assert claim("lives in", "Oslo", PLACE, negated=True) == ("home", "ends", "oslo")
    assert claim("drinks", "coffee", negated=True) == ("drinks|coffee", "ends", "coffee")
    assert claim("left", "DNB", negated=True) is None


@each(
    ("subject", "type", "relation", "object", "object_type", "slot"),
    [
        ("Ann's rent", "concept", "is", "9,000 kroner", THING, "value"),
        ("Ann's rent", "concept", "went up to", "10,500 kroner", THING, "value"),
        ("deadline", THING, "is on", "2026-06-16", "time", "value"),
        ("Ann's boss", PERSON, "is", "Klara", THING, "value"),
        ("Klara", PERSON, "is", "Ann's boss", PERSON, "<value"),
        ("Ann's favourite colour", THING, "is", "blue", "concept", "value"),
        ("Ann's boss", PERSON, "is", "nice", "concept", "is|nice"),
        ("Ann's brother", PERSON, "is", "Tom", THING, "is|tom"),
        ("Ann's dog", THING, "is", "Rex", THING, "is|rex"),
        ("Ann's car", THING, "is", "dirty", "concept", "is|dirty"),
        ("Ann's job", THING, "is", "stressful", "concept", "is|stressful"),
        ("Ann's flat", PLACE, "is", "small", "concept", "is|small"),
    ],
)
def test_attributes(
    subject: str, type: str, relation: str, object: str, object_type: str, slot: str
) -> None:
    found = claim(relation, object, object_type, subject, type)
    assert found is not None and found[0] == slot


@each(
    ("said", "stored"),
    [
        ("Ann's new boss|person|is|Lars", "Ann's boss|is|Lars"),
        ("Ann's new dog|object|is|Rex", "Ann's new dog|is|Rex"),
        ("Ann's old boss|person|is|Lars", "Ann's old boss|is|Lars"),
        ("Ann|person|bought|Ann's new car", "Ann|bought|Ann's new car"),
        ("New York|location|is|cold", "New York|is|cold"),
        ("Ann's best days|object|is|over", "Ann's best days|is|over"),
        ("Ann|person|reports to|Lars", "Ann's boss|is|Lars"),
        ("Ann|person|reports to|police", "Ann|reports to|police"),
        ("Ann|person|is employed by|Fiat", "Ann|works at|Fiat"),
        ("Ann|person|works for|Fiat", "Ann|works at|Fiat"),
        ("Ann|person|works for|food", "Ann|works for|food"),
        ("Ann|person|resides in|Oslo", "Ann|lives in|Oslo"),
        ("service|object|reports to|Grafana", "service|reports to|Grafana"),
        ("Ann's line manager|person|is|Lars", "Ann's boss|is|Lars"),
        ("Lars|person|is|Ann's new manager", "Lars|is|Ann's boss"),
        ("Ann's manager|person|is|nice", "Ann's manager|is|nice"),
        ("Ann's mobile|object|is|0160 555 0199", "Ann's phone number|is|0160 555 0199"),
        ("Ann's new number|object|is|+49 1605550", "Ann's phone number|is|+49 1605550"),
        ("Ann's work number|object|is|0160 555 01", "Ann's work number|is|0160 555 01"),
        ("Ann's phone|object|is|Pixel 9", "Ann's phone|is|Pixel 9"),
        ("Ann's e-mail|object|is|a@b.example", "Ann's email address|is|a@b.example"),
    ],
)  # fmt: skip
def test_one_wording_for_what_is_about_one_slot(said: str, stored: str) -> None:
    subject, kind, relation, object = said.split("|")
    found = worded(FactForm(subject, kind, relation, object, THING))
    assert f"{found.subject}|{found.relation}|{found.object}" == stored


def test_a_relation_of_another_language_is_a_state() -> None:
    assert claim("nimmt", "Ramipril") == ("nimmt|ramipril", "holds", "ramipril")


@each(
    ("old", "new", "ends"),
    [
        (("lives in", "Leeds"), ("lives in", "England"), False),
        (("lives in", "Leeds"), ("lives in", "Headingley"), False),
        (("lives in", "Leeds"), ("lives in", "Edinburgh"), True),
        (("lives in", "Leeds"), ("moved to", "Headingley"), True),
        (("works at", "Aldi"), ("works at", "Fiat"), False),
        (("works at", "Aldi"), ("started a new job at", "Fiat"), True),
    ],
)
def test_a_state_ends_another_only_where_both_cannot_be_true(
    old: tuple[str, str], new: tuple[str, str], ends: bool
) -> None:
    place = {"lives in": PLACE, "moved to": PLACE}
    before, after = (
        claim_of(FactForm("Ann", PERSON, relation, value, place.get(relation, ORGANISATION)))
        for relation, value in (old, new)
    )
    assert before is not None and after is not None
    assert excludes(before, after) is ends


@pytest.mark.parametrize(
    ("relation", "object", "type", "expected"),
    [
        ("is", "seven", "concept", ("age", "holds", "7")),
        ("is", "88 kg", THING, ("weight", "holds", "88 kg")),
        ("gave up playing", "the piano", THING, ("plays|piano", "ends", "piano")),
    ],
)
def test_further_wordings_of_slots(
    relation: str, object: str, type: str, expected: tuple[str, str, str]
) -> None:
    assert claim(relation, object, type, "Ann", PERSON) == expected
