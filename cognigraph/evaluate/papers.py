"""The main tables of the four papers: what was measured, and how to measure it here.

``cognigraph eval paper NAME --data FILE`` builds a memory as the paper does, answers and judges the
questions, and writes the rows of its table. The models are the user's; their answers decide how
far the figures are comparable with those published, which stand beside them.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from cognigraph.errors import ConfigurationError
from cognigraph.evaluate.aggregate import by_category
from cognigraph.evaluate.dataset import ADVERSARIAL, Benchmark, Conversation, said_at
from cognigraph.evaluate.evaluation import EvalSettings, Evaluation
from cognigraph.evaluate.formats import FORMATS, detect
from cognigraph.evaluate.metrics import bleu_1, mean, token_f1
from cognigraph.evaluate.qa import QASettings, QuestionAnswering
from cognigraph.ingest.extraction import Extractor, Window
from cognigraph.llm import Model
from cognigraph.model import Message, Usage
from cognigraph.settings import EnrichSettings, RankingName
from cognigraph.stores.records import WorkChunk
from cognigraph.text.marks import estimate_tokens

PaperName = Literal["licomemory", "ama", "hymem", "membuilder"]
Split = Literal["sft", "rl", "test"]
Measure = Literal[
    "accuracy", "f1", "bleu_1", "recall", "tokens", "seconds", "build_tokens", "build_seconds"
]
Values = Mapping[Measure, float]
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """How a paper measures.

    ``heads`` are the columns of its table with the paper's names. ``calls`` and ``tokens`` are what
    an answer takes about, measured with a strong reader; they are for the estimate alone.
    ``published`` are its own figures, by benchmark and then by what was measured.
    """

    name: PaperName
    title: str
    extractor: str
    strategy: str | None
    ranking: RankingName
    adversarial: bool
    repetitions: int
    heads: Mapping[Measure, str]
    calls: float
    tokens: int
    published: Mapping[Benchmark, Mapping[str, Values]]
    split: Split | None = None
    k: int = 15


def _by_builder(prompted: float, trained: float) -> dict[str, Values]:
    return {
        "built by Claude 4.5 Sonnet": {"accuracy": prompted},
        "built by Qwen3-4B, trained": {"accuracy": trained},
    }


PAPERS: Mapping[str, Paper] = {
    item.name: item
    for item in (
        Paper(
            name="licomemory",
            title="LiCoMemory, tables 1 and 2",
            extractor="openai",
            strategy=None,
            ranking="licomemory",
            adversarial=True,
            repetitions=5,
            heads={
                "seconds": "T_R (s)", "tokens": "K_R", "accuracy": "Acc.", "recall": "Rec.",
                "build_tokens": "K_G", "build_seconds": "T_G (s)",
            },
            calls=1,
            tokens=2000,
            published={
                "longmemeval": {
                    "GPT-4o-mini": {
                        "seconds": 1.74, "tokens": 1700, "accuracy": 0.738, "recall": 0.7663,
                    },
                },
                "locomo": {
                    "GPT-4o-mini": {
                        "seconds": 1.61, "tokens": 1200, "accuracy": 0.672, "recall": 0.6809,
                    },
                },
            },
        ),
        Paper(
            name="ama",
            title="AMA, tables 1, 2 and 4",
            extractor="ama",
            strategy="ama",
            ranking="default",
            adversarial=False,
            repetitions=1,
            heads={
                "accuracy": "LLM score", "f1": "F1", "bleu_1": "BLEU-1", "tokens": "tokens",
                "seconds": "latency (s)",
            },
            calls=3.7,
            tokens=4500,
            published={
                "locomo": {
                    "GPT-4o-mini": {
                        "accuracy": 0.774, "f1": 0.558, "bleu_1": 0.465, "tokens": 3613,
                    },
                },
                "longmemeval": {"GPT-4o-mini": {"accuracy": 0.698}},
            },
        ),
        Paper(
            name="hymem",
            title="HyMem, table 1",
            extractor="hymem",
            strategy="hymem",
            ranking="default",
            adversarial=False,
            repetitions=1,
            heads={"tokens": "tokens", "accuracy": "LLM score"},
            calls=5.2,
            tokens=12000,
            published={
                "locomo": {"gpt-4.1-mini": {"tokens": 1540, "accuracy": 0.8955}},
                "longmemeval": {"gpt-4.1-mini": {"accuracy": 0.75}},
            },
        ),
        Paper(
            name="membuilder",
            title="MemBuilder, tables 1 and 3",
            extractor="membuilder",
            strategy="membuilder",
            ranking="default",
            adversarial=True,
            repetitions=1,
            heads={"accuracy": "accuracy", "tokens": "tokens", "build_tokens": "tokens a session"},
            calls=1,
            tokens=3500,
            published={
                "locomo": _by_builder(0.8261, 0.8423),
                "longmemeval": _by_builder(0.855, 0.8575),
                "perltqa": _by_builder(0.9259, 0.9314),
            },
            split="test",
            k=10,
        ),
    )
}  # fmt: skip

_JUDGE_TOKENS = 400
"""Tokens of a question, its two answers and the verdict, with the judge's prompt."""


