"""Rules that span clauses and sentences: aliases, pronouns, reported speech, appositions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from cognigraph.ingest.extraction import Extraction, Window
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.ingest.rules.worth import EVERYTHING
from cognigraph.stores.records import WorkChunk

AT = datetime(2023, 5, 10, 23, 30, tzinfo=UTC)  # a Wednesday


def read(*said: tuple[str, str], offset: int = 0) -> Extraction:
    chunks = tuple(
        WorkChunk(f"u{n}", f"m{n}", "s", speaker, AT + timedelta(minutes=n), text)
        for n, (speaker, text) in enumerate(said)
    )
    zone = timezone(timedelta(hours=offset)) if offset else None
    return RulesExtractor(timezone=zone, least_worth=EVERYTHING).extract(Window("x", "s", chunks))


def facts(*said: tuple[str, str] | str) -> list[tuple[str, str, str]]:
    turns = [one if isinstance(one, tuple) else ("Ann", one) for one in said]
    return [
        (fact.subject, ("not " if fact.negated else "") + fact.relation, fact.object)
        for fact in read(*turns).facts
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a title is part of the name
        ("Mrs. Petersen keeps two parrots.", [("Mrs. Petersen", "keeps", "two parrots")]),
        (
            "My boss Dr. Okafor owns a boat.",
            [("Dr. Okafor", "is", "Ann's boss"), ("Dr. Okafor", "owns", "boat")],
        ),
        # coordinated subjects
        ("Jonas and Anselm carried the sofa.",
         [("Jonas", "carried", "sofa"), ("Anselm", "carried", "sofa")]),
        ("Rosa and I went to Rome.", [("Rosa", "went to", "Rome"), ("Ann", "went to", "Rome")]),
        # the subject of a relative clause is the object before it
        ("I have a friend who lives in Rome.",
         [("Ann", "has", "friend"), ("friend", "lives in", "Rome")]),
        ("I have crutches and a machine that bends my leg.",
         [("Ann", "has", "crutches and a machine"), ("machine", "bends", "Ann's leg")]),
        # appositions
        ("I work for Sonnenwerk, the solar cooperative in Halle.",
         [("Ann", "works for", "Sonnenwerk"), ("Sonnenwerk", "is", "solar cooperative in Halle")]),
        ("Lotte, my grandmother, plays chess.",
         [("Lotte", "is", "Ann's grandmother"), ("Lotte", "plays", "chess")]),
        # an object that starts with a name ends after the name
        ("I bought it from my uncle Henrik for fifty euros.",
         [("Ann", "bought from", "Henrik"), ("Henrik", "is", "Ann's uncle")]),
        ("I gave my number to Anselm.", [("Ann", "gave", "Ann's number to Anselm")]),
        # adjectives, plural verbs, "left" as an adjective
        ("I am allergic to walnuts.", [("Ann", "is allergic to", "walnuts")]),
        ("My left knee is torn.", [("Ann's left knee", "is", "torn")]),
        ("We are going to Lisbon.", [("Ann", "is going to", "Lisbon")]),
        ("My dog Rex died two years ago.",
         [("Rex", "is", "Ann's dog"), ("Rex", "died in", "2021")]),
        ("My parents and my brother live in Rome.",
         [("Ann's parents", "lives in", "Rome"), ("Ann's brother", "lives in", "Rome")]),
        ("I got married on June 5th 2015 in Venice.", [("Ann", "got married in", "Venice")]),
        ("I bought my mother a scarf.", [("Ann", "bought", "scarf")]),
        ("I met Rosa, Ben and Carol.", [("Ann", "met", "Rosa, Ben and Carol")]),
        ("My colleague, a nurse from Oslo, bought a boat.",
         [("Ann's colleague", "is", "nurse from Oslo"), ("Ann's colleague", "bought", "boat")]),
        ("My son is five years old and goes to kindergarten.",
         [("Ann's son", "is", "five years old"), ("Ann's son", "goes to", "kindergarten")]),
        # positive and negative preferences
        ("I can't stand olives.", [("Ann", "hates", "olives")]),
        ("I don't like olives.", [("Ann", "not likes", "olives")]),
        ("I adopted a cat. It is grey.", [("Ann", "adopted", "cat"), ("cat", "is", "grey")]),
    ],
)  # fmt: skip
def test_a_sentence_yields_exactly_these_triples(
    text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "You should sell the boat.",
        "You need to see a doctor.",
        "Make sure you take the train.",
        "I want it to be a home.",
        "It is not just a job.",
        "I know how she does it.",
        "So keep the videos to yourself.",
        "This is the picture you sent me.",
        "Red lentils, two carrots, smoked paprika and plum jam.",
    ],
)
def test_advice_orders_and_fragments_yield_nothing(text: str) -> None:
    assert [fact for fact in facts(("Ann", text), ("Tom", "Hm.")) if fact[1] != "mentioned"] == []


def test_a_name_found_later_in_the_window_is_recognised_at_a_sentence_start() -> None:
    told = facts("Pickle slept in the basket.", "I love my cat Pickle.")
    assert told[0] == ("Pickle", "slept in", "basket")


def test_my_sister_resolves_to_anna_after_her_introduction() -> None:
    told = read(
        ("Ann", "My sister Anna moved to Oslo."),
        ("Tom", "Nice."),
        ("Ann", "My sister has a dog. My sister's dog is a beagle."),
    )
    assert [(f.subject, f.relation, f.object, f.chunks) for f in told.facts] == [
        ("Anna", "is", "Ann's sister", (0,)),
        ("Anna", "moved to", "Oslo", (0,)),
        ("Anna", "has", "dog", (2,)),
        ("Anna's dog", "is", "beagle", (2,)),
    ]
    aliases = {mention.name: mention.aliases for mention in told.mentions}
    assert aliases["Anna"] == ("Ann's sister",)


def test_two_sisters_make_my_sister_ambiguous() -> None:
    told = facts("My sister Anna sings.", "My sister Berta paints boats.", "My sister has a dog.")
    assert told[-1] == ("Ann's sister", "has", "dog")


def test_sisters_of_different_speakers_are_distinguished() -> None:
    told = facts(("Ann", "My sister Berta sings."), ("Tom", "My sister plays chess."))
    assert told[-1] == ("Tom's sister", "plays", "chess")


def test_a_pronoun_that_introduced_a_name_can_refer_to_it() -> None:
    told = facts("Her name is Pickle and she is afraid of spoons.")
    assert told == [("Pickle", "is afraid of", "spoons")]


def test_reported_speech_is_attributed() -> None:
    found = read(("Ann", "Ben told me that Carol moved to Rome. I sold my car."))
    assert [(f.subject, f.relation, f.object, f.said_by) for f in found.facts] == [
        ("Carol", "moved to", "Rome", "Ben"),
        ("Ann", "sold", "Ann's car", None),
    ]
    own = read(("Ann", "I think that Carol moved to Rome."))
    assert [(f.subject, f.said_by) for f in own.facts] == [("Carol", None)]
    by = read(("Ann", "According to Ben, Carol moved to Rome."))
    assert [(f.subject, f.said_by) for f in by.facts] == [("Carol", "Ben")]


def test_she_refers_to_the_person_just_named() -> None:
    found = read(("Ann", "Rosa says she will marry Ben in June."))
    assert [(f.subject, f.relation, f.object, f.when, f.said_by) for f in found.facts] == [
        ("Rosa", "will marry", "Ben", "2023-06", "Rosa")
    ]


def test_reported_speech_ends_at_the_speakers_own_clause() -> None:
    found = read(("Ann", "Ben said Carol moved to Rome, but I stayed in Oslo."))
    assert [(f.subject, f.said_by) for f in found.facts] == [("Carol", "Ben"), ("Ann", None)]


def test_an_ambiguous_pronoun_yields_nothing() -> None:
    told = facts("My aunt Rosa met my cousin Lena. She sold the farm.")
    assert not [fact for fact in told if fact[1] == "sold"]


def test_yesterday_depends_on_the_speakers_timezone() -> None:
    (utc,) = read(("Ann", "I sold the piano yesterday.")).facts
    (local,) = read(("Ann", "I sold the piano yesterday."), offset=2).facts
    assert (utc.when, local.when) == ("2023-05-09", "2023-05-10")
