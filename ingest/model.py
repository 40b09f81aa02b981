"""``ModelExtractor``: a language model reads entities, facts and the session's summary.

One call reads what a lease holds and one keeps the summary; only what is longer than the model
should read at once takes more. An outage or an exhausted budget in the first leaves the chunks
pending. In the second it leaves the old summary, and the turns it lacks go into the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta, tzinfo

from cognigraph.llm import Answer, Model

from cognigraph.errors import ConfigurationError, ModelError, ModelRefusedError
from cognigraph.ingest.answers import ReadAnswer
from cognigraph.ingest.coreference import Named, Names
from cognigraph.ingest.extraction import Extraction, Window
from cognigraph.ingest.prompts import prompt_file, render
from cognigraph.ingest.reading import Reading
from cognigraph.ingest.session_summary import SummaryState, known_lines, known_names
from cognigraph.ingest.summariser import Summariser, next_state
from cognigraph.ingest.transcript import Turn, halves, numbered, split, unnumbered
from cognigraph.model import Usage

READ_PROMPT = "extract-1"
SUMMARY_PROMPT = "summarise-1"
_CONTEXT = 2


@dataclass(slots=True)
class _Run:
    """One lease being read: what is known of it so far, and what that cost."""

    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]
    known: tuple[Named, ...]
    reading: Reading
    usage: Usage = field(default_factory=Usage)
    rejected: list[str] = field(default_factory=list)


class ModelExtractor:
    """Reads chunks with a language model.

    Args:
        model: what answers, such as :class:`cognigraph.llm.ChatModel`.
        timezone: where the speakers are; their days are counted there (UTC if absent).
        window_tokens: how much is read at once; what is longer is read in parts that share a turn.
        settle: how long a background worker waits for a conversation to pause.
    """

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
    def name(self) -> str:
        """Versions of both prompts, and the model: ``model-1.1:gpt-4o-mini``."""
        return f"model-{self._versions}:{self._model.name}"

    def extract(self, window: Window) -> Extraction:
        """Read a window and bring the session's summary up to it.

        Raises:
            ModelError: the reading failed; nothing of the window is to be stored.
        """
        turns = tuple(Turn.of(chunk, self._zone) for chunk in window.chunks)
        before = tuple(Turn.of(chunk, self._zone) for chunk in window.before)
        state = SummaryState.load(window.notes.state)
        run = _Run(turns, before, state.known, Reading(turns))
        try:
            for part in split(turns, self._limit):
                self._read(run, part)
        except ModelError as error:
            error.usage = run.usage + error.usage
            raise
        outcome = self._summariser.update(window.notes, state, turns)
        state = next_state(state, outcome)
        reading, summary = run.reading, outcome.summary
        return Extraction(
            mentions=reading.mentions,
            facts=reading.facts,
            keys=None if summary is None else summary.keys,
            themes=None if summary is None else summary.themes,
            state=replace(state, known=known_names(reading.entities, state.known)).dump(),
            rejected=(*run.rejected, *reading.rejected, *outcome.rejected),
            usage=run.usage + outcome.usage,
        )

    def _read(self, run: _Run, part: range) -> None:
        """Read a part, or its halves where the answer, or the question, is too long."""
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

    def _ask(self, run: _Run, part: range) -> Answer[ReadAnswer]:
        prompt = render(
            self._prompt,
            known=known_lines(known_names(run.reading.entities, run.known)),
            context=unnumbered(self._around(run, part)),
            turns=numbered(run.turns[part.start : part.stop]),
        )
        return self._model.ask(prompt, ReadAnswer)

    def _take(self, run: _Run, part: range, answer: Answer[ReadAnswer]) -> None:
        names = Names(
            run.turns[part.start : part.stop],
            (*run.before, *run.turns),
            (*run.known, *run.reading.entities),
        )
        run.rejected += answer.dropped
        run.reading.take(answer.value, part, names)

    def _around(self, run: _Run, part: range) -> Sequence[Turn]:
        """What was said just before a part."""
        return (*run.before, *run.turns[: part.start])[-_CONTEXT:]
