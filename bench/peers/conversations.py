"""The conversations that every memory gets, their questions, and the facts a model reads in them.

From a folder in the form that ``bench/said.py`` describes, or, without one, the sample
conversation of cognigraph. There the facts are those that the extractor ``rules`` finds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from bench.recorded import RecordedExtractor, RecordedFact, RecordedSession
from bench.said import category_of, turns
from cognigraph import Memory

_ID = re.compile(r"D\d+:\d+")
_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True)
class Question:
    """A question and the ids of the messages that answer it."""

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True)
class Conversation:
    """One conversation: a space of its own. ``messages`` are ready to be sent as JSON."""

    name: str
    messages: tuple[dict[str, Any], ...]
    questions: tuple[Question, ...]
    sessions: Mapping[str, RecordedSession]
    now: str
    """When the questions are asked."""

    def facts(self) -> dict[str, list[RecordedFact]]:
        """Return the facts that each message states, by its id."""
        known: dict[str, list[RecordedFact]] = {message["id"]: [] for message in self.messages}
        for session in self.sessions.values():
            for fact in session.facts:
                for id in fact.turns:
                    if id in known:
                        known[id].append(fact)
        return known


def load(data: str | None, names: Sequence[str], most: int, questions: int) -> list[Conversation]:
    """Load conversations, each cut to whole sessions and to a sample of its questions.

    ``data`` may be several folders with commas between them; ``names`` chooses conversations and
    gives their order. Questions whose evidence was cut off are left out.
    """
    if data is None:
        return [sample(most, questions)]
    found = {
        file.stem: file
        for folder in data.split(",")
        for file in sorted(Path(folder).glob("conversations/*.json"))
    }
    missing = sorted(set(names) - found.keys())
    if missing:
        raise SystemExit(
            f"no conversation {', '.join(missing)} in {data}; there are {', '.join(found)}"
        )
    return [_read(found[name], most, questions) for name in names or found]


def _read(file: Path, most: int, questions: int) -> Conversation:
    folder, name = file.parents[1], file.stem
    said = whole_sessions(list(turns(json.loads(file.read_text("utf-8")))), most)
    known = {message["id"] for message in said}
    asked = json.loads((folder / "qa" / f"{name}.qa.json").read_text("utf-8"))["qa"]
    answerable = []
    for item in asked:
        evidence = frozenset(_ID.findall(" ".join(item.get("evidence", []))))
        if evidence and evidence <= known:
            answerable.append(Question(item["question"], evidence, category_of(item)))
    recorded = RecordedExtractor.from_file(folder / "extractions" / file.name)
    now = said[-1]["at"] + timedelta(days=1)
    messages = tuple({**message, "at": message["at"].isoformat()} for message in said)
    space = _NOT_IN_IDS.sub("-", name)
    sample = sampled(answerable, questions)
    return Conversation(space, messages, sample, recorded.sessions, now.isoformat())


def whole_sessions(messages: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the first sessions that together have at most so many messages, and always one."""
    kept: list[dict[str, Any]] = []
    for session in dict.fromkeys(message["session"] for message in messages):
        new = [message for message in messages if message["session"] == session]
        if kept and len(kept) + len(new) > most:
            break
        kept += new
    return kept


def sampled(questions: Sequence[Question], most: int) -> tuple[Question, ...]:
    """Return at most so many questions, the same ones each time, in their order."""
    if len(questions) <= most:
        return tuple(questions)
    chosen = sorted(Random(20261122).sample(range(len(questions)), most))
    return tuple(questions[index] for index in chosen)


def sample(most: int, most_questions: int) -> Conversation:
    """Return cognigraph's sample conversation, cut in the same way."""
    folder = files("cognigraph.sample")
    lines = folder.joinpath("conversation.jsonl").read_text("utf-8").splitlines()
    messages = tuple(whole_sessions([json.loads(line) for line in lines], most))
    known = {message["id"] for message in messages}
    asked = json.loads(folder.joinpath("questions.json").read_text("utf-8"))
    questions = tuple(
        Question(item["question"], frozenset(item["expected"]), "sample")
        for item in asked["questions"]
        if item["expected"] and known.issuperset(item["expected"])
    )
    now = datetime.fromisoformat(asked["now"]).isoformat()
    sessions = _read_by_rules(messages)
    return Conversation("sample", messages, sampled(questions, most_questions), sessions, now)


def _read_by_rules(messages: Iterable[Mapping[str, Any]]) -> dict[str, RecordedSession]:
    facts: dict[str, list[RecordedFact]] = {}
    with (
        TemporaryDirectory() as folder,
        Memory(f"{folder}/sample.db", extractor="rules", enrich="manual") as memory,
    ):
        space = memory.space("sample")
        space.add_many([dict(message) for message in messages])
        space.flush(timeout=120)
        for triple in space.facts(limit=1000):
            for source in triple.sources:
                fact = RecordedFact(
                    triple.subject, "object", triple.relation, triple.object, "object",
                    (source.id,),
                )  # fmt: skip
                facts.setdefault(source.session, []).append(fact)
    return {
        session: RecordedSession(session, (), (), tuple(found)) for session, found in facts.items()
    }
