"""Of what could be a fact, that is kept which somebody is likely to look for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cognigraph.ingest.extraction import Window
from cognigraph.ingest.rules import worth
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.statement import Statement
from cognigraph.stores.records import SessionNotes, WorkChunk

AT = datetime(2023, 5, 10, 12, 0, tzinfo=UTC)


def told(text: str, least: float = worth.LEAST, speakers: str = "Ben Ann") -> list[str]:
    """What the second of two speakers states."""
    chunks = tuple(
        WorkChunk(f"u{n}", f"m{n}", "s", who, AT + timedelta(minutes=n), said)
        for n, (who, said) in enumerate(zip(speakers.split(), ("Hello.", text), strict=True))
    )
    found = RulesExtractor(least_worth=least).extract(Window("x", "s", chunks, (), SessionNotes()))
    return [
        f"{one.subject} {'not ' * one.negated}{one.relation} {one.object}" for one in found.facts
    ]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I have been busy with work and family.", "Ann has been busy with work and family"),
        ("I raised awareness and funds.", "Ann raised awareness and funds"),
        ("I needed some better tools and ideas.", "Ann needed better tools and ideas"),
        ("I want to try new recipes.", "Ann wants to try new recipes"),
    ],
)
def test_what_tells_little_is_left_out(text: str, fact: str) -> None:
    assert told(text, worth.EVERYTHING) == [fact]
    assert told(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "We went camping last week.",
        "I bought apples, pears and plums.",
        "The doctor prescribed antibiotics.",
        "We have a pup.",
        "I don't like olives.",
        "I am allergic to walnuts.",
        "I live in Oslo.",
        "I work as a nurse.",
        "My sister Anna is a nurse.",
        "Remember that I want to try new recipes.",
    ],
)
def test_plain_facts_are_kept(text: str) -> None:
    everything = told(text, worth.EVERYTHING)
    assert everything and told(text) == everything


@pytest.mark.parametrize("text", ["Never use tabs.", "Please do not write any comments."])
def test_orders_to_an_assistant_always_count(text: str) -> None:
    everything = told(text, worth.EVERYTHING, "assistant user")
    assert everything and told(text, speakers="assistant user") == everything


def test_what_a_word_of_change_puts_in_the_place_of_another_always_counts() -> None:
    voices = Voices("Ann", "Ben")
    little = Statement("Ann", "person", "wants", "better things and ideas", "object")
    assert worth.worth(little, (), voices) < worth.LEAST
    assert worth.not_worth_keeping([(little, ())], voices, worth.LEAST) == {little}
    instead = Statement(
        "Ann", "person", "wants", "better things and ideas", "object", replaces=True
    )
    assert worth.not_worth_keeping([(instead, ())], voices, worth.LEAST) == frozenset()


def test_the_worth_is_the_sum_of_the_weights_of_what_is_seen() -> None:
    said = Statement("Ann", "person", "went to", "Rome", "location", when="2023-05")
    voices = Voices("Ann", "Ben")
    signs = ["has a date", "object holds a name", "object is a place",
             "object has at most one word", "happened"]  # fmt: skip
    assert worth.signs_of(said, (), voices) == signs
    expected = worth.BASE + sum(worth.WEIGHTS[sign] for sign in signs)
    assert worth.worth(said, (), voices) == pytest.approx(expected)


def test_every_sign_has_a_weight() -> None:
    assert list(worth.WEIGHTS) == list(worth.SIGNS)
