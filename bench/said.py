"""Conversations and questions in folders of one layout, and memories filled with them.

A folder has ``conversations/NAME.json``: ``sessions[]`` with ``session``, ``time`` (ISO, UTC) and
``turns[]``: ``id``, ``speaker``, ``text``, perhaps ``photo`` (a caption) and ``time``. And it has
``qa/NAME.qa.json``: ``qa[]`` with ``question``, ``evidence[]`` (ids of turns), ``category`` (see
``CATEGORIES``) and perhaps ``kind``, ``outdated[]``, ``asked_turn`` (the turn in which it is
asked; it sees only those before) and ``asked_at`` (a time or a month; without it, the day after
the last turn). It may have ``extractions/NAME.json`` (see ``RecordedExtractor``),
``queries/NAME.json`` (see ``RecordedReader``) and ``loops/NAME.json`` (``bench/strategies.py``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from bench.recorded import RecordedExtractor
from cognigraph import Memory, Space
from cognigraph.embed import Embedder
from cognigraph.ingest.extraction import Extractor
from cognigraph.ingest.extractors import resolve_extractor

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = CATEGORIES[5]
_MONTH = re.compile(r"(\d{4})-(\d{2})")


def category_of(item: Mapping[str, Any]) -> str:
    """Return the kind of a question where the data names it, else the name of its category."""
    return str(item.get("kind") or CATEGORIES[item["category"]])


@dataclass(frozen=True)
class Question:
    """A question with the messages that answer it, of those that exist.

    It sees the first ``sees`` messages. ``number`` is its place in the file, from 0.
    """

    number: int
    text: str
    category: str
    evidence: frozenset[str]
    outdated: frozenset[str]
    now: datetime
    sees: int


@dataclass(frozen=True)
class Talk:
    """A conversation with its messages in order of time and its questions in order of asking."""

    folder: Path
    name: str
    messages: list[dict[str, Any]]
    questions: list[Question]

    @property
    def answerable(self) -> list[Question]:
        """The questions that have evidence."""
        return [question for question in self.questions if question.evidence]

    def recorded(self, what: str) -> Any:
        """Return the content of the file of this conversation in another folder."""
        return json.loads((self.folder / what / f"{self.name}.json").read_text("utf-8"))

    def extractor(self, extraction: str) -> Extractor:
        """Return the extractor of a name, ``recorded`` (what a model once read) or ``none``."""
        if extraction == "recorded":
            return RecordedExtractor.from_file(self.folder / "extractions" / f"{self.name}.json")
        return resolve_extractor("rules" if extraction == "none" else extraction)


def talks(folder: Path, names: str = "*", asked_in: Path | None = None) -> Iterator[Talk]:
    """Read the conversations of a folder whose names match a pattern, in the order of names.

    Their questions are in the folder ``qa`` there, or in ``asked_in``.
    """
    for file in sorted((folder / "conversations").glob(f"{names}.json")):
        messages = list(turns(json.loads(file.read_text("utf-8"))))
        asked = json.loads(
            ((asked_in or folder / "qa") / f"{file.stem}.qa.json").read_text("utf-8")
        )["qa"]
        place = {message["id"]: index for index, message in enumerate(messages)}
        questions = [_question(number, item, messages, place) for number, item in enumerate(asked)]
        yield Talk(folder, file.stem, messages, sorted(questions, key=lambda asked: asked.sees))


def turns(conversation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages of a conversation in order of time, with photo captions."""
    sessions = sorted(conversation["sessions"], key=lambda session: str(session["time"]))
    for session in sessions:
        start = _utc(session["time"])
        for position, turn in enumerate(session["turns"]):
            photo = f" [photo: {turn['photo']}]" if turn.get("photo") else ""
            if not (text := turn["text"] + photo).strip():
                continue
            own = turn.get("time")
            yield {
                "id": turn["id"],
                "session": str(session["session"]),
                "speaker": turn["speaker"],
                "text": text,
                "at": _utc(own) if own else start + timedelta(seconds=position),
            }


@contextmanager
def empty_space(
    talk: Talk, extraction: str, embedder: Embedder | str, store: str = "sqlite", **options: Any
) -> Iterator[Space]:
    """Open an empty space for a conversation, in a file that is deleted or on a server.

    ``options`` are those of :class:`cognigraph.Memory`.
    """
    with TemporaryDirectory() as folder:
        location = store if "://" in store else f"{folder}/memory.db"
        extractor = talk.extractor(extraction)
        with Memory(
            location, embedder=embedder, extractor=extractor, enrich="manual", **options
        ) as memory:
            yield memory.space(f"{talk.name}-{uuid4().hex[:6]}")


@contextmanager
def filled_space(
    talk: Talk, extraction: str, embedder: Embedder | str, **options: Any
) -> Iterator[Space]:
    """Open a space that holds a conversation; see :func:`empty_space`."""
    with empty_space(talk, extraction, embedder, **options) as space:
        fill(space, talk.messages, extraction)
        yield space


def fill(space: Space, messages: Sequence[Mapping[str, Any]], extraction: str) -> None:
    """Insert messages, and enrich them unless extraction is off."""
    space.add_many(messages)
    if extraction != "none":
        space.flush(timeout=3600)


def _question(
    number: int, item: Mapping[str, Any], messages: list[dict[str, Any]], place: Mapping[str, int]
) -> Question:
    sees = place.get(item.get("asked_turn", ""), len(messages))
    known = [id for id in _ids(item.get("evidence", [])) if place.get(id, sees) < sees]
    return Question(
        number,
        item["question"],
        category_of(item),
        frozenset(known),
        frozenset(item.get("outdated", ())),
        _asked_at(item.get("asked_at"), messages[sees - 1]["at"]),
        sees,
    )


def _ids(evidence: Sequence[str]) -> Iterator[str]:
    """Yield the ids in strings that may hold several; those of LoCoMo have odd spacing."""
    for text in evidence:
        yield from re.findall(r"D\d+:\d+", text) or re.findall(r"[^\s;,]+", text)


def _asked_at(given: str | None, last: datetime) -> datetime:
    """Return the time of asking: that which is given, the end of a month, or a day after all."""
    if given is None:
        return last + timedelta(days=1)
    if month := _MONTH.fullmatch(given):
        year, number = divmod(int(month[1]) * 12 + int(month[2]), 12)
        return datetime(year, number + 1, 1, tzinfo=UTC)
    return max(_utc(given), last + timedelta(seconds=1))


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
