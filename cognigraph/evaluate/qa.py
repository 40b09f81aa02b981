"""Question answering: a model answers from the prompt block, a judge model checks the answers.

Each question is one record of a journal. A call that fails is recorded as failed, not as a wrong
answer, and is made again by the next run; an answer that was only not judged is judged then.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from importlib.resources import files
from threading import Event
from typing import Any

from cognigraph.errors import BudgetExceededError, ModelError, ModelRefusedError
from cognigraph.evaluate.aggregate import by_category, total_usage
from cognigraph.evaluate.dataset import ADVERSARIAL, Question
from cognigraph.evaluate.evaluation import Evaluation
from cognigraph.evaluate.files import Journal
from cognigraph.evaluate.loops import checked, loop_prompts, loops, summary
from cognigraph.llm import Model
from cognigraph.llm.prompts import PromptFile, prompt_file, render
from cognigraph.loop.strategy import resolve_strategy
from cognigraph.memory import Memory
from cognigraph.model import Usage
from cognigraph.space import Space

ANSWER = "answer-1"
JUDGE = "judge-1"
_JUDGES = {
    "temporal-reasoning": "judge-temporal-1",
    "knowledge-update": "judge-update-1",
    "single-session-preference": "judge-preference-1",
}
UNANSWERABLE = "judge-unanswerable-1"
PROMPTS = (ANSWER, JUDGE, *_JUDGES.values(), UNANSWERABLE)
_NOT_SAID = "The conversations do not say this."
_FAILURES_IN_A_ROW = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class QASettings:
    """Settings of question answering.

    ``credit_adversarial`` asks LoCoMo's category 5 as well and counts a refusal to answer as right;
    without it these questions are not asked. ``workers`` calls run at a time. With a ``strategy``
    the questions are answered by its loop (:meth:`cognigraph.Space.ask`), otherwise from one block.
    Each ``repetition`` is answered anew, over the same memory.
    """

    credit_adversarial: bool = False
    workers: int = 4
    strategy: str | None = None
    repetition: int = 1


def prompt(id: str) -> PromptFile:
    """Load a prompt of this package by its name and version."""
    return prompt_file(id, "cognigraph.evaluate.prompts")


def prompt_texts() -> dict[str, str]:
    """Return the text of all prompt files by id."""
    folder = files("cognigraph.evaluate.prompts")
    return {id: folder.joinpath(f"{id}.md").read_text("utf-8") for id in PROMPTS}


def judge_of(question: Question) -> str:
    """Return the id of the judge's prompt for a question; all of LoCoMo has the common one."""
    return UNANSWERABLE if question.unanswerable else _JUDGES.get(question.category, JUDGE)


