"""Benchmarks of whole lives: LifeBench and PerLTQA, as published.

LifeBench (https://github.com/1754955896/LifeBench) has a folder for each person. ``phone_data`` has
what the phone recorded, a list of records in ``sms.json``, ``call.json`` and so on, each with a
``phone_id``; ``QA/QA_clean.json`` has questions with ``evidence`` (``type`` and ``id`` of records),
``ask_time`` (a month) and perhaps ``options``. Questions are asked at the end of that month, of the
whole history, as the authors do.

PerLTQA (https://github.com/Elvin-Yiming-Du/PerLTQA, ``Dataset/en_v2``): ``perltmem*.json`` has for
each person ``profile``, ``social_relationship``, ``events`` and ``dialogues`` by their ids, and
``perltqa*.json`` questions in the same four groups, each with ``Reference Memory``: the ids that it
is about. Each profile entry, relationship, event and dialogue becomes a session. Most have no
readable time: an event gets that of its dialogue, the rest that of the first dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cognigraph.evaluate.dataset import Conversation, History
from cognigraph.evaluate.files import DatasetError, document

_OWNER = "me"
_RECEIVED = ("接收", "receive", "receiving")
"""How the records of received messages begin; the others were sent."""
_QA = Path("QA") / "QA_clean.json"
_RECORDS = ("agent_chat", "calendar", "call", "note", "photo", "push", "sms")
_REFERENCE = re.compile(r"\d+(?:_\d+)+(?:#\d+)?")
_SECOND = timedelta(seconds=1)
Record = Mapping[str, Any]


def lifebench_files(given: Path) -> list[Path]:
    """Return the questions and the records of a person, or of all people in a folder."""
    if not given.is_dir():
        return []
    people = [given] if (given / _QA).is_file() else sorted(given.iterdir())
    return [
        file
        for person in people
        if (person / _QA).is_file()
        for file in (person / _QA, *sorted((person / "phone_data").glob("*.json")))
        if file.stem in (*_RECORDS, _QA.stem)
    ]


def read_lifebench(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield one conversation a person."""
    for questions in files:
        if questions.name == _QA.name:
            person = questions.parents[1]
            records = [file for file in files if file.parent == person / "phone_data"]
            yield _life(person.name, records, document(questions))


def _life(name: str, files: Sequence[Path], asked: Sequence[Record]) -> Conversation:
    history = History(name)
    parts: dict[str, list[str]] = {}
    for file in files:
        for record in document(file):
            id = f"{file.stem}:{record['phone_id']}"
            at = _time(record.get("datetime") or f"{record['date']} 12:00:00")
            said = list(_SAID[file.stem](record))
            parts[id] = [id] if len(said) == 1 else [f"{id}:{n}" for n in range(1, len(said) + 1)]
            for number, (part, (speaker, text)) in enumerate(zip(parts[id], said, strict=True)):
                history.add(
                    part, text, session=f"{at:%Y-%m-%d}", speaker=speaker,
                    at=at + number * _SECOND,
                )  # fmt: skip
    for item in asked:
        named = [f"{one['type']}:{one['id']}" for one in item.get("evidence") or ()]
        history.ask(
            item["question"],
            answer=_answer(item),
            category=item["question_type"],
            evidence=[part for id in named for part in parts.get(id, [id])],
            asked_at=_end_of_month(item["ask_time"]),
            unanswerable=item["question_type"] == "Unanswerable",
        )
    return history.conversation()


Utterances = Iterator[tuple[str, str]]


def _chat(record: Record) -> Utterances:
    for turn in record["conversation"].values():
        for speaker, said in turn.items():
            yield speaker, said["content"]


def _sms(record: Record) -> Utterances:
    contact = str(record["contactName"])
    if str(record["message_type"]).lower().startswith(_RECEIVED):
        yield contact, record["message_content"]
    else:
        yield _OWNER, f"{record['message_content']} [to {contact}]"


def _call(record: Record) -> Utterances:
    ended = f" to {record['datetime_end']}" if record.get("datetime_end") else ""
    result = f", {record['call_result']}" if record.get("call_result") else ""
    about = record.get("summarized_info") or ""
    yield "phone", f"{record['contactName']} ({record['datetime']}{ended}{result}) {about}".strip()


