"""``flush``: of a memory it waits for all spaces, of a space for its own."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from cognigraph import AsyncMemory, FlushTimeout, Memory
from cognigraph.testing import HashEmbedder, ScriptedExtractor


class Slow(ScriptedExtractor):
    """Waits for a pause in the conversation, so that only a flush makes it start."""

    settle = timedelta(seconds=60)


def filled(memory: Memory) -> Memory:
    memory.add("Ann moved to Oslo.")
    for name in ("one", "two"):
        memory.space(name).add("Bob moved to Rome.")
    return memory


def pending(memory: Memory) -> dict[str, int]:
    return {name: memory.space(name).stats().pending for name in memory.spaces()}


@pytest.mark.parametrize("enrich", ["manual", "background"])
def test_a_memory_waits_for_every_space(tmp_path, enrich):
    with Memory(
        tmp_path / "m.db", embedder=HashEmbedder(), extractor=Slow(), enrich=enrich
    ) as memory:
        filled(memory)
        assert pending(memory) == {"default": 1, "one": 1, "two": 1}
        memory.flush(timeout=30)
        assert pending(memory) == {"default": 0, "one": 0, "two": 0}


@pytest.mark.parametrize("name", ["default", "one"])
@pytest.mark.parametrize("enrich", ["manual", "background"])
def test_a_space_waits_for_itself_alone(tmp_path, enrich, name):
    with Memory(
        tmp_path / "m.db", embedder=HashEmbedder(), extractor=Slow(), enrich=enrich
    ) as memory:
        filled(memory).space(name).flush(timeout=30)
        assert pending(memory) == {"default": 1, "one": 1, "two": 1, name: 0}


@pytest.mark.slow
def test_the_error_counts_all_spaces_and_names_a_reason(tmp_path):
    extractor = ScriptedExtractor()
    extractor.fail_at(*range(1, 100))
    with Memory(
        tmp_path / "m.db", embedder=HashEmbedder(), extractor=extractor, enrich="manual"
    ) as memory:
        filled(memory)
        with pytest.raises(FlushTimeout, match=r"are not enriched in time; last fail") as caught:
            memory.flush(timeout=0.2)
        assert (caught.value.pending, caught.value.halted) == (3, False)


def test_the_async_memory_waits_for_every_space_too(tmp_path):
    async def run() -> int:
        async with AsyncMemory(
            tmp_path / "m.db", embedder=HashEmbedder(), extractor=Slow()
        ) as memory:
            await memory.space("one").add("Bob moved to Rome.")
            await memory.flush(30)
            return (await memory.space("one").stats()).pending

    assert asyncio.run(run()) == 0
