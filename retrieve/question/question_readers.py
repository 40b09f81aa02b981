"""Question readers, which extend the rule-based analysis of a question by a model.

The rules always run first. If a reader fails, the search continues with what the rules found and
adds a note to the trace, so no search depends on a model.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from cognigraph.errors import CogniGraphError
from cognigraph.model import Usage
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.question.temporal import TimeWindow
from cognigraph.text.terms import query_words, terms
from cognigraph.times import parse_when

if TYPE_CHECKING:
    from cognigraph.llm import Model

PROMPT = "question-1"
_KEPT = 256
_MOST_ENTITIES = 8
_MOST_CHARS = 300


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """What a reader found: names, a time (``2023-05``), a rewritten question, and the usage."""

    entities: tuple[str, ...] = ()
    when: str | None = None
    rewrite: str | None = None
    usage: Usage = field(default_factory=Usage)


class QuestionReader(Protocol):
    """Reads questions. Must be thread-safe."""

    def read(self, question: str, now: datetime) -> QuestionReading:
        """Read a question asked at ``now``; a CogniGraphError leaves it to the rules."""
        ...


class ModelReader:
    """Asks a model once per question and day; caches the last 256 answers, but no failures."""

    def __init__(self, model: Model) -> None:
        from cognigraph.llm.prompts import prompt_file

        self._model = model
        self._prompt = prompt_file(PROMPT, "cognigraph.retrieve.question.prompts")
        self._lock = Lock()
        self._known: OrderedDict[tuple[str, str], QuestionReading] = OrderedDict()

    def read(self, question: str, now: datetime) -> QuestionReading:
        """Ask the model, or return its earlier answer to the same question on the same day."""
        from cognigraph.llm.prompts import render
        from cognigraph.retrieve.question.answer_schema import QuestionAnswer

        key = question, f"{now:%Y-%m-%d}"
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return replace(self._known[key], usage=Usage(cached=1))
        harmless = question.replace("<", "‹").replace(">", "›")  # must not close its tag
        day = f"{now:%A, %Y-%m-%d}"
        answer = self._model.ask(render(self._prompt, now=day, question=harmless), QuestionAnswer)
        reading = QuestionReading(
            entities=tuple(answer.value.entities),
            when=answer.value.when or None,
            rewrite=answer.value.rewrite or None,
            usage=answer.usage,
        )
        with self._lock:
            self._known[key] = reading
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return reading


def add_reading(
    reader: QuestionReader, analysis: Analysis, now: datetime
) -> tuple[Analysis, list[str]]:
    """Add what a reader finds to the analysis by rules; also return notes on what went wrong."""
    try:
        reading = reader.read(analysis.question, now)
    except CogniGraphError as error:
        return analysis, [f"only the rules analysed the question: {error}"]
    return with_reading(analysis, reading), []


def with_reading(analysis: Analysis, reading: QuestionReading) -> Analysis:
    """Add a reading to a rule-based analysis, whose terms, anchors and times are kept.

    The entities become anchors and are compared with session keys. The time is used if the rules
    found none. The rewritten question adds terms.
    """
    names = [name.strip()[:_MOST_CHARS] for name in reading.entities[:_MOST_ENTITIES]]
    names = [name for name in names if name]
    anchors = dict.fromkeys([*analysis.anchors, *(" ".join(terms(name)) for name in names)])
    found = dict(zip(analysis.terms, analysis.words, strict=True))
    for text in (*names, (reading.rewrite or "")[:_MOST_CHARS]):
        for term, word in query_words(text).items():
            found.setdefault(term, word)
    time = analysis.time
    when = parse_when(reading.when)
    if when is not None and not time.times:
        time = replace(time, times=(TimeWindow(when.start, when.end),))
    return replace(
        analysis,
        terms=tuple(found),
        words=tuple(found.values()),
        anchors=tuple(anchor for anchor in anchors if anchor),
        entities=tuple(names) or analysis.entities,
        time=time,
    )
