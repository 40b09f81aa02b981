"""``ModelExtractor``: extracts entities, facts and session summaries with a language model.

One call extracts from the chunks of a lease and another updates the summary; only text that is too
long for one call takes more. If the first call fails because of an outage or an exhausted budget,
the chunks stay pending. If the second fails, the old summary is kept and the session stays queued
until its summary is updated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta, tzinfo

from cognigraph.errors import ConfigurationError, ModelError, ModelRefusedError
from cognigraph.ingest.extraction import AlsoRead, Caching, Extraction, Window
from cognigraph.ingest.model.answer_schema import ReadAnswer
from cognigraph.ingest.model.summarise import (
    DROPPED,
    Outcome,
    Summariser,
    SummaryState,
    known_lines,
    known_names,
    next_state,
    prompt_tokens,
)
from cognigraph.ingest.model.transcript import (
    Turn,
    WindowName,
    WindowNames,
    halves,
    numbered,
    split,
    unnumbered,
)
from cognigraph.ingest.model.validate import CheckedAnswer
from cognigraph.llm import Answer, Model, Prices, Prompt
from cognigraph.llm.prompts import prompt_file, render
from cognigraph.model import Usage
from cognigraph.text.marks import estimate_tokens

READ_PROMPT = "extract-3"
SUMMARY_PROMPT = "summarise-3"
_CONTEXT = 2
_ANSWER_TOKENS, _ANSWER_SHARE = 20, 0.95
"""Estimated tokens of an answer: a constant plus a share of the input (docs/benchmarks.md)."""


@dataclass(slots=True)
class _WindowRun:
    """State of reading one lease: the results so far and their cost."""

    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]
    known: tuple[WindowName, ...]
    reading: CheckedAnswer
    usage: Usage = field(default_factory=Usage)
    rejected: list[str] = field(default_factory=list)


class ModelExtractor:
    """Extracts from chunks with a language model.

    Args:
        model: the language model, such as :class:`cognigraph.llm.ChatModel`.
        timezone: the speakers' timezone, in which days are counted (UTC if absent).
        window_tokens: maximum size of one prompt's turns; a longer window is read in parts that
            overlap by one turn.
        settle: how long a conversation must pause before a background worker starts.
    """

    also_reads: frozenset[AlsoRead] = frozenset({"tool"})

    def __init__(
        self,
        model: Model,
        *,
        timezone: tzinfo | None = None,
        window_tokens: int = 6000,
        settle: timedelta = timedelta(seconds=20),
    ) -> None:
        if window_tokens < 100:
            raise ConfigurationError("window_tokens must be at least 100")
        self.settle = settle
        self._model = model
        self._zone = timezone
        self._limit = window_tokens
        self._prompt = prompt_file(READ_PROMPT)
        summary = prompt_file(SUMMARY_PROMPT)
        self._summariser = Summariser(model, summary, window_tokens)
        self._versions = f"{self._prompt.version}.{summary.version}"

    @property
    def model(self) -> Model:
        """The language model."""
        return self._model

    @property
    def name(self) -> str:
        """The versions of both prompts and the model's name: ``model-3.3:gpt-4o-mini``."""
        return f"model-{self._versions}:{self._model.name}"

    def extract(self, window: Window) -> Extraction:
        """Extract from a window and update the session's summary with it.

        If the summary could not be updated, ``behind`` and ``error`` of the result say so.

        Raises:
            ModelError: the extraction failed; nothing of the window may be stored.
        """
        turns = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.chunks)
        before = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.before)
        state = SummaryState.load(window.notes.state)
        run = _WindowRun(turns, before, state.known, CheckedAnswer(turns))
        try:
            for part in split(turns, self._limit):
                self._read(run, part)
        except ModelError as error:
            error.usage = run.usage + error.usage
            raise
        outcome = self._summariser.update(window.notes, state, turns)
        reading = run.reading
        state = replace(state, known=known_names(reading.entities, state.known))
        return replace(
            _with_summary(state, outcome),
            mentions=reading.mentions,
            facts=reading.facts,
            rejected=(*run.rejected, *reading.rejected, *outcome.rejected),
            usage=run.usage + outcome.usage,
        )

    def summarise(self, window: Window) -> Extraction:
        """Update the session's summary with the turns it lacks; no facts are extracted."""
        state = SummaryState.load(window.notes.state)
        return _with_summary(state, self._summariser.update(window.notes, state, ()))

    def estimate(self, window: Window) -> Usage:
        """Estimate the usage of :meth:`extract`, or of :meth:`summarise` if there are no chunks.

        No call is made, and retries are not counted. The cost is computed from the model's
        ``prices``; it is 0.0 without them.
        """
        turns = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.chunks)
        before = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.before)
        state = SummaryState.load(window.notes.state)
        run = _WindowRun(turns, before, state.known, CheckedAnswer(turns))
        usage = self._summariser.estimate(window.notes, state, turns)
        for part in split(turns, self._limit):
            said = sum(estimate_tokens(turn.text) for turn in turns[part.start : part.stop])
            usage += Usage(
                calls=1,
                input_tokens=prompt_tokens(self._prompt_for(run, part)),
                output_tokens=_ANSWER_TOKENS + round(_ANSWER_SHARE * said),
            )
        prices: Prices | None = getattr(self._model, "prices", None)
        cost = prices.cost(usage.input_tokens, usage.output_tokens) if prices else 0.0
        return replace(usage, cost=cost)

    def forget_answers(self) -> int:
        """Delete what the model keeps of its answers, and return how many there were."""
        return self._model.forget_answers() if isinstance(self._model, Caching) else 0

    def _read(self, run: _WindowRun, part: range) -> None:
        """Read a part; split it in halves if the prompt or the answer is too long."""
        smaller = halves(part)
        try:
            answer = self._ask(run, part)
        except ModelRefusedError as error:
            if not error.too_long or smaller is None:
                raise
            run.usage += error.usage
        else:
            run.usage += answer.usage
            if not answer.cut_off or smaller is None:
                self._take(run, part, answer)
                return
        for half in smaller:
            self._read(run, half)

    def _ask(self, run: _WindowRun, part: range) -> Answer[ReadAnswer]:
        return self._model.ask(self._prompt_for(run, part), ReadAnswer)

    def _prompt_for(self, run: _WindowRun, part: range) -> Prompt:
        return render(
            self._prompt,
            known=known_lines(known_names(run.reading.entities, run.known)),
            context=unnumbered(self._around(run, part)),
            turns=numbered(run.turns[part.start : part.stop]),
        )

    def _take(self, run: _WindowRun, part: range, answer: Answer[ReadAnswer]) -> None:
        names = WindowNames(
            run.turns[part.start : part.stop],
            (*run.before, *run.turns),
            (*run.known, *run.reading.entities),
        )
        run.rejected += (f"{DROPPED}: {reason}" for reason in answer.dropped)
        run.reading.take(answer.value, part, names)

    def _around(self, run: _WindowRun, part: range) -> Sequence[Turn]:
        """The turns just before a part, as context."""
        return (*run.before, *run.turns[: part.start])[-_CONTEXT:]


def _with_summary(state: SummaryState, outcome: Outcome) -> Extraction:
    summary = outcome.summary
    return Extraction(
        keys=None if summary is None else summary.keys,
        themes=None if summary is None else summary.themes,
        state=next_state(state, outcome).dump(),
        rejected=tuple(outcome.rejected),
        usage=outcome.usage,
        provisional=outcome.quoted,
        summary_due=outcome.summary_due,
        error=outcome.error,
    )
