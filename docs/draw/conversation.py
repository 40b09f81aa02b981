"""The sample conversation, stored and enriched in a memory of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from cognigraph import Memory


@contextmanager
def sample_memory() -> Iterator[Memory]:
    """A memory that holds the sample conversation, until the block ends."""
    text = files("cognigraph").joinpath("sample/conversation.jsonl").read_text("utf-8")
    with (
        TemporaryDirectory() as folder,
        Memory(Path(folder) / "sample.db", enrich="manual") as memory,
    ):
        memory.add_many(map(json.loads, text.splitlines()))
        memory.flush()
        yield memory
