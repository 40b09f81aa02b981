"""The README is short and correct, and its tables and pictures are up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench import figures

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_it_is_short() -> None:
    assert len(README.encode()) < 10_000
    assert [line for line in README.splitlines() if len(line) > 160] == []


def test_it_has_no_invisible_comments() -> None:
    assert "<!--" not in README


def test_it_shows_ten_lines_of_python_and_a_picture_of_the_graph() -> None:
    (python,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in python.splitlines() if line]) <= 12
    assert "](docs/pictures/graph.svg)" in README


def test_numbers_beside_the_tables_are_those_of_the_results() -> None:
    """Tables are generated; numbers in the text around them must agree with the results."""
    text = "".join(
        README.split(f"\n{heading}\n")[1].split("\n## ")[0]
        for heading in ("## Compared with other memories", "## Figures")
    )
    words = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    found = figures.result("recall-rules-wordllama")
    assert f"{found['questions']} questions about five LoCoMo conversations" in words
    assert len(found["by_conversation"]) == 5
    compared = figures.result("peers-run")["conversations"]
    messages, questions = (sum(one[what] for one in compared) for what in ("messages", "questions"))
    assert f"the same {messages} messages, {questions} questions" in words
    measured_with = {"15", "1", "5.26", str(messages), str(questions), str(found["questions"])}
    assert set(re.findall(r"\b\d+(?:[.,]\d+)*", words)) == measured_with


@pytest.mark.parametrize("target", re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE))
def test_make_targets_exist(target: str) -> None:
    assert f"\n{target}:" in (ROOT / "Makefile").read_text("utf-8")
