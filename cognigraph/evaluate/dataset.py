"""A loaded benchmark: conversations of messages, with questions about them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from cognigraph.evaluate.files import DatasetError
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


NO_TEXT = "turns without text left out"
REPEATED = "turn ids that came again"
NO_TURN = "evidence that names no turn"
NO_EVIDENCE = "questions without evidence, not counted in recall"
MONTHS = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
"""Months by the first three letters of their names."""
_NAMED_DAY = re.compile(r"([A-Za-z]{3})[A-Za-z]*\.?[ -](\d{1,2})(?:st|nd|rd|th)?,?[ -]+(\d{4})")


def named_day(text: str) -> datetime | None:
    """Return the day of a text such as "March-15-2024" or "April 15, 2025", as UTC."""
    for month, day, year in _NAMED_DAY.findall(text):
        if number := MONTHS.get(month.lower()):
            return datetime(int(year), number, int(day), tzinfo=UTC)
    return None


class History:
    """One conversation while it is read.

    ``sessions`` are the session ids by message id. ``notes`` count what was irregular.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.sessions: dict[str, str] = {}
        self.notes: Counter[str] = Counter()
        self._messages: list[Message] = []
        self._questions: list[Question] = []

    def add(self, id: str, text: Any, *, session: str, speaker: str | None, at: datetime) -> None:
        """Append a message; one without text is left out, and an id that comes again is changed."""
        text = str(text or "").strip()
        if not text:
            self.notes[NO_TEXT] += 1
            return
        if id in self.sessions:
            self.notes[REPEATED] += 1
            id = next(new for n in range(2, 1 << 30) if (new := f"{id}~{n}") not in self.sessions)
        self.sessions[id] = session
        self._messages.append(Message(text=text, id=id, session=session, speaker=speaker, at=at))

    def messages(self) -> list[Message]:
        """Return the messages in order of time."""
        if not self._messages:
            raise DatasetError(f"{self.name} has no turns")
        return sorted(self._messages, key=said_at)

    def ask(
        self,
        text: Any,
        *,
        answer: Any,
        category: Any,
        evidence: Iterable[str] = (),
        sessions: Iterable[str] = (),
        asked_at: datetime | None = None,
        as_of: datetime | None = None,
        unanswerable: bool = False,
    ) -> None:
        """Add a question; without ``asked_at`` it is asked a day after the end.

        ``evidence`` are ids of messages; those that do not exist are left out. ``sessions`` are
        given where the evidence is known by session only.
        """
        named = list(dict.fromkeys(evidence))
        known = tuple(id for id in named if id in self.sessions)
        if len(known) < len(named):
            self.notes[NO_TURN] += len(named) - len(known)
        reached = tuple(dict.fromkeys([*(self.sessions[id] for id in known), *sessions]))
        if not reached and not unanswerable:
            self.notes[NO_EVIDENCE] += 1
        self._questions.append(
            Question(
                id=f"{self.name}/q{len(self._questions) + 1}",
                text=str(text),
                answer=str(answer),
                category=str(category),
                asked_at=asked_at or day_after(self.messages()),
                evidence=known,
                evidence_sessions=reached,
                unanswerable=unanswerable,
                as_of=as_of,
            )
        )

    def conversation(self) -> Conversation:
        """Return what has been read; :class:`DatasetError` if there are no messages."""
        return Conversation(
            self.name, tuple(self.messages()), tuple(self._questions), dict(self.notes)
        )
