"""Writes and refines a session's summary with a model; a failure leaves what is there.

The turns that it lacks then are remembered, and the queue has them tried again: by themselves, or
with the session's next turns. Those that were given up do not spoil the next ones.

Refining reads the summary and the new turns, never the old ones, so it costs what the new turns
cost. Until a model could write one, the session has a summary of its own sentences.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cognigraph.errors import ModelError, ModelRefusedError
from cognigraph.ingest.extraction import Window
from cognigraph.ingest.model.schema import SummaryAnswer
from cognigraph.ingest.model.summary_state import (
    Summary,
    SummaryState,
    key_line,
    merged,
    remembered,
    theme_lines,
)
from cognigraph.ingest.model.transcript import ANONYMOUS, Turn, halves, split, unnumbered
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.llm import Model, Prompt
from cognigraph.llm.prompts import PromptFile, render
from cognigraph.model import Usage
from cognigraph.stores.batch_size import batch_limit, failures_of
from cognigraph.stores.records import Backlog, SessionNotes, WorkChunk
from cognigraph.text.token_estimate import estimate_tokens

NOT_WRITTEN = "summary left as it was"
FORGOTTEN = "turns that no summary will have"
DROPPED = "part of an answer in the wrong form"
_ANSWER_TOKENS, _ANSWER_SHARE, _LONGEST_ANSWER = 100, 0.35, 900
"""Tokens of an answer: some, and so many for each token of what was said, up to a limit."""


@dataclass(slots=True)
class Outcome:
    """What became of the summary. ``summary`` is ``None`` where the session keeps what it has.

    ``quoted`` says that it has the turns' own sentences, for want of another; ``behind`` that it
    lacks turns, ``error`` why it does from now on.
    """

    summary: Summary | None
    unread: tuple[Turn, ...]
    extractive: bool
    usage: Usage
    rejected: list[str]
    quoted: bool = False
    behind: bool = False
    error: ModelError | None = None


class Summariser:
    """Asks a model for keys and themes, at most ``limit`` tokens of turns at once."""

    def __init__(self, model: Model, prompt: PromptFile, limit: int) -> None:
        self._model = model
        self._prompt = prompt
        self._limit = limit

    def update(self, notes: SessionNotes, state: SummaryState, new: Sequence[Turn]) -> Outcome:
        """Take the new turns, if any, and those that waited, into the session's summary."""
        given_up, turns = _due(notes, state, new)
        old = Summary() if state.extractive else Summary(notes.keys, notes.themes)
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
            current, refused = merged(current, answer, speakers)
            done.rejected += refused
            if not current.themes:
                done.rejected.append(f"{NOT_WRITTEN}: the answer had no theme")
                break
            done.summary, done.extractive = current, False
            done.unread = turns[part.stop :]
        done.unread = (*given_up, *done.unread)
        done.behind = bool(given_up) or done.error is not None
        if done.summary is None and not old.themes and new:
            done.summary, done.extractive, done.quoted = extractive(done.unread), True, True
        kept = _kept(done.unread, new)
        if len(kept) < len(done.unread):
            done.extractive = False  # what is forgotten is only there: to be refined, not replaced
            done.rejected.append(f"{FORGOTTEN}: {len(done.unread) - len(kept)}")
        done.unread = kept
        return done

    def estimate(self, notes: SessionNotes, state: SummaryState, new: Sequence[Turn]) -> Usage:
        """What :meth:`update` would come to."""
        _, turns = _due(notes, state, new)
        current = Summary() if state.extractive else Summary(notes.keys, notes.themes)
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
        """As batches of chunks have it: after each failure a quarter at once."""
        backlog = notes.backlog or Backlog()
        return batch_limit(failures_of(backlog.attempts, backlog.outages), self._limit)

    def _ask(self, current: Summary, turns: Sequence[Turn], done: Outcome) -> SummaryAnswer:
        answer = self._model.ask(self._prompt_for(current, turns), SummaryAnswer)
        done.usage += answer.usage
        done.rejected += (f"{DROPPED}: {reason}" for reason in answer.dropped)
        return answer.value

    def _prompt_for(self, current: Summary, turns: Sequence[Turn]) -> Prompt:
        if current.themes:
            return render(
                self._prompt,
                "refine",
                keys=key_line(current.keys),
                themes=theme_lines(current.themes),
                turns=unnumbered(turns),
            )
        return render(self._prompt, "create", turns=unnumbered(turns))


def _due(
    notes: SessionNotes, state: SummaryState, new: Sequence[Turn]
) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """Turns that were given up, and those to be taken in now."""
    if new and notes.backlog is not None and notes.backlog.parked:
        return state.unread, tuple(new)
    return (), (*state.unread, *new)


def _kept(unread: Sequence[Turn], new: Sequence[Turn]) -> tuple[Turn, ...]:
    """What is remembered of turns without a summary: all that has just been tried, and the newest
    of those before."""
    if not new:
        return tuple(unread)
    before = max(0, len(unread) - len(new))
    return (*remembered(unread[:before]), *unread[before:])


def prompt_tokens(prompt: Prompt) -> int:
    """Estimated tokens of both messages."""
    return estimate_tokens(prompt.system) + estimate_tokens(prompt.user)


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
