"""How vectors are stored in a file: formats, and files of older versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cognigraph import ConfigurationError, Memory, Settings, StorageSettings
from cognigraph.model import DEFAULT_SPACE
from cognigraph.testing import HashEmbedder, ScriptedExtractor
from tests.contract import first_schema

FACTS = {f"m{n}": [("Ann", "saw", f"thing{n}")] for n in range(12)}


def opened(path: Path, vectors: Any = None, **options: Any) -> Memory:
    return Memory(
        path, embedder=HashEmbedder(32), extractor=ScriptedExtractor(FACTS), enrich="manual",
        settings=Settings(storage=StorageSettings(vectors=vectors)), **options,
    )  # fmt: skip


def fill(memory: Memory) -> None:
    memory.add_many({"text": f"Ann saw thing{n}", "id": f"m{n}"} for n in range(12))
    memory.flush(timeout=30)


def blob_sizes(path: Path) -> set[int]:
    with closing(sqlite3.connect(path)) as connection:
        return {
            row[0]
            for table in ("chunk_index", "triple_index")
            for row in connection.execute(f"SELECT DISTINCT length(vector) FROM {table}")
        }


def found(memory: Memory) -> list[Any]:
    return [
        [(hit.id, round(hit.score, 2)) for hit in memory.search(f"thing{n}")] for n in range(12)
    ]


@pytest.mark.slow
def test_new_files_hold_float16_unless_told_otherwise(tmp_path):
    answers = []
    for vectors, size in ((None, 64), ("float16", 64), ("float32", 128)):
        path = tmp_path / f"{vectors}.db"
        with opened(path, vectors) as memory:
            fill(memory)
            answers.append(found(memory))
            assert memory.info.details["vectors"] == (vectors or "float16")
        assert blob_sizes(path) == {size}
        with opened(path, "float32" if size == 64 else "float16") as memory:
            assert found(memory) == answers[-1]
            memory.add("one more", id="more")  # the recorded format is used, not the setting
        assert blob_sizes(path) == {size}
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.slow
def test_reindex_changes_the_format_both_ways(tmp_path):
    path = tmp_path / "m.db"
    with opened(path) as memory:
        fill(memory)
        before = found(memory)
        for vectors, size in (("float32", 128), ("float16", 64)):
            done = memory.admin.reindex(vectors=vectors)
            assert done.embedder.name == "hash-32"
            assert memory.info.details["vectors"] == vectors
            assert blob_sizes(path) == {size}
            assert found(memory) == before
    with pytest.raises(ConfigurationError, match="float64"):
        StorageSettings(vectors="float64")  # type: ignore[arg-type]


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.slow
def test_an_older_file_keeps_working(tmp_path, version):
    path = tmp_path / "m.db"
    first_schema.sqlite(str(path), DEFAULT_SPACE, version)
    with opened(path) as memory:
        assert memory.info.details["vectors"] == "float32"
        assert memory.search("Anna Berg said something")[0].id == "m1"
        assert memory.search("Ben said something")[0].id == "m2"
        memory.add("Ann saw snow", id="snow")
        assert memory.search("snow")[0].id == "snow"
        memory.admin.reindex(HashEmbedder(48), vectors="float16")
        assert memory.search("snow")[0].id == "snow"
    assert blob_sizes(path) == {96}
