"""Writers about one person, as threads and as processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

from cognigraph import EnrichSettings, Memory, Settings
from cognigraph.embed import resolve
from cognigraph.ingest import Extraction, Fact, Mention
from cognigraph.ingest.extraction import Window
from cognigraph.testing import FrozenClock, ScriptedExtractor
from tests.storage.writers import START

SPELLINGS = ["Anna Berg", "ANNA BERG", "Anna", "Dr. Anna Berg", "A. Berg"]
ROOT = Path(__file__).parents[2]


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


def start(location: dict[str, Any], space: str, numbers: list[int]) -> subprocess.Popen[str]:
    """The same in a process of its own."""
    arguments = json.dumps([location | {"location": str(location["location"])}, space, numbers])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.contract.person_writers", arguments],
        cwd=ROOT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


if __name__ == "__main__":
    where, name, turns = json.loads(sys.argv[1])
    if where.get("auth"):
        where["auth"] = tuple(where["auth"])
    write(where, name, turns)
