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
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from cognigraph.errors import ConfigurationError
from cognigraph.ingest.extraction import AlsoRead, Extraction, Fact, Mention, Window
from cognigraph.model import Theme, Usage
from cognigraph.retrieve import QuestionReading
from cognigraph.times import parse_when

UNKNOWN_SESSION = "no recording of the session"
NO_TURN = "no turn of the fact is in the conversation"
BAD_WHEN = "time of the fact is not a date"


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
    """The recording of one session. ``bad_times`` counts times that are not dates."""

    session: str
    keys: tuple[str, ...]
    themes: tuple[Theme, ...]
    facts: tuple[RecordedFact, ...]
    bad_times: int = 0


class RecordedExtractor:
    """Returns the recorded facts for the messages of a window. Thread-safe."""

    also_reads: frozenset[AlsoRead] = frozenset({"tool"})

    def __init__(self, recording: Mapping[str, Any], *, source: str = "recording") -> None:
        self._sessions = _sessions(recording, source)
        self._lock = Lock()
        self._unknown: dict[str, set[str]] = {}
        self._seen: dict[str, set[str]] = {session: set() for session in self._sessions}

    @classmethod
    def from_file(cls, path: str | Path) -> RecordedExtractor:
        """Load one recording.

        Raises:
            ConfigurationError: the file is missing or malformed.
        """
        path = Path(path)
        return cls(_read(path), source=str(path))

    @property
    def name(self) -> str:
        """The name, ``recorded-1``."""
        return "recorded-1"

    @property
    def sessions(self) -> Mapping[str, RecordedSession]:
        """The recorded sessions by id."""
        return dict(self._sessions)

    @property
    def rejected(self) -> Mapping[str, int]:
        """The number of items that could not be used so far, by reason.

        A fact counts as rejected while none of its messages has been read, so the figures are final
        only when the whole conversation has been read.
        """
        counts: Counter[str] = Counter()
        with self._lock:
            for session, recorded in self._sessions.items():
                seen = self._seen[session]
                if seen:
                    counts[NO_TURN] += sum(seen.isdisjoint(fact.turns) for fact in recorded.facts)
                counts[BAD_WHEN] += recorded.bad_times
            counts[UNKNOWN_SESSION] = sum(len(ids) for ids in self._unknown.values())
        return {reason: count for reason, count in sorted(counts.items()) if count}

    def estimate(self, window: Window) -> Usage:
        """Zero usage, because no model is called."""
        return Usage()

    def extract(self, window: Window) -> Extraction:
        """The recorded facts with evidence in the window, and the session's keys and themes."""
        recorded = self._sessions.get(window.session)
        ids = {chunk.message_id for chunk in window.chunks}
        with self._lock:
            if recorded is None:
                self._unknown.setdefault(window.session, set()).update(ids)
                return Extraction(state=window.notes.state)
            self._seen[window.session] |= ids
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


# --- Parsing recordings --------------------------------------------------------------------


def _read(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"cannot read the recording {path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"the recording {path} is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise ConfigurationError(f"{path}: a recording must be an object with 'sessions'")
    return data


def _sessions(recording: Mapping[str, Any], source: str) -> dict[str, RecordedSession]:
    found: dict[str, RecordedSession] = {}
    for index, item in enumerate(_list(recording, "sessions", source)):
        session = _session(item, f"{source}: sessions[{index}]")
        if session.session in found:
            raise ConfigurationError(f"{source}: session {session.session} is recorded twice")
        found[session.session] = session
    return found


def _session(item: object, where: str) -> RecordedSession:
    data = _object(item, where)
    session = data.get("session")
    if isinstance(session, bool) or not isinstance(session, int | str):
        raise ConfigurationError(f"{where}: 'session' must be a number or text")
    keys = _texts(_list(data, "keys", where), f"{where}.keys")
    themes = []
    for index, theme in enumerate(_list(data, "themes", where)):
        inner = f"{where}.themes[{index}]"
        said = _object(theme, inner)
        themes.append(Theme(_text(said, "title", inner), _text(said, "summary", inner)))
    facts = []
    bad_times = 0
    for index, triple in enumerate(_list(data, "triples", where)):
        fact, bad_time = _fact(triple, f"{where}.triples[{index}]")
        facts.append(fact)
        bad_times += bad_time
    return RecordedSession(str(session), keys, tuple(themes), tuple(facts), bad_times)


def _fact(item: object, where: str) -> tuple[RecordedFact, bool]:
    """One triple, and whether its time is not a date (the triple is then kept without a time)."""
    data = _object(item, where)
    when, negated = data.get("when"), data.get("negated", False)
    if when is not None and not isinstance(when, str):
        raise ConfigurationError(f"{where}: 'when' must be text or null")
    replaces = data.get("replaces", False)
    for name, value in (("negated", negated), ("replaces", replaces)):
        if not isinstance(value, bool):
            raise ConfigurationError(f"{where}: {name!r} must be true or false")
    turns = _texts(_list(data, "turns", where), f"{where}.turns")
    parsed = parse_when(when)
    fact = RecordedFact(
        subject=_text(data, "subject", where),
        subject_type=_text(data, "subject_type", where),
        relation=_text(data, "relation", where),
        object=_text(data, "object", where),
        object_type=_text(data, "object_type", where),
        turns=turns,
        when=parsed.text if parsed is not None else None,
        negated=negated,
        replaces=replaces,
    )
    return fact, bool(when) and parsed is None


def _object(item: object, where: str) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise ConfigurationError(f"{where} must be an object, not {type(item).__name__}")
    return item


def _list(data: Mapping[str, Any], field: str, where: str) -> list[Any]:
    value = data.get(field)
    if not isinstance(value, list):
        raise ConfigurationError(f"{where}: '{field}' must be a list")
    return value


def _text(data: Mapping[str, Any], field: str, where: str) -> str:
    value = data.get(field)
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"{where}: '{field}' must be text that is not empty")
    return value.strip()


def _texts(values: list[Any], where: str) -> tuple[str, ...]:
    for index, value in enumerate(values):
        if not isinstance(value, str) or not value.strip():
            raise ConfigurationError(f"{where}[{index}] must be text that is not empty")
    return tuple(value.strip() for value in values)


class RecordedReader:
    """Returns recorded readings by question, and an empty reading for any other question."""

    def __init__(self, readings: Mapping[str, QuestionReading]) -> None:
        self._readings = dict(readings)

    @classmethod
    def from_file(cls, path: str | Path) -> RecordedReader:
        """Read a JSON file: ``{"queries": [{"question", "entities": [{"name"}], "when"}]}``.

        Raises :class:`ConfigurationError` if it cannot be read or has another form.
        """
        try:
            queries = json.loads(Path(path).read_text("utf-8"))["queries"]
            return cls({query["question"]: _recorded(query) for query in queries})
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ConfigurationError(
                f"cannot read recorded questions from {path}: {type(error).__name__}: {error}"
            ) from error

    def read(self, question: str, now: datetime) -> QuestionReading:
        """Return the recorded reading, or an empty one."""
        return self._readings.get(question, QuestionReading())


def _recorded(query: Mapping[str, Any]) -> QuestionReading:
    entities = tuple(str(entity["name"]) for entity in query.get("entities") or ())
    return QuestionReading(entities, query.get("when") or None, query.get("rewrite") or None)
