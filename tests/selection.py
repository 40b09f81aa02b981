"""Which files a run need not import, because a mark that it excludes is on all their tests."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_MARK_OF_FILE = re.compile(r"^pytestmark = (.*)$", re.MULTILINE)


def is_excluded(path: Path, markexpr: str) -> bool:
    """Whether no test of a file, or of a folder, can run under an expression of ``-m``."""
    excluded = set(re.findall(r"\bnot (\w+)", markexpr))
    if not excluded or " or " in markexpr:
        return False
    if path.is_dir():
        files = list(path.rglob("test_*.py"))
    else:
        files = [path] if path.suffix == ".py" else []
    return bool(files) and all(marks_of(file) & excluded for file in files)


@cache
def marks_of(file: Path) -> frozenset[str]:
    """The marks that a file gives to all its tests, read without importing it."""
    marks = _MARK_OF_FILE.search(file.read_text("utf-8"))
    return frozenset(re.findall(r"mark\.(\w+)", marks[1])) if marks else frozenset()
