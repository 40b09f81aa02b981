"""Writes and refines a session's summary with a model; a failure leaves what is there.

Refining reads the summary and the new turns, never the old ones, so it costs what the new turns
cost. Until a model could write one, the session has a summary of its own sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cognigraph.errors import ModelError
from cognigraph.ingest.answers import SummaryAnswer
from cognigraph.ingest.extraction import Window
from cognigraph.ingest.prompts import PromptFile, render
from cognigraph.ingest.rules import RulesExtractor
from cognigraph.ingest.session_summary import (
    Summary,
    SummaryState,
    key_line,
    merged,
    remembered,
    theme_lines,
)
from cognigraph.ingest.transcript import ANONYMOUS, Turn, split, unnumbered
from cognigraph.llm import Model
from cognigraph.model import Usage
from cognigraph.stores.base import SessionNotes, WorkChunk


@dataclass(slots=True)
class Outcome:
    """What became of the summary. ``summary`` is ``None`` where the session keeps what it has."""

    summary: Summary | None
    unread: tuple[Turn, ...]
    extractive: bool
    usage: Usage
    rejected: list[str]


class Summariser:
    """Asks a model for keys and themes, at most ``limit`` tokens of turns at once."""

    def __init__(self, model: Model, prompt: PromptFile, limit: int) -> None:
        self._model = model
        self._prompt = prompt
        self._limit = limit

    def update(self, notes: SessionNotes, state: SummaryState, new: Sequence[Turn]) -> Outcome:
        """Take the new turns, and those that waited, into the session's summary."""
        turns = (*state.unread, *new)
        old = Summary() if state.extractive else Summary(notes.keys, notes.themes)
        done = Outcome(None, turns, state.extractive, Usage(), [])
        current = old
        speakers = tuple(dict.fromkeys(turn.speaker for turn in turns))
        for part in split(turns, self._limit):
            try:
                answer = self._ask(current, turns[part.start : part.stop], done)
            except ModelError as error:
                done.usage += error.usage
                done.rejected.append(f"summary: {error}")
                break
            current, refused = merged(current, answer, speakers)
            done.rejected += (f"summary: {reason}" for reason in refused)
            if not current.themes:
                done.rejected.append("summary: the answer had no theme")
                break
            done.summary, done.extractive = current, False
            done.unread = turns[part.stop :]
        if done.summary is None and not old.themes:
            done.summary, done.extractive = extractive(turns), True
        done.unread = remembered(done.unread)
        return done

    def _ask(self, current: Summary, turns: Sequence[Turn], done: Outcome) -> SummaryAnswer:
        if current.themes:
            prompt = render(
                self._prompt,
                "refine",
                keys=key_line(current.keys),
                themes=theme_lines(current.themes),
                turns=unnumbered(turns),
            )
        else:
            prompt = render(self._prompt, "create", turns=unnumbered(turns))
        answer = self._model.ask(prompt, SummaryAnswer)
        done.usage += answer.usage
        done.rejected += (f"summary: {reason}" for reason in answer.dropped)
        return answer.value


def extractive(turns: Sequence[Turn]) -> Summary:
    """Keys and themes in the words of the turns themselves, by rules."""
    chunks = tuple(
        WorkChunk(
            uid=str(place),
            message_id=str(place),
            session="",
            speaker=None if turn.speaker == ANONYMOUS else turn.speaker,
            at=turn.at,
            text=turn.text,
        )
        for place, turn in enumerate(turns)
    )
    read = RulesExtractor().extract(Window("", "", chunks))
    return Summary(read.keys or (), read.themes or ())


def next_state(state: SummaryState, outcome: Outcome) -> SummaryState:
    """What the next lease must know of this one's summary."""
    return replace(state, unread=outcome.unread, extractive=outcome.extractive)
