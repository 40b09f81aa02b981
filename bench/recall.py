"""Evidence recall: the share of the turns that answer a question found among the first k.

python bench/recall.py --data DIR --extraction none|rules|recorded
    --embedder wordllama|fastembed:FOLDER --profile default|licomemory --candidates paper|wide
    --k 5,10,15 --analysis rules|recorded --store sqlite|URI --keep FILE --json FILE

DIR has ``conversations/``, ``qa/`` and, for recorded extraction and analysis of the questions,
``extractions/`` and ``queries/``. Each
conversation is a space of its own; turns are inserted one by one in time order; questions are
asked the day after the last session. Only the public face of cognigraph is used.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from kept_vectors import embedder_for
from said import category_of, turns

from cognigraph import LicoMemorySettings, Memory, SearchSettings, Settings, StorageSettings
from cognigraph.evaluate.metrics import mean, percentiles, score
from cognigraph.ingest import RecordedExtractor
from cognigraph.ingest.extractors import resolve_extractor
from cognigraph.retrieve import RecordedReader


@dataclass
class Scores:
    """Recall by k and category, latencies, context sizes."""

    recall: dict[int, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    search_ms: list[float] = field(default_factory=list)
    context_tokens: list[int] = field(default_factory=list)
    context_share: list[float] = field(default_factory=list)
    by_conversation: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    misses: list[dict[str, Any]] = field(default_factory=list)


def fill(memory: Memory, space: str, messages: list[dict[str, Any]], extraction: str) -> None:
    """Insert the turns one by one, and enrich them unless extraction is off."""
    tenant = memory.space(space)
    for message in messages:
        tenant.add(**message)
    if extraction != "none":
        tenant.flush(timeout=600)


def ask(
    memory: Memory,
    space: str,
    questions: list[dict[str, Any]],
    known: set[str],
    now: datetime,
    cutoffs: list[int],
    scores: Scores,
) -> None:
    """Ask every question that has evidence and score the answers."""
    tenant = memory.space(space)
    for item in questions:
        evidence = set(re.findall(r"D\d+:\d+", " ".join(item.get("evidence", [])))) & known
        if not evidence:
            continue
        category = category_of(item)
        started = time.perf_counter()
        result = tenant.search(item["question"], k=max(cutoffs), now=now)
        scores.search_ms.append((time.perf_counter() - started) * 1000)
        found = [hit.id for hit in result]
        for cutoff in cutoffs:
            share = score(found, evidence, cutoff).recall
            scores.recall[cutoff][category].append(share)
        scores.by_conversation[space].append(share)
        if share < 1:
            scores.misses.append(
                {"question": item["question"], "category": category,
                 "missing": sorted(evidence - set(found)), "found": found}
            )  # fmt: skip
        context = tenant.context(item["question"], now=now, k=max(cutoffs))
        scores.context_tokens.append(context.tokens)
        held = evidence & set(found)
        if held:
            shown = {hit.id for hit in context.hits}
            scores.context_share.append(len(held & shown) / len(held))


def run(arguments: argparse.Namespace) -> Scores:
    """Insert and ask all conversations of the data folder."""
    data, cutoffs = Path(arguments.data), [int(k) for k in arguments.k.split(",")]
    embedder = embedder_for(arguments.embedder, arguments.keep)
    scores, run_id = Scores(), uuid4().hex[:6] if "://" in arguments.store else "file"
    settings = Settings(
        search=SearchSettings(
            profile=arguments.profile,
            licomemory=LicoMemorySettings(candidates=arguments.candidates),
        ),
        storage=StorageSettings(vectors=arguments.vectors),
    )
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted((data / "conversations").glob("*.json")):
            name = file.stem
            messages = list(turns(json.loads(file.read_text("utf-8"))))
            extractor = (
                RecordedExtractor.from_file(data / "extractions" / file.name)
                if arguments.extraction == "recorded"
                else resolve_extractor(
                    "rules" if arguments.extraction == "none" else arguments.extraction
                )
            )
            reader = (
                RecordedReader.from_file(data / "queries" / file.name)
                if arguments.analysis == "recorded"
                else None
            )
            location = arguments.store if "://" in arguments.store else f"{folder}/{name}.db"
            with Memory(
                location,
                embedder=embedder,
                extractor=extractor,
                reader=reader,
                enrich="manual",
                settings=settings,
            ) as memory:
                space = f"{name}-{run_id}"
                fill(memory, space, messages, arguments.extraction)
                now = messages[-1]["at"] + timedelta(days=1)
                questions = json.loads((data / "qa" / f"{name}.qa.json").read_text("utf-8"))["qa"]
                known = {message["id"] for message in messages}
                ask(memory, space, questions, known, now, sorted(cutoffs), scores)
    return scores


def report(scores: Scores) -> dict[str, Any]:
    """Return recall averaged over questions, and percentiles of latency and context size."""

    recall = {}
    for cutoff, by_category in sorted(scores.recall.items()):
        everything = [share for shares in by_category.values() for share in shares]
        plain = [s for name, shares in by_category.items() if name != "adversarial" for s in shares]
        recall[str(cutoff)] = {
            "all": mean(everything),
            "no_adversarial": mean(plain),
            "by_category": {name: mean(shares) for name, shares in sorted(by_category.items())},
        }
    return {
        "questions": len(scores.search_ms),
        "recall": recall,
        "by_conversation": {
            name.rsplit("-", 1)[0]: mean(shares) for name, shares in scores.by_conversation.items()
        },
        "search_ms": percentiles(scores.search_ms),
        "context_tokens": percentiles([float(n) for n in scores.context_tokens]),
        "context_evidence_share": mean(scores.context_share),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument(
        "--extraction", default="none", help="none, recorded or an extractor's name"
    )
    parser.add_argument("--analysis", choices=["rules", "recorded"], default="rules")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--profile", choices=["default", "licomemory"], default="default")
    parser.add_argument(
        "--candidates", choices=["paper", "wide"], default="paper", help="of licomemory"
    )
    parser.add_argument("--k", default="5,10,15")
    parser.add_argument("--store", default="sqlite")
    parser.add_argument("--vectors", choices=["float16", "float32"], help="format in a file")
    parser.add_argument("--keep", help="a file for vectors of messages, for the next run")
    parser.add_argument("--json")
    parser.add_argument("--misses", help="write the questions with missing evidence to this file")
    arguments = parser.parse_args()
    scores = run(arguments)
    result = {
        "extraction": arguments.extraction,
        "analysis": arguments.analysis,
        "embedder": arguments.embedder.split("/")[-1],
        "profile": arguments.profile,
        **({"candidates": arguments.candidates} if arguments.profile == "licomemory" else {}),
        "store": "neo4j" if "://" in arguments.store else arguments.store,
        **report(scores),
    }
    text = json.dumps(result, indent=2)
    print(text)
    if arguments.json:
        Path(arguments.json).write_text(text + "\n", "utf-8")
    if arguments.misses:
        Path(arguments.misses).write_text(json.dumps(scores.misses, indent=1), "utf-8")


if __name__ == "__main__":
    main()
