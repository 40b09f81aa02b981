"""Write and refine a session's summary with a model; after a failure the old summary is kept.

The turns that the summary lacks are then remembered, and the queue retries them: alone, or with the
session's next turns. Turns that were parked do not hold up later ones.

A refinement reads the summary and the new turns, never the old turns, so its cost depends only on
the new turns. Until the first summary by a model succeeds, the session has an extractive summary
made of its own sentences.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cognigraph.errors import ModelError, ModelRefusedError
from cognigraph.ingest.extraction import Window
from cognigraph.ingest.model.answer_schema import SummaryAnswer
from cognigraph.ingest.model.summary_state import (
    SummaryDraft,
    SummaryState,
    key_line,
    merged,
    remembered,
    theme_lines,
)
from cognigraph.ingest.model.transcript import Turn, halves, numbered, split
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.llm import Model, Prompt
from cognigraph.llm.prompts import PromptFile, render
from cognigraph.model import Usage
from cognigraph.model.roles import ANONYMOUS
from cognigraph.stores.batch_size import batch_limit, failures_of
from cognigraph.stores.records import Backlog, SessionNotes, WorkChunk
from cognigraph.text.token_estimate import estimate_tokens

NOT_WRITTEN = "summary not updated"
FORGOTTEN = "turns dropped without a summary"
DROPPED = "malformed part of an answer"
_ANSWER_TOKENS, _ANSWER_SHARE, _LONGEST_ANSWER = 100, 0.35, 900
"""Estimated tokens of an answer: a constant plus a share of the input, up to a maximum."""


@dataclass(slots=True)
class Outcome:
    """The result of an update. ``summary`` is ``None`` if the session keeps its old summary.

    ``unread`` are the turns that the summary lacks. ``extractive`` says that the session's summary
    consists of quotations, ``quoted`` that this update wrote such a summary. ``behind`` says that
    an update is due for turns it lacks, and ``error`` why this update failed.
    """

    summary: SummaryDraft | None
    unread: tuple[Turn, ...]
    extractive: bool
    usage: Usage
    rejected: list[str]
    quoted: bool = False
    summary_due: bool = False
    error: ModelError | None = None


class Summariser:
    """Asks a model for keys and themes, with at most ``limit`` tokens of turns in a prompt."""

    def __init__(self, model: Model, prompt: PromptFile, limit: int) -> None:
        self._model = model
        self._prompt = prompt
        self._limit = limit

    def update(self, notes: SessionNotes, state: SummaryState, new: Sequence[Turn]) -> Outcome:
        """Update the session's summary with the new turns, if any, and with those still due."""
        given_up, turns = _due(notes, state, new)
        old = SummaryDraft() if state.extractive else SummaryDraft(notes.keys, notes.themes)
        done = Outcome(None, turns, state.extractive, Usage(), [])
        current = old
        speakers = tuple(dict.fromkeys(turn.speaker for turn in turns))
        parts = deque(split(turns, self._limit_after(notes)))
        while parts:
            part = parts.popleft()
            try:
                answer = self._ask(current, turns[part.start : part.stop], done)
            except ModelError as error:
                done.usage += error.usage
                smaller = halves(part)
                if isinstance(error, ModelRefusedError) and error.too_long and smaller is not None:
                    parts.extendleft(reversed(smaller))
                    continue
                done.rejected.append(f"{NOT_WRITTEN}: {error}")
                done.error = error
                break
            current, refused = merged(current, answer, speakers, turns[part.start : part.stop])
            done.rejected += refused
            if not current.themes:
                done.rejected.append(f"{NOT_WRITTEN}: the answer had no theme")
                break
            done.summary, done.extractive = current, False
            done.unread = turns[part.stop :]
        done.unread = (*given_up, *done.unread)
        done.summary_due = bool(given_up) or done.error is not None
        if done.summary is None and not old.themes and new:
            done.summary, done.extractive, done.quoted = extractive(done.unread), True, True
        kept = _turns_to_keep(done.unread, new)
        if len(kept) < len(done.unread):
            done.extractive = False  # it alone covers the dropped turns, so it must be kept
            done.rejected.append(f"{FORGOTTEN}: {len(done.unread) - len(kept)}")
        done.unread = kept
        return done

    def estimate(self, notes: SessionNotes, state: SummaryState, new: Sequence[Turn]) -> Usage:
        """Estimate the usage of :meth:`update`."""
        _, turns = _due(notes, state, new)
        current = SummaryDraft() if state.extractive else SummaryDraft(notes.keys, notes.themes)
        usage = Usage()
        for part in split(turns, self._limit_after(notes)):
            shown = turns[part.start : part.stop]
            prompt = self._prompt_for(current, shown)
            said = sum(estimate_tokens(turn.text) for turn in shown)
            output = _ANSWER_TOKENS + round(_ANSWER_SHARE * said)
            usage += Usage(
                calls=1,
                input_tokens=prompt_tokens(prompt),
                output_tokens=min(output, _LONGEST_ANSWER),
            )
        return usage

    def _limit_after(self, notes: SessionNotes) -> int:
        """The limit in tokens, reduced to a quarter by each failure, as for batches of chunks."""
        backlog = notes.backlog or Backlog()
        return batch_limit(failures_of(backlog.attempts, backlog.outages), self._limit)

    def _ask(self, current: SummaryDraft, turns: Sequence[Turn], done: Outcome) -> SummaryAnswer:
        answer = self._model.ask(self._prompt_for(current, turns), SummaryAnswer)
        done.usage += answer.usage
        done.rejected += (f"{DROPPED}: {reason}" for reason in answer.dropped)
        return answer.value

    def _prompt_for(self, current: SummaryDraft, turns: Sequence[Turn]) -> Prompt:
        if current.themes:
            return render(
                self._prompt,
                "refine",
                keys=key_line(current.keys),
                themes=theme_lines(current.themes),
                turns=numbered(turns),
            )
        return render(self._prompt, "create", turns=numbered(turns))


def _due(
    notes: SessionNotes, state: SummaryState, new: Sequence[Turn]
) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """The turns that were parked, and the turns to summarise now."""
    if new and notes.backlog is not None and notes.backlog.parked:
        return state.unread, tuple(new)
    return (), (*state.unread, *new)


def _turns_to_keep(unread: Sequence[Turn], new: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns without a summary to remember: all that were just tried, and the newest others."""
    if not new:
        return tuple(unread)
    before = max(0, len(unread) - len(new))
    return (*remembered(unread[:before]), *unread[before:])


def prompt_tokens(prompt: Prompt) -> int:
    """Estimated tokens of the system and user messages."""
    return estimate_tokens(prompt.system) + estimate_tokens(prompt.user)


def extractive(turns: Sequence[Turn]) -> SummaryDraft:
    """A summary by rules: keys and themes in the words of the turns themselves."""
    chunks = tuple(
        WorkChunk(
            uid=turn.uid or str(index),
            message_id=str(index),
            session="",
            speaker=None if turn.speaker == ANONYMOUS else turn.speaker,
            at=turn.at,
            text=turn.text,
            role=turn.role,
        )
        for index, turn in enumerate(turns)
    )
    read = RulesExtractor().extract(Window("", "", chunks))
    return SummaryDraft(read.keys or (), read.themes or ())


def next_state(state: SummaryState, outcome: Outcome) -> SummaryState:
    """The state to save for the next lease of this session."""
    return replace(state, unread=outcome.unread, extractive=outcome.extractive)
