"""Whether a search knows that it has found nothing, and the weights of its confidence.

python -m bench.nothing_found --data DIR,DIR --embedders wordllama,fastembed:FOLDER
    [--keep FILE] --json FILE

Each DIR is a kind of talk, as bench/said.py describes. Each conversation is a space, and so are
the messages around the evidence of some of its questions. It is asked its own questions, those
of conversations of its own and of other kinds, and questions that no memory answers. A logistic
regression learns to tell the own ones of which one of the best 15 hits is evidence from the others;
all that is reported is of kinds that it was not learned on. "lost" is the share of these own
questions below the threshold, "let through" that of the others above it. What a threshold costs in
recall is the recall of the lost ones. Looks inside cognigraph on purpose.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bench import said
from bench.kept_vectors import embedder_for
from bench.measure import write
from cognigraph import Memory
from cognigraph.embed import Embedder
from cognigraph.operations.asking import answer_question
from cognigraph.retrieve.confidence import BIAS, FOUND, WEIGHTS, signals
from cognigraph.retrieve.plan import SearchRequest, rank_candidates
from cognigraph.retrieve.search import search
from cognigraph.settings import ContextSettings

NOBODY = """asdf qwer|qwertz uiop|lorem ipsum dolor sit amet|xyzzy plugh frobnicate|foo bar baz
Who won the 1998 world cup?|What is the capital of Mongolia?|How does photosynthesis work?
Explain quantum entanglement|When did the Roman Empire fall?|How many moons does Jupiter have?
What is the boiling point of mercury?|Who painted the ceiling of the Sistine Chapel?
What is the price of bitcoin?|Who is the president of Brazil?|Who wrote Crime and Punishment?
When did Bartholomew sell his submarine?|What is the name of the lighthouse keeper's parrot?
Wer gewann die Weltmeisterschaft 1998?|Was ist die Hauptstadt der Mongolei?
Wie funktioniert die Photosynthese?|Wie viele Monde hat der Jupiter?|Wann fiel das Römische Reich?
1998年世界杯冠军是谁？|蒙古的首都是哪里？|光合作用是怎么进行的？|木星有多少颗卫星？|罗马帝国是什么时候灭亡的？"""
NONSENSE = [item for line in NOBODY.splitlines() for item in line.split("|")]
THRESHOLDS = (0.02, 0.05, ContextSettings().floor, 0.15, 0.2, 0.4)
OWN, SAME, OTHER, SMALL = 110, 40, 60, 14
SIZES = (1, 3, 8, 20)
L2 = 1.0


@dataclass(frozen=True)
class Talk:
    """A conversation, its kind, and its questions with the ids of their evidence."""

    kind: str
    messages: list[dict[str, Any]]
    questions: list[tuple[str, set[str]]]


@dataclass(frozen=True)
class Asked:
    """The signals of one question; ``recall`` is that of the best 15, NaN for one of others."""

    kind: str
    embedder: str
    small: bool
    signals: list[float]
    recall: float


def talks(folder: Path) -> Iterator[Talk]:
    """Read the conversations of a folder; adversarial questions look like others and are left out.

    The name of a conversation is its kind where a folder holds several kinds or languages.
    """
    for talk in said.talks(folder):
        questions = [
            (question.text, set(question.evidence))
            for question in talk.questions
            if not (question.category == said.ADVERSARIAL and question.evidence)
        ]
        many = folder.name in ("kinds-dev", "languages-dev")
        yield Talk(talk.name if many else folder.name, talk.messages, questions)


def ask(
    memory: Memory, question: str, evidence: set[str], now: Any
) -> tuple[list[float], float] | None:
    """Return the signals of a question, and its recall; ``None`` if nothing could be found."""

    def answer(request: SearchRequest) -> tuple[list[float], float] | None:
        found = search(request, k=15)
        (query,) = found.queries
        ranking = rank_candidates(query.plan.request, query.plan.analysis, query.candidates)
        known = signals(query.candidates, query.plan.analysis, ranking)
        if known is None:  # a space of what tools said alone
            return None
        ids = {hit.id for hit in found.result}
        recall = len(ids & evidence) / len(evidence) if evidence else float("nan")
        return [known[name] for name in WEIGHTS], recall

    engine = memory._engine
    settings = engine.settings.search
    return answer_question(
        engine, "default", question, answer, now=now, as_of=None, settings=settings
    )


def collect(found: list[Talk], name: str, model: Embedder) -> Iterator[Asked]:
    """Ask all spaces all questions."""
    rng = random.Random(7)
    for talk in found:
        now = talk.messages[-1]["at"] + timedelta(days=1)
        own = [item for item in talk.questions if item[1]]
        own = rng.sample(own, min(OWN, len(own)))
        same = [q for item in found if item is not talk and item.kind == talk.kind
                for q, _ in item.questions]  # fmt: skip
        other = [q for item in found if item.kind != talk.kind for q, _ in item.questions]
        place = {message["id"]: index for index, message in enumerate(talk.messages)}
        spaces: list[tuple[list[dict[str, Any]], list[tuple[str, set[str]]]]] = []
        foreign = [*rng.sample(same, min(SAME, len(same))), *rng.sample(other, OTHER), *NONSENSE]
        spaces.append((talk.messages, [*own, *((q, set[str]()) for q in foreign)]))
        for number, (question, evidence) in enumerate(own[:SMALL]):
            size = SIZES[number % len(SIZES)]
            near = {
                index
                for id in evidence
                for index in range(place[id] - rng.randrange(size), place[id] + size)
            }
            few = [talk.messages[item] for item in sorted(near) if 0 <= item < len(place)]
            foreign = [*rng.sample(other, 4), *rng.sample(NONSENSE, 5)]
            spaces.append((few, [(question, evidence), *((q, set[str]()) for q in foreign)]))
        for messages, questions in spaces:
            with (
                tempfile.TemporaryDirectory() as folder,
                Memory(f"{folder}/m.db", embedder=model, enrich="manual") as memory,
            ):
                memory.add_many(messages)
                for question, evidence in questions:
                    found_here = ask(memory, question, evidence, now)
                    if found_here is not None:
                        yield Asked(talk.kind, name, messages is not talk.messages, *found_here)


def learned(values: np.ndarray, is_found: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights (f + 1,) of a logistic regression with an L2 penalty, the bias last."""
    mean, spread = values.mean(0), values.std(0) + 1e-9
    design = np.c_[(values - mean) / spread, np.ones(len(values))]
    penalty = L2 * np.eye(design.shape[1])
    penalty[-1, -1] = 0
    found = np.zeros(design.shape[1])

    def loss(at: np.ndarray) -> float:
        score = design @ at
        return float((weights * (np.logaddexp(0, score) - is_found * score)).sum()
                     + at @ penalty @ at / 2)  # fmt: skip

    for _ in range(50):
        chance = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (weights * (chance - is_found)) + penalty @ found
        curve = (design * (weights * chance * (1 - chance))[:, None]).T @ design + penalty
        step = np.linalg.solve(curve, slope)
        while loss(found - step) > loss(found) + 1e-9 and np.abs(step).max() > 1e-9:
            step /= 2
        found = found - step
    own = found[:-1] / spread
    return np.append(own, found[-1] - own @ mean)


