"""A loaded benchmark: conversations of messages, with questions about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from cognigraph.model import Message

Benchmark = Literal["locomo", "longmemeval"]
Level = Literal["turn", "session"]

HEADLINE: Mapping[Benchmark, Level] = {"locomo": "turn", "longmemeval": "session"}
"""Whether evidence counts by message or by session, in recall and in the list of failures."""

ADVERSARIAL = "adversarial"
"""LoCoMo's category 5: questions about what nobody said, or what the other speaker said."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a conversation, asked at ``asked_at``.

    ``evidence`` are ids of the messages that answer it and ``evidence_sessions`` their sessions;
    both are empty for a question that nothing answers (``unanswerable``), or whose evidence the
    file does not give.
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
    """One isolated history: its messages in order of time, and the questions about it.

    ``notes`` count by kind what was irregular in the file, and how it was read.
    """

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]
    notes: Mapping[str, int] = field(default_factory=dict)
