"""``MemBuilderExtractor``: another extractor, and four writers that keep what is worth keeping.

The underlying extractor (by default the rules) gives facts, entities and keys. The writers keep a
core profile, episodes, further facts and procedures. They run at the same time, with one model call
each for a window. A writer that fails leaves all else as it is, and its turns wait in the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path

from cognigraph.errors import ModelError
from cognigraph.ingest.extraction import (
    Extraction,
    Extractor,
    OnTop,
    Window,
)
from cognigraph.ingest.membuilder.actions import WRITERS, Recording, Writer, WriterCall, WriterState
from cognigraph.ingest.membuilder.episodes import entries_of, episode_lines, write_episodes
from cognigraph.ingest.membuilder.writers import (
    PROMPTS,
    WriterRun,
    core_prompt,
    entries_prompt,
    fact_lines,
    procedure_lines,
    write_core,
    write_facts,
    write_procedures,
    writer_prompt,
)
from cognigraph.ingest.model.summarise import estimated_call
from cognigraph.ingest.model.transcript import Turn, WindowNames
from cognigraph.ingest.model.validate import CheckedAnswer
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.llm import Model
from cognigraph.model import Usage
from cognigraph.model.graph import newest_written

NOT_WRITTEN = "not written, and tried again"
LATE_FACTS = "facts of turns that were read before cannot be added"
_ANSWER_TOKENS = 150
"""Estimated tokens of an answer of a writer."""


class MemBuilderExtractor(OnTop):
    """Adds writers to an extractor.

    Args:
        model: the language model of the writers, such as :class:`cognigraph.llm.ChatModel`.
        base: the underlying extractor; by default the rules.
        timezone: the speakers' timezone.
        record: a file to which every call is appended, as an example for training.
    """

    recalls = 40

    def __init__(
        self,
        model: Model,
        *,
        base: Extractor | None = None,
        timezone: tzinfo | None = None,
        record: str | Path | Callable[[WriterCall], None] | None = None,
    ) -> None:
        super().__init__(model, base or RulesExtractor(timezone=timezone))
        self.also_reads -= {"stated"}  # no model is to read these
        self._zone = timezone
        self._record = Recording(record) if isinstance(record, str | Path) else record
        numbers = ".".join(str(writer_prompt(PROMPTS[writer]).version) for writer in WRITERS)
        self.name = f"membuilder-{numbers}:{model.name}+{self._base.name}"

    def extract(self, window: Window) -> Extraction:
        """Run the underlying extractor, then the writers, over the window."""
        state = WriterState.load(window.notes.state)
        extraction = self._base.extract(_below(window, state))
        if extraction.starts_over:
            return extraction
        turns = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.chunks)
        return self._with_writers(window, state, extraction, turns)

    def summarise(self, window: Window) -> Extraction:
        """Let the underlying extractor summarise, then ask the writers that failed again."""
        state = WriterState.load(window.notes.state)
        return self._with_writers(window, state, super().summarise(_below(window, state)), ())

    def estimate(self, window: Window) -> Usage:
        """Estimate the usage: the underlying extractor's, and one call of each writer."""
        state = WriterState.load(window.notes.state)
        usage = super().estimate(_below(window, state))
        new = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.chunks)
        notes, written = window.notes, window.notes.written
        profile = next(iter(newest_written(written, "profile")), None)
        for writer in WRITERS:
            turns = state.turns_for(writer, new)
            if not turns:
                continue
            if writer == "core":
                prompt = core_prompt(profile.text if profile else "", turns)
            elif writer == "episodic":
                lines = episode_lines(entries_of(notes.themes, (), turns))
                prompt = entries_prompt(writer, lines, turns)
            elif writer == "semantic":
                prompt = entries_prompt(writer, fact_lines(notes.facts), turns)
            else:
                kept = procedure_lines(newest_written(written, "procedure"))
                prompt = entries_prompt(writer, kept, turns)
            usage += estimated_call(self.model, prompt, _ANSWER_TOKENS)
        return usage

    def _with_writers(
        self, window: Window, state: WriterState, extraction: Extraction, new: Sequence[Turn]
    ) -> Extraction:
        runs = self._run(window, state, new)
        made = runs.values()
        failed = tuple(writer for writer, run in runs.items() if run.error is not None)
        unread = (*state.unread, *new) if failed else ()
        episodes = next((run.episodes for run in made if run.episodes), None)
        writes = state.writes_episodes or episodes is not None
        after = WriterState(extraction.state, unread, failed, writes)
        themes = episodes or (None if state.writes_episodes else extraction.themes)
        keys = extraction.keys
        if themes is not None and keys is None:
            keys = window.notes.keys
        return replace(
            extraction,
            facts=(*extraction.facts, *(fact for run in made for fact in run.facts)),
            mentions=(*extraction.mentions, *(item for run in made for item in run.mentions)),
            keys=keys,
            themes=themes,
            written=tuple(row for run in made for row in run.written),
            state=after.dump(),
            rejected=(*extraction.rejected, *(why for run in made for why in run.refused)),
            usage=sum((run.usage for run in made), extraction.usage),
            provisional=extraction.provisional and not writes,
            summary_due=extraction.summary_due or bool(failed),
            error=extraction.error or next((run.error for run in made if run.error), None),
        )

    def _run(
        self, window: Window, state: WriterState, new: Sequence[Turn]
    ) -> dict[Writer, WriterRun]:
        """Let all writers that have turns write at the same time; record their calls in order."""
        turns = {writer: own for writer in WRITERS if (own := state.turns_for(writer, new))}
        if not turns:
            return {}
        with ThreadPoolExecutor(len(turns), "writer") as pool:
            waiting = {
                writer: pool.submit(copy_context().run, self._write, writer, window, state, own)
                for writer, own in turns.items()
            }
            runs = {writer: future.result() for writer, future in waiting.items()}
        if self._record is not None:
            for run in runs.values():
                for call in run.calls:
                    self._record(call)
        return runs

    def _write(
        self, writer: Writer, window: Window, state: WriterState, turns: Sequence[Turn]
    ) -> WriterRun:
        notes = window.notes
        run = WriterRun(self.model, window.space, window.session, turns)
        try:
            if writer == "core":
                run.written = write_core(run, notes.written, turns)
            elif writer == "episodic":
                own = notes.themes if state.writes_episodes else ()
                run.episodes = write_episodes(run, own, notes.episodes, turns)
            elif writer == "procedural":
                run.written = write_procedures(run, notes.written, turns)
            else:
                self._write_facts(run, window, turns)
        except ModelError as error:
            run.error = error
            run.refused.append(f"{NOT_WRITTEN}: {writer}: {error}")
        return run

    def _write_facts(self, run: WriterRun, window: Window, turns: Sequence[Turn]) -> None:
        """Facts need chunks of the window as evidence; those of earlier turns are left out."""
        late = len(turns) - len(window.chunks)
        own = tuple(turns[late:])
        if late:
            run.refused.append(f"{LATE_FACTS}: {late}")
        if not own:
            return
        run.turns = own
        facts = write_facts(run, window.notes.facts, own)
        before = tuple(Turn.from_chunk(chunk, self._zone) for chunk in window.before)
        checked = CheckedAnswer(own)
        checked.take_facts(facts, WindowNames(own, (*before, *own), ()))
        run.refused += checked.rejected
        run.facts, run.mentions = checked.facts, checked.mentions


def _below(window: Window, state: WriterState) -> Window:
    """The window with the state of the underlying extractor."""
    return replace(window, notes=replace(window.notes, state=state.base))
