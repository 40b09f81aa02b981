"""LongMemEval's files as published (``longmemeval_s.json``, ``_m``, ``_oracle``, ``_cleaned``).

https://github.com/xiaowu0162/LongMemEval: a list of questions, each with a history of its own:
``question_id`` (ends in ``_abs`` where nothing answers), ``question_type``, ``question``,
``answer``, ``question_date``, ``haystack_session_ids``, ``haystack_dates`` ("2023/05/20 (Sat)
02:21"), ``haystack_sessions`` (turns with ``role``, ``content`` and, in the sessions that matter,
``has_answer``) and ``answer_session_ids``. Times are taken as UTC.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cognigraph.evaluate.dataset import NO_TEXT, Conversation, Question
from cognigraph.evaluate.files import DatasetError, items, misread
from cognigraph.model import Message

_TIME = re.compile(r"\s*(\d{4})[/-](\d{1,2})[/-](\d{1,2})(?:\s*\([^)]*\))?\s+(\d{1,2}):(\d{2})\s*")


def read(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield one conversation per question."""
    for file in files:
        seen: set[str] = set()
        for entry in items(file):
            id = str(entry["question_id"])
            if id in seen:
                raise DatasetError(f"{file.name} has the question {id} twice")
            seen.add(id)
            with misread(f"question {id}", "LongMemEval"):
                yield read_entry(entry)


def read_time(text: str) -> datetime:
    """Parse a time such as "2023/05/20 (Sat) 02:21" as UTC."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise DatasetError(f"cannot read the time {text!r}; expected '2023/05/20 (Sat) 02:21'")
    year, month, day, hour, minute = (int(part) for part in found.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def read_entry(entry: dict[str, Any]) -> Conversation:
    """Convert one question and its history."""
    id, ids = str(entry["question_id"]), [str(name) for name in entry["haystack_session_ids"]]
    dates, sessions = entry["haystack_dates"], entry["haystack_sessions"]
    if not len(ids) == len(dates) == len(sessions):
        raise DatasetError(
            f"question {id} has {len(ids)} session ids, {len(dates)} dates and "
            f"{len(sessions)} sessions"
        )
    notes: Counter[str] = Counter()
    history = _History(notes)
    # The sessions of oracle files are not sorted by time.
    for start, _, name, turns in sorted(
        (read_time(date), position, name, turns)
        for position, (date, name, turns) in enumerate(zip(dates, ids, sessions, strict=True))
    ):
        history.add(start, name, turns)
    if not history.messages:
        raise DatasetError(f"question {id} has no turns")
    unanswerable = id.endswith("_abs")
    answers = {str(name) for name in entry.get("answer_session_ids") or []}
    known = {message.session for message in history.messages}
    if answers - known:
        notes["answer sessions that are not in the history"] += len(answers - known)
    question = Question(
        id=id,
        text=str(entry["question"]),
        answer=str(entry["answer"]),
        category=str(entry["question_type"]),
        asked_at=read_time(entry["question_date"]),
        evidence=() if unanswerable else tuple(history.evidence),
        evidence_sessions=() if unanswerable else tuple(sorted(answers & known)),
        unanswerable=unanswerable,
    )
    return Conversation(id, tuple(history.messages), (question,), dict(notes))


class _History:
    """The messages of one haystack, and which of them are evidence."""

    def __init__(self, notes: Counter[str]) -> None:
        self._notes = notes
        self._names: Counter[str] = Counter()
        self.messages: list[Message] = []
        self.evidence: list[str] = []

    def add(self, start: datetime, name: str, turns: list[dict[str, Any]]) -> None:
        """Append a session; if its id was used before, a number is added to the id."""
        self._names[name] += 1
        session = name
        if self._names[name] > 1:
            session = f"{name}~{self._names[name]}"
            self._notes["session ids that came again"] += 1
        for position, turn in enumerate(turns, 1):
            text = str(turn.get("content") or "")
            if not text.strip():
                self._notes[NO_TEXT] += 1
                continue
            id = f"{session}#{position}"
            self.messages.append(
                Message(
                    text=text,
                    id=id,
                    session=session,
                    speaker=str(turn["role"]),
                    at=start + timedelta(seconds=position - 1),
                )
            )
            if turn.get("has_answer"):
                self.evidence.append(id)
