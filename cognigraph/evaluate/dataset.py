"""A loaded benchmark: conversations of messages, with questions about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from cognigraph.model import Message

Benchmark = Literal[
    "beam",
    "lifebench",
    "locomo",
    "longmemeval",
    "memoryagentbench",
    "perltqa",
    "realmem",
    "realtalk",
    "vehiclemembench",
]
Level = Literal["turn", "session"]

ADVERSARIAL = "adversarial"
"""LoCoMo's category 5: questions about what nobody said, or what the other speaker said."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a conversation, asked at ``asked_at``.

    ``evidence`` are ids of the messages that answer it and ``evidence_sessions`` their sessions;
    both are empty for a question that nothing answers (``unanswerable``), or whose evidence the
    file does not give. With ``as_of``, the question is asked within the conversation: messages
    after that time do not count.
    """

    id: str
    text: str
    answer: str
    category: str
    asked_at: datetime
    evidence: tuple[str, ...]
    evidence_sessions: tuple[str, ...]
    unanswerable: bool = False
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """One isolated history: its messages in order of time, and the questions about it.

    ``notes`` count by kind what was irregular in the file, and how it was read.
    """

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]
    notes: Mapping[str, int] = field(default_factory=dict)


def said_at(message: Message) -> datetime:
    """Return the time of a message; loaders always set it."""
    assert isinstance(message.at, datetime)
    return message.at


def day_after(messages: Sequence[Message]) -> datetime:
    """Return the time when questions are asked if a file does not say: a day after the end."""
    return said_at(messages[-1]) + timedelta(days=1)
