"""Enrich a space in batches, in any order and with crashes, and return the graph."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any
from uuid import uuid4

from cognigraph import EnrichSettings, Memory, Message, Settings, Space
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.stores.batch_size import lease_token
from cognigraph.testing import FrozenClock, HashEmbedder
from tests.conftest import START
from tests.property.test_order_properties import claimed

LEASE = timedelta(minutes=2)
MOST_CRASHES = 4
"""Fewer than park a chunk, even if the same one is hit each time."""


@dataclass(frozen=True)
class Plan:
    """How a conversation gets into the graph."""

    batch: int = 64
    at_once: int = 1000
    """Turns that are inserted before some are enriched."""
    steps: int = 0
    """Batches that are enriched after each insert; the rest at the end."""
    workers: int = 1
    crashes: int = 0
    late: int = 0
    """Turns that arrive after all others."""


def random_plan(random: Random, turns: int, *, ties: bool) -> Plan:
    """Return a random plan. Simultaneous turns stay in order of arrival, so none is late."""
    return Plan(
        batch=random.choice([1, 2, 7, 64, 1000]),
        at_once=random.choice([1, 2, 5, turns]),
        steps=random.choice([0, 1, 2, 100]),
        workers=random.choice([1, 2]),
        crashes=random.choice([0, 1, MOST_CRASHES]),
        late=0 if ties else random.choice([0, 0, 1, 3]),
    )


def build(
    location: dict[str, Any],
    messages: Sequence[Message],
    plan: Plan,
    random: Random,
    space: str = "x",
    **options: Any,
) -> dict[str, Any]:
    """Insert and enrich by a plan; return the content of the graph."""
    defaults = {"embedder": HashEmbedder(32), "clock": FrozenClock(START), "enrich": "manual"}
    settings = Settings(enrich=EnrichSettings(batch=plan.batch, lease=LEASE))
    with Memory(**location, **(defaults | options), settings=settings) as memory:
        own = memory.space(space)
        crashes = plan.crashes
        for part in _parts(messages, plan, random):
            own.add_many(part)
            if crashes and random.random() < 0.5:
                crashes -= _crash(memory, own, plan)
            for _ in range(plan.steps):
                if memory._engine.enricher.step(space) is None:
                    break
        for _ in range(crashes):
            _crash(memory, own, plan)
        with ThreadPoolExecutor(plan.workers) as pool:
            list(pool.map(lambda _: memory.space(space).queue.enrich(), range(plan.workers)))
        own.flush(timeout=60)
        assert own.queue.failures() == []
        return said(own)


def _parts(messages: Sequence[Message], plan: Plan, random: Random) -> list[list[Message]]:
    late = set(random.sample(range(len(messages)), min(plan.late, len(messages))))
    order = [m for n, m in enumerate(messages) if n not in late]
    order += [messages[n] for n in late]
    return [order[n : n + plan.at_once] for n in range(0, len(order), plan.at_once)]


def _crash(memory: Memory, space: Space, plan: Plan) -> bool:
    """Claim as a worker that crashes at once, and take over from it."""
    store, now = memory._engine.store, START
    lease = store.queue.claim(
        worker=lease_token(f"elsewhere:{uuid4().hex}:1", now + LEASE, sound=False),
        limit=plan.batch,
        lease_for=LEASE,
        now=now,
        space=space.name,
        context=RulesExtractor().context,
    )
    if lease is not None:
        store.queue.expire(lease.token, lease.expires)
    return lease is not None


def said(space: Space) -> dict[str, Any]:
    """Return the graph with keys and summaries, without anything specific to the space."""
    sessions = [(s.id, s.keys, s.themes) for s in space.overview.sessions(limit=1000)]
    graph = claimed(space)
    graph["triples"] = sorted(repr(row[1:]) for row in graph["triples"])  # uids are the space's
    return {**graph, "sessions": sorted(sessions, key=lambda session: session[0])}
