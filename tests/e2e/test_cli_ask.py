"""``cognigraph ask`` and ``cognigraph demo --loop``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command_line import document, error_of
from tests.e2e.conftest import Cli
from tests.servers.loop_stages import LoopStages
from tests.servers.model_server import ModelServer

QUESTION = "What is Pickle afraid of?"
TURNS = [
    ("I adopted a cat, Pickle, and she is afraid of spoons.", "2025-04-27T18:00:00Z"),
    ("The rent in Bremen is 740 euros.", "2025-04-27T18:01:00Z"),
    ("Pickle made peace with the spoons; now it is the doorbell.", "2025-09-21T16:00:00Z"),
]
LATER = ("--now", "2025-10-01T09:00:00Z")


@pytest.fixture
def filled(quick: Cli) -> Cli:
    for number, (text, at) in enumerate(TURNS):
        quick("add", text, "--speaker", "Mira", "--at", at, "--id", f"m{number}")
    return quick


@pytest.fixture
def server() -> Iterator[ModelServer]:
    stages = LoopStages(
        lico_missing=[
            {"verdict": "partial", "missing": "now", "queries": ["the doorbell scares the cat"]},
            {"verdict": "enough", "missing": "", "queries": []},
        ],
        loop_answer={"answer": "the doorbell", "labels": ["C2", "C9"]},
    )
    with ModelServer(stages) as server:
        yield server


@pytest.mark.slow
def test_rounds_and_the_answer_are_shown(filled: Cli, server: ModelServer) -> None:
    options = {"COGNIGRAPH_MODEL": "test", "OPENAI_BASE_URL": server.url}
    result = filled("ask", QUESTION, *LATER, "--trace", **options)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert next(line for line in lines if line.startswith("round ")).startswith("round 1  messages")
    assert "  partial: now" in lines and "  ? the doorbell scares the cat" in lines
    assert "the doorbell" in lines
    assert "call 1: lico-missing-1" in lines
    assert "labels of the answer are not in the block" in result.stderr
    assert "licomemory: 2 rounds, 2 calls, 220 tokens; stopped: no new query" in result.stderr


@pytest.mark.slow
def test_all_of_it_as_json_within_limits(filled: Cli, server: ModelServer) -> None:
    options = {"OPENAI_BASE_URL": server.url}
    found = document(
        filled("ask", QUESTION, *LATER, "--model", "test", "--max-calls", "1", "--json", **options)
    )
    assert (found["text"], found["stopped"], found["usage"]["calls"]) == (
        "the doorbell",
        "limit",
        1,
    )
    assert found["rounds"][0]["plan"]["queries"] == [QUESTION]
    assert [item["id"] for item in found["rounds"][0]["found"]] != []
    assert found["calls"][0]["prompt"] == "loop-answer-1"
    assert found["citations"][0]["label"] == "C2"
    assert server.calls == 1


@pytest.mark.slow
def test_without_a_model_the_block_is_printed(filled: Cli) -> None:
    plain = filled("context", QUESTION, *LATER).stdout
    result = filled("ask", QUESTION, *LATER)
    assert (result.returncode, result.stdout) == (0, plain)
    assert "no model is configured" in result.stderr
    assert "invalid choice" in error_of(filled("ask", QUESTION, "--strategy", "best"), 2)
    assert "COGNIGRAPH_MODEL" in error_of(filled("ask", "?", COGNIGRAPH_MODEL=" "), 2)


@pytest.mark.slow
def test_the_demo_plays_every_strategy_with_a_visible_script(quick: Cli, tmp_path: Path) -> None:
    found = document(quick("demo", "--loop", "--json"))
    answers = {item["strategy"]: item for item in found["answers"]}
    assert list(answers) == ["licomemory", "hymem", "ama"]
    for item in answers.values():
        assert (item["stopped"], item["verdict"], item["notes"]) == ("answered", "enough", [])
        assert item["citations"] and item["usage"]["calls"] == sum(
            len(ended["calls"]) for ended in item["rounds"]
        ) + len(item["calls"])
        assert not any(ended["notes"] for ended in item["rounds"])
    cited = {item["id"] for answer in answers.values() for item in answer["citations"]}
    assert cited == {"m068", "m107", "m064", "m096"}
