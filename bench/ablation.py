"""Measure what each idea of the paper and each part of the default profile adds on real data.

python -m bench.ablation --data DIR --extraction none|rules|recorded
    --embedder wordllama|fastembed:FOLDER --k 15 --json FILE

    [--rows paper,no_session_layer,no_session_cut,no_decay,tk_0.2,released]

DIR has the layout that bench/said.py describes. Without --rows, all are measured. The conversations
are inserted and enriched once; then every question is asked with the settings of every row. A row
reports evidence recall@k with two 95 % bootstrap intervals (resampling questions within
conversations, and whole conversations), and the paired difference to its reference row, which is
the paper's profile, the paper's ranking of candidates from all sources, or the default profile.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.measure import machine, write
from bench.said import ADVERSARIAL, filled_space, talks
from cognigraph import LicoMemorySettings, SearchSettings
from cognigraph.embed import Embedder, resolve
from cognigraph.evaluate.metrics import bootstrap, rounded, score

PAPER = SearchSettings(ranking="licomemory")
WIDE = SearchSettings(ranking="licomemory", licomemory=LicoMemorySettings(candidates="wide"))
RELEASED = SearchSettings.licomemory_as_released()
DEFAULT = SearchSettings()


@dataclass(frozen=True)
class Row:
    """Settings to measure, and the key of the reference row."""

    what: str
    settings: SearchSettings
    against: str = "paper"


def paper(**changes: Any) -> SearchSettings:
    """Return settings for the paper's profile with some of its switches changed."""
    return replace(PAPER, licomemory=replace(PAPER.licomemory, **changes))


def wide(**changes: Any) -> SearchSettings:
    """Return settings for the paper's ranking of candidates from all sources."""
    return replace(WIDE, licomemory=replace(WIDE.licomemory, **changes))


def rows(names: str = "") -> dict[str, Row]:
    """Return rows by the key that the result file and bench/figures.py use.

    ``names`` are those wanted, with commas; the rows that they are compared with come along.
    """
    table = of_the_paper() | of_wide_candidates() | of_the_default()
    wanted = names.split(",") if names else list(table)
    if unknown := set(wanted) - set(table):
        raise SystemExit(f"no row {sorted(unknown)[0]!r}; there are {', '.join(table)}")
    wanted += [table[name].against for name in wanted]
    return {name: row for name, row in table.items() if name in wanted}


def of_the_paper() -> dict[str, Row]:
    """Return the rows about the profile ``licomemory`` as it is."""
    table = {
        "paper": Row("profile licomemory: candidates, equations and settings of the paper", PAPER),
        "no_session_layer": Row(
            "no session layer: S_s := S_t, triples of all sessions", replace(PAPER, sessions=False)
        ),
        "no_session_cut": Row(
            "no session cut: triples of all sessions, S_s as a score only",
            replace(PAPER, sessions_by_vector=RELEASED.sessions_by_vector),
        ),
        "released": Row(
            "profile licomemory with the settings of the authors' repository", RELEASED
        ),
        "no_time_keys": Row(
            "no temporal keys: times in the question match no session", paper(time_keys=False)
        ),
        "anchors_by_vectors": Row(
            "triples around the entities with the most similar names", paper(anchors="vectors")
        ),
        "triples_by_vector": Row(
            "triples by vector only, not by entity", replace(PAPER, triples_per_anchor=0)
        ),
        "triples_by_entity": Row("triples by entity only", replace(PAPER, triples_by_vector=0)),
        "no_structure": Row(
            "the paper's 'w/o structured retrieval': triples by vector, no session layer",
            replace(PAPER, sessions=False, triples_per_anchor=0),
        ),
        "arithmetic": Row("arithmetic instead of harmonic mean", paper(mean="arithmetic")),
        "no_decay": Row("no decay", replace(PAPER, decay=False)),
        "exponential": Row("exponential instead of Weibull (tk = 1)", exponent(1.0)),
    }
    for tk in (0.05, 0.2, 0.5):
        table[f"tk_{tk}"] = Row(f"tk = {tk}", exponent(tk))
    for scale in (0.25, 0.5, 2.0, 4.0):
        table[f"tau_{scale}"] = Row(f"tau = {scale} x median", paper(tau_scale=scale))
    return table


def of_wide_candidates() -> dict[str, Row]:
    """Return the rows about the paper's ranking where messages are found by themselves as well."""
    flat = replace(wide(hyperlinks=False), sessions=False)
    return {
        "wide": Row("the paper's ranking of candidates from all sources", WIDE),
        "wide_no_session_layer": Row(
            "no session layer: S_s := S_t", replace(WIDE, sessions=False), "wide"
        ),
        "no_hyperlinks": Row(
            "no hyperlinks: no triple leads to a chunk, each chunk stands for itself",
            wide(hyperlinks=False),
            "wide",
        ),
        "flat": Row("neither: the chunk's cosine times its decay", flat, "wide"),
        "flat_no_decay": Row(
            "neither, no decay: the chunk's cosine alone", replace(flat, decay=False), "wide"
        ),
        "bare_chunks_among": Row(
            "a chunk without triples competes as if it were one", wide(bare_chunks="among"), "wide"
        ),
        "wide_no_decay": Row("no decay", replace(WIDE, decay=False), "wide"),
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


def exponent(tk: float) -> SearchSettings:
    """Return settings for the paper's profile with another decay exponent tk."""
    return replace(PAPER, decay_exponent=tk)


class Remembering:
    """An embedder that embeds each text only once, because all rows ask the same questions."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.dimension = embedder.name, embedder.dimension
        self._texts: dict[tuple[str, ...], Any] = {}
        self._questions: dict[str, Any] = {}

    def embed(self, texts: Sequence[str]) -> Any:
        """Return the vectors of the texts."""
        key = tuple(texts)
        if key not in self._texts:
            self._texts[key] = self._embedder.embed(texts)
        return self._texts[key]

    def embed_query(self, text: str) -> Any:
        """Return the vector of a question."""
        if text not in self._questions:
            self._questions[text] = self._embedder.embed_query(text)
        return self._questions[text]


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
        with filled_space(talk, extraction, Remembering(resolve(embedder))) as space:
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
