"""What keeps a conversation going is no fact; what lasts, or has a date, number or name, is one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cognigraph.ingest.extraction import Window
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.ingest.rules.worth import EVERYTHING, LEAST
from cognigraph.stores.records import SessionNotes, WorkChunk

AT = datetime(2023, 5, 10, 12, 0, tzinfo=UTC)


def told(text: str, other: str = "Ben", role: str | None = None, least: float = LEAST) -> list[str]:
    """What Ann's message states in a talk with somebody else."""
    roles = (None, None) if role is None else ("assistant", "user")
    said = ((other, "Hello.", roles[0]), ("Ann", text, roles[1]))
    chunks = tuple(
        WorkChunk(f"u{n}", f"m{n}", "s", who, AT + timedelta(minutes=n), text, role=part)
        for n, (who, text, part) in enumerate(said)
    )
    found = RulesExtractor(least_worth=least).extract(Window("x", "s", chunks, (), SessionNotes()))
    return [f"{one.subject} {one.relation} {one.object}" for one in found.facts]


@pytest.mark.parametrize(
    "text",
    [
        # praise of what the other one shows
        "I love the colors.",
        "I love your turtles.",
        "I like this necklace.",
        "I love seeing your progress.",
        # what the listener knows
        "You found your courage.",
        "You have come so far.",
        # feelings and qualities
        "I'm chasing my dreams.",
        "I found the courage to go after my dreams.",
        "I'm on fire!",
        "I'm up for the challenge.",
        "So excited for the future.",
        "I'm getting creative.",
        "I'm trying to stay positive.",
        "I embrace the adventure.",
        # anything and nothing
        "I'm working on something exciting.",
        "I'm working on a new project.",
        "We have some cool stuff.",
        "The idea inspires me.",
        "Your story motivates me.",
        "Kids are resilient.",
        # promises and the talk itself
        "I'll never forget the second.",
        "I'll show you the picture.",
        "I can't wait to hear about it.",
        "I'd love to see your garden.",
        "I loved chatting with you.",
        "I'm off to bake some cakes.",
        "I'm so sorry to hear about Max.",
        "I'm cross with Carol.",
        # what may have been, what all need, and what only points
        "I wanted to stand out.",
        "We need better roads.",
        "I'm working on something like this.",
        "I did something new last weekend.",
    ],
)
def test_small_talk_gives_no_fact(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("I love the beach.", "Ann loves beach"),
        ("I love pottery.", "Ann loves pottery"),
        ("You bought a farm.", "Ben bought farm"),
        ("I'm chasing my dreams in Oslo.", "Ann is chasing Ann's dreams in Oslo"),
        ("I'm working on a new novel.", "Ann is working on new novel"),
        ("I'm working on project Heron.", "Ann is working on project Heron"),
        ("I keep two parrots.", "Ann keeps two parrots"),
        ("I'm afraid of spiders.", "Ann is afraid of spiders"),
        ("I'm exploring endorsement opportunities.", "Ann is exploring endorsement opportunities"),
        ("The doctor prescribed antibiotics.", "doctor prescribed antibiotics"),
        ("I manage a bakery.", "Ann manages bakery"),
        ("I survived a shipwreck.", "Ann survived shipwreck"),
        ("I'll bring a cake on Sunday.", "Ann will bring cake"),
        ("I can't wait to see the fjords.", "Ann looks forward to seeing fjords"),
        ("My dream is to open a bakery.", "Ann's dream is to open a bakery"),
        ("I'm allergic.", "Ann is allergic"),
        ("My favourite colour is blue.", "Ann's favourite colour is blue"),
        ("I need a good dance floor.", "Ann needs good dance floor"),
        ("We have a pup.", "Ann has pup"),
        ("I took a class to help me put it in words.", "Ann took class"),
        ("That job was made for you.", "job was made for Ben"),
    ],
)
def test_what_lasts_is_no_small_talk(text: str, fact: str) -> None:
    assert told(text, least=EVERYTHING) == [fact]


def test_praise_is_a_preference_where_nobody_shows_anything() -> None:
    assert told("I like the aisle seat.") == []
    assert told("I like the aisle seat.", "bot", role="assistant") == ["Ann likes aisle seat"]


def test_a_first_name_decides_between_he_and_she() -> None:
    assert told("I met Claire and Peter in Oslo. She is on the committee of the choir.") == [
        "Ann met Claire and Peter in Oslo",
        "Claire is on committee of the choir",
    ]
    assert "Claire is on antibiotics" not in told("I met Claire in Oslo. He is on antibiotics.")
