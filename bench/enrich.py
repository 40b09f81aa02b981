"""Measure enrichment: speed, model calls, tokens, triples, and how many of them can be found.

python -m bench.enrich --data DIR --extractor rules|recorded|openai|recorded-model
    --store sqlite|URI --searches N --conversations N --json FILE

DIR has the layout that bench/said.py describes. Turns are inserted one by one, then enriched;
``apart`` is the time outside the extractor. ``recorded`` replays the extractions of DIR and follows
what became of each of their triples. ``openai`` calls the endpoint of the environment
(COGNIGRAPH_MODEL, OPENAI_BASE_URL, OPENAI_API_KEY); ``recorded-model`` does the same with a
loopback server that answers from the recordings (bench/recorded_model.py). ``seconds/cpu`` is the
processor time of this process, and ``load`` is the load average of the machine. The benchmark uses
only the public API.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.measure import machine, percentiles, write
from bench.reach import Account, account, all_triples
from bench.recorded import RecordedExtractor
from bench.said import Talk, talks
from cognigraph import Memory, Space, Usage
from cognigraph.ingest import Extraction, Extractor, Window
from cognigraph.ingest.derive import by_reason
from cognigraph.ingest.extractors import resolve_extractor

MENTIONED = "mentioned"


class Timed:
    """An extractor that measures its own time."""

    def __init__(self, inner: Extractor) -> None:
        self._inner = inner
        self.name = inner.name
        self.seconds = 0.0

    def extract(self, window: Window) -> Extraction:
        """Extract, and add the time that it takes."""
        started = time.perf_counter()
        try:
            return self._inner.extract(window)
        finally:
            self.seconds += time.perf_counter() - started


@dataclass
class Totals:
    """Sums over all conversations."""

    turns: int = 0
    chunks: int = 0
    sessions: int = 0
    add_seconds: float = 0.0
    cpu_seconds: float = 0.0
    enrich_seconds: float = 0.0
    extract_seconds: float = 0.0
    add_ms: list[float] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    calls: list[int] = field(default_factory=list)
    failures: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    triples: int = 0
    entities: int = 0
    evidence: int = 0
    with_triple: int = 0
    with_fact: int = 0
    account: Account = field(default_factory=Account)


def ingest(space: Space, extractor: Timed, messages: list[dict[str, Any]], totals: Totals) -> None:
    """Insert and enrich one conversation."""
    before, cpu = extractor.seconds, time.process_time()
    for message in messages:
        started = time.perf_counter()
        space.add(**message)
        totals.add_ms.append((time.perf_counter() - started) * 1000)
    started = time.perf_counter()
    steps = space.queue.enrich()
    totals.enrich_seconds += time.perf_counter() - started
    totals.cpu_seconds += time.process_time() - cpu
    totals.extract_seconds += extractor.seconds - before
    calls: Counter[str] = Counter()
    for step in steps:
        totals.usage += step.usage
        totals.rejected += by_reason(step.rejected)
        calls[step.session] += step.usage.calls
    totals.calls += list(calls.values())
    stats = space.stats()
    totals.turns += stats.messages
    totals.chunks += stats.chunks
    totals.sessions += stats.sessions
    totals.triples += stats.triples
    totals.entities += stats.entities
    totals.failures += stats.failed + stats.pending


def cover(space: Space, talk: Talk, totals: Totals) -> None:
    """Count the turns that are evidence for an answer and have a triple."""
    evidence = frozenset().union(*(question.evidence for question in talk.questions))
    told, stated = set(), set()
    for triple in all_triples(space):
        ids = {source.id for source in triple.sources}
        told |= ids
        if triple.relation != MENTIONED:
            stated |= ids
    totals.evidence += len(evidence)
    totals.with_triple += len(evidence & told)
    totals.with_fact += len(evidence & stated)


def follow(
    space: Space, recording: RecordedExtractor, known: set[str], now: datetime, sample: int,
    totals: Totals,
) -> None:  # fmt: skip
    """Find out what became of every recorded triple."""
    facts = [(id, fact) for id, session in recording.sessions.items() for fact in session.facts]
    found, total = account(space, facts, known, now, sample), totals.account
    total.recorded += found.recorded
    total.stored += found.stored
    total.merged += found.merged
    total.rejected += found.rejected
    total.lost += found.lost
    total.listed += found.listed
    total.searched += found.searched
    total.found += found.found


def run(arguments: argparse.Namespace) -> Totals:
    """Process all conversations of the data folder, each in a space of its own."""
    data, totals, run_id = Path(arguments.data), Totals(), uuid4().hex[:6]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        reader = None
        if arguments.extractor != "recorded":
            reader = Timed(_extractor(arguments.extractor, data, stack))
        for talk in islice(talks(data), arguments.conversations):
            recording = talk.extractor("recorded")
            assert isinstance(recording, RecordedExtractor)
            extractor = reader or Timed(recording)
            location = arguments.store if "://" in arguments.store else f"{folder}/{talk.name}.db"
            with Memory(
                location, embedder=arguments.embedder, extractor=extractor, enrich="manual"
            ) as memory:
                space = memory.space(f"{talk.name}-{run_id}")
                ingest(space, extractor, talk.messages, totals)
                cover(space, talk, totals)
                if arguments.extractor.startswith("recorded"):
                    known = {message["id"] for message in talk.messages}
                    now = talk.messages[-1]["at"] + timedelta(days=1)
                    follow(space, recording, known, now, arguments.searches // 5, totals)
        totals.add_seconds = sum(totals.add_ms) / 1000
    return totals


def _extractor(name: str, data: Path, stack: ExitStack) -> Extractor:
    if name == "recorded-model":
        from bench.recorded_model import RecordedModel, Server

        server = stack.enter_context(Server(RecordedModel.of(data)))
        os.environ.update(COGNIGRAPH_MODEL="recorded", OPENAI_BASE_URL=server.url)
        name = "openai"
    return resolve_extractor(name)


def report(totals: Totals) -> dict[str, Any]:
    """Return rates and shares."""
    seconds = totals.add_seconds + totals.enrich_seconds
    apart = seconds - totals.extract_seconds
    usage, sessions = totals.usage, max(totals.sessions, 1)
    return {
        "turns": totals.turns,
        "chunks": totals.chunks,
        "sessions": totals.sessions,
        "seconds": {
            "add": round(totals.add_seconds, 2),
            "enrich": round(totals.enrich_seconds, 2),
            "extract": round(totals.extract_seconds, 2),
            "cpu": round(totals.cpu_seconds, 2),
        },
        "turns_per_second": round(totals.turns / seconds, 1),
        "turns_per_second_apart": round(totals.turns / apart, 1),
        "ms_per_turn": round(1000 * seconds / totals.turns, 2),
        "ms_per_turn_apart": round(1000 * apart / totals.turns, 2),
        "add": percentiles(totals.add_ms),
        "calls_per_session": {
            "mean": round(usage.calls / sessions, 2),
            "most": max(totals.calls, default=0),
        },
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "tokens_per_turn": round((usage.input_tokens + usage.output_tokens) / totals.turns, 1),
        "cost": round(usage.cost, 4),
        "not_enriched": totals.failures,
        "triples": totals.triples,
        "entities": totals.entities,
        "triples_per_turn": round(totals.triples / totals.turns, 2),
        "evidence_turns": totals.evidence,
        "evidence_with_triple": round(totals.with_triple / totals.evidence, 4),
        "evidence_with_triple_not_mentioned": round(totals.with_fact / totals.evidence, 4),
        "rejected": dict(totals.rejected.most_common()),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--extractor", default="rules")
    parser.add_argument("--store", default="sqlite")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--searches", type=int, default=500, help="triples to search for")
    parser.add_argument("--conversations", type=int, metavar="N", help="use only the first N")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    totals = run(arguments)
    result = {
        "extractor": arguments.extractor,
        "store": "neo4j" if "://" in arguments.store else arguments.store,
        "embedder": arguments.embedder.split("/")[-1],
        **report(totals),
    }
    if arguments.extractor.startswith("recorded"):
        result["recorded_triples"] = totals.account.report()
    if arguments.extractor == "rules":
        result |= _precision(arguments.extractor)
    load = round(os.getloadavg()[1], 1)
    write({**result, "load": load, "machine": machine()}, arguments.json)
    for lost in totals.account.lost[:20]:
        print("lost:", lost)


def _precision(name: str) -> dict[str, Any]:
    """Return the precision on hand-labelled turns, if that benchmark is in the same folder."""
    try:
        from precision import precision
    except ImportError:
        return {}
    return {"precision": precision(resolve_extractor(name))}


if __name__ == "__main__":
    main()
