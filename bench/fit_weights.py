"""Learn the weights of the default profile's signals, and cross-validate them.

python -m bench.fit_weights --data DIR,DIR --embedders wordllama,fastembed:FOLDER
    --keep FOLDER --json FILE

Each DIR holds one kind of talk. For every question the candidates' scaled signals are gathered
once; a listwise softmax with an L2 penalty then learns one weight vector for all embedders, and
what to add to it where a question asks for a list. Both are learned where messages are short. What
to add where they are long is learned there, with another L2 penalty on the change, so that turns
("asks", "answers") weigh nothing there; then, with all these weights fixed, what a better hit in
the same session costs where a question asks for a list.
The recall it reports is cross-validated twice: each conversation is ranked with weights learned on
the others, and each kind of talk with weights learned on the other kind (with ``--only-long``, with
the shipped weights and no changes). As in a search, corrections precede what they correct, and
newer messages older ones where a question asks how things are. Beside it stand the cosine alone and
the sum of the scaled cosine and BM25. ``--write`` puts the weights into
``retrieve/rank/ranking.py``. Looks inside cognigraph on purpose.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.measure import write
from bench.signals import Question, gathered
from cognigraph.retrieve.rank.profiles import session_ranks
from cognigraph.retrieve.rank.ranking import WEIGHT_SETS, WeightSet
from cognigraph.retrieve.rank.signals import lifts

SIGNALS = {
    "plain": ["vector", "window vector", "window words", "similar words", "window similar words",
              "session best", "speaker named", "asks", "answers", "length", "names", "answer form",
              "user", "user vector", "assistant asked", "wish", "contextual vector", "time"],
    "model": ["vector", "window vector", "window words", "similar words", "window similar words",
              "session best", "theme", "theme words", "speaker named", "asks", "answers", "length",
              "names", "answer form", "user", "user vector", "assistant asked", "wish",
              "contextual vector", "triple", "second triple", "time"],
}  # fmt: skip
SIGNALS["model"] += ["counterpart vector", "counterpart triple"]
TURNS = ["asks", "answers"]
"""Signals that are left out where messages are long: there the roles tell more."""
EXTRACTIONS = {"plain": "none", "model": "recorded"}
WEIGHTS = Path(__file__).parents[1] / "retrieve" / "rank" / "ranking.py"
ARGUMENTS = {"weights": "weights", "lists": "list_changes", "long": "long_changes"}
L2 = 3.0
L2_OF_CHANGES = 0.5
L2_OF_RANK = 0.5


class Learned(NamedTuple):
    """Weights (f,) by signal, and their changes for lists and for long messages.

    ``session_rank`` is the weight of that signal, for lists where messages are long.
    """

    weights: np.ndarray
    lists: np.ndarray
    long: np.ndarray
    session_rank: float = 0.0

    def scores(self, question: Question) -> np.ndarray:
        """Score the candidates (n,) of a question, as the default profile does."""
        scores = self.first_scores(question)
        if question.enumerates:
            ranks = session_ranks(scores, question.sessions)
            scores = scores + question.long * self.session_rank * ranks
        return np.asarray(scores + lifts(scores, question.corrected))

    def first_scores(self, question: Question) -> np.ndarray:
        """Score the candidates (n,) by the signals that need no scores."""
        own, if_list = np.hsplit(question.signals, 2)
        changed = own @ self.weights + question.long * (own @ self.long)
        return np.asarray(changed + (1 - question.long) * (if_list @ self.lists))

    def by_name(self, names: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the weights by signal, rounded as in retrieve/rank/ranking.py, without zeros."""
        parts = {"weights": self.weights, "lists": self.lists, "long": self.long}
        found = {
            part: {
                name: round(float(weight), 1)
                for name, weight in zip(names, values, strict=True)
                if abs(weight) >= 0.05
            }
            for part, values in parts.items()
        }
        if self.session_rank:
            found["long"]["session rank"] = round(self.session_rank, 1)
        return found


