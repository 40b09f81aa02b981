"""Learn what makes a fact of the rules worth keeping, and cross-validate it.

python bench/fit_worth.py --data DIR:NAME+NAME,DIR:NAME+NAME --json FILE
    --least WORTH --write

Each conversation is read with the rules, nothing left out. The facts that have a verdict
(``labels/derived.jsonl``), and those of the sample conversation that match a label
(``labels/facts.jsonl``), are described by the signs of ``ingest/rules/worth.py``. A logistic
regression with an L2 penalty then learns the weight of each sign. Each conversation is judged with
weights learned on the others, and each kind of talk with weights learned on the other kind; the
sample, on which the rules were developed, is always learned from. ``--write`` puts the weights into
``ingest/rules/worth.py``. Looks inside cognigraph on purpose.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from derived import VERDICTS, digest, read
from measure import write
from precision import read_sample, sample_chunks
from recall import turns

from cognigraph import Memory, Triple
from cognigraph.english.sentences import Token, sentences
from cognigraph.ingest.extraction import Fact
from cognigraph.ingest.rules import worth
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.statement import Statement

MODULE = Path(__file__).parents[1] / "ingest" / "rules" / "worth.py"
SAMPLE = "sample"
SAMPLE_WEIGHT = 3.0
"""All its facts are right, so they only say what must not be lost."""
L2 = 5.0


class Judged(NamedTuple):
    """A fact with its verdict. ``certain`` facts count whatever their worth."""

    conversation: str
    kind: str
    signs: list[str]
    certain: bool
    useful: bool


def of_conversations(folder: Path, names: Sequence[str]) -> Iterator[Judged]:
    """Yield the facts of some conversations that have a verdict."""
    rows = map(json.loads, VERDICTS.read_text("utf-8").splitlines())
    verdicts = {row["triple"]: row["verdict"] for row in rows}
    for name in names:
        path = folder / "conversations" / f"{name}.json"
        messages = list(turns(json.loads(path.read_text("utf-8"))))
        by_id = {message["id"]: message for message in messages}
        speakers = {message["speaker"] for message in messages}
        extractor = RulesExtractor(least_worth=worth.EVERYTHING)
        with (
            tempfile.TemporaryDirectory() as temporary,
            Memory(f"{temporary}/x.db", extractor=extractor, enrich="manual") as memory,
        ):
            triples = read(memory.space(name), messages)
        for triple in triples:
            verdict = verdicts.get(digest(name, triple))
            if verdict is not None:
                source = by_id[triple.sources[0].id]
                voices = voices_of(source["speaker"], speakers)
                useful = verdict == "useful"
                yield judged(name, folder.name, triple, source["text"], voices, useful=useful)


def of_sample() -> Iterator[Judged]:
    """Yield the facts of the sample conversation that are known to be right."""
    chunks = {chunk.message_id: chunk for chunk in sample_chunks()}
    speakers = {chunk.speaker or "" for chunk in chunks.values()}
    for found in read_sample(RulesExtractor(least_worth=worth.EVERYTHING)).found:
        if found.verdict == "true":
            chunk = chunks[found.turn]
            voices = voices_of(chunk.speaker or "", speakers)
            yield judged(SAMPLE, SAMPLE, found.fact, chunk.text, voices, useful=True)


def voices_of(speaker: str, speakers: set[str]) -> Voices:
    """Return who speaks, and to whom if there are two."""
    others = speakers - {speaker}
    other = next(iter(others)) if len(others) == 1 else None
    return Voices(speaker, other, to_assistant=other == "assistant")


def judged(
    conversation: str, kind: str, fact: Triple | Fact, text: str, voices: Voices, *, useful: bool
) -> Judged:
    """Describe a fact by its signs."""
    when = str(fact.when) if fact.when else None
    said = Statement(
        fact.subject, fact.subject_type, fact.relation, fact.object, fact.object_type, when,
        fact.negated,
    )  # fmt: skip
    tokens = sentence_of(said, text)
    signs = worth.signs_of(said, tokens, voices)
    return Judged(conversation, kind, signs, worth.always_counts(said, tokens, voices), useful)


def sentence_of(said: Statement, text: str) -> tuple[Token, ...]:
    """Return the sentence of a text that has most of a statement's words."""
    wanted = {
        word[:5] for word in re.findall(r"[a-z]{3,}", f"{said.relation} {said.object}".lower())
    }
    found = list(sentences(text))
    best = max(
        found, key=lambda one: sum(word in one.text.lower() for word in wanted), default=None
    )
    return best.tokens if best is not None else ()


