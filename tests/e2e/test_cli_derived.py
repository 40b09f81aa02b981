"""``episodes``, ``core-profile``, ``procedures``, and what commands say to a newcomer."""

from __future__ import annotations

from pathlib import Path

import pytest

from cognigraph import Memory
from cognigraph.ingest.membuilder.extractor import MemBuilderExtractor
from cognigraph.llm import Prompt
from cognigraph.testing import ScriptedModel
from tests.e2e.command_line import Cli, document, error_of

BICYCLE = ("By the way, my green bicycle was stolen.", "The police wrote about the green bicycle.")


@pytest.fixture
def told(quick: Cli) -> Cli:
    for number, text in enumerate(("I booked the flights to Lisbon.", *BICYCLE)):
        time = ("--at", f"2026-05-20T09:0{number}:00Z")
        quick("add", text, "--id", f"m{number}", "--session", "s1", "--speaker", "Ann", *time)
    return quick


def written(prompt: Prompt) -> object:
    """What the writers answer: a profile and a procedure, each of one version."""
    if prompt.name == "core":
        return {"operation": "APPEND", "content": "Works night shifts."}
    if prompt.name == "procedural":
        steps = ["grind", "press"]
        coffee = {"title": "Coffee", "context": "French press", "steps": steps, "turns": "1"}
        return {"operations": [{"action": "ADD", **coffee}]}
    return {"operations": []}


@pytest.mark.slow
def test_episodes_are_listed(told: Cli) -> None:
    found = document(told("episodes", "s1", "--json"))["episodes"]
    assert [(item["reason"], item["messages"]) for item in found] == [
        ("cue", ["m1", "m2"]),
        ("start", ["m0"]),
    ]
    assert "Green bicycle" in told("episodes").stdout
    nothing = told("episodes", "s2")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert "no such episodes; `cognigraph enrich` finds them" in nothing.stderr


@pytest.mark.slow
def test_what_writers_keep_is_printed(quick: Cli, tmp_path: Path) -> None:
    extractor = MemBuilderExtractor(ScriptedModel(written))
    with Memory(tmp_path / "memory.db", extractor=extractor, enrich="manual") as memory:
        memory.add("I press my coffee.", speaker="Mara", at="2026-05-01T07:00Z")
        memory.flush()
    profile = quick("core-profile")
    assert profile.stdout == "Works night shifts.\n"
    assert profile.stderr == "version 1, from messages until 2026-05-01\n"
    assert document(quick("core-profile", "--json"))["core_profile"]["version"] == 1
    assert "no version 2" in quick("core-profile", "--version", "2").stderr
    (coffee,) = document(quick("procedures", "--json"))["procedures"]
    assert (coffee["title"], coffee["steps"]) == ("Coffee", ["grind", "press"])
    shown = quick("procedures").stdout
    assert "1. grind" in shown and "2. press" in shown


@pytest.mark.slow
def test_without_writers_there_is_advice(told: Cli) -> None:
    for command in ("core-profile", "procedures"):
        result = told(command)
        assert (result.returncode, result.stdout) == (1, "")
        assert "--extractor membuilder" in result.stderr


@pytest.mark.slow
def test_advice_is_in_the_terms_of_the_command_line(told: Cli, tmp_path: Path) -> None:
    notes = told("ask", "Where is the bicycle?").stderr
    assert "set COGNIGRAPH_MODEL and OPENAI_API_KEY" in notes
    assert "open the memory with" not in notes
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.4\n%\xe2\xe3")
    error = error_of(told("import", "paper.pdf"), 2)
    assert "give its --format: chatgpt" in error and "PDF" in error
    missing = told("history", "Nobody", "home").stderr
    assert missing == "no such facts about 'Nobody'; `cognigraph entities` lists the names\n"


def test_a_new_key_says_what_it_is_for(quick: Cli) -> None:
    pytest.importorskip("fastapi")
    made = quick("keys", "create", "agent")
    assert "this key may read, write in the space default;" in made.stderr
    made = quick("keys", "create", "board", "--all-spaces", "--permission", "read")
    assert "this key may read in all spaces;" in made.stderr
