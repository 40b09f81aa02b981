"""LoCoMo's file as published (``locomo10.json``, https://github.com/snap-research/locomo).

A list of samples. ``conversation`` has ``speaker_a``, ``speaker_b``, and for each session
``session_3`` (a list of turns: ``speaker``, ``dia_id``, ``text``, perhaps ``blip_caption``) with
``session_3_date_time`` ("1:56 pm on 8 May, 2023"); there are dates without a session. ``qa`` has
``question``, ``answer`` (or ``adversarial_answer``), ``category`` and ``evidence``: turn ids, now
and then several in one string or none that exists. Times are taken as UTC; questions are asked the
day after the last session.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cognigraph.evaluate.dataset import ADVERSARIAL, Conversation, Question, day_after
from cognigraph.evaluate.files import DatasetError, items, misread
from cognigraph.model import Message

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: ADVERSARIAL}
"""Category names by their numbers in the published file."""

_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D\d+:\d+")
_TIME = re.compile(
    r"\s*(\d{1,2}):(\d{2})\s*([ap])\.?m\.?,?\s+(?:on\s+)?(\d{1,2})\s+([a-z]+),?\s+(\d{4})\s*", re.I
)
_MONTHS = {name: n for n, name in enumerate(
    "jan feb mar apr may jun jul aug sep oct nov dec".split(), 1
)}  # fmt: skip


def read(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield the conversations of files."""
    for file in files:
        for position, sample in enumerate(items(file), 1):
            name = str(sample.get("sample_id") or f"sample-{position}")
            with misread(f"sample {name}", "LoCoMo"):
                yield read_sample(sample, name)


def read_sample(sample: dict[str, Any], name: str) -> Conversation:
    """Convert one sample of the list."""
    notes: Counter[str] = Counter()
    messages = _messages(sample["conversation"], notes)
    if not messages:
        raise DatasetError(f"sample {name} has no turns")
    sessions = {str(message.id): message.session for message in messages}
    asked_at = day_after(messages)
    questions = [
        _question(qa, f"{name}/q{position}", asked_at, sessions, notes)
        for position, qa in enumerate(sample["qa"], 1)
    ]
    return Conversation(name, tuple(messages), tuple(questions), dict(notes))


def read_time(text: str) -> datetime:
    """Parse a time such as "1:56 pm on 8 May, 2023" as UTC."""
    found = _TIME.fullmatch(text)
    month = _MONTHS.get(found[5][:3].lower()) if found else None
    if found is None or month is None:
        raise DatasetError(f"cannot read the time {text!r}; expected '1:56 pm on 8 May, 2023'")
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
    return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]), tzinfo=UTC)


def read_evidence(evidence: Any) -> tuple[str, ...]:
    """Find the turn ids in a list or a string of evidence, whatever its spacing and separators."""
    parts = evidence if isinstance(evidence, list) else [evidence]
    text = " ".join(str(part) for part in parts if part is not None)
    return tuple(dict.fromkeys(_TURN_ID.findall(text)))


def _messages(conversation: dict[str, Any], notes: Counter[str]) -> list[Message]:
    numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
    dated = []
    for number in numbers:
        turns = conversation[f"session_{number}"]
        if turns:
            dated.append((read_time(conversation[f"session_{number}_date_time"]), number, turns))
    messages: list[Message] = []
    seen: Counter[str] = Counter()
    for start, number, turns in sorted(dated, key=lambda entry: entry[:2]):
        for position, turn in enumerate(turns):
            text = with_caption(turn.get("text"), turn.get("blip_caption"))
            if not text:
                notes["turns without text left out"] += 1
                continue
            id = str(turn["dia_id"])
            seen[id] += 1
            if seen[id] > 1:
                notes["turn ids that came again"] += 1
            messages.append(
                Message(
                    text=text,
                    id=id if seen[id] == 1 else f"{id}~{seen[id]}",
                    session=str(number),
                    speaker=turn["speaker"],
                    at=start + timedelta(seconds=position),
                )
            )
    return messages


def with_caption(text: Any, caption: Any) -> str:
    """Return the text of a turn, with the caption of its photo if it has one."""
    caption = str(caption or "").strip()
    photo = f"[photo: {caption}]" if caption else ""
    return " ".join(part for part in (str(text or "").strip(), photo) if part)


def _question(
    qa: dict[str, Any], id: str, asked_at: datetime, sessions: dict[str, str], notes: Counter[str]
) -> Question:
    category = CATEGORIES.get(qa["category"])
    if category is None:
        raise DatasetError(f"question {id} has category {qa['category']!r}; LoCoMo has 1 to 5")
    named = read_evidence(qa.get("evidence") or [])
    evidence = tuple(turn for turn in named if turn in sessions)
    notes["evidence that names no turn"] += len(named) - len(evidence)
    if not evidence:
        notes["questions without evidence, not counted in recall"] += 1
    notes += Counter()  # drops zeros
    return Question(
        id=id,
        text=str(qa["question"]),
        answer=str(qa.get("answer", qa.get("adversarial_answer", ""))),
        category=category,
        asked_at=asked_at,
        evidence=evidence,
        evidence_sessions=tuple(dict.fromkeys(sessions[turn] for turn in evidence)),
        unanswerable=category == ADVERSARIAL,
    )
