"""``search --layer``: facts with the messages that state them, and episodes."""

from __future__ import annotations

import pytest

from tests.e2e.command_line import Cli, document, error_of

TALK = [
    ("Ann", "I finally booked the flights to Lisbon."),
    ("Ben", "Lovely! Which airline flies to Lisbon?"),
    ("Ann", "TAP, the flights leave on Friday the 22nd."),
    ("Ben", "By the way, my green bicycle was stolen last night."),
    ("Ann", "Your green bicycle? Did you report the theft?"),
    ("Ben", "Yes, the police wrote a report about the stolen bicycle."),
]
QUESTION = "What happened to Ben's bicycle?"


@pytest.fixture
def told(quick: Cli) -> Cli:
    for number, (who, text) in enumerate(TALK):
        quick("add", text, "--id", f"m{number}", "--session", "may", "--speaker", who,
              "--at", f"2026-05-20T09:0{number}:00Z", "--no-enrich")  # fmt: skip
    return quick


@pytest.mark.slow
def test_episodes_are_printed_with_the_messages_that_they_cover(told: Cli) -> None:
    assert told("enrich").returncode == 0
    options = ("search", QUESTION, "-k", 1, "--layer", "episodes")
    found = document(told(*options, "--json"))
    (episode,) = found["episodes"]
    assert (found["layer"], episode["messages"]) == ("episodes", ["m3", "m4", "m5"])
    assert [hit["id"] for hit in found["hits"]] == ["m3", "m4", "m5"]
    shown = told(*options, "--timezone", "Europe/Oslo").stdout
    episodes, _, hits = shown.partition("with the messages")
    assert "Green bicycle" in episodes and "2026-05-20 11:03" in episodes
    assert [f" m{n} " in hits for n in range(6)] == [False] * 3 + [True] * 3


@pytest.mark.slow
def test_facts_are_printed_with_the_messages_that_state_them(told: Cli) -> None:
    told("add", "I'm allergic to nuts.", "--id", "m6", "--session", "may", "--speaker", "Ben",
         "--at", "2026-05-20T09:06:00Z", "--no-enrich")  # fmt: skip
    options = ("search", "What is Ben allergic to?", "-k", 1, "--layer", "facts")
    unread = told(*options)
    assert unread.returncode == 1
    assert "not enriched yet: cognigraph enrich" in unread.stderr
    assert told("enrich").returncode == 0
    found = document(told(*options, "--json"))
    assert (found["layer"], [hit["id"] for hit in found["hits"]]) == ("facts", ["m6"])
    facts, _, hits = told(*options).stdout.partition("stated in")
    assert found["triples"][0]["sources"][0]["id"] == "m6"
    assert "Ben is allergic to" in facts and "may/m6" in facts
    assert "I'm allergic to nuts." in hits
    assert "score" in told(*options, "--why").stdout.partition("stated in")[2]


@pytest.mark.slow
def test_a_layer_is_refused_where_it_has_no_meaning(told: Cli) -> None:
    layer = ("search", QUESTION, "--layer", "episodes")
    assert "leave out --layer episodes" in error_of(told(*layer, "--why"), 2)
    assert told("search", QUESTION, "--layer", "words").returncode == 2
