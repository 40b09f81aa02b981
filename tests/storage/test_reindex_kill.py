"""kill -9 during a reindex: the old vectors stay in use, and the next call continues."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cognigraph import EmbedderMismatchError, Memory
from cognigraph.testing import HashEmbedder
from tests.forked import Forked
from tests.storage.test_kill import ROOT
from tests.storage.writers import open_memory, reindex, turn

pytestmark = pytest.mark.slow

QUESTIONS = ["Who moved to Oslo?", "piano", "word12", "Which garden is in Lisbon?"]


def answers(memory: Memory) -> list[Any]:
    return [
        [(hit.id, pytest.approx(hit.score, abs=2e-3)) for hit in memory.search(question)]
        for question in QUESTIONS
    ]


def embedder_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute("SELECT value FROM meta WHERE key = 'embedder'").fetchone()
        sound = connection.execute("PRAGMA integrity_check").fetchall()
    assert sound == [("ok",)]
    return str(row[0])


def names(path: Path) -> dict[str, bytes]:
    """Vectors of names."""
    query = "SELECT uid, vector FROM entity LEFT JOIN name_vector ON entity_id = id"
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute(query))


def filled(path: Path, dimension: int) -> None:
    with open_memory(path, embedder=HashEmbedder(dimension)) as memory:
        memory.add_many(turn(number) for number in range(40))
        memory.flush(timeout=30)


def test_killed_while_reindexing(tmp_path):
    source = random.Random(20261121)
    filled(tmp_path / "new.db", 96)
    with open_memory(tmp_path / "new.db", embedder=HashEmbedder(96)) as memory:
        wanted = answers(memory)
    path = tmp_path / "m.db"
    filled(path, 128)
    with open_memory(path) as memory:
        before = answers(memory)
    made: list[int] = []
    in_the_middle = 0
    for _ in range(40):
        output = Forked(reindex, path, 96, source.randint(1, 6)).finish()
        counts = [int(line.split()[0]) for line in output.splitlines() if line[:1].isdigit()]
        if embedder_of(path) == "hash-96":
            break
        assert counts, "it made no progress before it was killed"
        assert not made or counts[0] > made[-1] - 4, "what was done is done again"
        made.append(counts[-1])
        in_the_middle += 1
        with open_memory(path) as memory:  # the old embedder still opens it and answers
            assert answers(memory) == before
    else:
        raise AssertionError("it never came to an end")
    assert in_the_middle > 3, "no kill fell into the work: the test tests nothing"
    with pytest.raises(EmbedderMismatchError, match="cognigraph reindex"):
        open_memory(path)
    with open_memory(path, embedder=HashEmbedder(96)) as memory:
        assert answers(memory) == wanted
    with closing(sqlite3.connect(path)) as connection:
        for layer in ("chunk", "triple", "key", "theme", "entity"):
            left = connection.execute(f"SELECT count(*) FROM {layer}_next").fetchone()
            assert left == (0,), layer
    assert names(path) == names(tmp_path / "new.db")


_DIE_IN_THE_SWITCH = """
import os, sys
from cognigraph.stores.sqlite import reindex as module
from cognigraph.testing import HashEmbedder
from tests.storage.writers import open_memory

def die(connection, **values):
    if "generation" in values:
        changed = connection.execute("SELECT DISTINCT length(vector) FROM chunk_index").fetchall()
        assert changed == [(192,)], changed  # within the transaction everything is already changed
        os.kill(os.getpid(), 9)
    real(connection, **values)

real, module.write_meta = module.write_meta, die
with open_memory(sys.argv[1]) as memory:
    memory.admin.reindex(HashEmbedder(96))
"""


def test_killed_in_the_last_transaction(tmp_path):
    path = tmp_path / "m.db"
    filled(path, 128)
    with open_memory(path) as memory:
        before, chunks = answers(memory), memory.stats().chunks
    done = subprocess.run(
        [sys.executable, "-c", _DIE_IN_THE_SWITCH, str(path)], cwd=ROOT, check=False, timeout=60
    )
    assert done.returncode == -9
    assert embedder_of(path) == "hash-128"
    with open_memory(path) as memory:
        assert answers(memory) == before
        again = memory.admin.reindex(HashEmbedder(96))
        assert again.resumed == again.vectors > chunks  # nothing had to be embedded again
        assert memory.search("word12")[0].id == "m12"
    assert embedder_of(path) == "hash-96"
