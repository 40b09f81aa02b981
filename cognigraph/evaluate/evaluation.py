"""One evaluation: insert, enrich, ask. It can be resumed after any conversation or question.

A run lives in a folder named after the digest of its settings, so that a run with other settings
is another run. Conversations and questions that are done are lines of its journals.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, fields
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from cognigraph._version import __version__
from cognigraph.errors import ConfigurationError, ExtractionError
from cognigraph.evaluate.aggregate import summarise
from cognigraph.evaluate.dataset import Benchmark, Conversation, Level, Question
from cognigraph.evaluate.files import Journal, sha256
from cognigraph.evaluate.formats import FORMATS, files_of, load
from cognigraph.evaluate.metrics import score
from cognigraph.ingest.extraction import Extractor
from cognigraph.ingest.extractors import resolve_extractor
from cognigraph.ingest.queue.step import Step
from cognigraph.llm import Model
from cognigraph.memory import Memory
from cognigraph.model import SearchResult, Usage
from cognigraph.settings import RankingName, SearchSettings, Settings
from cognigraph.space import Space

NO_EXTRACTION = "none"
_DEPTH = 100
_SHOWN = 5

Progress = Callable[[str, int], None]
"""Called with a description of the current work and the number of questions asked so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSettings:
    """What is evaluated. Changing anything but ``limit`` and ``only`` makes it a different run.

    ``cutoffs`` are the k; ``extractor`` may be ``"none"``; ``limit`` takes the first conversations
    only (LongMemEval has one a question), and ``only`` those whose name it accepts. ``location``
    puts the memory elsewhere than into the run's folder: a file or a Neo4j URI.
    """

    benchmark: Benchmark
    cutoffs: tuple[int, ...] = (5, 10, 15)
    ranking: RankingName = "default"
    extractor: str = "rules"
    embedder: str = "wordllama"
    max_tokens: int = 1300
    limit: int | None = None
    only: Callable[[str], bool] | None = None
    location: str | None = None
    auth: tuple[str, str] | None = field(default=None, repr=False)
    database: str | None = None

    def __post_init__(self) -> None:
        if not self.cutoffs or min(self.cutoffs) < 1:
            raise ConfigurationError("the k of an evaluation are numbers from 1, such as 5,10,15")
        if self.limit is not None and self.limit < 1:
            raise ConfigurationError("the limit of an evaluation must be at least 1")

    def recorded(self) -> dict[str, Any]:
        """Return the settings as they are recorded in the result, without credentials."""
        left_out = ("limit", "auth", "only")
        found = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name not in left_out
        }
        return found | {"cutoffs": sorted(set(self.cutoffs)), "cognigraph": __version__}


