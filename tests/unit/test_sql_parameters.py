"""How the SQLite store passes parameters to its statements."""

from __future__ import annotations

import re
from pathlib import Path

from cognigraph.stores import sqlite


def test_no_statement_numbers_its_parameters():
    """Python 3.12 warns where a sequence is passed for ``?1``, and 3.14 refuses it."""
    modules = sorted(Path(sqlite.__file__).parent.rglob("*.py"))
    assert len(modules) > 20
    numbered = re.compile(r"\?[1-9]")
    assert [path.name for path in modules if numbered.search(path.read_text("utf-8"))] == []
