"""A memory for the tests of frameworks; each is skipped if its framework is not installed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from cognigraph import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", enrich="manual") as opened:
        yield opened


@pytest.fixture
def event_loop() -> Iterator[None]:
    """A loop that is closed afterwards; frameworks that need one leave their own one open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