class Evaluation:
    """A run and its folder, where finished work is recorded.

    ``extractor`` takes the place of that which the settings name.
    """

    def __init__(
        self,
        file: Path,
        settings: EvalSettings,
        folder: Path | None = None,
        extractor: Extractor | None = None,
    ) -> None:
        self.file = file
        self.settings = settings
        self.sha256 = sha256(*files_of(settings.benchmark, file))
        reads = settings.extractor != NO_EXTRACTION
        named = settings.extractor if reads else "rules"
        self.extractor = resolve_extractor(extractor or named)
        recorded = {"sha256": self.sha256, **settings.recorded()}
        if reads:  # "openai" may be another model tomorrow
            recorded["extractor"] = self.extractor.name
        digest = hashlib.sha256(json.dumps(recorded, sort_keys=True).encode()).hexdigest()[:12]
        root = folder if folder is not None else _beside(file)
        self.folder = root / digest
        with closing(load(settings.benchmark, file)) as found:
            next(found, None)  # a wrong file makes no folder
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "settings.json").write_text(json.dumps(recorded, indent=2) + "\n", "utf-8")
        self.inserted = Journal(self.folder / "conversations.jsonl", "conversation")
        self.answered = Journal(self.folder / "questions.jsonl", "id")
        self._recorded = recorded
        self.questions: list[Question] = []
        self.names: list[str] = []
        self._asked_of: dict[str, str] = {}

    def conversations(self) -> Iterator[Conversation]:
        """Yield the conversations of the file, up to the limit."""
        only = self.settings.only
        found = load(self.settings.benchmark, self.file)
        chosen = (item for item in found if only is None or only(item.name))
        return islice(chosen, self.settings.limit)

    @property
    def level(self) -> Level:
        """The level of evidence that counts for this benchmark."""
        return FORMATS[self.settings.benchmark].level

    @contextmanager
    def memory(self, model: Model | None = None) -> Iterator[Memory]:
        """Open the memory of this run, with a model that answers questions."""
        settings = self.settings
        chosen = Settings(search=SearchSettings(ranking=settings.ranking))
        with Memory(
            settings.location or self.folder / "memory.db",
            auth=settings.auth,
            database=settings.database,
            embedder=settings.embedder,
            extractor=self.extractor,
            enrich="manual",
            settings=chosen,
            model=model,
        ) as memory:
            yield memory

    def space(self, memory: Memory, conversation: str) -> Space:
        """Return the space of a conversation; each run has spaces of its own in a database."""
        return memory.space(f"eval-{self.folder.name}-{conversation}")

    def conversation_of(self, question: Question) -> str:
        """Return the name of the conversation of a question of the last :meth:`run`."""
        return self._asked_of[question.id]

    def run(self, on_progress: Progress = lambda what, done: None) -> None:
        """Do the remaining work; an interrupted run can be resumed by calling this again."""
        done = 0
        self.questions.clear()
        self.names.clear()
        with self.memory() as memory:
            for conversation in self.conversations():
                space = self.space(memory, conversation.name)
                if conversation.name not in self.inserted.records:
                    on_progress(f"inserting {conversation.name}", done)
                    self.inserted.write(self._insert(space, conversation))
                self.names.append(conversation.name)
                for question in conversation.questions:
                    if question.id not in self.answered.records:
                        self.answered.write(self._ask(space, conversation, question))
                    self.questions.append(question)
                    self._asked_of[question.id] = conversation.name
                    done += 1
                    on_progress(f"asking {conversation.name}", done)

    def result(self) -> dict[str, Any]:
        """Return the result of the last :meth:`run`."""
        return summarise(
            self._recorded,
            self.file.name,
            [self.inserted.records[name] for name in self.names],
            self.records(),
        )

    def records(self) -> list[dict[str, Any]]:
        """Return the records of the questions of the last :meth:`run`, in the order of the file."""
        return [self.answered.records[question.id] for question in self.questions]

    def _insert(self, space: Space, conversation: Conversation) -> dict[str, Any]:
        """Store session by session, then enrich; messages that are already stored are skipped."""
        started, new = time.perf_counter(), 0
        for _, messages in groupby(conversation.messages, lambda message: message.session):
            new += len(space.add_many(messages).new)
        stored = time.perf_counter()
        steps: list[Step] = []
        if self.settings.extractor != NO_EXTRACTION:
            steps = self._enrich(space)
        stats = space.stats()
        if self.settings.extractor != NO_EXTRACTION:
            self._check_read(space, conversation.name)
        return {
            "conversation": conversation.name,
            "turns": len(conversation.messages),
            "sessions": len({message.session for message in conversation.messages}),
            "new": new,
            "insert_seconds": round(stored - started, 3),
            "enrich_seconds": round(time.perf_counter() - stored, 3),
            "chunks": sum(step.chunks for step in steps),
            "triples": stats.triples,
            "usage": asdict(sum((step.usage for step in steps), Usage())),
            "notes": dict(conversation.notes),
        }

    def _enrich(self, space: Space) -> list[Step]:
        """Enrich everything queued, or until an outage or the budget ends it."""
        space.queue.retry()
        steps = space.queue.enrich()
        while self._is_left(space) and not (steps and steps[-1].stopped):
            time.sleep(0.2)
            steps += space.queue.enrich()
        return steps

    def _is_left(self, space: Space) -> bool:
        stats = space.stats()
        summary_due = stats.summaries_pending if self.extractor.summarises else 0
        return bool(stats.pending or stats.leased or summary_due)

    def _check_read(self, space: Space, name: str) -> None:
        """Raise an error if a conversation is only partly enriched, before it is asked about."""
        stats = space.stats()
        if unread := stats.failed + stats.pending + stats.leased:
            reasons = sorted({failure.reason for failure in space.queue.failures()})
            raise ExtractionError(
                f"{unread} chunks of {name} could not be read by {self.settings.extractor}"
                f" ({'; '.join(reasons[:1])}); what is done is kept, the same command tries them "
                "again and goes on"
            )

    def _ask(self, space: Space, conversation: Conversation, question: Question) -> dict[str, Any]:
        settings, most = self.settings, max(self.settings.cutoffs)
        started = time.perf_counter()
        result = space.search(question.text, most, question.asked_at, as_of=question.as_of)
        milliseconds = (time.perf_counter() - started) * 1000
        deep = space.search(
            question.text, max(_DEPTH, most), question.asked_at, as_of=question.as_of
        )
        block = space.context(
            question.text, settings.max_tokens, question.asked_at, k=most, as_of=question.as_of
        )
        found = {"turn": [hit.id for hit in result], "session": [hit.session for hit in deep]}
        wanted = {"turn": question.evidence, "session": question.evidence_sessions}
        scores = {
            level: {
                str(k): asdict(score(found[level], wanted[level], k))
                for k in sorted(set(settings.cutoffs))
            }
            for level in ("turn", "session")
            if wanted[level]
        }
        record: dict[str, Any] = {
            "id": question.id,
            "conversation": conversation.name,
            "category": question.category,
            "unanswerable": question.unanswerable,
            "question": question.text,
            "answer": question.answer,
            "asked_at": question.asked_at.isoformat(),
            "evidence": list(question.evidence),
            "found": found["turn"],
            "scores": scores,
            "search_ms": round(milliseconds, 3),
            "context_tokens": block.tokens,
        }
        at_most = scores.get(self.level, {}).get(str(most))
        if at_most is not None and at_most["recall"] < 1:
            record["failure"] = self._failure(conversation, question, result, deep)
        return record

    def _failure(
        self,
        conversation: Conversation,
        question: Question,
        result: SearchResult,
        deep: SearchResult,
    ) -> dict[str, Any]:
        """Describe the missing evidence with its ranks, and the hits returned instead of it."""
        ranks = {hit.id: rank for rank, hit in enumerate(deep, 1)}
        returned = {hit.id for hit in result}
        reached = {hit.session for hit in result}
        missing = [
            message
            for message in conversation.messages
            if (message.id in question.evidence and message.id not in returned)
            or (
                not question.evidence
                and message.session in question.evidence_sessions
                and message.session not in reached
            )
        ]
        wrong = [
            hit
            for hit in result
            if hit.id not in question.evidence
            and (question.evidence or hit.session not in question.evidence_sessions)
        ]
        return {
            "missing": [
                {
                    "id": message.id,
                    "session": message.session,
                    "speaker": message.speaker,
                    "at": str(message.at),
                    "text": message.text,
                    "rank": ranks.get(str(message.id)),
                }
                for message in missing[: 2 * _SHOWN]
            ],
            "more_missing": max(0, len(missing) - 2 * _SHOWN),
            "searched_to": len(deep),
            "instead": [
                {
                    "rank": ranks.get(hit.id),
                    "id": hit.id,
                    "session": hit.session,
                    "speaker": hit.speaker,
                    "at": hit.at.isoformat(),
                    "text": hit.text,
                    "score": round(hit.score, 4),
                    "why": str(hit.why),
                }
                for hit in wrong[:_SHOWN]
            ],
        }


def _beside(given: Path) -> Path:
    """Return the folder for the results of a file or folder, which may be the working one."""
    absolute = given.absolute()
    return absolute.with_name(f"{absolute.name}.cognigraph-eval")
