"""``ModelExtractor``: extracts entities, facts and session summaries with a language model.

One call extracts from the chunks of a lease and updates the summary, so what was said is sent once;
only text that is too long for one call takes more. If it fails because of an outage or an exhausted
budget, the chunks stay pending. The summary has a call of its own if the answer has none, and if it
lacks earlier turns. If that call fails, the old summary is kept and the session stays queued until
its summary is updated.

The system prompt is the same in all calls, and comes first, so that endpoints can cache it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import tzinfo

from cognigraph.errors import ConfigurationError, ModelError, ModelRefusedError
from cognigraph.ingest.extraction import (
    MODEL_SETTLE,
    AlsoRead,
    Extraction,
    Extractor,
    Window,
)
from cognigraph.ingest.model.answer_schema import ReadAnswer
from cognigraph.ingest.model.summarise import (
    DROPPED,
    Summariser,
    SummaryState,
    SummaryUpdate,
    estimated_call,
    key_line,
    known_lines,
    known_names,
    summary_tokens,
    theme_lines,
)
from cognigraph.ingest.model.transcript import (
    Turn,
    WindowName,
    WindowNames,
    halves,
    numbered,
    split,
)
from cognigraph.ingest.model.validate import CheckedAnswer
from cognigraph.llm import Answer, Model, Prompt
from cognigraph.llm.prompts import prompt_file, render
from cognigraph.model import Usage
from cognigraph.text.marks import estimate_tokens

READ_PROMPT = "extract-5"
SUMMARY_PROMPT = "summarise-4"
NOTES_PROMPT = "notes-1"
_CONTEXT = 2
_ANSWER_TOKENS, _ANSWER_SHARE = 20, 0.95
"""Estimated tokens of facts: a constant plus a share of the input (docs/benchmarks.md)."""


@dataclass(slots=True)
class _WindowRun:
    """A window that is being read: the results so far and their cost.

    ``summarises`` says whether the next call also updates the summary.
    """

    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]
    known: tuple[WindowName, ...]
    reading: CheckedAnswer
    summary: SummaryUpdate
    summarises: bool
    usage: Usage = field(default_factory=Usage)
    rejected: list[str] = field(default_factory=list)


class ModelExtractor(Extractor):
    """Extracts from chunks with a language model.

    Args:
        model: the language model, such as :class:`cognigraph.llm.ChatModel`.
        timezone: the speakers' timezone, in which days are counted (UTC if absent).
        window_tokens: maximum size of one prompt's turns; a longer window is read in parts that
            overlap by one turn.
        keeps_all: whether summaries keep all that somebody could ask about, as HyMem answers from
            them (level 1), and not only what tells whether the conversation is worth reading. They
            are longer, and take a call of their own.
    """

    also_reads: frozenset[AlsoRead] = frozenset({"tool"})
    settle = MODEL_SETTLE
    summarises = True

    def __init__(
        self,
        model: Model,
        *,
        timezone: tzinfo | None = None,
        window_tokens: int = 6000,
        keeps_all: bool = False,
    ) -> None:
        if window_tokens < 100:
            raise ConfigurationError("window_tokens must be at least 100")
        self.model: Model = model
        self._zone = timezone
        self._limit = window_tokens
        self._prompt = prompt_file(READ_PROMPT)
        self._keeps_all = keeps_all
        summary = prompt_file(NOTES_PROMPT if keeps_all else SUMMARY_PROMPT)
        self._summariser = Summariser(model, summary, window_tokens)
        versions = f"{self._prompt.version}.{summary.version}"
        self.name = f"{'hymem' if keeps_all else 'model'}-{versions}:{model.name}"

    def _begin(self, window: Window, state: SummaryState) -> _WindowRun:
        turns = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.chunks)
        before = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.before)
        summary = self._summariser.begin(window.notes, state, turns)
        at_once = not self._keeps_all and len(summary.unread) == len(turns)
        return _WindowRun(turns, before, state.known, CheckedAnswer(turns), summary, at_once)

    def extract(self, window: Window) -> Extraction:
        """Extract from a window and update the session's summary with it.

        If the summary could not be updated, ``summary_due`` and ``error`` of the result say so.

        Raises:
            ModelError: the extraction failed; nothing of the window may be stored.
        """
        state = SummaryState.load(window.notes.state)
        run = self._begin(window, state)
        try:
            for part in split(run.turns, self._limit):
                self._read(run, part)
        except ModelError as error:
            error.usage = run.usage + error.usage
            raise
        self._summariser.finish(run.summary, window.notes, run.turns)
        reading = run.reading
        state = replace(state, known=known_names(reading.entities, state.known))
        extraction = run.summary.extraction(state)
        return replace(
            extraction,
            mentions=reading.mentions,
            facts=reading.facts,
            rejected=(*run.rejected, *reading.rejected, *extraction.rejected),
            usage=run.usage + extraction.usage,
        )

    def summarise(self, window: Window) -> Extraction:
        """Update the session's summary with the turns it lacks; no facts are extracted."""
        state = SummaryState.load(window.notes.state)
        update = self._summariser.begin(window.notes, state, ())
        self._summariser.finish(update, window.notes, ())
        return update.extraction(state)

    def estimate(self, window: Window) -> Usage:
        """Estimate the usage of :meth:`extract`, or of :meth:`summarise` if there are no chunks.

        No call is made, and retries are not counted. The cost is computed from the model's
        ``prices``; it is 0.0 without them.
        """
        run = self._begin(window, SummaryState.load(window.notes.state))
        usage = Usage()
        if not (run.turns and run.summarises):
            usage += self._summariser.estimate(run.summary, window.notes)
        for part in split(run.turns, self._limit):
            shown = run.turns[part.start : part.stop]
            said = sum(estimate_tokens(turn.text) for turn in shown)
            facts = _ANSWER_TOKENS + round(_ANSWER_SHARE * said)
            output = facts + (summary_tokens(shown) if run.summarises else 0)
            usage += estimated_call(self.model, self._prompt_for(run, part), output)
        return usage

    def _read(self, run: _WindowRun, part: range) -> None:
        """Read a part; split it in halves if the prompt or the answer is too long."""
        smaller = halves(part)
        try:
            answer = self.model.ask(self._prompt_for(run, part), ReadAnswer)
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

    def _prompt_for(self, run: _WindowRun, part: range) -> Prompt:
        known = known_names(run.reading.entities, run.known)
        around = (*run.before, *run.turns[: part.start])[-_CONTEXT:]
        before = ""
        if known or around:
            shown = numbered(around, clocks=False, numbers=False)
            filled = render(self._prompt, "before", known=known_lines(known), context=shown)
            before = f"{filled.user}\n"
        turns = numbered(run.turns[part.start : part.stop], clocks=False)
        draft = run.summary.current
        if not run.summarises:
            return render(self._prompt, "facts", before=before, turns=turns)
        if not draft.themes:
            return render(self._prompt, "create", before=before, turns=turns)
        return render(
            self._prompt,
            "refine",
            before=before,
            keys=key_line(draft.keys),
            themes=theme_lines(draft.themes),
            turns=turns,
        )

    def _take(self, run: _WindowRun, part: range, answer: Answer[ReadAnswer]) -> None:
        shown = run.turns[part.start : part.stop]
        names = WindowNames(shown, (*run.before, *run.turns), (*run.known, *run.reading.entities))
        run.rejected += (f"{DROPPED}: {reason}" for reason in answer.dropped)
        run.reading.take(answer.value, part, names)
        if run.summarises:  # else, or without a summary here, a call of its own follows
            summary = None if answer.cut_off else answer.value.summary
            rest = run.turns[part.stop :]
            run.summarises = summary is not None and run.summary.take(summary, shown, rest)
