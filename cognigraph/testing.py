"""Doubles for tests of programs that use a memory: no model, no network, no waiting.

>>> from cognigraph import Memory
>>> from cognigraph.testing import FrozenClock, HashEmbedder, ScriptedExtractor
>>> extractor = ScriptedExtractor({"m1": [("Ann", "moved to", "Oslo")]})
>>> memory = Memory(
...     path, embedder=HashEmbedder(), clock=FrozenClock(), extractor=extractor, enrich="manual"
... )
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cognigraph.errors import ConfigurationError, ExtractionError, ModelAnswerError, ModelError
from cognigraph.ingest.extraction import Extraction, Fact, Window
from cognigraph.llm.base import Answer, Prompt, T
from cognigraph.llm.parse_answer import read
from cognigraph.model import Usage
from cognigraph.text.terms import terms
from cognigraph.text.token_estimate import estimate_tokens
from cognigraph.times import to_utc

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "Asked",
    "FactLike",
    "FrozenClock",
    "HashEmbedder",
    "Replies",
    "Script",
    "ScriptedExtractor",
    "ScriptedModel",
]

FactLike = Fact | tuple[str, str, str] | tuple[str, str, str, str | None]
"""A :class:`Fact`, or (subject, relation, object), or (subject, relation, object, when)."""

Script = Mapping[str, Sequence[FactLike]] | Callable[[Window], Extraction]
"""Facts by message id, or a function that reads the window itself."""

Replies = Callable[[Prompt], Any] | Sequence[Any]
"""What a :class:`ScriptedModel` answers: by a function of the prompt, or one after another.

An answer is a text, read as tolerantly as a real model's; anything that JSON can hold or a pydantic
model, validated; or an exception, raised.
"""

_START = datetime(2024, 1, 1, 9, 0, tzinfo=UTC)


class HashEmbedder:
    """Bag-of-words feature hashing: texts that share a word have a cosine above 0.

    Deterministic on every machine and Python. Each word stem adds 1 at a place of its own hash, so
    no component is negative; a text without words gets the zero vector. Words that fall on one
    place are told apart by a larger ``dimension`` only.
    """

    def __init__(self, dimension: int = 64) -> None:
        if dimension < 1:
            raise ConfigurationError(f"dimension must be at least 1, not {dimension}")
        self._dimension = dimension

    @property
    def name(self) -> str:
        """``hash-64`` for 64 dimensions."""
        return f"hash-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Word counts by hash, (len(texts), dimension), not normalised."""
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in enumerate(texts):
            for term in terms(text):
                vectors[row, _hash(term) % self._dimension] += 1.0
        return vectors

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """The same as for any text."""
        return np.asarray(self.embed([text])[0])


@lru_cache(maxsize=65_536)
def _hash(term: str) -> int:
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


class FrozenClock:
    """A clock that moves only when told to. ``start`` is aware, or ISO 8601 text with an offset."""

    def __init__(self, start: datetime | str = _START) -> None:
        self._lock = Lock()
        self._now = to_utc(start)

    def __call__(self) -> datetime:
        """The time it stands at, in UTC."""
        with self._lock:
            return self._now

    def advance(self, by: timedelta) -> datetime:
        """Move on (or back, by a negative ``by``) and return the new time."""
        with self._lock:
            self._now += by
            return self._now


