"""The README is short, shows what is there, and its tables and pictures are up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("target", re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE))
def test_make_targets_exist(target: str) -> None:
    assert f"\n{target}:" in (ROOT / "Makefile").read_text("utf-8")
