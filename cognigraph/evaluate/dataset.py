"""What a benchmark file becomes: conversations of messages, with questions about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from cognigraph.model import Message

Benchmark = Literal["locomo", "longmemeval"]
Level = Literal["turn", "session"]

HEADLINE: Mapping[Benchmark, Level] = {"locomo": "turn", "longmemeval": "session"}
"""The level by which the benchmark's own authors count recall, and by which a question failed."""

ADVERSARIAL = "adversarial"
"""LoCoMo's category 5: questions about what was never said, or said by the other one."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a conversation, asked at ``asked_at``.

    ``evidence`` are ids of the messages that answer it and ``evidence_sessions`` their sessions;
    both are empty for a question that nothing answers (``unanswerable``) or that names no place.
    """

    id: str
    text: str
    answer: str
    category: str
    asked_at: datetime
    evidence: tuple[str, ...]
    evidence_sessions: tuple[str, ...]
    unanswerable: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """One isolated history: what was said, in order of time, and what is asked about it.

    ``notes`` count what was odd in the file and how it was read, by kind.
    """

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]
    notes: Mapping[str, int] = field(default_factory=dict)
