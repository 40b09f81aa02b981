"""Files that earlier versions of cognigraph wrote are opened, and hold what they held.

``tests/data/files/stepN.db.gz`` was written by the code whose schema was at step N: four messages
that the rules had read, and from step 8 on what only that version can hold. ``-pairs`` are files of
an early step 5, which kept pairs of similar names in tables of its own.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from cognigraph import Memory
from cognigraph.testing import FrozenClock, HashEmbedder
from tests.earlier_versions import NOW, goes_on, holds_the_sample, holds_what_version_8_holds

FILES = Path(__file__).parents[1] / "data" / "files"


@pytest.fixture
def opened(tmp_path: Path) -> Callable[[str], Memory]:
    def open_file(step: str) -> Memory:
        path = tmp_path / f"{step}.db"
        if not path.exists():
            path.write_bytes(gzip.decompress((FILES / f"step{step}.db.gz").read_bytes()))
        return Memory(path, embedder=HashEmbedder(32), enrich="manual", clock=FrozenClock(NOW))

    return open_file


@pytest.mark.slow
@pytest.mark.parametrize("step", ["2", "4", "5-pairs", "6-pairs", "6", "7"])
def test_a_file_of_an_earlier_version_holds_what_it_held(
    opened: Callable[[str], Memory], step: str
) -> None:
    for _ in range(2):
        with opened(step) as memory:
            holds_the_sample(memory, memory)
    with opened(step) as memory:
        goes_on(memory, memory)


def test_a_file_of_step_8_holds_what_it_held(opened: Callable[[str], Memory]) -> None:
    with opened("8") as memory:
        holds_what_version_8_holds(memory, memory)