class QuestionAnswering:
    """Answers the questions of a finished evaluation and judges the answers."""

    def __init__(
        self, evaluation: Evaluation, model: Model, judge: Model, settings: QASettings
    ) -> None:
        self._evaluation = evaluation
        self._model = model
        self._judge = judge
        self._settings = settings
        parts = [model.name, judge.name, *PROMPTS]
        if settings.strategy is not None:
            parts += [repr(resolve_strategy(settings.strategy)), *loop_prompts()]
        if settings.repetition > 1:
            parts.append(f"repetition {settings.repetition}")
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
        self.journal = Journal(evaluation.folder / f"answers-{digest}.jsonl", "id")
        self._stop = Event()
        self.stopped = ""

    def asked(self) -> list[Question]:
        """Return the questions to answer."""
        credit = self._settings.credit_adversarial
        return [q for q in self._evaluation.questions if credit or q.category != ADVERSARIAL]

    def run(self, on_progress: Callable[[int], None] = lambda done: None) -> None:
        """Answer the open questions; if this ends early, :attr:`stopped` says why."""
        pending = [q for q in self.asked() if not _is_done(self.journal.records.get(q.id, {}))]
        done, in_a_row = len(self.asked()) - len(pending), 0
        with (
            self._evaluation.memory(self._model) as memory,
            ThreadPoolExecutor(max(1, self._settings.workers)) as pool,
        ):
            try:
                futures = [pool.submit(self._record, memory, question) for question in pending]
                for future in as_completed(futures):
                    record = future.result()
                    if record is None:
                        continue
                    self.journal.write(record)
                    done += 1
                    on_progress(done)
                    in_a_row = in_a_row + 1 if "failed" in record else 0
                    if in_a_row >= _FAILURES_IN_A_ROW:
                        self._end(f"{in_a_row} calls in a row failed, the last: {record['failed']}")
            finally:
                self._stop.set()

    def _end(self, reason: str) -> None:
        self.stopped = self.stopped or reason
        self._stop.set()

    def _record(self, memory: Memory, question: Question) -> dict[str, Any] | None:
        """Answer and judge one question; ``None`` if it was not started."""
        if self._stop.is_set():
            return None
        before = self.journal.records.get(question.id, {})
        record: dict[str, Any] = {
            "id": question.id,
            "answer": before.get("answer"),
            "seconds": before.get("seconds"),
            "usage": before.get("usage", {"answers": asdict(Usage()), "judge": asdict(Usage())}),
        }
        stage = "answers"
        try:
            if record["answer"] is None:
                started = time.perf_counter()
                evaluation = self._evaluation
                space = evaluation.space(memory, evaluation.conversation_of(question))
                if (strategy := self._settings.strategy) is None:
                    record["answer"], usage = self._answer(space, question)
                    _add(record, stage, usage)
                else:
                    found = space.ask(
                        question.text, strategy=strategy, now=question.asked_at,
                        as_of=question.as_of,
                    )  # fmt: skip
                    _add(record, stage, found.usage)
                    record["answer"], record["loop"] = checked(found, self._model), summary(found)
                record["seconds"] = round(time.perf_counter() - started, 3)
            elif "loop" in before:
                record["loop"] = before["loop"]
            stage = "judge"
            verdict, usage = self._verdict(question, record["answer"])
            _add(record, stage, usage)
            return record | verdict
        except ModelError as error:
            _add(record, stage, error.usage)
            refused = isinstance(error, ModelRefusedError) and not error.too_long
            if refused or isinstance(error, BudgetExceededError):
                self._end(str(error))
            return record | {"failed": f"{stage}: {error}"}

    def _answer(self, space: Space, question: Question) -> tuple[str, Usage]:
        from cognigraph.evaluate.schemas import GivenAnswer

        settings = self._evaluation.settings
        block = space.context(
            question.text, settings.max_tokens, question.asked_at, k=max(settings.cutoffs),
            as_of=question.as_of,
        )  # fmt: skip
        asked = f"{question.asked_at:%A, %d %B %Y}"
        filled = render(
            prompt(ANSWER), asked=asked, question=question.text, memory=str(block) or "(none)"
        )
        answer = self._model.ask(filled, GivenAnswer)
        return answer.value.answer, answer.usage

    def _verdict(self, question: Question, response: str) -> tuple[dict[str, Any], Usage]:
        from cognigraph.evaluate.schemas import JudgeVerdict

        # For these, LoCoMo's answer key is what a memory would say that falls for the question.
        fooled = question.unanswerable and question.category == ADVERSARIAL
        expected = _NOT_SAID if fooled else question.answer
        filled = render(
            prompt(judge_of(question)),
            question=question.text,
            expected=expected,
            response=response,
        )
        answer = self._judge.ask(filled, JudgeVerdict)
        return {"right": answer.value.right, "reason": answer.value.reason}, answer.usage

    def records(self) -> dict[str, dict[str, Any]]:
        """Return the records by question."""
        asked = {question.id for question in self.asked()}
        return {id: record for id, record in self.journal.records.items() if id in asked}

    def result(self) -> dict[str, Any]:
        """Return the accuracy over judged answers, by category, and the prompts that were used."""
        return {
            "model": self._model.name,
            "judge": self._judge.name,
            "strategy": self._settings.strategy,
            "loops": loops(self.records().values()),
            "credit_adversarial": self._settings.credit_adversarial,
            **accuracy(self.asked(), self.records()),
            "stopped": self.stopped,
            "prompts": prompt_texts(),
        }


def _is_done(record: Mapping[str, Any]) -> bool:
    return "right" in record


def _add(record: dict[str, Any], stage: str, usage: Usage) -> None:
    used = record["usage"]
    record["usage"] = used | {stage: asdict(Usage(**used[stage]) + usage)}


def accuracy(
    questions: Sequence[Question], records: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the shares of right answers among those judged; failed calls do not count."""
    judged = [
        {"category": question.category, "unanswerable": question.unanswerable, **record}
        for question in questions
        if _is_done(record := records.get(question.id, {}))
    ]
    plain = [record for record in judged if record["category"] != ADVERSARIAL]
    shares: dict[str, Any] = {"all": _share(judged)}
    if len(plain) < len(judged):
        shares["no_adversarial"] = _share(plain)
    shares["by_category"] = {name: _share(own) for name, own in by_category(judged).items()}
    if abstained := [record for record in plain if record["unanswerable"]]:
        shares["abstention"] = _share(abstained)
    failed = sum("failed" in record for record in records.values())
    usages = [record["usage"] for record in records.values()]
    return {
        "accuracy": shares,
        "failed": failed,
        "not_asked": len(questions) - len(judged) - failed,
        "usage": {
            stage: total_usage(usage[stage] for usage in usages) for stage in ("answers", "judge")
        },
    }


def _share(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    verdicts = [bool(record["right"]) for record in records]
    right = sum(verdicts)
    return {
        "judged": len(verdicts),
        "right": right,
        "accuracy": round(right / len(verdicts), 4) if verdicts else None,
    }
