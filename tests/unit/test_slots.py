"""What a fact claims about which slot: the table of ``cognigraph.states.slots``."""

from __future__ import annotations

import pytest

from cognigraph.states.slots import Claim, FactForm, claim_of
from cognigraph.states.wording import worded

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


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("Ann's new boss|person|is|Lars", "Ann's boss|is|Lars"),
        ("Ann's current rent|object|is|900", "Ann's rent|is|900"),
        ("Ann's new dog|object|is|Rex", "Ann's new dog|is|Rex"),
        ("Ann's old boss|person|is|Lars", "Ann's old boss|is|Lars"),
        ("Ann|person|bought|Ann's new car", "Ann|bought|Ann's new car"),
        ("New York|location|is|cold", "New York|is|cold"),
        ("Ann's favourite band these days|object|is|Muse", "Ann's favourite band|is|Muse"),
        ("Ann's best days|object|is|over", "Ann's best days|is|over"),
        ("Ann|person|reports to|Lars", "Ann's boss|is|Lars"),
        ("Ann|person|reports to|police", "Ann|reports to|police"),
        ("Ann|person|pays|1,150 euros rent a month", "Ann's rent|is|1,150 euros"),
        ("Ann|person|pays|$900 in rent", "Ann's rent|is|$900"),
        ("Ann|person|pays|9 euros for lunch", "Ann|pays|9 euros for lunch"),
        ("shop|organization|pays|900 euros rent", "shop|pays|900 euros rent"),
        ("service|object|reports to|Grafana", "service|reports to|Grafana"),
        ("Ann's line manager|person|is|Lars", "Ann's boss|is|Lars"),
        ("Lars|person|is|Ann's new manager", "Lars|is|Ann's boss"),
        ("Ann's manager|person|is|nice", "Ann's manager|is|nice"),
        ("Ann's mobile|object|is|0160 555 0199", "Ann's phone number|is|0160 555 0199"),
        ("Ann's new number|object|is|+49 1605550", "Ann's phone number|is|+49 1605550"),
        ("Ann's work number|object|is|0160 555 01", "Ann's work number|is|0160 555 01"),
        ("Ann's phone|object|is|Pixel 9", "Ann's phone|is|Pixel 9"),
        ("Ann's e-mail|object|is|a@b.example", "Ann's email address|is|a@b.example"),
        ("Ann's metformin|object|is|850 mg", "Ann|takes|850 mg of metformin"),
        ("Ann's metformin dose|object|is|850 mg", "Ann|takes|850 mg of metformin"),
        ("Ann's dose|object|is|40 mg", "Ann's dose|is|40 mg"),
        ("Ann's flour|object|is|850 g", "Ann's flour|is|850 g"),
    ],
)  # fmt: skip
def test_one_wording_for_what_is_about_one_slot(said: str, stored: str) -> None:
    subject, kind, relation, object = said.split("|")
    found = worded(FactForm(subject, kind, relation, object, THING))
    assert f"{found.subject}|{found.relation}|{found.object}" == stored


def test_a_tail_says_when_and_where_and_is_not_denied_with_the_rest() -> None:
    for tail in ("every morning", "at home", "twice a week", "as Ann's editor", "on weekends"):
        assert claim("uses", f"Zed {tail}") == ("uses|zed", "holds", "zed")
        denied = claim("uses", f"Zed {tail}", negated=True)
        assert denied is not None and denied[0] == f"uses|zed {tail}".lower()


@pytest.mark.parametrize(
    ("relation", "object", "type", "expected"),
    [
        ("got married on", "2026-08-15", "time", ("relationship", "holds", "married")),
        ("got divorced over", "2026-06/2026-08", "time", ("relationship", "holds", "divorced")),
        ("is", "29, sharing a flat", "concept", ("age", "holds", "29")),
        ("is", "seven", "concept", ("age", "holds", "7")),
        ("is", "88 kg", THING, ("weight", "holds", "88 kg")),
        ("is down to", "88 kg", THING, ("weight", "holds", "88 kg")),
        ("gave up", "playing the piano", THING, ("plays|piano", "ends", "piano")),
    ],
)
def test_further_wordings_of_slots(
    relation: str, object: str, type: str, expected: tuple[str, str, str]
) -> None:
    assert claim(relation, object, type, "Ann", PERSON) == expected