@cache
def _training_ids() -> dict[str, frozenset[str]]:
    """The questions of LongMemEval on which MemBuilder was trained, by split."""
    text = files("cognigraph.evaluate").joinpath("longmemeval_splits.json").read_text("utf-8")
    return {name: frozenset(ids) for name, ids in json.loads(text).items()}


def in_split(split: Split, id: str) -> bool:
    """Whether a question of LongMemEval is in a split: two of 50 for training, 400 to test."""
    trained = _training_ids()
    if split == "test":
        return not any(id in ids for ids in trained.values())
    return id in trained[split]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperSettings:
    """Settings of a run; what is ``None`` is as in the paper."""

    embedder: str = "wordllama"
    limit: int | None = None
    repetitions: int | None = None
    split: Split | None = None
    workers: int = 4
    location: str | None = None
    auth: tuple[str, str] | None = field(default=None, repr=False)
    database: str | None = None


@dataclass(frozen=True, slots=True)
class Estimated:
    """What a benchmark takes about, before it starts; what is done already is left out."""

    benchmark: Benchmark
    conversations: int
    sessions: int
    questions: int
    build: Usage
    answers: Usage
    judge: Usage

    @property
    def total(self) -> Usage:
        """All of it."""
        return self.build + self.answers + self.judge


class PaperRun:
    """A table of a paper, measured on one file or folder for each benchmark.

    Everything that is done is kept in the folders of :class:`Evaluation`; another run with the same
    files and models continues there.
    """

    def __init__(
        self,
        paper: Paper,
        given: Sequence[Path],
        extractor: Extractor,
        models: tuple[Model, Model],
        settings: PaperSettings,
        folder: Path | None = None,
    ) -> None:
        self.paper = paper
        self.settings = settings
        self.repetitions = settings.repetitions or paper.repetitions
        self.stopped = ""
        self._extractor = extractor
        self._models = models
        self._evaluations = [self._evaluation(file, folder) for file in given]
        if len({evaluation.settings.benchmark for evaluation in self._evaluations}) < len(
            self._evaluations
        ):
            raise ConfigurationError("give one file or folder for each benchmark")
        first = self._evaluations[0].folder.parent
        self.json = first / f"paper-{paper.name}.json"
        self.table = first / f"paper-{paper.name}.md"

    def _evaluation(self, file: Path, folder: Path | None) -> Evaluation:
        benchmark, paper = detect(file).name, self.paper
        if benchmark not in paper.published:
            known = ", ".join(FORMATS[name].title for name in paper.published)
            raise ConfigurationError(
                f"{file.name} is {FORMATS[benchmark].title}; {paper.title} measures {known}"
            )
        split = self.settings.split or paper.split
        only = None
        if benchmark == "longmemeval" and split is not None:
            chosen: Split = split
            only = lambda name: in_split(chosen, name)  # noqa: E731
        settings = self.settings
        return Evaluation(
            file,
            EvalSettings(
                benchmark=benchmark,
                cutoffs=(paper.k,),
                ranking=paper.ranking,
                extractor=paper.extractor,
                embedder=settings.embedder,
                limit=settings.limit,
                only=only,
                location=settings.location,
                auth=settings.auth,
                database=settings.database,
            ),
            folder,
            self._extractor,
        )

    # Before it starts

    def estimates(self) -> list[Estimated]:
        """What is left to do, for each benchmark; no model is called."""
        return [self._estimate(evaluation) for evaluation in self._evaluations]

    def _estimate(self, evaluation: Evaluation) -> Estimated:
        build, asked = Usage(), 0
        conversations, sessions, questions = 0, 0, 0
        for conversation in evaluation.conversations():
            conversations += 1
            sessions += len({message.session for message in conversation.messages})
            wanted = [
                question for question in conversation.questions if self._asks(question.category)
            ]
            questions += len(wanted)
            if conversation.name not in evaluation.inserted.records:
                build += sum(map(self._window_usage, _windows(conversation)), Usage())
        asked = questions * self.repetitions - self._judged(evaluation)
        answers = _usage(asked * self.paper.calls, asked * self.paper.tokens)
        judge = _usage(asked, asked * _JUDGE_TOKENS)
        return Estimated(
            evaluation.settings.benchmark, conversations, sessions, questions, build, answers, judge
        )

    def _asks(self, category: str) -> bool:
        return self.paper.adversarial or category != ADVERSARIAL

    def _window_usage(self, window: Window) -> Usage:
        said = sum(estimate_tokens(chunk.text) for chunk in window.chunks)
        return self._extractor.estimate(window) or _usage(1, 2 * said)

    def _judged(self, evaluation: Evaluation) -> int:
        """The number of answers that an earlier run has judged."""
        return sum(
            "right" in record
            for number in range(1, self.repetitions + 1)
            for record in self._answering(evaluation, number).journal.records.values()
        )

    def _answering(self, evaluation: Evaluation, repetition: int) -> QuestionAnswering:
        chosen = QASettings(
            credit_adversarial=self.paper.adversarial,
            workers=self.settings.workers,
            strategy=self.paper.strategy,
            repetition=repetition,
        )
        return QuestionAnswering(evaluation, *self._models, chosen)

    # The run

    def run(self, on_progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:
        """Do what is left, write the table, and return the result.

        It is not ``complete`` if answers are missing; :attr:`stopped` then says why.
        """
        measured = [self._measure(evaluation, on_progress) for evaluation in self._evaluations]
        result = {
            "paper": self.paper.name,
            "title": self.paper.title,
            "repetitions": self.repetitions,
            "models": {
                "build": self._extractor.name,
                "answer": self._models[0].name,
                "judge": self._models[1].name,
            },
            "embedder": self.settings.embedder,
            "heads": dict(self.paper.heads),
            "benchmarks": measured,
            "complete": all(item["complete"] for item in measured),
            "stopped": self.stopped,
        }
        self.json.write_text(json.dumps(result, indent=2, allow_nan=False) + "\n", "utf-8")
        self.table.write_text(markdown(result), "utf-8")
        return result

    def _measure(
        self, evaluation: Evaluation, on_progress: Callable[[str], None]
    ) -> dict[str, Any]:
        benchmark = evaluation.settings.benchmark
        evaluation.run(lambda what, done: on_progress(f"{benchmark}: {what}"))
        runs: list[list[Record]] = []
        usage: list[dict[str, Any]] = []
        missing = 0
        for number in range(1, self.repetitions + 1):
            answering = self._answering(evaluation, number)
            told = f"{benchmark}: answering, run {number} of {self.repetitions}"
            if not self.stopped:
                answering.run(lambda done, told=told: on_progress(f"{told}, {done:,} done"))  # type: ignore[misc]
                self.stopped = answering.stopped
            records, asked = answering.records(), answering.asked()
            judged = [item for item in asked if "right" in records.get(item.id, {})]
            missing += len(asked) - len(judged)
            recalls = {record["id"]: record for record in evaluation.records()}
            runs.append(
                [
                    _record(
                        records[item.id], item.answer, recalls[item.id], evaluation, self.paper.k
                    )
                    for item in judged
                ]
            )
            usage.append(answering.result()["usage"])
        built = _built(evaluation)
        return {
            "benchmark": benchmark,
            "file": evaluation.file.name,
            "sha256": evaluation.sha256,
            "questions": len(evaluation.questions),
            "rows": rows(runs, built),
            "published": self.paper.published[benchmark],
            "usage": usage,
            "complete": not missing,
            "missing": missing,
        }


def _windows(conversation: Conversation) -> Iterator[Window]:
    """The windows in which a conversation is read, as far as its messages tell."""
    batch = EnrichSettings().batch
    for session, messages in groupby(conversation.messages, lambda message: message.session):
        chunks = [_chunk(message) for message in messages]
        for start in range(0, len(chunks), batch):
            yield Window(conversation.name, session, tuple(chunks[start : start + batch]))


def _chunk(message: Message) -> WorkChunk:
    return WorkChunk(
        f"{message.session}/{message.id}", str(message.id), message.session, message.speaker,
        said_at(message), message.text, role=message.role,
    )  # fmt: skip


def tokens_of(usage: Usage) -> int:
    """Input and output tokens."""
    return usage.input_tokens + usage.output_tokens


def _usage(calls: float, tokens: float) -> Usage:
    return Usage(calls=round(calls), input_tokens=round(tokens))


def _record(
    record: Record, expected: str, asked: Record, evaluation: Evaluation, k: int
) -> dict[str, Any]:
    """What was measured of one answer."""
    used = record["usage"]["answers"]
    values: dict[str, Any] = {
        "category": asked["category"],
        "accuracy": float(record["right"]),
        "tokens": used["input_tokens"] + used["output_tokens"],
    }
    if record.get("seconds") is not None:
        values["seconds"] = record["seconds"]
    if asked["category"] != ADVERSARIAL:
        values["f1"] = token_f1(record["answer"], expected)
        values["bleu_1"] = bleu_1(record["answer"], expected)
    if (scores := asked["scores"].get(evaluation.level)) is not None:
        values["recall"] = scores[str(k)]["recall"]
    return values


def _built(evaluation: Evaluation) -> dict[Measure, float]:
    """Tokens and seconds a session of building the memory."""
    records = [evaluation.inserted.records[name] for name in evaluation.names]
    sessions = sum(record.get("sessions", 0) for record in records)
    if not sessions:
        return {}
    used = [record["usage"] for record in records]
    tokens = sum(item["input_tokens"] + item["output_tokens"] for item in used)
    seconds = sum(record["insert_seconds"] + record["enrich_seconds"] for record in records)
    return {"build_tokens": tokens / sessions, "build_seconds": seconds / sessions}


_OF_ANSWERS: tuple[Measure, ...] = ("accuracy", "f1", "bleu_1", "recall", "tokens", "seconds")


def rows(runs: Sequence[Sequence[Record]], built: Values) -> list[dict[str, Any]]:
    """The rows of a table: all questions, then each category.

    Each value has its ``mean`` over the runs and, of several runs, its standard deviation ``sd``.
    ``built`` is the same for all of them, and stands in the first row.
    """
    grouped = [by_category(run) for run in runs]
    return [
        _row("all", runs) | {name: {"mean": value} for name, value in built.items()},
        *(
            _row(category, [own.get(category, []) for own in grouped])
            for category in sorted(set().union(*grouped))
        ),
    ]


def _row(name: str, runs: Sequence[Sequence[Record]]) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "questions": max(map(len, runs), default=0)}
    for measure in _OF_ANSWERS:
        means = [
            statistics.fmean(values)
            for run in runs
            if (values := [float(item[measure]) for item in run if measure in item])
        ]
        if means:
            row[measure] = {"mean": mean(means)}
            if len(means) > 1:
                row[measure]["sd"] = round(statistics.stdev(means), 4)
    return row