def _calendar(record: Record) -> Utterances:
    when = f"{record.get('start_time')} to {record.get('end_time')}"
    yield "calendar", f"{record['title']}: {record.get('description', '')} ({when})"


def _note(record: Record) -> Utterances:
    yield "note", f"{record['title']}: {record['content']}"


def _photo(record: Record) -> Utterances:
    place = record.get("location") or {}
    parts = place.values() if isinstance(place, dict) else [place]
    yield "photo", f"{record['caption']} [{', '.join(str(part) for part in parts if part)}]"


def _push(record: Record) -> Utterances:
    yield str(record.get("source") or "push"), f"{record['title']}: {record['content']}"


_SAID: Mapping[str, Callable[[Record], Utterances]] = {
    "agent_chat": _chat, "calendar": _calendar, "call": _call, "note": _note, "photo": _photo,
    "push": _push, "sms": _sms,
}  # fmt: skip


def _answer(item: Record) -> str:
    """Return the answer, for a choice the text of what is right: the options are not shown."""
    options = {one["option"]: one["content"] for one in item.get("options") or ()}
    chosen = [
        options[letter] for letter in re.findall(r"[A-Z]", item["answer"]) if letter in options
    ]
    return " / ".join(chosen) or str(item["answer"])


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _end_of_month(text: str) -> datetime:
    year, month = map(int, text.split("-")[:2])
    return datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def perltqa_files(given: Path) -> list[Path]:
    """Return the file of memories and that of questions in a folder."""
    if not given.is_dir():
        return []
    found = [*sorted(given.glob("perltmem*.json")), *sorted(given.glob("perltqa*.json"))]
    return found if len(found) == 2 else []


def read_perltqa(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield one conversation a person."""
    memories, questions = (document(file) for file in files)
    by_name = memories if isinstance(memories, dict) else {
        memory["profile"]["Protagonist"]: memory for memory in memories
    }  # fmt: skip
    for part in questions if isinstance(questions, list) else [questions]:
        for name, asked in part.items():
            if name not in by_name:
                raise DatasetError(f"{files[0].name} has nothing about {name}")
            yield _person(name, by_name[name], asked)


def _person(name: str, memory: Record, asked: Record) -> Conversation:
    history = History(name)
    times = {id: _first_time(dialogue) for id, dialogue in memory["dialogues"].items()}
    first = min(times.values(), default=datetime(2020, 1, 1, tzinfo=UTC))
    when = {id.partition("#")[0]: at for id, at in times.items()}
    parts: dict[str, list[str]] = {}
    for field, value in memory["profile"].items():
        history.add(field, f"{field}: {value}", session=field, speaker=None, at=first)
    for id, known in memory["social_relationship"].items():
        text = ", ".join(str(value) for value in known.values())
        history.add(id, text, session=id, speaker=None, at=first)
    for id, event in memory["events"].items():
        content = event.get("content") or event.get("Content")
        history.add(id, content, session=id, speaker=None, at=when.get(id, first))
    for id, dialogue in memory["dialogues"].items():
        parts[id] = []
        for number, (line, at) in enumerate(_dialogue(dialogue), 1):
            speaker, _, text = line.partition(": ")
            parts[id].append(f"{id}/{number}")
            history.add(parts[id][-1], text, session=id, speaker=speaker, at=at)
    for group, section in asked.items():
        for item in _questions(section):
            reference = str(item["Reference Memory"])
            ids = _REFERENCE.findall(reference) or [reference]
            history.ask(
                item["Question"], answer=item["Answer"], category=group,
                evidence=[part for id in ids for part in parts.get(id, [id])],
            )  # fmt: skip
    return history.conversation()


def _first_time(dialogue: Record) -> datetime:
    return min(_time(text) for text in dialogue["contents"])


def _dialogue(dialogue: Record) -> Iterator[tuple[str, datetime]]:
    for start, lines in dialogue["contents"].items():
        for number, line in enumerate(lines):
            yield line, _time(start) + number * _SECOND


def _questions(section: Any) -> Iterator[Record]:
    """Yield the questions of a group, which may be gathered by id."""
    if isinstance(section, dict) and "Question" in section:
        yield section
    else:
        for part in section.values() if isinstance(section, dict) else section:
            yield from _questions(part)
