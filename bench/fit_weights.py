"""Learn the weights of the default profile's signals, and cross-validate them.

python bench/fit_weights.py --data DIR --embedders wordllama,fastembed:FOLDER --json FILE

For every question the candidates' scaled signals are gathered once; a listwise softmax with an L2
penalty then learns one weight vector for all embedders, and what to add to it where a question
asks for a list. The recall it reports is cross-validated:
each conversation is ranked with weights learned on the others. Looks inside cognigraph on purpose.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from measure import write
from recall import CATEGORIES, turns

from cognigraph import Memory
from cognigraph.ingest import RecordedExtractor, RulesExtractor
from cognigraph.retrieve.candidate_search import candidate_query
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.retrieve.rank.features import ABSOLUTE, chunk_features, scaled

SIGNALS = {
    "plain": ["vector", "window vector", "window words", "similar words", "window similar words",
              "session best", "speaker named", "asks", "answers", "length", "names", "answer form",
              "time"],
    "rules": ["vector", "window vector", "window words", "similar words", "window similar words",
              "session best", "theme", "theme words", "speaker named", "asks", "answers", "length",
              "names", "answer form", "triple", "second triple", "time"],
}  # fmt: skip
SIGNALS["model"] = SIGNALS["rules"]
EXTRACTIONS = {"plain": "none", "rules": "rules", "model": "recorded"}
L2 = 3.0


@dataclass
class Question:
    """One question's candidates: signals (n, 2 f), which are evidence, and how many there are.

    The second half of the signals repeats the first for a question that asks for a list.
    """

    conversation: str
    embedder: str
    category: str
    signals: np.ndarray
    evidence: np.ndarray
    wanted: int


def collect(data: Path, embedder: str, extraction: str, names: list[str]) -> list[Question]:
    """Gather the candidates of all questions of all conversations."""
    questions: list[Question] = []
    for file in sorted((data / "conversations").glob("*.json")):
        messages = list(turns(json.loads(file.read_text("utf-8"))))
        recording = data / "extractions" / file.name
        recorded = extraction == "recorded"
        extractor = RecordedExtractor.from_file(recording) if recorded else RulesExtractor()
        with (
            tempfile.TemporaryDirectory() as folder,
            Memory(f"{folder}/m.db", embedder=embedder, extractor=extractor, enrich="manual") as m,
        ):
            m.add_many(messages)
            if extraction != "none":
                m.flush(timeout=600)
            asked = json.loads((data / "qa" / f"{file.stem}.qa.json").read_text("utf-8"))["qa"]
            known = {message["id"] for message in messages}
            now = messages[-1]["at"] + timedelta(days=1)
            for item in asked:
                evidence = set(re.findall(r"D\d+:\d+", " ".join(item["evidence"]))) & known
                if evidence:
                    signals, is_evidence = candidates(m, item["question"], now, evidence, names)
                    questions.append(
                        Question(file.stem, embedder, CATEGORIES[item["category"]], signals,
                                 is_evidence, len(evidence))
                    )  # fmt: skip
    return questions


def candidates(
    memory: Memory, question: str, now: datetime, evidence: set[str], names: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scaled signals of each candidate, and whether it is evidence."""
    engine = memory._engine
    settings = engine.settings.search
    analysis = analyse(question, now)
    found = engine.store.search.candidates(
        "default", candidate_query(analysis, engine.embedder, settings)
    )
    raw = chunk_features(found, analysis, settings)
    n = len(found.chunks.uids)
    columns = [
        np.zeros(n) if name not in raw else raw[name] if name in ABSOLUTE else scaled(raw[name])
        for name in names
    ]
    records = engine.store.search.chunks("default", found.chunks.uids)
    is_evidence = np.array([records[uid].message_id in evidence for uid in found.chunks.uids])
    signals = np.stack(columns, axis=1)
    return np.concatenate([signals, signals * analysis.enumerates], axis=1), is_evidence


def fit(questions: list[Question], most_steps: int = 30) -> np.ndarray:
    """Return weights that maximise the evidence's mean log softmax minus an L2 penalty (Newton)."""
    usable = [q for q in questions if q.evidence.any()]
    x = np.concatenate([q.signals for q in usable]).astype(np.float32)
    sizes = np.array([len(q.signals) for q in usable])
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    target = np.concatenate([q.evidence / q.evidence.sum() for q in usable]).astype(np.float32)
    w = np.zeros(x.shape[1])
    for _ in range(most_steps):
        logits = x @ w.astype(np.float32)
        logits -= np.repeat(np.maximum.reduceat(logits, starts), sizes)
        p = np.exp(logits)
        p /= np.repeat(np.add.reduceat(p, starts), sizes)
        weighed = x * p[:, None]
        means = np.add.reduceat(weighed, starts)
        gradient = x.T @ (p - target) + L2 * w
        step = np.linalg.solve(weighed.T @ x - means.T @ means + L2 * np.eye(len(w)), gradient)
        w = w - step * min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-9))
        if np.abs(step).max() < 1e-3:
            break
    return w


def recall(questions: list[Question], weights: np.ndarray, k: int = 15) -> dict[str, list[float]]:
    """Return the recall of each question, by category."""
    scores: dict[str, list[float]] = defaultdict(list)
    for q in questions:
        first = np.argsort(-(q.signals @ weights), kind="stable")[:k]
        scores[q.category].append(float(q.evidence[first].sum() / q.wanted))
    return scores


def summary(scores: dict[str, list[float]]) -> dict[str, float]:
    """Means: all, without adversarial, multi-hop."""
    plain = [s for name, values in scores.items() if name != "adversarial" for s in values]
    everything = [s for values in scores.values() for s in values]
    means = {"all": everything, "no_adversarial": plain, "multi_hop": scores["multi-hop"]}
    return {name: round(float(np.mean(values)), 4) for name, values in means.items()}


def by_name(names: list[str], weights: np.ndarray) -> dict[str, float]:
    """Return the weights by signal, as they are written in retrieve/rank/weights.py."""
    rounded = {name: round(float(w), 1) for name, w in zip(names, weights, strict=True)}
    return {name: weight for name, weight in rounded.items() if weight}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--embedders", default="wordllama")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    result: dict[str, Any] = {}
    for setting, names in SIGNALS.items():
        questions = [
            question
            for embedder in arguments.embedders.split(",")
            for question in collect(Path(arguments.data), embedder, EXTRACTIONS[setting], names)
        ]
        held_out: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for conversation in sorted({q.conversation for q in questions}):
            weights = fit([q for q in questions if q.conversation != conversation])
            for embedder in {q.embedder for q in questions}:
                rest = [
                    q for q in questions
                    if q.conversation == conversation and q.embedder == embedder
                ]  # fmt: skip
                for category, values in recall(rest, weights).items():
                    held_out[embedder][category] += values
        weights = fit(questions)
        result[setting] = {
            "weights": by_name(names, weights[: len(names)]),
            "lists": by_name(names, weights[len(names) :]),
            "cross_validated": {
                embedder.split("/")[-1]: summary(scores)
                for embedder, scores in sorted(held_out.items())
            },
        }
    write(result, arguments.json)


if __name__ == "__main__":
    main()