class ScriptedExtractor:
    """Answers what a test says, counts the calls, and fails where a test wants a failure.

    Args:
        script: facts by message id, or a function that reads the window itself. Messages without
            a script have no facts.
        name: recorded with every chunk read.

    The places in a scripted :class:`Fact` count from its message's first chunk, so ``(0,)`` is
    that message wherever it stands in the window; a tuple of words has that place. Thread-safe.
    """

    result: Callable[[Window], Extraction] | None
    """If set, it answers instead of the facts by message id."""

    session: Callable[[Window], Extraction] | None
    """If set, keys, themes and state are taken from its answer."""

    def __init__(self, script: Script | None = None, *, name: str = "scripted-1") -> None:
        self._name = name
        self._lock = Lock()
        self._windows: list[Window] = []
        self._failing: dict[str, int] = {}
        self._fail_calls: frozenset[int] = frozenset()
        self._error: Exception | None = None
        self.session = None
        self.script(script or {})

    @property
    def name(self) -> str:
        """``scripted-1`` unless another was given."""
        return self._name

    def script(self, script: Script) -> None:
        """Replace what it answers from now on."""
        if callable(script):
            self._facts: Mapping[str, Sequence[FactLike]] = {}
            self.result = script
        else:
            self._facts = script
            self.result = None

    def fail_for(self, *ids: str, times: int = 1, error: Exception | None = None) -> None:
        """Fail the next ``times`` calls whose window has one of these messages.

        ``error`` is what is raised; an :class:`ExtractionError` that names the message by default.
        """
        with self._lock:
            self._failing.update(dict.fromkeys(ids, times))
            self._error = error

    def fail_at(self, *calls: int, error: Exception | None = None) -> None:
        """Fail the calls with these numbers, counted from 1 since the beginning."""
        with self._lock:
            self._fail_calls |= frozenset(calls)
            self._error = error

    @property
    def calls(self) -> int:
        """How often it was asked, failures included."""
        with self._lock:
            return len(self._windows)

    @property
    def windows(self) -> tuple[Window, ...]:
        """What it was asked to read, in order."""
        with self._lock:
            return tuple(self._windows)

    @property
    def read(self) -> Counter[str]:
        """How often each message was in a window."""
        return Counter(
            id
            for window in self.windows
            for id in dict.fromkeys(chunk.message_id for chunk in window.chunks)
        )

    def extract(self, window: Window) -> Extraction:
        """The scripted extraction, or the scripted failure."""
        self._count(window)
        if self.result is not None:
            return self.result(window)
        facts = tuple(_facts(self._facts, window))
        if self.session is None:
            return Extraction(facts=facts, state=window.notes.state)
        return replace(self.session(window), facts=facts)

    def _count(self, window: Window) -> None:
        """Note the call and raise what is due."""
        ids = dict.fromkeys(chunk.message_id for chunk in window.chunks)
        with self._lock:
            self._windows.append(window)
            call = len(self._windows)
            failing = [id for id in ids if self._failing.get(id, 0) > 0]
            for id in failing:
                self._failing[id] -= 1
            if not failing and call not in self._fail_calls:
                return
            error = self._error
        if error is not None:
            raise error
        what = f"message {failing[0]!r}" if failing else f"call {call}"
        raise ExtractionError(
            f"scripted failure of {what}", chunks=tuple(chunk.uid for chunk in window.chunks)
        )


def _facts(script: Mapping[str, Sequence[FactLike]], window: Window) -> Iterator[Fact]:
    seen: set[str] = set()
    for place, chunk in enumerate(window.chunks):
        if chunk.message_id in seen:
            continue
        seen.add(chunk.message_id)
        for item in script.get(chunk.message_id, ()):
            fact = item if isinstance(item, Fact) else _fact(item)
            yield replace(fact, chunks=tuple(place + own for own in fact.chunks))


def _fact(item: tuple[str, str, str] | tuple[str, str, str, str | None]) -> Fact:
    subject, relation, object, *rest = item
    when = rest[0] if rest else None
    return Fact(subject, "concept", relation, object, "concept", (0,), when=when)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question put to a :class:`ScriptedModel`."""

    prompt: Prompt
    schema: type[BaseModel]


class ScriptedModel:
    """A language model (:class:`cognigraph.llm.Model`) that answers what a test says.

    Args:
        replies: a function of the prompt, or answers in the order of the questions.
        name: recorded with what is learned from it.

    Usage is one call a question and the estimated tokens of its texts; no second question is asked
    after a bad answer. Deterministic and thread-safe. Needs pydantic (the extra ``openai``).

    >>> model = ScriptedModel([{"facts": []}, ModelUnavailableError("down")])
    """

    def __init__(self, replies: Replies, *, name: str = "scripted-model") -> None:
        self.name = name
        self._replies = replies
        self._asked: list[Asked] = []
        self._lock = Lock()

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The questions so far, in order."""
        with self._lock:
            return tuple(self._asked)

    def ask(self, prompt: Prompt, schema: type[T]) -> Answer[T]:
        """The scripted answer, or the scripted failure.

        Raises:
            ModelError: it is scripted, or the scripted answer does not fit the schema.
        """
        with self._lock:
            place = len(self._asked)
            self._asked.append(Asked(prompt, schema))
        if callable(self._replies):
            reply = self._replies(prompt)
        elif place < len(self._replies):
            reply = self._replies[place]
        else:
            raise ModelError(f"{self.name} has no answer number {place + 1} to {prompt.name!r}")
        if isinstance(reply, BaseException):
            raise reply
        text = reply if isinstance(reply, str) else _as_json(reply)
        usage = Usage(
            calls=1,
            input_tokens=estimate_tokens(prompt.system) + estimate_tokens(prompt.user),
            output_tokens=estimate_tokens(text),
        )
        reading = read(text, schema)
        if reading.value is None:
            raise ModelAnswerError(
                f"{self.name} gave no usable answer to {prompt.name!r}: {reading.problem}",
                usage=usage,
                attempts=1,
            )
        return Answer(
            reading.value, usage, reading.salvaged, reading.dropped, cut_off=reading.cut_off
        )


def _as_json(reply: Any) -> str:
    return json.dumps(reply.model_dump(mode="json") if hasattr(reply, "model_dump") else reply)
