"""``MemBuilderExtractor``: another extractor, and four writers that keep what is worth keeping.

The underlying extractor (by default the rules) gives facts, entities and keys. The writers keep a
core profile, episodes, further facts and procedures, with one model call each for a window. A
writer that fails leaves all else as it is, and its turns wait in the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta, tzinfo
from pathlib import Path

from cognigraph.errors import ModelError
from cognigraph.ingest.extraction import (
    AlsoRead,
    Caching,
    Contextual,
    Estimating,
    Extraction,
    Extractor,
    Fact,
    Mention,
    Pausing,
    Summarising,
    Window,
    also_reads,
)
from cognigraph.ingest.membuilder.actions import WRITERS, Recording, Writer, WriterCall, WriterState
from cognigraph.ingest.membuilder.writers import (
    PROMPTS,
    WriterRun,
    core_prompt,
    episodic_prompt,
    newest,
    procedural_prompt,
    semantic_prompt,
    write_core,
    write_episodes,
    write_facts,
    write_procedures,
    writer_prompt,
)
from cognigraph.ingest.model.summarise import prompt_tokens
from cognigraph.ingest.model.transcript import Turn, WindowNames
from cognigraph.ingest.model.validate import CheckedAnswer
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.llm import Model, Prices
from cognigraph.model import Theme, Usage
from cognigraph.settings import WeightSetName
from cognigraph.stores.records import SessionNotes, WrittenRow

NOT_WRITTEN = "not written, and tried again"
LATE_FACTS = "facts of turns that were read before cannot be added"
_ANSWER_TOKENS = 150
"""Estimated tokens of an answer of a writer."""


@dataclass(slots=True)
class _Result:
    """What the writers made of a window."""

    written: list[WrittenRow] = field(default_factory=list)
    episodes: tuple[Theme, ...] | None = None
    facts: tuple[Fact, ...] = ()
    mentions: tuple[Mention, ...] = ()
    failed: list[Writer] = field(default_factory=list)
    error: ModelError | None = None


class MemBuilderExtractor:
    """Adds writers to an extractor.

    Args:
        model: the language model of the writers, such as :class:`cognigraph.llm.ChatModel`.
        base: the underlying extractor; by default the rules.
        timezone: the speakers' timezone.
        recalls: how many known facts the writer of facts is shown.
        settle: how long a conversation must pause before a background worker starts.
        record: a file to which every call is appended, as an example for training.
    """

    def __init__(
        self,
        model: Model,
        *,
        base: Extractor | None = None,
        timezone: tzinfo | None = None,
        recalls: int = 40,
        settle: timedelta = timedelta(seconds=20),
        record: str | Path | Callable[[WriterCall], None] | None = None,
    ) -> None:
        self._model = model
        self._base = base if base is not None else RulesExtractor(timezone=timezone)
        self._zone = timezone
        self.recalls = recalls
        self.settle = self._base.settle if isinstance(self._base, Pausing) else settle
        self.weight_set: WeightSetName = getattr(self._base, "weight_set", "model")
        self._record = Recording(record) if isinstance(record, str | Path) else record
        numbers = ".".join(str(writer_prompt(PROMPTS[writer]).version) for writer in WRITERS)
        self._name = f"membuilder-{numbers}:{model.name}+{self._base.name}"

    @property
    def name(self) -> str:
        """Versions of the prompts, the model and the underlying extractor."""
        return self._name

    @property
    def context(self) -> int:
        """How many chunks before a window the underlying extractor needs."""
        return self._base.context if isinstance(self._base, Contextual) else 0

    @property
    def also_reads(self) -> frozenset[AlsoRead]:
        """What the underlying extractor does, without messages that no model is to read."""
        return also_reads(self._base) - {"stated"}

    def extract(self, window: Window) -> Extraction:
        """Run the underlying extractor, then the writers, over the window."""
        state = WriterState.load(window.notes.state)
        below = replace(window, notes=replace(window.notes, state=state.base))
        extraction = self._base.extract(below)
        if extraction.starts_over:
            return extraction
        turns = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.chunks)
        return self._with_writers(window, state, extraction, turns)

    def summarise(self, window: Window) -> Extraction:
        """Let the underlying extractor summarise, then ask the writers that failed again."""
        state = WriterState.load(window.notes.state)
        extraction = Extraction(state=state.base)
        if isinstance(self._base, Summarising):
            below = replace(window, notes=replace(window.notes, state=state.base))
            extraction = self._base.summarise(below)
        return self._with_writers(window, state, extraction, ())

    def estimate(self, window: Window) -> Usage:
        """Estimate the usage: the underlying extractor's, and one call of each writer."""
        state = WriterState.load(window.notes.state)
        below = replace(window, notes=replace(window.notes, state=state.base))
        usage = self._base.estimate(below) if isinstance(self._base, Estimating) else Usage()
        new = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.chunks)
        notes, written = window.notes, window.notes.written
        profile = next(iter(newest(written, "profile")), None)
        spent = Usage()
        for writer in WRITERS:
            turns = state.turns_for(writer, new)
            if not turns:
                continue
            prompt = {
                "core": lambda t: core_prompt(profile.text if profile else "", t),
                "episodic": lambda t: episodic_prompt(notes.themes, t),
                "semantic": lambda t: semantic_prompt(notes.facts, t),
                "procedural": lambda t: procedural_prompt(newest(written, "procedure"), t),
            }[writer](turns)
            spent += Usage(
                calls=1, input_tokens=prompt_tokens(prompt), output_tokens=_ANSWER_TOKENS
            )
        prices: Prices | None = getattr(self._model, "prices", None)
        cost = prices.cost(spent.input_tokens, spent.output_tokens) if prices else 0.0
        return usage + replace(spent, cost=cost)

    def forget_answers(self) -> int:
        """Delete what the models keep of their answers, and return how many there were."""
        parts = (self._model, self._base)
        return sum(part.forget_answers() for part in parts if isinstance(part, Caching))

    def _with_writers(
        self, window: Window, state: WriterState, extraction: Extraction, new: Sequence[Turn]
    ) -> Extraction:
        run = WriterRun(self._model, window.space, window.session, self._record)
        result = _Result()
        for writer in WRITERS:
            turns = state.turns_for(writer, new)
            if turns:
                try:
                    self._write(writer, run, window, state, turns, result)
                except ModelError as error:
                    result.failed.append(writer)
                    result.error = result.error or error
                    run.refused.append(f"{NOT_WRITTEN}: {writer}: {error}")
        unread = (*state.unread, *new) if result.failed else ()
        writes = state.writes_episodes or bool(result.episodes)
        after = WriterState(extraction.state, unread, tuple(result.failed), writes)
        themes = result.episodes or (None if state.writes_episodes else extraction.themes)
        keys = extraction.keys
        if themes is not None and keys is None:
            keys = window.notes.keys
        return replace(
            extraction,
            facts=(*extraction.facts, *result.facts),
            mentions=(*extraction.mentions, *result.mentions),
            keys=keys,
            themes=themes,
            written=tuple(result.written),
            state=after.dump(),
            rejected=(*extraction.rejected, *run.refused),
            usage=extraction.usage + run.usage,
            provisional=extraction.provisional and not writes,
            summary_due=extraction.summary_due or bool(result.failed),
            error=extraction.error or result.error,
        )

    def _write(
        self,
        writer: Writer,
        run: WriterRun,
        window: Window,
        state: WriterState,
        turns: Sequence[Turn],
        result: _Result,
    ) -> None:
        notes = window.notes
        if writer == "core":
            result.written += write_core(run, notes.written, turns)
        elif writer == "episodic":
            result.episodes = write_episodes(run, _own_episodes(notes, state), turns)
        elif writer == "procedural":
            result.written += write_procedures(run, notes.written, turns)
        else:
            self._write_facts(run, window, turns, result)

    def _write_facts(
        self, run: WriterRun, window: Window, turns: Sequence[Turn], result: _Result
    ) -> None:
        """Facts need chunks of the window as evidence; those of earlier turns are left out."""
        from cognigraph.ingest.model.answer_schema import ReadAnswer

        late = len(turns) - len(window.chunks)
        own = tuple(turns[late:])
        if late:
            run.refused.append(f"{LATE_FACTS}: {late}")
        if not own:
            return
        lines = write_facts(run, window.notes.facts, own)
        before = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.before)
        checked = CheckedAnswer(own)
        names = WindowNames(own, (*before, *own), ())
        checked.take(ReadAnswer(facts=lines), range(len(own)), names)
        run.refused += checked.rejected
        result.facts, result.mentions = checked.facts, checked.mentions


def _own_episodes(notes: SessionNotes, state: WriterState) -> tuple[Theme, ...]:
    return notes.themes if state.writes_episodes else ()