def learned(signs: np.ndarray, useful: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Fit a logistic regression with an L2 penalty by Newton's method; the first weight is free."""
    found = np.zeros(signs.shape[1])
    penalty = np.eye(len(found)) * L2
    penalty[0, 0] = 0.0
    for _ in range(25):
        chance = 1 / (1 + np.exp(-signs @ found))
        slope = signs.T @ (weights * (chance - useful)) + penalty @ found
        curve = (signs * (weights * chance * (1 - chance))[:, None]).T @ signs + penalty
        found -= np.linalg.solve(curve, slope)
    return found


class Data:
    """All judged facts as arrays."""

    def __init__(self, facts: Sequence[Judged]) -> None:
        names = list(worth.SIGNS)
        self.signs = np.array([[1.0, *(name in one.signs for name in names)] for one in facts])
        self.useful = np.array([float(one.useful) for one in facts])
        self.certain = np.array([one.certain for one in facts])
        self.kinds = np.array([one.kind for one in facts])
        self.conversations = np.array([one.conversation for one in facts])
        self.sample = self.kinds == SAMPLE
        self.weights = np.where(self.sample, SAMPLE_WEIGHT, 1.0)

    def fit(self, left_out: np.ndarray) -> np.ndarray:
        """Learn from all facts but some."""
        used = ~left_out
        return learned(self.signs[used], self.useful[used], self.weights[used])

    def left_out_scores(self, groups: np.ndarray) -> np.ndarray:
        """Score each group with weights learned on the others, and the sample with all."""
        scores = self.signs @ self.fit(np.zeros(len(groups), bool))
        for group in sorted(set(groups[~self.sample])):
            scores[groups == group] = (self.signs @ self.fit(groups == group))[groups == group]
        return scores

    def figures(self, scores: np.ndarray, groups: np.ndarray, least: float) -> dict[str, Any]:
        """Useful facts before and after the cut, and how many are kept, by group."""
        kept = (scores >= least) | self.certain
        return {
            str(group): {
                "judged": int(mine.sum()),
                "useful_share_before": _share(self.useful[mine]),
                "useful_share": _share(self.useful[mine & kept]),
                "kept": _share(kept[mine]),
                "useful_kept": _share(kept[mine & (self.useful > 0)]),
                "auc": _auc(scores[mine], self.useful[mine]),
            }
            for group in sorted(set(groups))
            for mine in [groups == group]
        }


def _share(values: np.ndarray) -> float:
    return round(float(np.mean(values)), 3)


def _auc(scores: np.ndarray, useful: np.ndarray) -> float | None:
    """Return the chance that a useful fact scores above another one."""
    good, bad = scores[useful > 0], scores[useful == 0]
    if not len(good) or not len(bad):
        return None
    higher = (good[:, None] > bad).mean() + 0.5 * (good[:, None] == bad).mean()
    return round(float(higher), 3)


def rewrite(weights: np.ndarray) -> None:
    """Put the weights into the module."""
    text = MODULE.read_text("utf-8")
    lines = "".join(
        f'    "{name}": {weight:.2f},\n'
        for name, weight in zip(worth.SIGNS, weights[1:], strict=True)
    )
    text = re.sub(r"(?m)^BASE = .*$", f"BASE = {weights[0]:.2f}", text)
    table = "WEIGHTS: Mapping[str, float] = {\n" + lines + "}"
    text = re.sub(r"(?ms)^WEIGHTS: Mapping\[str, float\] = \{.*?\}", table, text)
    MODULE.write_text(text, "utf-8")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="DIR:NAME+NAME,DIR:NAME+NAME")
    parser.add_argument("--least", type=float, default=worth.LEAST)
    parser.add_argument("--json")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    facts = list(of_sample())
    for part in arguments.data.split(","):
        folder, _, names = part.partition(":")
        facts += of_conversations(Path(folder), names.split("+"))
    data = Data(facts)
    result = {
        name: data.figures(data.left_out_scores(groups), groups, arguments.least)
        for name, groups in (
            ("conversation_left_out", data.conversations),
            ("kind_left_out", data.kinds),
        )
    }
    weights = data.fit(np.zeros(len(facts), bool))
    learned_weights = dict(zip(["base", *worth.SIGNS], weights.round(2).tolist(), strict=True))
    write({"least": arguments.least, **result, "weights": learned_weights}, arguments.json)
    if arguments.write:
        rewrite(weights)


if __name__ == "__main__":
    main()
