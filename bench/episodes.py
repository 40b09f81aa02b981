"""Measure where the rules begin a new episode, on labelled conversations.

    python -m bench.episodes [--out bench/results/episodes.json]

Baselines: a new episode every n turns (n is the mean length of the labelled episodes), and one
episode for the whole conversation. WindowDiff is an error (0 is perfect), with k half the mean
length; it counts a near miss as a small mistake, which precision and recall do not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from cognigraph.ingest.rules.summary import Episodes, TurnSigns
from cognigraph.model.messages import role_of
from cognigraph.stores.records import WorkChunk

LABELS = Path(__file__).with_name("labels") / "episodes.jsonl"
START = datetime(2026, 5, 20, 9, 0, tzinfo=UTC)


class Talk(NamedTuple):
    """A labelled conversation: turns of (speaker, text), and the turns that begin an episode."""

    id: str
    kind: str
    split: str
    turns: list[tuple[str, str]]
    boundaries: set[int]


def talks() -> list[Talk]:
    """All labelled conversations."""
    rows = [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
    return [
        Talk(row["id"], row["kind"], row["split"], [(who, text) for who, text in row["turns"]],
             set(row["boundaries"]))
        for row in rows
    ]  # fmt: skip


def by_rules(talk: Talk) -> set[int]:
    """The turns with which the rules begin an episode."""
    episodes = Episodes()
    for number, (speaker, text) in enumerate(talk.turns):
        at = START + timedelta(minutes=number)
        chunk = WorkChunk(str(number), str(number), "s", speaker, at, text, role=role_of(speaker))
        episodes.add(TurnSigns.of(chunk))
    # A turn that ends one episode and begins the next is in both.
    return {int(uids[0]) for _, uids in episodes.all()[1:]}


def every(size: int) -> Callable[[Talk], set[int]]:
    """A new episode every ``size`` turns."""
    return lambda talk: set(range(size, len(talk.turns), size))


def window_diff(talk: Talk, found: set[int], k: int) -> float:
    """The share of windows of k turns in which the numbers of boundaries differ."""
    count = len(talk.turns)
    wrong = [
        len([b for b in talk.boundaries if at < b <= at + k])
        != len([b for b in found if at < b <= at + k])
        for at in range(count - k)
    ]
    return sum(wrong) / len(wrong)


def score(method: Callable[[Talk], set[int]], chosen: Sequence[Talk], k: int) -> dict[str, float]:
    """Precision, recall and F1 over all boundaries, and the mean WindowDiff."""
    found = [method(talk) for talk in chosen]
    right = sum(len(own & talk.boundaries) for own, talk in zip(found, chosen, strict=True))
    given, wanted = sum(map(len, found)), sum(len(talk.boundaries) for talk in chosen)
    precision, recall = right / given if given else 0.0, right / wanted
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    error = sum(window_diff(talk, own, k) for own, talk in zip(found, chosen, strict=True))
    values = {"precision": precision, "recall": recall, "f1": f1,
              "window_diff": error / len(chosen)}  # fmt: skip
    return {name: round(value, 3) for name, value in values.items()}


def measure() -> dict[str, Any]:
    """All figures, by method and part of the labels."""
    all_talks = talks()
    episodes = sum(len(talk.boundaries) + 1 for talk in all_talks)
    mean = sum(len(talk.turns) for talk in all_talks) / episodes
    methods: dict[str, Callable[[Talk], set[int]]] = {
        "rules": by_rules,
        f"every {round(mean)} turns": every(round(mean)),
        "no split": lambda _: set(),
    }
    parts = {
        "development": [talk for talk in all_talks if talk.split == "dev"],
        "test": [talk for talk in all_talks if talk.split == "test"],
        "held out": [talk for talk in all_talks if talk.split == "held-out"],
        "friends": [talk for talk in all_talks if talk.kind == "friends"],
        "friends, held out": [
            talk for talk in all_talks if (talk.kind, talk.split) == ("friends", "held-out")
        ],
        "assistants": [talk for talk in all_talks if talk.kind == "assistant"],
    }
    k = max(2, round(mean / 2))
    return {
        "conversations": len(all_talks),
        "boundaries": sum(len(talk.boundaries) for talk in all_talks),
        "mean_turns": round(mean, 2),
        "k": k,
        "figures": {
            name: {part: score(method, chosen, k) for part, chosen in parts.items()}
            for name, method in methods.items()
        },
    }


def lines(figures: dict[str, Any]) -> Iterable[str]:
    """The figures as a table."""
    yield f"{'method':16} {'part':18} precision recall    F1  WindowDiff"
    for method, parts in figures["figures"].items():
        for part, own in parts.items():
            yield (f"{method:16} {part:18} {own['precision']:9.3f} {own['recall']:6.3f} "
                   f"{own['f1']:5.3f} {own['window_diff']:11.3f}")  # fmt: skip


def main() -> None:
    """Print the figures, and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    figures = measure()
    print("\n".join(lines(figures)))
    if out is not None:
        out.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
