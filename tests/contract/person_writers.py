"""Writers about one person, as threads of a process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from cognigraph import EnrichSettings, Memory, Settings
from cognigraph.embed import resolve
from cognigraph.ingest import Extraction, Fact, Mention
from cognigraph.ingest.extraction import Window
from cognigraph.testing import FrozenClock, ScriptedExtractor
from tests.storage.writers import START

SPELLINGS = ["Anna Berg", "ANNA BERG", "Anna", "Dr. Anna Berg", "A. Berg"]


def script(window: Window) -> Extraction:
    """One fact about the person, whose name is spelled by the number of the turn."""
    name = SPELLINGS[int(window.chunks[0].message_id) % len(SPELLINGS)]
    return Extraction(
        mentions=(Mention(name, "person", (0,)),),
        facts=(Fact(name, "person", "likes", "tea", "object", (0,)),),
    )


def write(location: dict[str, Any], space: str, numbers: list[int]) -> None:
    """Add and enrich turns in parallel, each with a memory of its own."""
    embedder = resolve("wordllama")

    def one(number: int) -> None:
        with Memory(
            **location, enrich="manual", clock=FrozenClock(START), embedder=embedder,
            extractor=ScriptedExtractor(script), settings=Settings(enrich=EnrichSettings(batch=1)),
        ) as memory:  # fmt: skip
            own = memory.space(space)
            at = START + timedelta(seconds=number)
            own.add(f"turn {number}", id=str(number), session=f"s{number % 7}", at=at)
            own.queue.enrich()

    with ThreadPoolExecutor(len(numbers)) as pool:
        list(pool.map(one, numbers))
