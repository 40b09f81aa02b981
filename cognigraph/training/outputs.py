"""What an output of a writer makes of the memory that it was shown: MemBuilder, sections 3.2, C.3.

An output is the text that a model gave. It is valid only as a whole: one operation that is not
makes all of it invalid, and its reward 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from cognigraph.ingest.membuilder.actions import Action, check_core, valid_actions
from cognigraph.ingest.membuilder.answer_schema import CoreAnswer, EntriesAnswer
from cognigraph.ingest.membuilder.writers import core_operation
from cognigraph.states.core_profile import RefusedOperation, applied
from cognigraph.text.marks import estimate_tokens
from cognigraph.training.rewards import Kind

_THOUGHT = re.compile(r"\A.*</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Output:
    """The entries that a writer keeps after its output; the core profile is one of them.

    ``new`` are those that the output added; an output that is not valid adds none.
    """

    kind: Kind
    valid: bool
    entries: tuple[str, ...]
    new: tuple[str, ...] = ()
    before: int = 0
    """Tokens of what was kept before."""

    @property
    def tokens(self) -> int:
        """Tokens of all entries."""
        return count_tokens(self.entries)

    @property
    def stored(self) -> int:
        """Tokens of the new entries."""
        return count_tokens(self.new)


def count_tokens(texts: Sequence[str]) -> int:
    """Estimated tokens of some texts."""
    return sum(estimate_tokens(text) for text in texts)


def read_output(text: str, kind: Kind, before: Any, turns: int) -> Output:
    """The memory after an output of a writer that was shown ``before`` and so many turns.

    ``before`` is the text of the core profile, or the entries by label. What a model thinks aloud
    in ``<think>`` is no part of its output.
    """
    answer = _THOUGHT.sub("", text).strip()
    kept = tuple(filter(None, (before,))) if kind == "core" else tuple((before or {}).values())
    size = count_tokens(kept)
    try:
        if kind == "core":
            entries = _profile_after(answer, before or "")
            new = entries if entries != kept else ()
        else:
            new = _new_entries(answer, kind, before or {}, turns)
            entries = (*kept, *new)
    except (ValidationError, RefusedOperation):
        return Output(kind, False, kept, before=size)
    return Output(kind, True, entries, new, size)


def _profile_after(answer: str, before: str) -> tuple[str, ...]:
    """The core profile, if it is not empty."""
    parsed = CoreAnswer.model_validate_json(answer)
    if reason := check_core(parsed):
        raise RefusedOperation(reason)
    after = before if parsed.operation == "NONE" else applied(before, core_operation(parsed))
    return tuple(filter(None, (after,)))


def _new_entries(answer: str, kind: Kind, before: Mapping[str, str], turns: int) -> tuple[str, ...]:
    operations = EntriesAnswer.model_validate_json(answer).operations
    actions, refused = valid_actions(kind, operations, before, turns)
    if refused:
        raise RefusedOperation(refused[0])
    return tuple(_text(action) for action in actions if action.action != "SKIP")


def _text(action: Action) -> str:
    if action.fact is not None:
        fact = action.fact
        when = fact.date or fact.words
        return f"{fact.subject} {fact.relation} {fact.object}{f' ({when})' if when else ''}"
    steps = " ".join(f"{number}. {step}" for number, step in enumerate(action.steps, 1))
    return ": ".join(part for part in (action.title, action.text, steps) if part)
