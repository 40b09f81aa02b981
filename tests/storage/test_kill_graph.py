"""Workers that are killed at any time leave the graph that an undisturbed one writes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cognigraph import EnrichSettings, Memory, Settings
from cognigraph.testing import HashEmbedder
from tests.conversations import conversation
from tests.forked import Forked
from tests.interrupted import Plan, build, said

pytestmark = [pytest.mark.slow]

ROOT = Path(__file__).parents[2]
KILLS = 6


def step(path: Path, batch: int) -> None:
    """Enrich in steps, a line for each."""
    settings = Settings(enrich=EnrichSettings(batch=batch))
    with Memory(path, embedder=HashEmbedder(32), enrich="manual", settings=settings) as memory:
        while memory._engine.enricher.step() is not None:
            print("step", flush=True)


@pytest.mark.parametrize("seed", range(2))
def test_killed_workers_leave_the_same_graph(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    messages = conversation(rng, 60)
    plain = build({"location": tmp_path / "plain.db"}, messages, Plan(), rng)
    path = tmp_path / "killed.db"
    for part in range(KILLS):  # late turns arrive while others are extracted
        with Memory(path, embedder=HashEmbedder(32), enrich="manual") as memory:
            memory.space("x").add_many(messages[part::KILLS])
        kill_after(rng.choice([0, 1, 2]), path, rng.choice([1, 2, 7]))
    settings = Settings(enrich=EnrichSettings(batch=64))
    options = {"embedder": HashEmbedder(32), "enrich": "manual", "settings": settings}
    with Memory(path, **options) as memory:
        memory.flush(timeout=60)
        space = memory.space("x")
        space.flush(timeout=60)
        assert space.queue.failures() == []
        assert said(space) == plain


def kill_after(steps: int, path: Path, batch: int) -> None:
    worker = Forked(step, path, batch)
    for _ in range(steps):
        worker.stdout.readline()
    worker.kill()
    worker.finish()
