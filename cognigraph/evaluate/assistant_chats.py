"""Benchmarks of talk with an assistant: BEAM, RealMem and MemoryAgentBench, as published.

BEAM (https://github.com/mohammadtavakoli78/BEAM) has a folder for each conversation. ``chat.json``
has batches with ``turns`` (lists of messages with ``role``, ``content`` and ``id``), in
conversations of 10 million tokens those of several plans; ``chat_trunecated.json`` takes its place
where it exists. ``probing_questions/probing_questions.json`` has questions by ability, each with
``source_chat_ids``. Rows of the data set on Hugging Face, saved as JSON, have the same in ``chat``
and, as the text of a Python literal, in ``probing_questions``.

RealMem (https://github.com/AvatarMemory/RealMemBench): ``dialogues`` with ``session_uuid``,
``current_time``, ``dialogue_turns`` (``speaker``, ``content``, ``is_query``) and
``extracted_memory`` (``content``, ``source_turn``: 0 or 1 is the first). The answer to a query has
``memory_used``. A query sees the turns before it, which is more than in the authors' evaluation:
there it sees the sessions before its own.

MemoryAgentBench (https://github.com/HUST-AI-HYZ/MemoryAgentBench): rows with ``context``,
``questions``, ``answers`` and ``metadata``. They name no evidence, so there is no recall, only
question answering. Published as Parquet; the rows are to be saved as JSON or JSON lines.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cognigraph.evaluate import longmemeval
from cognigraph.evaluate.dataset import Conversation, History, named_day
from cognigraph.evaluate.files import document, first_item, rows

_QUESTIONS = Path("probing_questions") / "probing_questions.json"
_ANSWERS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "rubric")
_UNDATED = datetime(2024, 1, 1, tzinfo=UTC)
"""Stands for the time of what a file gives no time of."""
_SECOND = timedelta(seconds=1)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_PART = 2000
"""Characters of a context that make a message, up to the end of a line."""


def beam_files(given: Path) -> list[Path]:
    """Return chats and their questions in turn, or a file of rows."""
    if given.is_file():
        item = first_item(given)
        is_row = isinstance(item, dict) and {"chat", "probing_questions"} <= item.keys()
        return [given] if is_row else []
    folders = [given, *sorted(given.iterdir(), key=lambda path: (len(path.name), path.name))]
    pairs = [(_beam_chat(folder), folder / _QUESTIONS) for folder in folders]
    return [file for pair in pairs if all(part.is_file() for part in pair) for file in pair]


def _beam_chat(folder: Path) -> Path:
    shortened = folder / "chat_trunecated.json"
    return shortened if shortened.is_file() else folder / "chat.json"


def read_beam(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield the conversations of folders or rows."""
    if len(files) == 1:
        for row in rows(files[0]):
            asked = ast.literal_eval(row["probing_questions"])
            yield _beam(f"{row['conversation_id']}", row["chat"], asked)
        return
    for chat, questions in zip(files[::2], files[1::2], strict=True):
        yield _beam(chat.parent.name, document(chat), document(questions))


def _beam(name: str, chat: Any, asked: Mapping[str, Sequence[Mapping[str, Any]]]) -> Conversation:
    history, latest = History(name), _UNDATED
    for number, batch in enumerate(_batches(chat), 1):
        turns = list(_turns(batch))
        days = (named_day(str(turn.get("time_anchor"))) for turn in turns)
        latest = max(latest, next(filter(None, days), latest))
        for turn in turns:
            latest += _SECOND
            history.add(
                str(turn["id"]), turn["content"], session=str(number), speaker=str(turn["role"]),
                at=latest,
            )  # fmt: skip
    for ability, questions in asked.items():
        for question in questions:
            history.ask(
                question["question"],
                answer=next((question[name] for name in _ANSWERS if name in question), ""),
                category=ability,
                evidence=[str(id) for id in _numbers(question.get("source_chat_ids"))],
                unanswerable=ability == "abstention",
            )
    return history.conversation()


def _batches(chat: Any) -> Iterator[Any]:
    """Yield the batches of a chat, also where they are grouped by plan."""
    if isinstance(chat, dict) and "turns" not in chat:
        for plan in chat.values():
            yield from _batches(plan)
    elif isinstance(chat, list) and not (chat and isinstance(chat[0], dict) and "role" in chat[0]):
        for part in chat:
            yield from _batches(part)
    elif chat is not None:
        yield chat