def shown(measure: str, value: Mapping[str, float] | float | None) -> str:
    """A value as a table shows it, with its deviation if it has one."""
    if value is None:
        return "-"
    if not isinstance(value, Mapping):
        value = {"mean": value}
    form = ",.0f" if "tokens" in measure else ".2f" if "seconds" in measure else ".3f"
    text = format(value["mean"], form)
    return f"{text} ± {format(value['sd'], form)}" if "sd" in value else text


def cells(measured: Mapping[str, Any], heads: Iterable[str]) -> list[list[str]]:
    """The rows of a benchmark's table as text: ours, and below them the published ones."""
    wanted = list(heads)
    own = [
        [row["name"], f"{row['questions']:,}", *(shown(item, row.get(item)) for item in wanted)]
        for row in measured["rows"]
    ]
    published = [
        [f"published: {name}", "", *(shown(item, values.get(item)) for item in wanted)]
        for name, values in measured["published"].items()
    ]
    return [*own, *published]


def markdown(result: Mapping[str, Any]) -> str:
    """The tables of a result for a Markdown page."""
    models, runs = result["models"], result["repetitions"]
    lines = [
        f"# {result['title']}",
        "",
        f"Built with {models['build']}, answered by {models['answer']}, judged by "
        f"{models['judge']}; embedder {result['embedder']}; {runs} run{'s' if runs > 1 else ''}.",
    ]
    for measured in result["benchmarks"]:
        heads = result["heads"]
        lines += ["", f"## {FORMATS[measured['benchmark']].title}", ""]
        if measured["missing"]:
            lines += [f"{measured['missing']:,} answers are missing.", ""]
        lines.append("| | questions | " + " | ".join(heads.values()) + " |")
        lines.append("|---|" + "--:|" * (len(heads) + 1))
        lines += ["| " + " | ".join(row) + " |" for row in cells(measured, heads)]
    return "\n".join(lines) + "\n"
