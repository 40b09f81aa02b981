"""Several processes store a large backlog in one file each, and go on enriching afterwards.

A run of the suite stores little. ``COGNIGRAPH_SOAK_MESSAGES=8000`` sets the messages of each
backlog, and ``-s`` shows what each process tells.
"""

from __future__ import annotations

import json
import os
import resource
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cognigraph import EnrichSettings, Memory, RetentionSettings, Settings
from cognigraph.testing import HashEmbedder
from tests.forked import Forked

pytestmark = pytest.mark.slow

SIZE = int(os.environ.get("COGNIGRAPH_SOAK_MESSAGES", "150"))
PROCESSES = 3
SWEEP = timedelta(seconds=1)


def opened(path: Path | str, size: int) -> Memory:
    """A memory for this many messages, with a worker that sweeps."""
    is_large = size >= 2000
    enrich = EnrichSettings() if is_large else EnrichSettings(batch=5)
    settings = Settings(enrich=enrich, retention=RetentionSettings(sweep=SWEEP))
    embedder = "wordllama" if is_large else HashEmbedder(32)
    return Memory(path, embedder=embedder, settings=settings)


def facts_of_the_last(memory: Memory, space: str, seconds: float) -> list[str]:
    """Store one more message, and tell its facts once it is enriched."""
    tenant = memory.space(space)
    tenant.add("Klara works at DNB.", id=f"last-{os.getpid()}")
    tenant.flush(seconds)
    return [fact.text for fact in tenant.facts("Klara")]


def is_swept(memory: Memory, space: str, seconds: float) -> bool:
    """Store a message that is over at once, and tell whether it goes by itself."""
    tenant = memory.space(space)
    over = datetime.now(UTC) + timedelta(seconds=0.1)
    tenant.add("This is over soon.", id="short", session="short", expires=over)
    end = time.monotonic() + seconds
    while tenant.get("short") is not None and time.monotonic() < end:
        time.sleep(0.1)
    return tenant.get("short") is None


def store_a_backlog(path: str, space: str, size: int) -> None:
    """Store and enrich a backlog; print what then became of one more message."""
    with opened(path, size) as memory:
        started = time.monotonic()
        memory.space(space).add_many(
            {"text": f"Anna{n} moved to Town{n}.", "id": f"m{n}", "session": f"s{n % 20}"}
            for n in range(size)
        )
        stored = time.monotonic()
        memory.space(space).flush(600)
        enriched = time.monotonic()
        facts = facts_of_the_last(memory, space, 120)
        found = {
            "facts": facts,
            "swept": is_swept(memory, space, 60),
            "restarts": memory.admin.worker_state.restarts,
            "problem": memory.admin.worker_state.problem,
            "seconds": [
                round(stored - started, 1),
                round(enriched - stored, 1),
                round(time.monotonic() - enriched, 1),
            ],
        }
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    found["cpu"] = round(sum(item.ru_utime + item.ru_stime for item in used), 1)
    print(json.dumps(found), flush=True)


@pytest.mark.timeout(max(180, SIZE // 4))
def test_after_their_backlogs_several_processes_go_on(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path, SIZE) as memory:
        memory.add("I live in Oslo.")
    names = [f"tenant{number}" for number in range(PROCESSES)]
    running = [Forked(store_a_backlog, str(path), name, SIZE) for name in names]
    told = [json.loads(item.finish()) for item in running]
    print(*told, sep="\n")
    for item in told:
        assert (item["facts"], item["swept"]) == (["Klara works at DNB"], True)
        assert (item["restarts"], item["problem"]) == (0, None)
    with opened(path, SIZE) as memory:
        for name in names:
            stats = memory.space(name).stats()
            assert (stats.messages, stats.done, stats.pending) == (SIZE + 1, SIZE + 1, 0)
        assert facts_of_the_last(memory, "another", 60) == ["Klara works at DNB"]
        assert all(check.ok for check in memory.admin.check())