class Learner:
    """Learns weights of many sets of questions that overlap, each from those of all questions.

    With ``shipped`` weights, only what changes where messages are long is learned.

    Leaving some questions out changes the weights little, so few steps lead to the new ones; and
    while the same questions about short messages are left, their weights are the same.
    """

    def __init__(self, names: list[str], shipped: WeightSet | None = None) -> None:
        self._names = names
        self._shipped = shipped
        self._first: dict[str, np.ndarray] = {}
        self._short: dict[tuple[str, ...], np.ndarray] = {}

    def learn(self, questions: Sequence[Question]) -> Learned:
        """Learn weights where messages are short, then what changes where they are long.

        Where there is one kind only, its weights serve both.
        """
        short, long = [[q for q in questions if (q.long > 0) is yes] for yes in (False, True)]
        weights, lists = np.split(self._weights(short or long), 2)
        learned = Learned(weights, lists, np.zeros(len(self._names)))
        if not long or not (short or self._shipped):
            return learned
        turns = np.isin(self._names, TURNS)
        learned = learned._replace(long=np.where(turns, -weights, 0.0))
        own = [q.signals[:, : len(self._names)] * ~turns * q.long for q in long]
        scores = [learned.first_scores(q) for q in long]
        changes = fit(long, own, L2_OF_CHANGES, scores, start=self._first.get("changes"))
        self._first.setdefault("changes", changes)
        learned = learned._replace(long=learned.long + changes)
        listed = [q for q in long if q.enumerates]
        return learned._replace(session_rank=rank_weight(learned, listed))

    def _weights(self, questions: Sequence[Question]) -> np.ndarray:
        if self._shipped is not None:
            parts = (self._shipped.weights, self._shipped.list_changes)
            return np.array([part.get(name, 0.0) for part in parts for name in self._names])
        conversations = tuple(sorted({f"{q.kind}/{q.conversation}" for q in questions}))
        if conversations not in self._short:
            signals = [q.signals for q in questions]
            start = self._first.get("weights")
            self._short[conversations] = fit(questions, signals, L2, start=start)
            self._first.setdefault("weights", self._short[conversations])
        return self._short[conversations]


def rank_weight(learned: Learned, questions: Sequence[Question]) -> float:
    """Learn what a better hit in the same session costs, with the other weights fixed."""
    if not any(q.evidence.any() for q in questions):
        return 0.0
    scores = [learned.first_scores(q) for q in questions]
    ranks = [
        q.long * session_ranks(each, q.sessions)[:, None]
        for q, each in zip(questions, scores, strict=True)
    ]
    return float(fit(questions, ranks, L2_OF_RANK, scores)[0])


def fit(
    questions: Sequence[Question],
    signals: Sequence[np.ndarray],
    penalty: float,
    offsets: Sequence[np.ndarray] | None = None,
    start: np.ndarray | None = None,
    most_steps: int = 30,
) -> np.ndarray:
    """Return weights that maximise the evidence's mean log softmax minus an L2 penalty (Newton).

    ``signals`` (n, f) and ``offsets`` (n,), which are added to the scores, are by question. The
    weights are unique, wherever the search for them starts.
    """
    usable = [row for row, q in enumerate(questions) if q.evidence.any()]
    x = np.concatenate([signals[row] for row in usable]).astype(np.float32)
    sizes = np.array([len(signals[row]) for row in usable])
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    evidence = [questions[row].evidence for row in usable]
    target = np.concatenate([each / each.sum() for each in evidence]).astype(np.float32)
    offset = np.concatenate([offsets[row] for row in usable]) if offsets else np.zeros(len(x))
    w = np.zeros(x.shape[1]) if start is None else start.copy()
    for _ in range(most_steps):
        logits = (x @ w + offset).astype(np.float32)
        logits -= np.repeat(np.maximum.reduceat(logits, starts), sizes)
        p = np.exp(logits)
        p /= np.repeat(np.add.reduceat(p, starts), sizes)
        weighed = x * p[:, None]
        means = np.add.reduceat(weighed, starts)
        gradient = x.T @ (p - target) + penalty * w
        curvature = weighed.T @ x - means.T @ means + penalty * np.eye(len(w))
        step = np.linalg.solve(curvature, gradient)
        w = w - step * min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-9))
        if np.abs(step).max() < 1e-3:
            break
    return w


def recall(question: Question, scores: np.ndarray, k: int = 15) -> float:
    """Return the share of the evidence among the first ``k`` messages of a search."""
    first = question.best_first(scores)[:k]
    return float(question.evidence[first].sum() / question.wanted)


Figures = dict[str, dict[str, dict[str, list[float]]]]
"""Recall of each question, by kind of talk, by embedder and by category."""


