"""A file that cannot be written to its end is an error, and nothing of it is left."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cognigraph import Memory, StoreError
from cognigraph.testing import HashEmbedder


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_export_for_which_there_is_no_room_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "space.jsonl"
    with Memory(tmp_path / "m.db", embedder=HashEmbedder(), enrich="manual") as memory:
        memory.add("Ann likes tea. " * 2000, id="m1")
        with (
            files_of_at_most(10_000),
            pytest.raises(StoreError, match=r"cannot write .*space\.jsonl: File too large"),
        ):
            memory.files.export(target)
        assert [item.name for item in tmp_path.iterdir() if item.name.startswith("space")] == []
        assert memory.files.export(target) == 1
