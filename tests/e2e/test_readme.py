"""The README is short, and the targets that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_it_is_short() -> None:
    assert len(README.encode()) < 10_000


@pytest.mark.parametrize("target", re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE))
def test_make_targets_exist(target: str) -> None:
    assert f"\n{target}:" in (ROOT / "Makefile").read_text("utf-8")
