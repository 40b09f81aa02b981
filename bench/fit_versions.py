"""Learn which messages are later versions of others, and measure that with the kind left out.

python -m bench.fit_versions KIND=FOLDER[:PATTERN] ... [--embedder wordllama] [--json FILE]
    [--write]

FOLDER is of the layout that ``bench/said.py`` describes; folders of one KIND are left out
together.
For each question that may ask how something is, the messages are gathered in the order in which
later versions are sought. A logistic regression then learns, of all pairs of an earlier and a later
message of one person, in which the later one has the present value and the earlier one an outdated
one (``outdated``). That an answer would fall behind another message weighs as much; what happens to
messages that are neither weighs little. ``--write`` puts the weights into ``retrieve/standing.py``,
learned on all kinds. Looks inside cognigraph on purpose.

``newest`` is the share of the questions on something that has changed in which the present value
comes before all outdated ones: without any order of versions, by the rule of similarity alone, and
with the learned weights. ``recall@5`` and ``first`` (whether an answer is the first message) are
those of all questions that may ask how something is.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from bench.kept_vectors import embedder_for
from bench.measure import write
from bench.said import Question, Talk, filled_space, talks
from cognigraph.embed import Embedder
from cognigraph.retrieve import results, standing
from cognigraph.retrieve.standing import (
    COMPARED,
    LIKELY,
    VERSION_DEPTH,
    VERSION_WEIGHTS,
    ComparedMessage,
)

WEIGHTS = Path(standing.__file__)
NEVER = 1e9
NEUTRAL, BEHIND = 0.1, 0.15
L2 = 1.0


@dataclass(frozen=True, eq=False)
class Asked:
    """A question with what was found: the messages in order, and which of them are which.

    ``pairs`` (p, 2) are the rows of earlier and later messages of one person, ``features`` (p, f)
    those of the pairs, ``target`` (p,) and ``weight`` (p,) what is learned of them.
    """

    found: Sequence[ComparedMessage]
    asks_state: bool
    ids: Sequence[str]
    evidence: frozenset[str]
    outdated: frozenset[str]
    pairs: np.ndarray
    features: np.ndarray
    target: np.ndarray
    weight: np.ndarray


def asked_of(talk: Talk, embedder: Embedder) -> Iterator[Asked]:
    """Ask the questions of a conversation that may ask how something is."""
    seen: list[tuple[Sequence[ComparedMessage], bool]] = []

    def unordered(found: Sequence[ComparedMessage], *, asks_state: bool) -> list[int]:
        seen.append((found, asks_state))
        return list(range(len(found)))

    by_text: dict[tuple[str, str], str] = {
        (str(message["session"]), message["text"].strip()): message["id"]
        for message in talk.messages
    }
    with (
        mock.patch.object(results, "later_versions_first", unordered),
        filled_space(talk, "none", embedder) as space,
    ):
        for question in talk.answerable:
            seen.clear()
            space.search(question.text, COMPARED, question.now)
            for found, asks_state in seen:
                ids = [by_text.get((item.session, item.text.strip()), "") for item in found]
                yield _with_pairs(question, found[:COMPARED], ids[:COMPARED], asks_state)


def _with_pairs(
    question: Question, found: Sequence[ComparedMessage], ids: Sequence[str], asks_state: bool
) -> Asked:
    similarity = standing._similarities(found)
    between = standing.messages_between(found, similarity)
    features = standing.version_features(found, between, similarity[1])
    pairs = np.array(
        [
            (old, new)
            for new in range(min(VERSION_DEPTH, len(found)))
            for old in range(new)
            if standing._is_later(found[new], found[old])
        ],
        np.int64,
    ).reshape(-1, 2)
    outdated = question.outdated - question.evidence
    told = [_told(ids[old], ids[new], question.evidence, outdated) for old, new in pairs.tolist()]
    target, weight = np.array(told, float).reshape(-1, 2).T
    counted = max(float((weight > 0).sum()), 1.0)
    return Asked(
        found, asks_state, ids, question.evidence, outdated, pairs,
        features[pairs[:, 0], pairs[:, 1]], target, weight / np.sqrt(counted),
    )  # fmt: skip


def _told(
    old: str, new: str, evidence: frozenset[str], outdated: frozenset[str]
) -> tuple[float, float]:
    """What is to be learned of a pair, and how much it counts."""
    if old in outdated:
        return (1.0, 1.0) if new in evidence else (0.0, BEHIND)
    if old in evidence:
        return (0.0, 0.0) if new in evidence else (0.0, 1.0)
    return float(new in evidence), NEUTRAL


def learn(asked: Sequence[Asked]) -> np.ndarray:
    """Return the weights (f,) of a logistic regression (Newton), the first one not penalised."""
    x = np.concatenate([each.features for each in asked])
    y = np.concatenate([each.target for each in asked])
    counts = np.concatenate([each.weight for each in asked])
    penalty = L2 * (np.arange(x.shape[1]) > 0)
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (counts * (p - y)) + penalty * weights
        curvature = (x * (counts * p * (1 - p))[:, None]).T @ x + np.diag(penalty + 1e-6)
        step = np.linalg.solve(curvature, gradient)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return weights


def order(each: Asked, weights: np.ndarray | None, likely: float = LIKELY) -> list[int]:
    """Return the order of the messages with some weights; ``None`` for the similarity alone."""
    names = list(VERSION_WEIGHTS)
    values = [0.0] * len(names) if weights is None else weights.tolist()
    least = NEVER if weights is None else likely
    chosen = dict(zip(names, values, strict=True))
    with (
        mock.patch.object(standing, "VERSION_WEIGHTS", chosen),
        mock.patch.object(standing, "LIKELY", least),
    ):
        return standing.later_versions_first(each.found, asks_state=each.asks_state)


def figures(asked: Sequence[Asked], orders: Sequence[Sequence[int]]) -> dict[str, float]:
    """Return the shares for questions whose messages are in some order."""
    newest, recall, first = [], [], []
    for each, own in zip(asked, orders, strict=True):
        ids = [each.ids[row] for row in own]
        ranks = {id: rank for rank, id in reversed([*enumerate(ids)])}
        best, old = (
            min((ranks[id] for id in wanted if id in ranks), default=COMPARED)
            for wanted in (each.evidence, each.outdated)
        )
        if each.outdated:
            newest.append(best < old)
        recall.append(len(each.evidence.intersection(ids[:5])) / len(each.evidence))
        first.append(best == 0)
    return {
        **({"changed": len(newest), "newest": round(float(np.mean(newest)), 3)} if newest else {}),
        "recall@5": round(float(np.mean(recall)), 3),
        "first": round(float(np.mean(first)), 3),
    }


def report(by_kind: dict[str, list[Asked]]) -> dict[str, Any]:
    """Return the weights of all kinds, and the figures of each with weights of the others."""
    rows = {}
    for kind, own in by_kind.items():
        others = [each for name, asked in by_kind.items() if name != kind for each in asked]
        learned = learn(others)
        rows[kind] = {
            "questions": len(own),
            "unordered": figures(own, [range(len(each.found)) for each in own]),
            "similarity": figures(own, [order(each, None) for each in own]),
            "kind left out": figures(own, [order(each, learned) for each in own]),
        }
    weights = learn([each for asked in by_kind.values() for each in asked])
    named = dict(zip(VERSION_WEIGHTS, np.round(weights, 2).tolist(), strict=True))
    return {"weights": named, "likely": LIKELY, "kinds": rows}


def with_weights(source: str, weights: dict[str, float]) -> str:
    """Return the source of retrieve/standing.py with these weights."""
    text = ", ".join(f'"{name}": {value}' for name, value in weights.items())
    lines = re.sub(r"(.{60,90}?), ", r"\1,\n    ", text)
    made, found = re.subn(
        r"(?s)(VERSION_WEIGHTS = \{\n).*?(\n\})", rf"\g<1>    {lines},\g<2>", source, count=1
    )
    if not found:
        raise ValueError(f"VERSION_WEIGHTS is not in {WEIGHTS}")
    return made


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="+", metavar="KIND=FOLDER[:PATTERN]")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--write", action="store_true", help="into retrieve/standing.py")
    arguments = parser.parse_args()
    embedder = embedder_for(arguments.embedder, None)
    by_kind: dict[str, list[Asked]] = defaultdict(list)
    for item in arguments.data:
        kind, _, place = item.partition("=")
        folder, _, pattern = place.partition(":")
        for talk in talks(Path(folder), pattern or "*"):
            by_kind[kind] += asked_of(talk, embedder)
    result = report(by_kind)
    write(result, arguments.json)
    if arguments.write:
        WEIGHTS.write_text(with_weights(WEIGHTS.read_text("utf-8"), result["weights"]), "utf-8")


if __name__ == "__main__":
    main()
