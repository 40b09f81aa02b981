"""Summarise the records of a run: means, intervals and counts. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from cognigraph.evaluate.dataset import ADVERSARIAL
from cognigraph.evaluate.metrics import METRICS, bootstrap, mean, percentiles, rounded
from cognigraph.model import Usage

Record = Mapping[str, Any]


def retrieval(records: Sequence[Record]) -> dict[str, Any]:
    """Return scores by level and k: over all, without adversarial questions, and by category.

    A question without evidence on a level is not counted there.
    """
    found: dict[str, Any] = {}
    for level in ("turn", "session"):
        scored = [record for record in records if level in record["scores"]]
        cutoffs = list(scored[0]["scores"][level]) if scored else []
        found[level] = {k: _at_k(scored, level, k) for k in cutoffs}
    return found


def _at_k(records: Sequence[Record], level: str, k: str) -> dict[str, Any]:
    def metrics(chosen: Sequence[Record]) -> dict[str, Any]:
        values = [record["scores"][level][k] for record in chosen]
        means = {name: mean([value[name] for value in values]) for name in METRICS}
        return {"questions": len(chosen), **means}

    plain = [record for record in records if record["category"] != ADVERSARIAL]
    at_k: dict[str, Any] = {"all": metrics(records) | _interval(records, level, k)}
    if len(plain) < len(records):
        at_k["no_adversarial"] = metrics(plain) | _interval(plain, level, k)
    at_k["by_category"] = {name: metrics(own) for name, own in by_category(records).items()}
    return at_k


def _interval(records: Sequence[Record], level: str, k: str) -> dict[str, Any]:
    """Return 95 % bootstrap intervals of recall, also over conversations if they repeat."""
    groups: dict[str, list[float]] = defaultdict(list)
    for record in records:
        groups[record["conversation"]].append(record["scores"][level][k]["recall"])
    if not groups:
        return {}
    if len(groups) == len(records):
        values = [value for group in groups.values() for value in group]
        return {"recall_interval": rounded(bootstrap([values]))["interval"]}
    found = rounded(bootstrap(list(groups.values())))
    return {
        "recall_interval": found["interval"],
        "recall_interval_conversations": found["interval_conversations"],
    }


def by_category(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Group the records by category, sorted by its name."""
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        found[str(record["category"])].append(record)
    return dict(sorted(found.items()))


def inserted(records: Iterable[Record]) -> dict[str, Any]:
    """Return the cost of insertion and enrichment; turns of interrupted runs are not timed."""
    totals: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    for record in records:
        for name in ("turns", "new", "insert_seconds", "enrich_seconds", "chunks", "triples"):
            totals[name] += record[name]
        notes.update(record["notes"])
    return {
        "turns": totals["turns"],
        "turns_per_second": _rate(totals["new"], totals["insert_seconds"]),
        "insert_seconds": round(totals["insert_seconds"], 3),
        "enrich_seconds": round(totals["enrich_seconds"], 3),
        "chunks_enriched_per_second": _rate(totals["chunks"], totals["enrich_seconds"]),
        "triples": totals["triples"],
        "notes": dict(sorted(notes.items())),
    }


def total_usage(usages: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Add up model calls, tokens, seconds and cost."""
    total = sum((Usage(**usage) for usage in usages), Usage())  # type: ignore[arg-type]
    return {name: round(value, 6) for name, value in asdict(total).items()}


def _rate(count: float, seconds: float) -> float | None:
    return round(count / seconds, 1) if count and seconds else None


def summarise(
    settings: Mapping[str, Any],
    file: str,
    conversations: Sequence[Record],
    questions: Sequence[Record],
) -> dict[str, Any]:
    """Return the result of a run, without question answering."""
    return {
        "benchmark": settings["benchmark"],
        "file": file,
        "sha256": settings["sha256"],
        "settings": {key: value for key, value in settings.items() if key != "sha256"},
        "conversations": len(conversations),
        "questions": len(questions),
        "recall": retrieval(questions),
        "search_ms": percentiles([record["search_ms"] for record in questions]),
        "context_tokens": percentiles([float(record["context_tokens"]) for record in questions]),
        "insert": inserted(conversations),
        "usage": {"extraction": total_usage(record["usage"] for record in conversations)},
        "failures": sum("failure" in record for record in questions),
    }
