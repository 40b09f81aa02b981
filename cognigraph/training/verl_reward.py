"""The reward of MemBuilder (equations 5 to 10) as functions that verl loads from this file.

``compute_score`` is for verl's ``naive`` reward manager. The three other writers of a window then
count as the expert wrote. ``compute_scores`` is for its ``batch`` manager: the first rollouts of
the four writers of a window make one memory, the second ones another, and so on, as in the paper.

The rows are those of ``cognigraph export-training --format rl``. Questions are answered and judged
by the model that ``COGNIGRAPH_MODEL``, ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` name; the
embedder is that of ``COGNIGRAPH_EMBEDDER``. Needs the extra ``openai``.

verl runs this file without entering it into ``sys.modules``, which dataclasses do not survive.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from cognigraph.embed import CheckedEmbedder, resolve
from cognigraph.errors import ConfigurationError
from cognigraph.evaluate.qa import JUDGE
from cognigraph.evaluate.qa import prompt as evaluation_prompt
from cognigraph.evaluate.schemas import JudgeVerdict
from cognigraph.llm import ChatModel, Model
from cognigraph.llm.prompts import render
from cognigraph.loop.asker import loop_prompt
from cognigraph.loop.pool import most_similar, section
from cognigraph.loop.schemas import FinalAnswer
from cognigraph.loop.state import NONE
from cognigraph.text.marks import FOOTER, HEADER, one_line
from cognigraph.training.export import DATA_SOURCE
from cognigraph.training.outputs import Output, read_output
from cognigraph.training.rewards import (
    KINDS,
    Kind,
    core_penalty,
    entry_penalty,
    reward,
    task_reward,
    weights,
)

RETRIEVED = 10
"""Memories that an answer is written from: section C.1."""
_HEADINGS: Mapping[Kind, str] = {
    "core": "Profile:",
    "episodic": "Episodes:",
    "semantic": "Facts:",
    "procedural": "Procedures:",
}


class Examined(NamedTuple):
    """How the questions about a memory were answered, and how often each kind was retrieved."""

    correct: tuple[bool, ...]
    retrieved: Mapping[Kind, int]


class Examiner(NamedTuple):
    """Answers questions from a memory and judges the answers."""

    model: Model
    embedder: CheckedEmbedder

    def examine(
        self, memory: Mapping[Kind, Output], questions: Sequence[Mapping[str, str]], asked: str
    ) -> Examined:
        """Ask all questions, each from the whole profile and the most similar entries.

        Raises:
            ModelError: a question could not be answered or judged.
        """
        entries = [
            (kind, text) for kind in KINDS if kind != "core" for text in memory[kind].entries
        ]
        retrieved: Counter[Kind] = Counter()
        correct: list[bool] = []
        for each in questions:
            texts = [text for _, text in entries]
            best = most_similar(self.embedder, each["question"], texts)[:RETRIEVED]
            retrieved.update(entries[row][0] for row in best)
            block = _block(memory["core"], [entries[row] for row in sorted(best)])
            correct.append(self._is_right(each, block, asked))
        return Examined(tuple(correct), retrieved)

    def _is_right(self, question: Mapping[str, str], block: str, asked: str) -> bool:
        asking = render(
            loop_prompt("loop-answer-1"), asked=asked, history=NONE, pool=NONE, memory=block,
            question=one_line(question["question"]),
        )  # fmt: skip
        answer = self.model.ask(asking, FinalAnswer).value.answer
        judging = render(
            evaluation_prompt(JUDGE), question=question["question"], expected=question["answer"],
            response=answer,
        )  # fmt: skip
        return self.model.ask(judging, JudgeVerdict).value.right


def _block(core: Output, entries: Sequence[tuple[Kind, str]]) -> str:
    lines = section(_HEADINGS["core"], [one_line(line) for text in core.entries
                                        for line in text.splitlines()])  # fmt: skip
    for kind in KINDS[1:]:
        lines += section(_HEADINGS[kind], [one_line(text) for own, text in entries if own == kind])
    return "\n".join([HEADER, *lines, FOOTER])


@cache
def examiner() -> Examiner:
    """The examiner that the environment describes."""
    name = os.environ.get("COGNIGRAPH_EMBEDDER") or "wordllama"
    return Examiner(ChatModel.from_environment(), CheckedEmbedder(resolve(name)))


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, float]:
    """The reward of one output; the other writers of its window count as the expert wrote.

    Returns ``score`` with its parts, and ``weight``, the gradient weight of equation 10.

    Raises:
        ConfigurationError: the row lacks what a reward needs.
        ModelError: the model that answers failed; no reward is invented.
    """
    return compute_scores([data_source], [solution_str], [ground_truth], [extra_info or {}])[0]


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[str],
    extra_infos: Sequence[Mapping[str, Any]],
    **_: Any,
) -> list[dict[str, float]]:
    """The rewards of a batch; see the module for which outputs make one memory."""
    rows = [
        _row(source, truth, info)
        for source, truth, info in zip(data_sources, ground_truths, extra_infos, strict=True)
    ]
    outputs = [
        read_output(text, row.kind, row.memory[row.kind]["before"], row.turns)
        for row, text in zip(rows, solution_strs, strict=True)
    ]
    rollouts: dict[tuple[str, int], dict[Kind, int]] = defaultdict(dict)
    counts: Counter[tuple[str, Kind]] = Counter()
    for index, row in enumerate(rows):
        rollouts[row.window, counts[row.window, row.kind]][row.kind] = index
        counts[row.window, row.kind] += 1
    scores: dict[int, dict[str, float]] = {}
    for rollout in rollouts.values():
        scores |= _of_rollout(rollout, rows, outputs)
    return [scores[index] for index in range(len(rows))]


class _Row(NamedTuple):
    """A row of the training data."""

    kind: Kind
    window: str
    turns: int
    asked: str
    memory: Mapping[Kind, Mapping[str, Any]]
    questions: Sequence[Mapping[str, str]]


def _row(source: str, truth: str, info: Mapping[str, Any]) -> _Row:
    if source != DATA_SOURCE:
        raise ConfigurationError(f"the data source is {source!r}, not {DATA_SOURCE!r}")
    try:
        questions = json.loads(truth)
        memory = json.loads(info["memory"])
        at = datetime.fromisoformat(info["at"])
        row = _Row(
            info["writer"], info["window"], int(info["turns"]), f"{at:%A, %d %B %Y}", memory,
            questions,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(
            "a row lacks the state that a reward needs; record the calls again and export them "
            f"with cognigraph export-training --format rl ({type(error).__name__}: {error})"
        ) from error
    if not questions:
        raise ConfigurationError(
            "a row has no questions; make them with cognigraph training-questions, and export with "
            "--questions"
        )
    return row


def _of_rollout(
    rollout: Mapping[Kind, int], rows: Sequence[_Row], outputs: Sequence[Output]
) -> dict[int, dict[str, float]]:
    """The scores of the writers of one rollout, by index."""
    row = rows[next(iter(rollout.values()))]
    expert = {kind: _expert(row, kind) for kind in KINDS}
    memory = {kind: outputs[rollout[kind]] if kind in rollout else expert[kind] for kind in KINDS}
    if not any(memory[kind].valid for kind in rollout):
        return {index: _score(outputs[index], 0.0, 0.0, 1.0) for index in rollout.values()}
    examined = examiner().examine(memory, row.questions, row.asked)
    task, weight = task_reward(examined.correct), weights(examined.retrieved)
    return {
        index: _score(outputs[index], task, _penalty(outputs[index], expert[kind]), weight[kind])
        for kind, index in rollout.items()
    }


def _expert(row: _Row, kind: Kind) -> Output:
    """What the expert wrote; a writer that was not asked about the window keeps nothing new."""
    known = row.memory.get(kind) or {}
    answer = known.get("expert")
    text = json.dumps(answer) if answer is not None else '{"operation": "NONE", "operations": []}'
    return read_output(text, kind, known.get("before"), row.turns)


def _penalty(output: Output, expert: Output) -> float:
    if output.kind == "core":
        return float(core_penalty(output.before, output.tokens))
    return float(entry_penalty(output.stored, expert.stored))


def _score(output: Output, task: float, penalty: float, weight: float) -> dict[str, float]:
    return {
        "score": float(reward(output.valid, task, penalty)),
        "valid": float(output.valid),
        "task": task,
        "penalty": penalty,
        "weight": weight,
    }
