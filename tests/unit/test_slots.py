"""What a fact claims about which slot: the table of ``cognigraph.states.slots``."""

from __future__ import annotations

import pytest

from cognigraph.states.slots import Claim, FactForm, attribute_name, claim_of

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


@pytest.mark.parametrize(
    ("relation", "object", "type", "expected"),
    [
        ("lives in", "Oslo", PLACE, ("home", "holds", "oslo")),
        ("is living in", "Oslo", PLACE, ("home", "holds", "oslo")),
        ("has been living in", "Oslo", PLACE, ("home", "holds", "oslo")),
        ("moved back to", "Oslo", PLACE, ("home", "holds", "oslo")),
        ("moved into", "flat in Oslo", PLACE, ("home", "holds", "oslo")),
        ("moved from", "Oslo", PLACE, ("home", "ends", "oslo")),
        ("works at", "DNB", ORGANISATION, ("work", "holds", "dnb")),
        ("started", "new job at DNB", THING, ("work", "holds", "dnb")),
        ("left", "DNB", THING, ("work", "ends", "dnb")),
        ("quits", "Ann's job at DNB", THING, ("work", "ends", "dnb")),
        ("quits", "Ann's job", THING, ("work", "ends", "*")),
        ("works as", "nurse", PERSON, ("job", "holds", "nurse")),
        ("is", "nurse", PERSON, ("job", "holds", "nurse")),
        ("is", "single", THING, ("relationship", "holds", "single")),
        ("is married to", "Tom", PERSON, ("relationship", "holds", "married tom")),
        ("is", "34 years old", THING, ("age", "holds", "34")),
        ("weighs", "72 kg", THING, ("weight", "holds", "72 kg")),
        ("takes", "20 mg of Lisinopril", THING, ("dose of lisinopril", "holds", "20 mg")),
        ("stopped drinking", "coffee", THING, ("drinks|coffee", "ends", "coffee")),
        ("used to play", "tennis", THING, ("plays|tennis", "ends", "tennis")),
        ("switched from", "Spotify", THING, ("uses|spotify", "ends", "spotify")),
        ("likes", "jazz", THING, ("likes|jazz", "holds", "jazz")),
        ("is allergic to", "nuts", THING, ("is allergic to|nuts", "holds", "nuts")),
    ],
)
def test_relations_claim_slots(
    relation: str, object: str, type: str, expected: tuple[str, str, str]
) -> None:
    assert claim(relation, object, type) == expected


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("subject", "type", "relation", "object", "object_type", "slot"),
    [
        ("Ann's rent", "concept", "is", "9,000 kroner", THING, "value"),
        ("Ann's rent", "concept", "went up to", "10,500 kroner", THING, "value"),
        ("deadline", THING, "is on", "2026-06-16", "time", "value"),
        ("deadline", THING, "slipped to in", "2027-01", "time", "value"),
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


def test_new_names_the_same_attribute() -> None:
    assert attribute_name("Ann's new boss", "is") == "Ann's boss"
    assert attribute_name("Ann's new phone number", "is") == "Ann's phone number"
    assert attribute_name("Ann's new dog", "is") == "Ann's new dog"
    assert attribute_name("Ann's old boss", "is") == "Ann's old boss"
    assert attribute_name("Ann's new car", "bought") == "Ann's new car"
    assert attribute_name("New York", "is") == "New York"
