"""Benchmarks of people who talk with each other: REALTALK and VehicleMemBench, as published.

REALTALK (https://github.com/danny911kr/REALTALK): ``session_1`` and so on are lists of turns with
``dia_id``, ``speaker``, ``clean_text``, ``date_time`` ("29.12.2023, 22:42:04") and perhaps
``blip_caption``; ``qa`` is as in LoCoMo.

VehicleMemBench (https://github.com/isyuhaochen/VehicleMemBench): ``history/history_3.txt`` has a
line "[2025-03-03 08:30] Ann: ..." for each message, ``qa_data/qa_3.json`` has queries under
``related_to_vehicle_preference``. The evidence is not given; it is derived from ``gold_memory``,
whose lines begin with a day and a time: the session then is evidence. A session ends where nothing
is said for an hour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cognigraph.evaluate.dataset import Conversation, History, named_day
from cognigraph.evaluate.files import DatasetError, document
from cognigraph.evaluate.locomo import numbered_sessions, read_evidence, with_caption

_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d)\] ([^:]+): (.*)")
_MEMORY = re.compile(r"^\[([^\]]+)\](?:\s*At (\d{1,2}):(\d{2}) ([AP])M)?", re.M | re.I)
_PAUSE = timedelta(hours=1)


def read_realtalk(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield one conversation a file."""
    for file in files:
        yield _realtalk(file.stem, document(file))


def _realtalk(name: str, chat: Mapping[str, Any]) -> Conversation:
    history = History(name)
    for number, turns in numbered_sessions(chat):
        for turn in turns:
            history.add(
                str(turn["dia_id"]),
                with_caption(turn.get("clean_text"), turn.get("blip_caption")),
                session=str(number),
                speaker=str(turn["speaker"]),
                at=datetime.strptime(turn["date_time"], "%d.%m.%Y, %H:%M:%S").replace(tzinfo=UTC),
            )
    for item in chat["qa"]:
        history.ask(
            item["question"],
            answer=item.get("answer", ""),
            category=_CATEGORIES.get(item["category"], item["category"]),
            evidence=read_evidence(item.get("evidence") or []),
        )
    return history.conversation()


def vehicle_files(given: Path) -> list[Path]:
    """Return histories and their questions in turn."""
    histories = given.glob("history/history_*.txt") if given.is_dir() else []
    pairs = [
        (file, given / "qa_data" / f"qa_{file.stem.removeprefix('history_')}.json")
        for file in sorted(histories, key=lambda path: (len(path.name), path.name))
    ]
    return [file for history, asked in pairs if asked.is_file() for file in (history, asked)]


def read_vehicle(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield one conversation a history."""
    for told, asked in zip(files[::2], files[1::2], strict=True):
        yield _vehicle(told, document(asked)["related_to_vehicle_preference"])


def _vehicle(file: Path, asked: Sequence[Mapping[str, Any]]) -> Conversation:
    history, spans = History(file.stem), list[tuple[datetime, datetime]]()
    for number, (at, speaker, text) in enumerate(_lines(file), 1):
        if spans and at - spans[-1][1] <= _PAUSE:
            spans[-1] = spans[-1][0], max(at, spans[-1][1])
        else:
            spans.append((at, at))
        session = str(len(spans))
        history.add(str(number), text, session=session, speaker=speaker, at=at)
    for item in asked:
        reached = {_session_at(spans, *when) for when in _moments(item["gold_memory"])} - {None}
        history.ask(
            item["query"],
            answer=" ".join(item["new_answer"]),
            category=item["reasoning_type"],
            sessions=sorted(filter(None, reached), key=int),
        )
    return history.conversation()


def _lines(file: Path) -> Iterator[tuple[datetime, str, str]]:
    """Yield time, speaker and text; a line without a time belongs to the one before."""
    said: list[tuple[datetime, str, str]] = []
    for line in file.read_text("utf-8").splitlines():
        if found := _LINE.match(line):
            at = datetime.strptime(found[1], "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
            said.append((at, found[2], found[3]))
        elif line.strip() and said:
            at, speaker, text = said[-1]
            said[-1] = at, speaker, f"{text}\n{line}"
        elif line.strip():
            raise DatasetError(f"{file.name} does not begin with a line such as [2025-03-03 08:30]")
    return iter(said)


def _moments(memory: str) -> Iterator[tuple[datetime, timedelta | None]]:
    """Yield the days that a text names, each with the time of day if there is one."""
    for day, hour, minute, half in _MEMORY.findall(memory):
        if (date := named_day(day)) is not None:
            hours = int(hour) % 12 + 12 * (half.lower() == "p") if hour else None
            time = None if hours is None else timedelta(hours=hours, minutes=int(minute))
            yield date, time


def _session_at(
    spans: Sequence[tuple[datetime, datetime]], day: datetime, time: timedelta | None
) -> str | None:
    """Return the session of a day that is nearest to a time, or its first."""
    wanted = day + (time or timedelta(0))
    near = [
        (max(start - wanted, wanted - end, timedelta(0)), number)
        for number, (start, end) in enumerate(spans, 1)
        if start.date() <= day.date() <= end.date()
    ]
    return str(min(near)[1]) if near else None