def cross_validated(
    questions: Sequence[Question], learner: Learner, part: Callable[[Question], str]
) -> Figures:
    """Rank the questions of each part with weights learned on the other parts."""
    figures: Figures = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for held_out in sorted({part(q) for q in questions}):
        learned = learner.learn([q for q in questions if part(q) != held_out])
        for q in questions:
            if part(q) == held_out:
                share = recall(q, learned.scores(q))
                figures[q.kind][q.embedder.split("/")[-1]][q.category].append(share)
    return figures


def baselines(questions: Sequence[Question], name: str) -> Figures:
    """Rank all questions by a simple ranking, which leaves time alone."""
    figures: Figures = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for q in questions:
        share = recall(replace(q, states=None), q.baselines[name])
        figures[q.kind][q.embedder.split("/")[-1]][q.category].append(share)
    return figures


def summary(figures: Figures) -> dict[str, Any]:
    """Return means by kind and embedder: of all questions, without adversarial, by category."""

    def means(scores: dict[str, list[float]]) -> dict[str, Any]:
        plain = [s for name, values in scores.items() if name != "adversarial" for s in values]
        everything = [s for values in scores.values() for s in values]
        return {
            "all": round(float(np.mean(everything)), 4),
            "no_adversarial": round(float(np.mean(plain)), 4),
            "by_category": {
                name: round(float(np.mean(values)), 4) for name, values in sorted(scores.items())
            },
        }

    return {
        kind: {embedder: means(scores) for embedder, scores in sorted(by_embedder.items())}
        for kind, by_embedder in sorted(figures.items())
    }


def report(
    questions: Sequence[Question], names: list[str], shipped: WeightSet | None = None
) -> dict[str, Any]:
    """Return the weights learned on everything, and the figures of cross-validation."""
    learner = Learner(names, shipped)
    learned = learner.learn(questions)
    result: dict[str, Any] = {
        **learned.by_name(names),
        "cross_validated": summary(cross_validated(questions, learner, lambda q: q.conversation)),
    }
    if len({q.kind for q in questions}) > 1 or shipped is not None:
        left_out = cross_validated(questions, learner, lambda q: q.kind)
        result["kind_left_out"] = summary(left_out)
    result["baselines"] = {
        name: summary(baselines(questions, name)) for name in questions[0].baselines
    }
    return result


def with_weights(source: str, result: dict[str, Any]) -> str:
    """Return the source of retrieve/rank/ranking.py with the learned weights in its three sets."""
    for name, learned in result.items():
        for part, argument in ARGUMENTS.items():
            lines = "".join(f'        "{k}": {v},\n' for k, v in learned[part].items())
            pattern = rf'(name="{name}",.*?{argument}=\{{\n)[^}}]*?(    \}},\n)'
            source, found = re.subn(pattern, rf"\g<1>{lines}\g<2>", source, count=1, flags=re.S)
            if not found:
                raise ValueError(f"{argument} of the set {name!r} is not in {WEIGHTS}")
    return source


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the old figures with those that were measured anew; learned weights are replaced."""
    return {
        **old,
        **{
            name: merged(old[name], value)
            if isinstance(value, dict) and name in old and name not in ARGUMENTS
            else value
            for name, value in new.items()
        },
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folders, one for each kind of talk")
    parser.add_argument("--embedders", default="wordllama")
    parser.add_argument("--keep", help="a folder for vectors and signals, for the next run")
    parser.add_argument(
        "--only-long", action="store_true",
        help="learn on long messages only, what to add to the shipped weights",
    )  # fmt: skip
    parser.add_argument("--json", help="with --only-long, other figures in it are kept")
    parser.add_argument("--write", action="store_true", help="into retrieve/rank/ranking.py")
    arguments = parser.parse_args()
    keep = Path(arguments.keep) if arguments.keep else None
    result: dict[str, Any] = {}
    for setting, names in SIGNALS.items():
        questions = [
            question
            for embedder in arguments.embedders.split(",")
            for data in arguments.data.split(",")
            for question in gathered(Path(data), embedder, EXTRACTIONS[setting], names, keep)
        ]
        shipped = WEIGHT_SETS[setting] if arguments.only_long else None
        result[setting] = report(questions, names, shipped)
    if arguments.only_long and arguments.json and Path(arguments.json).exists():
        result = merged(json.loads(Path(arguments.json).read_text("utf-8")), result)
    write(result, arguments.json)
    if arguments.write:
        WEIGHTS.write_text(with_weights(WEIGHTS.read_text("utf-8"), result), "utf-8")


if __name__ == "__main__":
    main()
