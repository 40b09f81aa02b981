"""The cache of the spaces' search indexes: bounded by bytes, unknown names cost nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cognigraph import ConfigurationError, Memory, Settings, StorageSettings
from cognigraph.stores.sqlite.index.index_cache import SpaceIndexes
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.rows import VectorFormat
from cognigraph.testing import HashEmbedder

VECTORS = VectorFormat(16, "float32")


class Sized(SpaceIndex):
    """An index that says how much it holds."""

    size = 0

    @property
    def bytes(self) -> int:
        return self.size


def filled(cache: SpaceIndexes, space: str, size: int) -> SpaceIndex:
    index = Sized(VECTORS)
    index.size = size
    cache.add(space, index)
    cache.charge(space, index)
    return index


def open_memory(path: Path, index_bytes: int = 1 << 30) -> Memory:
    settings = Settings(storage=StorageSettings(index_bytes=index_bytes))
    return Memory(path, embedder=HashEmbedder(16), enrich="manual", settings=settings)


def test_the_least_recently_used_go_first():
    cache = SpaceIndexes(100)
    for space in "abc":
        filled(cache, space, 30)
    assert cache.get("a") is not None
    filled(cache, "d", 30)
    assert [space in cache for space in "abcd"] == [True, False, True, True]
    assert cache.bytes == 90


def test_the_one_used_last_stays_however_big_it_is():
    cache = SpaceIndexes(100)
    filled(cache, "a", 30)
    filled(cache, "b", 1000)
    assert [space in cache for space in "ab"] == [False, True]
    assert cache.bytes == 1000


def test_growth_is_counted_once():
    cache = SpaceIndexes(1000)
    index = filled(cache, "a", 10)
    assert isinstance(index, Sized)
    for size in (20, 50, 40):
        index.size = size
        cache.charge("a", index)
        assert cache.bytes == size


def test_an_index_dropped_during_a_search_is_not_counted():
    cache = SpaceIndexes(100)
    index = filled(cache, "a", 60)
    filled(cache, "b", 60)
    cache.charge("a", index)
    assert cache.bytes == 60
    cache.clear()
    cache.charge("a", index)
    assert (cache.bytes, len(cache)) == (0, 0)


def test_two_threads_that_begin_together_share_one_index():
    cache = SpaceIndexes(100)
    first, second = SpaceIndex(VECTORS), SpaceIndex(VECTORS)
    assert cache.add("a", first) is first
    assert cache.add("a", second) is first


@pytest.mark.slow
def test_a_charge_does_not_look_at_the_other_spaces():
    cache, looked = SpaceIndexes(1 << 40), []

    class Watched(Sized):
        @property
        def bytes(self) -> int:
            looked.append(self)
            return 10

    for number in range(50):
        cache.add(str(number), Watched(VECTORS))
    index = Watched(VECTORS)
    cache.add("one", index)
    cache.charge("one", index)
    assert looked == [index]


@pytest.mark.slow
def test_names_that_hold_nothing_are_not_kept(tmp_path):
    with open_memory(tmp_path / "m.db") as memory:
        memory.space("known").add("oslo", id="m1")
        for number in range(50):
            assert memory.space(f"unknown-{number}").search("oslo").hits == ()
        assert memory.space("known").search("oslo")[0].id == "m1"
        cache = memory._engine.store._indexes
        assert len(cache) == 1
        assert memory.space("unknown-1").add("oslo", id="m2").ids == ("m2",)
        assert memory.space("unknown-1").search("oslo")[0].id == "m2"
        assert len(cache) == 2


@pytest.mark.slow
def test_the_setting_bounds_the_cache_by_what_the_indexes_hold(tmp_path):
    with open_memory(tmp_path / "m.db", index_bytes=40_000) as memory:
        for number in range(20):
            memory.space(f"s{number}").add("oslo is a town", id="m")
            assert memory.space(f"s{number}").search("oslo")[0].id == "m"
        cache = memory._engine.store._indexes
        assert 1 < len(cache) < 20
        assert cache.bytes <= 40_000


@pytest.mark.slow
def test_bytes_are_those_of_the_arrays(tmp_path):
    with open_memory(tmp_path / "m.db") as memory:
        space = memory.space("big")
        space.add_many({"text": f"oslo bergen word{number}"} for number in range(500))
        space.search("oslo")
        index = memory._engine.store._indexes.get("big")
        vectors = 500 * 16 * np.dtype(np.float32).itemsize
        assert index.chunks.nbytes > vectors
        assert index.bytes > index.chunks.nbytes + index.chunks.words.nbytes
        assert index.bytes < 40 * vectors


def test_the_setting_is_checked():
    with pytest.raises(ConfigurationError, match="index_bytes must be at least 1"):
        StorageSettings(index_bytes=0)
    for name in ("read_timeout", "write_timeout", "open_timeout"):
        for seconds in (0.0, -1.0):
            with pytest.raises(ConfigurationError, match=f"{name} must be above 0"):
                StorageSettings(**{name: seconds})
        for seconds in (float("nan"), float("inf")):
            with pytest.raises(ConfigurationError, match=f"{name} must be a finite number"):
                StorageSettings(**{name: seconds})
