"""Replay what a model has read once: extractions, and readings of questions.

The same facts come every time, without a model or a network. A recording is JSON::

    {"sessions": [{"session": 1,
                   "keys": ["dance studio"],
                   "themes": [{"title": "...", "summary": "..."}],
                   "triples": [{"subject": "Ann", "subject_type": "person",
                                "relation": "moved to",
                                "object": "Oslo", "object_type": "location",
                                "when": "2023-05", "negated": false,
                                "turns": ["m1", "m2"]}]}]}

A recorded session is matched by its id as text, and evidence by message id.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cognigraph.ingest.extraction import AlsoRead, Extraction, Extractor, Fact, Mention, Window
from cognigraph.model import Theme, Usage
from cognigraph.retrieve import QuestionReading
from cognigraph.times import parse_when


@dataclass(frozen=True, slots=True)
class RecordedFact:
    """One recorded triple; ``turns`` are message ids, ``when`` is a canonical time or ``None``."""

    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    turns: tuple[str, ...]
    when: str | None = None
    negated: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """The recording of one session."""

    session: str
    keys: tuple[str, ...]
    themes: tuple[Theme, ...]
    facts: tuple[RecordedFact, ...]


class RecordedExtractor(Extractor):
    """Returns the recorded facts for the messages of a window. Thread-safe."""

    also_reads: frozenset[AlsoRead] = frozenset({"tool"})

    name = "recorded-1"

    def __init__(self, recording: Mapping[str, Any]) -> None:
        self.sessions = {recorded.session: recorded for recorded in _sessions(recording)}

    @classmethod
    def from_file(cls, path: str | Path) -> RecordedExtractor:
        """Load one recording."""
        return cls(json.loads(Path(path).read_text("utf-8")))

    def estimate(self, window: Window) -> Usage:
        """Zero usage, because no model is called."""
        return Usage()

    def extract(self, window: Window) -> Extraction:
        """The recorded facts with evidence in the window, and the session's keys and themes."""
        recorded = self.sessions.get(window.session)
        if recorded is None:
            return Extraction(state=window.notes.state)
        indices: dict[str, list[int]] = {}
        for index, chunk in enumerate(window.chunks):
            indices.setdefault(chunk.message_id, []).append(index)
        facts = tuple(_facts(recorded.facts, indices))
        return Extraction(
            mentions=_mentions(facts),
            facts=facts,
            keys=tuple((key, 1.0) for key in recorded.keys),
            themes=recorded.themes,
            state=window.notes.state,
        )


def _facts(recorded: Iterable[RecordedFact], indices: Mapping[str, list[int]]) -> Iterable[Fact]:
    for fact in recorded:
        evidence = sorted({index for turn in fact.turns for index in indices.get(turn, ())})
        if evidence:
            yield Fact(
                subject=fact.subject,
                subject_type=fact.subject_type,
                relation=fact.relation,
                object=fact.object,
                object_type=fact.object_type,
                chunks=tuple(evidence),
                when=fact.when,
                negated=fact.negated,
                replaces=fact.replaces,
            )


def _mentions(facts: Iterable[Fact]) -> tuple[Mention, ...]:
    """The entities of the facts, each with the chunks of its facts."""
    found: dict[tuple[str, str], set[int]] = {}
    for fact in facts:
        for entity in ((fact.subject, fact.subject_type), (fact.object, fact.object_type)):
            found.setdefault(entity, set()).update(fact.chunks)
    return tuple(
        Mention(name, type_, tuple(sorted(chunks))) for (name, type_), chunks in found.items()
    )


def _sessions(recording: Mapping[str, Any]) -> Iterable[RecordedSession]:
    for item in recording["sessions"]:
        yield RecordedSession(
            str(item["session"]),
            tuple(item["keys"]),
            tuple(Theme(theme["title"], theme["summary"]) for theme in item["themes"]),
            tuple(_fact(triple) for triple in item["triples"]),
        )


def _fact(triple: Mapping[str, Any]) -> RecordedFact:
    """A triple; a time that is not a date is left out."""
    when = parse_when(triple.get("when"))
    return RecordedFact(
        subject=triple["subject"].strip(),
        subject_type=triple["subject_type"],
        relation=triple["relation"].strip(),
        object=triple["object"].strip(),
        object_type=triple["object_type"],
        turns=tuple(triple["turns"]),
        when=None if when is None else when.text,
        negated=triple.get("negated", False),
        replaces=triple.get("replaces", False),
    )


class RecordedReader:
    """Returns recorded readings by question, and an empty reading for any other question."""

    def __init__(self, readings: Mapping[str, QuestionReading]) -> None:
        self._readings = dict(readings)

    @classmethod
    def from_file(cls, path: str | Path) -> RecordedReader:
        """Read a JSON file: ``{"queries": [{"question", "entities": [{"name"}], "when"}]}``."""
        queries = json.loads(Path(path).read_text("utf-8"))["queries"]
        return cls({query["question"]: _recorded(query) for query in queries})

    def read(self, question: str, now: datetime) -> QuestionReading:
        """Return the recorded reading, or an empty one."""
        return self._readings.get(question, QuestionReading())


def _recorded(query: Mapping[str, Any]) -> QuestionReading:
    entities = tuple(str(entity["name"]) for entity in query.get("entities") or ())
    return QuestionReading(entities, query.get("when") or None, query.get("rewrite") or None)
