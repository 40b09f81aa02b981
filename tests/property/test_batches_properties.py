"""The same turns give the same graph, with any batches, workers, crashes and late turns."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conversations import conversation
from tests.interrupted import Plan, build, random_plan

PLANS = [Plan(batch=batch) for batch in (1, 2, 7, 1000)] + [
    Plan(at_once=1, steps=100),
    Plan(batch=2, at_once=5, steps=1, workers=2, crashes=4, late=3),
    Plan(batch=1000, at_once=2, steps=1, crashes=2, late=1),
    Plan(batch=7, at_once=1, steps=1, late=3, workers=2),
]


@cache
def built_plainly(seed: int, ties: bool = False) -> dict[str, Any]:
    """The graph of a conversation that is inserted at once, and read by one worker."""
    rng = random.Random(seed)
    return in_file(conversation(random.Random(seed), 40, ties=ties), Plan(), rng)


def in_file(messages, plan, rng):
    with tempfile.TemporaryDirectory() as folder:
        return build({"location": Path(folder) / "a.db"}, messages, plan, rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_the_graph_does_not_depend_on_batches(plan: Plan, seed: int) -> None:
    messages = conversation(random.Random(seed), 40)
    assert in_file(messages, plan, random.Random(seed)) == built_plainly(seed)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 2, 7])
def test_the_graph_does_not_depend_on_batches_of_simultaneous_turns(batch: int) -> None:
    messages = conversation(random.Random(7), 40, ties=True)
    graph = in_file(messages, Plan(batch=batch), random.Random(0))
    assert graph == built_plainly(7, ties=True)


@pytest.mark.fuzz
@pytest.mark.timeout(0)
def test_the_graph_does_not_depend_on_any_plan_of_work() -> None:
    """Random conversations and plans, for ``COGNIGRAPH_FUZZ_SECONDS``."""
    seed = int(os.environ.get("COGNIGRAPH_FUZZ_SEED", "0"))
    seconds = float(os.environ.get("COGNIGRAPH_FUZZ_SECONDS", "60"))
    counts: Counter[str] = Counter()
    started = told = time.monotonic()
    while time.monotonic() - started < seconds:
        rng = random.Random(seed)
        ties, turns = rng.random() < 0.3, rng.choice([3, 10, 40, 120])
        messages = conversation(rng, turns, ties=ties)
        plain = in_file(messages, Plan(), rng)
        for _ in range(4):
            plan = random_plan(rng, turns, ties=ties)
            graph = in_file(messages, plan, rng)
            differing = [part for part in plain if graph[part] != plain[part]]
            assert graph == plain, f"seed {seed}, {turns} turns, {plan}: {differing}"
            counts.update(graphs=1, turns=turns, crashes=plan.crashes, late=plan.late)
        counts["conversations"] += 1
        seed += 1
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{told - started:.0f} s, next seed {seed}: {dict(counts)}", flush=True)
    print(f"done, next seed {seed}: {dict(counts)}", flush=True)
