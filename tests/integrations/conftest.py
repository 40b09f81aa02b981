"""A memory for the tests of frameworks; each is skipped if its framework is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cognigraph import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", enrich="manual") as opened:
        yield opened
