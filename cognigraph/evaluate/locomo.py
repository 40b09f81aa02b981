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
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cognigraph.evaluate.dataset import ADVERSARIAL, MONTHS, NO_EVIDENCE, Conversation, History
from cognigraph.evaluate.files import DatasetError, items, misread

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: ADVERSARIAL}
"""Category names by their numbers in the published file."""

_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D\d+:\d+")
_TIME = re.compile(
    r"\s*(\d{1,2}):(\d{2})\s*([ap])\.?m\.?,?\s+(?:on\s+)?(\d{1,2})\s+([a-z]+),?\s+(\d{4})\s*", re.I
)


def read(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield the conversations of files."""
    for file in files:
        for position, sample in enumerate(items(file), 1):
            name = str(sample.get("sample_id") or f"sample-{position}")
            with misread(f"sample {name}", "LoCoMo"):
                yield _conversation(sample, name)


def _conversation(sample: Mapping[str, Any], name: str) -> Conversation:
    history, chat = History(name), sample["conversation"]
    for number, turns in numbered_sessions(chat):
        start = read_time(chat[f"session_{number}_date_time"])
        for position, turn in enumerate(turns):
            history.add(
                str(turn["dia_id"]), with_caption(turn.get("text"), turn.get("blip_caption")),
                session=str(number), speaker=turn["speaker"],
                at=start + timedelta(seconds=position),
            )  # fmt: skip
    for question in sample["qa"]:
        category = CATEGORIES.get(question["category"])
        if category is None:
            raise DatasetError(f"{name} has category {question['category']!r}; LoCoMo has 1 to 5")
        evidence = read_evidence(question.get("evidence") or [])
        unanswerable = category == ADVERSARIAL
        if unanswerable and not any(turn in history.sessions for turn in evidence):
            history.notes[NO_EVIDENCE] += 1  # here these questions have evidence, too
        history.ask(
            question["question"],
            answer=question.get("answer", question.get("adversarial_answer", "")),
            category=category,
            evidence=evidence,
            unanswerable=unanswerable,
        )
    return history.conversation()


def numbered_sessions(chat: Mapping[str, Any]) -> Iterator[tuple[int, Sequence[Mapping[str, Any]]]]:
    """Yield the numbers and turns of ``session_1`` and so on, without those that have no turns."""
    for number in sorted(int(key[1]) for name in chat if (key := _SESSION.fullmatch(name))):
        if turns := chat[f"session_{number}"]:
            yield number, turns


def read_time(text: str) -> datetime:
    """Parse a time such as "1:56 pm on 8 May, 2023" as UTC."""
    found = _TIME.fullmatch(text)
    month = MONTHS.get(found[5][:3].lower()) if found else None
    if found is None or month is None:
        raise DatasetError(f"cannot read the time {text!r}; expected '1:56 pm on 8 May, 2023'")
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
    return datetime(int(found[6]), month, int(found[4]), hour, int(found[2]), tzinfo=UTC)


def read_evidence(evidence: Any) -> tuple[str, ...]:
    """Find the turn ids in a list or a string of evidence, whatever its spacing and separators."""
    parts = evidence if isinstance(evidence, list) else [evidence]
    text = " ".join(str(part) for part in parts if part is not None)
    return tuple(dict.fromkeys(_TURN_ID.findall(text)))


def with_caption(text: Any, caption: Any) -> str:
    """Return the text of a turn, with the caption of its photo if it has one."""
    caption = str(caption or "").strip()
    photo = f"[photo: {caption}]" if caption else ""
    return " ".join(part for part in (str(text or "").strip(), photo) if part)
