"""The tables that compare other memories, from one result of the bench.

Times are given beside a ratio: how many times the same figure of cognigraph with a model, in a
file, of the same run. Only these ratios can be compared between machines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bench.peers.catalog import MEMORIES, WRITERS

BASE = "cognigraph-model"
Result = Mapping[str, Any]

TRIALS = {
    "model_fails": "model fails",
    "embedder_fails": "embedder fails",
    "killed": "killed",
    "delivered_twice": "delivered twice",
    "five_threads": "five threads",
    "five_processes": "five processes",
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with so many significant digits and without an exponent."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    whole = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    text = f"{value:,.{max(0, digits - whole)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(value: float | None) -> str:
    """Format a share with three decimals and without the leading zero."""
    return "" if value is None else f"{value:.3f}".removeprefix("0")


def titled(row: Result) -> str:
    """Return the name of a row; cognigraph's are bold."""
    title: str = row["title"]
    return title.replace("cognigraph", "**cognigraph**")


def times(found: Result, row: Result, part: str, figure: str = "p50") -> str:
    """Format a time and its ratio to the base's."""
    if not row.get(part):
        return ""
    text = f"{number(row[part][figure])} ms"
    compared = ratio(found, row, part, figure)
    return f"{text} ({compared})" if compared else text


def ratio(found: Result, row: Result, part: str, figure: str = "p50") -> str:
    """Format how many times the base's time something took."""
    base = found["memories"].get(BASE, {}).get(part)
    return f"× {number(row[part][figure] / base[figure], 2)}" if base and row.get(part) else ""


def summary(found: Result) -> str:
    """Return recall, search and insertion of each memory."""
    rows = [
        [
            titled(row),
            f"{share(row['recall'])} / {share(row['recall_no_adversarial'])}",
            times(found, row, "search_ms"),
            times(found, row, "insert_ms"),
            number(row["until_searchable"]["model_calls"], 2),
        ]
        for row in found["memories"].values()
    ]
    whole = [
        f"\n{row['title'].partition(',')[0]} got {row['added_singly']:,} of the messages one at a "
        "time, at the beginning and at the end; its times are of those. Each message takes it "
        "longer than the one before, so it got the sessions between them whole.\n"
        for row in found["memories"].values()
        if row.get("added_singly", row.get("messages")) != row.get("messages")
    ]
    head = ["", "recall@15", "search", "insert a message", "model calls"]
    return "".join([table(head, rows), *whole])


def trials(found: Result) -> str:
    """Return what was lost, doubled or refused in each trial."""
    rows = [
        [
            titled(found["memories"][name]),
            *(outcome(tried[what]) if what in tried else "–" for what in TRIALS),
        ]
        for name, tried in found["trials"].items()
    ]
    return table(["", *TRIALS.values()], rows)


def outcome(tried: Result) -> str:
    """Say what became of the messages of a trial, worst first."""
    if "stopped_after_s" in tried:
        return f"stopped after {number(tried['stopped_after_s'] / 60)} min"
    if "unusable" in tried:
        return "cannot be used afterwards"
    parts = [
        (tried["lost"], "lost"),
        (tried["doubled"], "doubled"),
        (tried.get("surplus_entities", 0), "surplus entities"),
        (tried.get("pending", 0), "still pending"),
        (tried["refused"], "refused"),
    ]
    told = [f"{count} {what}" for count, what in parts if count]
    if tried.get("could_not_open"):
        told.append(f"{tried['could_not_open']} of {WRITERS} could not open")
    return ", ".join(told) or "all kept"


def set_up(found: Result) -> str:
    """Return how each memory was set up, and its own defaults."""
    rows = []
    for memory in MEMORIES:
        about = found["versions"].get(memory.name)
        if about is None:
            continue
        pinned = about["pins"][0].replace("==", " ") if about["pins"] else "this repository"
        rows.append([memory.name, f"{pinned}, {memory.licence}", memory.setup, memory.defaults])
    return table(["", "version, licence", "set up", "its own defaults"], rows)


def missing(found: Result) -> str:
    """Return what could not be measured, and why."""
    rows = [
        [name, why.replace("\n", " ").replace("|", "/")]
        for name, why in found["not_measured"].items()
    ]
    return table(["", "why not"], rows)


MADE: dict[str, Callable[[Result], str]] = {
    "peers-summary": summary,
    "peers-trials": trials,
    "peers-set-up": set_up,
    "peers-missing": missing,
}
"""The generated files of ``docs/figures`` for ``docs/benchmarks.md``."""
