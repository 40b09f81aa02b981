"""Measure what each idea of the paper and each part of the default profile adds on real data.

python -m bench.ablation --data DIR --extraction none|rules|recorded
    --embedder wordllama|fastembed:FOLDER --k 15 --json FILE

    [--rows paper,no_decay,default]

DIR has the layout that bench/said.py describes. Without --rows, all are measured. The conversations
are inserted and enriched once; then every question is asked with the settings of every row. A row
reports evidence recall@k with two 95 % bootstrap intervals (resampling questions within
conversations, and whole conversations), and the paired difference to its reference row, which is
the paper's profile or the default profile.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.measure import machine, write
from bench.said import ADVERSARIAL, filled_space, talks
from cognigraph import SearchSettings
from cognigraph.embed import resolve
from cognigraph.evaluate.metrics import bootstrap, rounded, score

PAPER = SearchSettings(ranking="licomemory")
RELEASED = SearchSettings.licomemory_as_released()
DEFAULT = SearchSettings()


@dataclass(frozen=True)
class Row:
    """Settings to measure, and the key of the reference row."""

    what: str
    settings: SearchSettings
    against: str = "paper"


def rows(names: str = "") -> dict[str, Row]:
    """Return rows by the key that the result file and bench/figures.py use.

    ``names`` are those wanted, with commas; the rows that they are compared with come along.
    """
    table = of_the_paper() | of_the_default()
    wanted = names.split(",") if names else list(table)
    if unknown := set(wanted) - set(table):
        raise SystemExit(f"no row {sorted(unknown)[0]!r}; there are {', '.join(table)}")
    wanted += [table[name].against for name in wanted]
    return {name: row for name, row in table.items() if name in wanted}


def of_the_paper() -> dict[str, Row]:
    """Return the rows about the profile ``licomemory`` as it is."""
    return {
        "paper": Row("profile licomemory: candidates, equations and settings of the paper", PAPER),
        "no_session_layer": Row(
            "no session layer: S_s := S_t, triples of all sessions", replace(PAPER, sessions=False)
        ),
        "no_session_cut": Row(
            "no session cut: triples of all sessions, S_s as a score only",
            replace(PAPER, sessions_by_vector=RELEASED.sessions_by_vector),
        ),
        "no_decay": Row("no decay", replace(PAPER, decay=False)),
        "tk_0.2": Row("tk = 0.2", replace(PAPER, decay_exponent=0.2)),
        "released": Row(
            "profile licomemory with the settings of the authors' repository", RELEASED
        ),
    }


def of_the_default() -> dict[str, Row]:
    """Return the rows about the default profile."""
    table = {"default": Row("profile default", DEFAULT, against="paper")}
    parts = (
        "windows",
        "late_interaction",
        "sessions",
        "triples",
        "cues",
        "time_cue",
        "decay",
    )
    for part in parts:
        off = replace(DEFAULT, **{part: False})
        table[f"default_no_{part}"] = Row(f"default without {part}", off, against="default")
    table["default_full_decay"] = Row(
        "default with the paper's full decay", replace(DEFAULT, decay_strength=1.0), "default"
    )
    return table


@dataclass(frozen=True)
class Asked:
    """The recall of one question with the settings of one row."""

    conversation: str
    category: str
    recall: float


def ask(
    data: Path, embedder: str, extraction: str, k: int, table: dict[str, Row]
) -> dict[str, list[Asked]]:
    """Ask every question of every conversation with the settings of every row."""
    answers: dict[str, list[Asked]] = defaultdict(list)
    for talk in talks(data):
        with filled_space(talk, extraction, resolve(embedder)) as space:
            for question in talk.answerable:
                for key, row in table.items():
                    hits = space.search(question.text, k, question.now, settings=row.settings)
                    share = score([hit.id for hit in hits], question.evidence, k).recall
                    answers[key].append(Asked(talk.name, question.category, share))
    return answers


def groups(asked: list[Asked], shares: list[float], plain: bool) -> list[list[float]]:
    """Group values by conversation; ``plain`` leaves out the adversarial questions."""
    found: dict[str, list[float]] = defaultdict(list)
    for question, share in zip(asked, shares, strict=True):
        if not (plain and question.category == ADVERSARIAL):
            found[question.conversation].append(share)
    return list(found.values())


def both(asked: list[Asked], shares: list[float]) -> dict[str, Any]:
    """Return means with intervals, over all questions and over all but the adversarial ones."""
    return {
        name: rounded(bootstrap(groups(asked, shares, plain)))
        for name, plain in (("all", False), ("no_adversarial", True))
    }


def report(row: Row, asked: list[Asked], reference: list[Asked]) -> dict[str, Any]:
    """Return the figures of one row."""
    shares = [question.recall for question in asked]
    by_category: dict[str, list[float]] = defaultdict(list)
    by_conversation: dict[str, list[float]] = defaultdict(list)
    for question in asked:
        by_category[question.category].append(question.recall)
        by_conversation[question.conversation].append(question.recall)
    by_difference: dict[str, list[float]] = defaultdict(list)
    differences = [mine.recall - other.recall for mine, other in zip(asked, reference, strict=True)]
    for question, difference in zip(asked, differences, strict=True):
        by_difference[question.conversation].append(difference)
    return {
        "what": row.what,
        "recall": both(asked, shares),
        "by_category": {name: rounded(bootstrap([v]))["mean"] for name, v in by_category.items()},
        "by_conversation": each(by_conversation),
        "difference": {
            "to": row.against,
            **both(asked, differences),
            "by_conversation": each(by_difference),
        },
    }


def each(values: dict[str, list[float]]) -> dict[str, Any]:
    """Return the mean and interval of each conversation."""
    found = {name: rounded(bootstrap([own])) for name, own in values.items()}
    return {name: {"mean": f["mean"], "interval": f["interval"]} for name, f in found.items()}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="")
    parser.add_argument("--extraction", choices=["none", "rules", "recorded"], default="recorded")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--k", type=int, default=15)
    parser.add_argument("--rows", default="", metavar="NAME,NAME")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    chosen = rows(arguments.rows)
    answers = ask(
        Path(arguments.data), arguments.embedder, arguments.extraction, arguments.k, chosen
    )
    table = {key: report(row, answers[key], answers[row.against]) for key, row in chosen.items()}
    result = {
        "extraction": arguments.extraction,
        "embedder": arguments.embedder.split("/")[-1],
        "k": arguments.k,
        "questions": len(next(iter(answers.values()))),
        "machine": machine(),
        "rows": table,
    }
    write(result, arguments.json)


if __name__ == "__main__":
    main()