def _turns(batch: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of a batch, however deeply they are nested."""
    if isinstance(batch, dict) and "role" in batch:
        yield batch
    elif isinstance(batch, dict):
        yield from _turns(batch["turns"])
    else:
        for part in batch:
            yield from _turns(part)


def _numbers(ids: Any) -> Iterator[int]:
    if isinstance(ids, int):
        yield ids
    elif ids:
        for part in ids.values() if isinstance(ids, dict) else ids:
            yield from _numbers(part)


def read_realmem(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield one conversation a file; a question sees the turns before it."""
    for file in files:
        data = document(file)
        yield _realmem(str(data["_metadata"].get("person_name") or file.stem), data["dialogues"])


def _realmem(name: str, dialogues: Sequence[Mapping[str, Any]]) -> Conversation:
    history = History(name)
    sources: dict[tuple[str, str], list[str]] = defaultdict(list)
    asked: list[tuple[Mapping[str, Any], Mapping[str, Any], datetime]] = []
    latest = datetime.min.replace(tzinfo=UTC)
    for dialogue in dialogues:
        session, turns = str(dialogue["session_uuid"]), dialogue["dialogue_turns"]
        latest = max(_date(dialogue["current_time"]), latest + timedelta(minutes=30))
        for number, turn in enumerate(turns, 1):
            latest += _SECOND
            history.add(
                f"{session}#{number}", turn["content"], session=session,
                speaker=str(turn["speaker"]).lower(), at=latest,
            )  # fmt: skip
            if turn.get("is_query"):
                asked.append((turn, turns[number] if number < len(turns) else {}, latest))
        for memory in dialogue.get("extracted_memory") or []:
            source = f"{memory['session_uuid']}#{max(memory['source_turn'], 1)}"
            sources[str(memory["session_uuid"]), memory["content"]].append(source)
    said = {str(message.id): message.at for message in history.messages()}
    for turn, answer, at in asked:
        used = [
            (str(item["session_uuid"]), item["content"]) for item in answer.get("memory_used", ())
        ]
        evidence = [id for memory in used for id in sources[memory] if _before(said.get(id), at)]
        history.ask(
            turn["content"], answer=answer.get("content", ""),
            category=turn.get("category_name", "query"), evidence=evidence, asked_at=at,
            as_of=at - _SECOND,
        )  # fmt: skip
    return history.conversation()


def _before(said: Any, asked: datetime) -> bool:
    return isinstance(said, datetime) and said < asked


def _date(text: str) -> datetime:
    year, month, day = map(int, _DATE.findall(text)[0])
    return datetime(year, month, day, 9, tzinfo=UTC)


def read_memoryagentbench(files: Sequence[Path]) -> Iterator[Conversation]:
    """Yield one conversation a row; its context becomes messages of whole lines."""
    for file in files:
        for number, row in enumerate(rows(file), 1):
            yield _context_and_questions(f"{file.stem}-{number}", row)


def _context_and_questions(name: str, row: Mapping[str, Any]) -> Conversation:
    history, metadata = History(name), row.get("metadata") or {}
    for number, part in enumerate(_parts(row["context"])):
        at = _UNDATED + number * _SECOND
        history.add(f"context#{number + 1}", part, session="context", speaker=None, at=at)
    questions, answers = row["questions"], row["answers"]
    for number, (question, answer) in enumerate(zip(questions, answers, strict=True)):
        dated = _nth(metadata.get("question_dates"), number)
        history.ask(
            question,
            answer=" / ".join(answer) if isinstance(answer, list) else answer,
            category=_nth(metadata.get("question_types"), number) or metadata.get("source") or "-",
            asked_at=longmemeval.read_time(dated) if dated else None,
        )
    return history.conversation()


def _nth(values: Sequence[str] | None, number: int) -> str | None:
    return values[number] if values and number < len(values) else None


def _parts(context: str) -> Iterator[str]:
    part = ""
    for line in context.splitlines(keepends=True):
        if part and len(part) + len(line) > _PART:
            yield part
            part = ""
        part += line
    yield part
