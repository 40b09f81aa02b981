"""A process that writes answers into a cache, for ``tests/unit/test_llm_cache.py``."""

from __future__ import annotations

from pathlib import Path

from cognigraph.llm import Prompt, ResponseCache


def write_answers(path: Path, name: str, count: int) -> None:
    """Put ``count`` answers, all of them ``name``, whose keys begin with it."""
    with ResponseCache(path) as cache:
        for number in range(count):
            key = name.encode() + bytes([number])
            cache.put(key, name, prompt=Prompt("p", "1", "", ""), model="m")
