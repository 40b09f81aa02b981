"""Compare searches with searches that explain and record nothing, alternating in one process.

python -m bench.observing --chunks N --triples M --rounds N --json FILE

A search always says what it did (``SearchResult.trace``) and gives the parts of every score
(``Hit.why``). Here both are left out by replacing the functions that make them; what the answer
itself is made of stays, and that the hits are the same is checked. Each question is asked once with
each variant, in random order; a round asks all questions. What is compared is the processor time of
a round. ``same`` is the unchanged search against itself: what the method cannot tell apart.

``span_us`` is what the span around a search on the server costs if no program uses OpenTelemetry,
``metrics_us`` what it costs to count a request; both in microseconds of processor time.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from bench.measure import machine, write
from bench.search import NOW, fill, questions
from bench.synthetic import SyntheticExtractor, World
from cognigraph import Memory, Space
from cognigraph.model import Why
from cognigraph.retrieve import results
from cognigraph.retrieve.plan import Stopwatch
from cognigraph.server.metrics import Metrics
from cognigraph.tracing import span, stages

RUN = "observing"
ASKED = 40
CALLS = 20_000


def _scores(ranking: Any, chunks: Any, rows: Sequence[int], *_: Any) -> list[Why]:
    """Return explanations with the score alone, which hits need."""
    return [
        Why({}, {}, None, None, None, 0.0, None, 0.0, score)
        for score in ranking.score[np.array(rows, np.int64)].tolist()
    ]


PATCHES: Mapping[str, Sequence[tuple[Any, str, Callable[..., Any]]]] = {
    "as it is": (),
    "same": (),
    "without trace": (
        (Stopwatch, "lap", lambda *_: None),
        (results.RankedCandidates, "_counts", lambda *_: {}),
        (results.RankedCandidates, "_notes", lambda *_: ()),
    ),
    "without why": ((results, "explanations", _scores),),
}
VARIANTS = {**PATCHES, "without both": (*PATCHES["without trace"], *PATCHES["without why"])}


@contextmanager
def replaced(variant: str) -> Iterator[None]:
    """Replace functions for a variant."""
    with ExitStack() as stack:
        for owner, name, other in VARIANTS[variant]:
            stack.enter_context(patch.object(owner, name, other))
        yield


def one_round(space: Space, asked: Sequence[str], source: random.Random) -> dict[str, float]:
    """Return the processor seconds of each variant for all questions."""
    spent: Counter[str] = Counter()
    for question in asked:
        order = source.sample([*VARIANTS], len(VARIANTS))
        for variant in order:
            with replaced(variant):
                started = time.process_time()
                space.search(question, now=NOW)
                spent[variant] += time.process_time() - started
    return dict(spent)


def check(space: Space, asked: Sequence[str]) -> None:
    """Make sure that every variant finds the same, and leaves out what it says."""
    for question in asked:
        whole = space.search(question, now=NOW)
        for variant in VARIANTS:
            with replaced(variant):
                found = space.search(question, now=NOW)
            assert [(h.id, h.score) for h in found] == [(h.id, h.score) for h in whole], variant
            has_trace, has_why = bool(found.trace.counts), bool(found[0].why.signals)
            left_out = {"without trace": (False, True), "without why": (True, False)}
            left_out |= {"without both": (False, False)}
            assert (has_trace, has_why) == left_out.get(variant, (True, True)), variant


def interval(values: Sequence[float], source: random.Random) -> dict[str, float]:
    """Return the median and the interval in which it is with 95 %, by resampling."""
    medians = sorted(statistics.median(source.choices(values, k=len(values))) for _ in range(2000))
    named = {"median": statistics.median(values), "low": medians[49], "high": medians[1949]}
    return {name: round(value, 4) for name, value in named.items()}


def per_call(work: Callable[[], object]) -> float:
    """Return the microseconds of a call."""
    started = time.process_time()
    for _ in range(CALLS):
        work()
    return round((time.process_time() - started) / CALLS * 1e6, 2)


def spanned() -> None:
    """Do what the server does around a search."""
    with span("cognigraph.search", "space") as current:
        stages(current, "cognigraph.search", {})


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=5000)
    parser.add_argument("--triples", type=int, default=15_000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    world, source = World(), random.Random(7)
    extractor = SyntheticExtractor(world, arguments.triples // arguments.chunks)
    with tempfile.TemporaryDirectory() as folder:
        with Memory(f"{folder}/search.db", extractor=extractor, enrich="manual") as memory:
            fill(memory, world, arguments.chunks, 1, RUN)
        with Memory(f"{folder}/search.db", enrich="manual") as memory:
            space = memory.space(f"{RUN}-0")
            asked = [text for _, text in questions(world, arguments.chunks, 1)][:ASKED]
            check(space, asked)
            rounds = [one_round(space, asked, source) for _ in range(arguments.rounds)]
    plain = [spent["as it is"] for spent in rounds]
    ratios = {
        variant: interval([spent["as it is"] / spent[variant] for spent in rounds], source)
        for variant in VARIANTS
        if variant != "as it is"
    }
    metrics = Metrics()
    scope = {"method": "POST"}
    result = {
        "chunks": arguments.chunks,
        "triples": arguments.triples,
        "questions": len(asked),
        "rounds": arguments.rounds,
        "search_cpu_ms": round(statistics.median(plain) / len(asked) * 1000, 2),
        "ratio_to": ratios,
        "span_us": per_call(spanned),
        "metrics_us": per_call(lambda: metrics.observe(scope, 200, 0.01)),
        "machine": machine(),
    }
    write(result, arguments.json)


if __name__ == "__main__":
    main()