def auc(found: np.ndarray, others: np.ndarray) -> float:
    """The probability that a found one has a higher value than another one."""
    less = (found[:, None] > others[None, :]).mean()
    return round(float(less + (found[:, None] == others[None, :]).mean() / 2), 3)


def report(asked: list[Asked]) -> dict[str, Any]:
    """Learn with each kind left out; return what thresholds let through and lose, and weights."""
    values = np.array([item.signals for item in asked])
    recall = np.array([item.recall for item in asked])
    is_own, is_found = ~np.isnan(recall), np.nan_to_num(recall) > 0
    usable = ~is_own | is_found
    kinds = np.array([item.kind for item in asked])
    groups = np.array([f"{item.kind} {item.embedder} {item.small}" for item in asked])
    small = np.array([item.small for item in asked])
    embedders = np.array([item.embedder for item in asked])
    weights = np.zeros(len(asked))
    for group in set(groups):
        for own in (True, False):
            rows = (groups == group) & (is_own == own) & usable
            if rows.any():
                weights[rows] = (0.4 if small[rows][0] else 1.0) / rows.sum()
    weights /= weights[usable].mean()
    score = np.zeros(len(asked))
    for kind in sorted(set(kinds)):
        known = usable & (kinds != kind)
        without = learned(values[known], is_found[known], weights[known])
        score[kinds == kind] = values[kinds == kind] @ without[:-1] + without[-1]
    sure = FOUND / (1 + np.exp(-score))
    last = learned(values[usable], is_found[usable], weights[usable])
    tables = {}
    for embedder in sorted(set(embedders)):
        for size in ("whole", "small"):
            chosen = (embedders == embedder) & (small == (size == "small"))
            for kind in [*sorted(set(kinds)), "all"]:
                rows = chosen & ((kinds == kind) | (kind == "all"))
                good, bad, mine = rows & is_found, rows & ~is_own, rows & is_own
                if good.any() and bad.any():
                    tables[f"{embedder}, {size}, {kind}"] = {
                        "answerable": int(mine.sum()), "not": int(bad.sum()),
                        "auc": auc(sure[good], sure[bad]),
                        "thresholds": {
                            f"{at:g}": {
                                "lost": round(float((sure[good] < at).mean()), 4),
                                "let_through": round(float((sure[bad] >= at).mean()), 3),
                                "recall_lost": round(float(
                                    np.where(sure[mine] < at, recall[mine], 0).mean()), 4),
                            }
                            for at in THRESHOLDS
                        },
                    }  # fmt: skip
    return {
        "kinds_left_out": tables,
        "learned": dict(zip([*WEIGHTS, "bias"], np.round(last, 2).tolist(), strict=True)),
        "shipped": {**WEIGHTS, "bias": BIAS},
    }


def main() -> None:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--embedders", default="wordllama")
    parser.add_argument("--keep", help="a file that keeps the vectors")
    parser.add_argument("--json", required=True)
    given = parser.parse_args()
    found = [talk for folder in given.data.split(",") for talk in talks(Path(folder))]
    asked = [
        item
        for name in given.embedders.split(",")
        for item in collect(found, name.partition(":")[0],
                           embedder_for(name, given.keep, questions=True))
    ]  # fmt: skip
    write(report(asked), given.json)


if __name__ == "__main__":
    main()
